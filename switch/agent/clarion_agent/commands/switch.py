# SPDX-License-Identifier: Apache-2.0
"""`clarion switch`: options, and the life of the agent."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import logging
import signal
from pathlib import Path

from clarion_agent import quiet_grpc  # noqa: F401 - before gRPC
from clarion_agent.embedded import SwitchConnection
from clarion_agent.server import AgentServer
from clarion_agent.supervisor import Supervisor, own_socket
from clarion_agent.tls import TlsOptions
from clarion_base.errors import Interrupted, UserError
from clarion_contract.target import Source

DEFAULT_LISTEN = "127.0.0.1:9559"


def add_options(parser: argparse.ArgumentParser) -> None:
    """The commands behind `clarion switch`."""
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser(
        "serve", help="serve P4Runtime for the switches of a clarion-switch or an FPGA NIC"
    )
    command.set_defaults(run=serve)
    switch = command.add_mutually_exclusive_group(required=True)
    switch.add_argument("--control", type=Path, metavar="SOCKET", help="of a clarion-switch that runs")
    switch.add_argument(
        "--config", type=Path, metavar="FILE", help="starts clarion-switch with this configuration"
    )
    switch.add_argument(
        "--nic", metavar="BDF", help="an FPGA NIC: its PCI address, or a file with its registers"
    )
    command.add_argument(
        "--listen", default=DEFAULT_LISTEN, metavar="HOST:PORT", help=f"default: {DEFAULT_LISTEN}"
    )
    command.add_argument("--tls-certificate", type=Path, metavar="PEM", help="serve over TLS with this chain")
    command.add_argument("--tls-key", type=Path, metavar="PEM", help="and its private key")
    command.add_argument(
        "--tls-client-ca", type=Path, metavar="PEM", help="accept only clients that this authority signed"
    )


def serve(options: argparse.Namespace) -> int:
    """Serves until SIGTERM or SIGINT. SIGUSR1 resets the arbitration."""
    logging.basicConfig(format="clarion switch serve: %(message)s", level=logging.WARNING)
    try:
        asyncio.run(_serve(options))
    except KeyboardInterrupt:
        raise Interrupted(signal.SIGINT) from None
    return 0


async def _serve(options: argparse.Namespace) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    listen = checked_address(options.listen)
    tls = tls_options(options)
    async with contextlib.AsyncExitStack() as stack:
        source = await _source(options, stack)
        server = await stack.enter_async_context(AgentServer(source, listen, tls))
        loop.add_signal_handler(signal.SIGUSR1, server.reset_arbitration)
        print(serving(server), flush=True)
        await stopped.wait()


async def _source(options: argparse.Namespace, stack: contextlib.AsyncExitStack) -> Source:
    """Where the switches are; with --config, starts clarion-switch first."""
    if options.nic is not None:
        made: Source = options.nic_source(options.nic)
        return made
    control = options.control
    if control is None:
        control = own_socket()
        await stack.enter_async_context(Supervisor(options.config, control))
    return SwitchConnection(control)


def serving(server: AgentServer) -> str:
    """The line that announces the server."""
    names = [f"{device.id} {device.target.name}" for device in server.devices]
    shown = ", ".join(names if len(names) <= 8 else [*names[:7], f"... {names[-1]}"])
    return f"serving P4Runtime on {server.address} (devices {shown})"


def checked_address(text: str) -> str:
    """HOST:PORT, or UserError."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or int(port) > 65535:
        raise UserError(f"--listen: {text}: write HOST:PORT, such as {DEFAULT_LISTEN}")
    return text


def tls_options(options: argparse.Namespace) -> TlsOptions | None:
    """The TLS options, or None without any."""
    if options.tls_certificate is None and options.tls_key is None:
        if options.tls_client_ca is not None:
            raise UserError("--tls-client-ca: needs --tls-certificate and --tls-key")
        return None
    for name in ("tls_certificate", "tls_key"):
        if getattr(options, name) is None:
            raise UserError(f"--{name.replace('_', '-')}: is missing; TLS needs certificate and key")
    return TlsOptions(options.tls_certificate, options.tls_key, options.tls_client_ca)
