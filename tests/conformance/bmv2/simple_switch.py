# SPDX-License-Identifier: Apache-2.0
"""BMv2's simple_switch in a process of its own, without network interfaces and without root.

Frames go in and out over its packet socket, digests come over its notification socket, everything else goes
through simple_switch_CLI.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import struct
import subprocess
from pathlib import Path

from clarion_base import processes
from clarion_lab.machine import bmv2_installation
from conformance.bmv2.digests import member_names
from conformance.bmv2.layout import Json
from conformance.bmv2.nanomsg import PAIR, SUBSCRIBE, Channel
from conformance.bmv2.switch import Frame
from fakes.ports import free_port

_PACKET = struct.Struct("<iii")  # type, port, length
_PACKET_IN, _PACKET_OUT = 3, 4
_DIGESTS = struct.Struct("<4sQIiQI")  # topic, device, context, list, buffer, samples
_PROMPT = b"RuntimeCmd: "
PATIENCE = 20.0  # seconds to wait for anything expected


def missing() -> str | None:
    """Return which program is not installed or does not start, if any."""
    for program, libraries in (("simple_switch", bmv2_installation.LIBRARIES), ("simple_switch_CLI", {})):
        if fault := bmv2_installation.fault(program, libraries):
            return f"{program}: {fault}"
    return None


class SimpleSwitch:
    """A running simple_switch."""

    def __init__(self, program: Path, folder: Path) -> None:
        loaded = json.loads(program.read_text())
        self.arrays = [("register", array["name"]) for array in loaded["register_arrays"]]
        self.arrays += [("counter", array["name"]) for array in loaded["counter_arrays"]]
        self.learn_lists = {fields["id"]: fields for fields in loaded["learn_lists"]}
        self.widths = _field_widths(loaded)
        self.members = member_names()
        with contextlib.ExitStack() as running:  # if a later step fails, the processes already started end
            self._start(program, folder, running)
            self._running = running.pop_all()

    def close(self) -> None:
        """End the switch and its CLI."""
        self._running.close()

    def _start(self, program: Path, folder: Path, running: contextlib.ExitStack) -> None:
        packets, notices, port = folder / "packets", folder / "notices", free_port()
        command = ["simple_switch", "--packet-in", f"ipc://{packets}", "--thrift-port", str(port)]
        command += ["--notifications-addr", f"ipc://{notices}", str(program)]
        switch = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        running.callback(processes.stop, [switch])
        self.packets = Channel(packets, PAIR, PATIENCE)
        running.callback(self.packets.close)
        self.notices = Channel(notices, SUBSCRIBE, PATIENCE)
        running.callback(self.notices.close)
        self.cli = subprocess.Popen(
            ["simple_switch_CLI", "--thrift-port", str(port)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        running.callback(self.cli.communicate)  # the CLI ends when its input does
        self._answer()

    def command(self, text: str) -> str:
        """Give one command to the CLI; return its output."""
        assert self.cli.stdin is not None
        self.cli.stdin.write(text.encode() + b"\n")
        self.cli.stdin.flush()
        answer = self._answer()
        assert not any(word in answer for word in ("Error", "Invalid", "Unknown syntax")), f"{text}: {answer}"
        return answer

    def _answer(self) -> str:
        assert self.cli.stdout is not None
        said = b""
        while not said.endswith(_PROMPT):
            ready, _, _ = select.select([self.cli.stdout], [], [], PATIENCE)
            data = os.read(self.cli.stdout.fileno(), 1 << 16) if ready else b""
            assert data, f"simple_switch_CLI fell silent after {said[-200:]!r}"
            said += data
        return said[: -len(_PROMPT)].decode()

    def reset(self, *tables: str) -> None:
        """Empty these tables and set all registers and counters to 0.

        The command reset_state would also delete constant entries.
        """
        for kind, name in self.arrays:
            self.command(f"{kind}_reset {name}")
        for table in tables:
            self.clear(table)

    def flood_to(self, group: int, ports: list[int]) -> None:
        """Create the flood group."""
        self.command(f"mc_mgrp_create {group}")
        for port in ports:
            answer = self.command(f"mc_node_create {port} {port}")
            handle = answer.split("handle")[1].split()[0]
            self.command(f"mc_node_associate {group} {handle}")

    def add(self, table: str, key: int, action: str, *data: int) -> int:
        """Put in an exact entry of one key; return its handle."""
        numbers = " ".join(str(int(value)) for value in data)
        answer = self.command(f"table_add {table} {action} {key:#x} => {numbers}")
        return int(answer.split("handle")[1])

    def remove(self, table: str, handle: int) -> None:
        """Take an entry out."""
        self.command(f"table_delete {table} {handle}")

    def clear(self, table: str) -> None:
        """Take all entries of a table out."""
        self.command(f"table_clear {table}")

    def register(self, name: str) -> list[int]:
        """Return all cells of a register array."""
        return [int(cell) for cell in self.command(f"register_read {name}").split("=")[1].split(",")]

    def counter(self, name: str, index: int) -> list[int]:
        """Return the packets and the bytes of a counter."""
        answer = self.command(f"counter_read {name} {index}")
        values, _ = answer.split("(")[1].split(")")
        byte_count, packets = (int(part.split()[0]) for part in values.split(","))
        return [packets, byte_count]

    def send(self, port: int, frame: bytes) -> None:
        """Let a frame come in."""
        self.packets.send(_PACKET.pack(_PACKET_IN, port, len(frame)) + frame)

    def receive(self, seconds: float = PATIENCE) -> Frame | None:
        """Return the next frame that goes out, or None if none does in time."""
        message = self.packets.receive(seconds)
        if message is None:
            return None
        kind, port, length = _PACKET.unpack_from(message)
        assert kind == _PACKET_OUT
        assert length == len(message) - _PACKET.size
        return Frame(port, message[_PACKET.size :])

    def digests(self, seconds: float) -> list[tuple[str, dict[str, int]]]:
        """Return the digests up to a pause of `seconds`; the switch collects them for up to one second."""
        found: list[tuple[str, dict[str, int]]] = []
        while (message := self.notices.receive(seconds)) is not None:
            if message[:3] == b"LEA":
                found += self._samples(message)
        return found

    def _samples(self, message: bytes) -> list[tuple[str, dict[str, int]]]:
        learn_list = self.learn_lists[_DIGESTS.unpack_from(message)[3]]
        samples = _DIGESTS.unpack_from(message)[5]
        at, found = _DIGESTS.size, []
        for _ in range(samples):
            values = {}
            names = self.members[learn_list["name"]]
            for name, element in zip(names, learn_list["elements"], strict=True):
                size = (self.widths[tuple(element["value"])] + 7) // 8
                values[name] = int.from_bytes(message[at : at + size], "big")
                at += size
            found.append((learn_list["name"], values))
        assert at == len(message)
        return found


def _field_widths(program: Json) -> dict[tuple[str, str], int]:
    types = {kind["name"]: kind["fields"] for kind in program["header_types"]}
    return {
        (header["name"], field[0]): field[1]
        for header in program["headers"]
        for field in types[header["header_type"]]
        if field[1] != "*"
    }
