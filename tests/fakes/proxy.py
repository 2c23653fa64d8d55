#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A stand-in for clarion-proxy in tests of what starts it: the same command line, TCP in place of QUIC.

The client redirects connections of its host with nftables to itself, and tells the server, in the first line
of a connection of its own, where each was going. Keys are empty files; a law is a name.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

LAWS = ("boost", "cubic")
PORT = 4434  # of the client, where redirected connections arrive
SO_ORIGINAL_DST = 80
TABLE = "fake_proxy"
BLOCK_BYTES = 1 << 16
WORK_S = 0.05  # for each connection: the kernel tells processor time in steps of 10 ms


def work() -> None:
    """Takes the processor for WORK_S, however long that takes."""
    end_s = time.process_time() + WORK_S
    while time.process_time() < end_s:
        pass


async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Bytes until the end, which is passed on."""
    with contextlib.suppress(ConnectionError):
        while block := await reader.read(BLOCK_BYTES):
            writer.write(block)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()


async def splice(
    one: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    other: tuple[asyncio.StreamReader, asyncio.StreamWriter],
) -> None:
    """Both directions until both have ended."""
    await asyncio.gather(copy(one[0], other[1]), copy(other[0], one[1]))
    for writer in (one[1], other[1]):
        writer.close()


class Proxy:
    """Either end."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.connections = 0

    async def run(self) -> None:
        """Until SIGTERM."""
        stopped = asyncio.Event()
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
        for name in ("ca.pem", f"{self.options.name}.pem", f"{self.options.name}.key"):
            if not (Path(self.options.keys) / name).exists():
                raise SystemExit(f"clarion-proxy: {name}: no such key in {self.options.keys}")
        await asyncio.start_unix_server(self.answer, self.options.control)
        if self.options.role == "server":
            await asyncio.start_server(self.serve, *address(self.options.listen))
        else:
            if os.environ.get("FAKE_PROXY_FAILS") != "redirect":
                redirect(self.options.take)
            await asyncio.start_server(self.take, "0.0.0.0", PORT)
        print("clarion-proxy ready", file=sys.stderr, flush=True)
        await stopped.wait()

    async def answer(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """The status."""
        said = {"role": self.options.role, "law": self.options.law, "connections": self.connections}
        writer.write(json.dumps(said).encode())
        await writer.drain()
        writer.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection of the client, made again towards where it was going."""
        self.connections += 1
        work()
        host, port = (await reader.readline()).decode().split()
        assert self.options.allow == [f"{host}/32:*"], "off the list"
        await splice((reader, writer), await asyncio.open_connection(host, int(port)))

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection that was redirected."""
        self.connections += 1
        work()
        taken: socket.socket = writer.get_extra_info("socket")
        packed = taken.getsockopt(socket.SOL_IP, SO_ORIGINAL_DST, 16)
        port, raw = struct.unpack("!2xH4s8x", packed)
        far = await asyncio.open_connection(*address(self.options.peer))
        far[1].write(f"{socket.inet_ntoa(raw)} {port}\n".encode())
        await splice((reader, writer), far)


def address(text: str) -> tuple[str, int]:
    """Host and port."""
    host, _, port = text.rpartition(":")
    return host, int(port)


def redirect(destinations: list[str]) -> None:
    """Takes the host's own connections to these, but for the one to the server."""
    rules = [f"add table ip {TABLE}"]
    rules += [f"add chain ip {TABLE} out {{ type nat hook output priority -100; }}"]
    for destination in destinations:
        where = destination.removesuffix(":*")
        rules += [f"add rule ip {TABLE} out ip daddr {where} tcp dport != 4433 redirect to :{PORT}"]
    subprocess.run(["nft", "-f", "-"], input="\n".join(rules), text=True, check=True)


def status(control: str) -> None:
    """What a running one says."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(control)
        print(asking.makefile().read())


def keys(what: list[str], place: Path) -> None:
    """`init`, or `issue NAME`."""
    place.mkdir(exist_ok=True)
    for name in ("ca",) if what == ["init"] else (what[1],):
        for suffix in ("pem", "key"):
            (place / f"{name}.{suffix}").touch(mode=0o600)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="role", required=True)
    making = commands.add_parser("keys")
    making.add_argument("what", nargs="+")
    making.add_argument("--dir", type=Path)
    for name in ("client", "server"):
        end = commands.add_parser(name)
        for option in ("peer", "peer-name", "keys", "name", "transparent", "law", "header", "buffer-mib"):
            end.add_argument(f"--{option}")
        for option in ("listen", "control", "predict-loss"):
            end.add_argument(f"--{option}")
        for option in ("set", "take", "allow", "early"):
            end.add_argument(f"--{option}", action="append", default=[])
    asking = commands.add_parser("status")
    asking.add_argument("--control")
    asking.add_argument("--json", action="store_true")
    for name in ("laws", "cleanup"):
        commands.add_parser(name)
    options = parser.parse_args()
    if options.role in ("client", "server"):
        if os.environ.get("FAKE_PROXY_FAILS") == options.role:
            sys.exit("clarion-proxy: peer does not answer; start the server first")
        asyncio.run(Proxy(options).run())
    elif options.role == "keys":
        keys(options.what, options.dir)
    elif options.role == "status":
        status(options.control)
    elif options.role == "laws":
        print("\n".join(LAWS))
    else:
        print("removed nothing")


if __name__ == "__main__":
    main()
