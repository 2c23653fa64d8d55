# SPDX-License-Identifier: Apache-2.0
"""The gRPC server in front of a clarion-switch process or a NIC."""

from __future__ import annotations

import asyncio

from grpc import ServerCredentials, aio

from clarion_agent import methods, program
from clarion_agent.device import Device
from clarion_agent.service import P4RuntimeService
from clarion_agent.tls import TlsOptions
from clarion_base.errors import UserError
from clarion_contract.target import Source, TargetError

GRACE_S = 1.0
MAX_MESSAGE_BYTES = 4 << 20  # the least that the specification allows
MAX_CALLS = 512  # at once, with streams
MAX_CALLS_OF_CONNECTION = 128
IDLE_S = 300  # until a connection without a call ends
OPTIONS = (
    ("grpc.so_reuseport", 0),  # so that a port in use is an error
    ("grpc.max_receive_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_send_message_length", MAX_MESSAGE_BYTES),
    ("grpc.max_concurrent_streams", MAX_CALLS_OF_CONNECTION),
    ("grpc.max_connection_idle_ms", IDLE_S * 1000),
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.http2.min_recv_ping_interval_without_data_ms", 1_000),
)


class AgentServer:
    """Serves P4Runtime for all switches of one process, or a card, while it is entered."""

    def __init__(self, source: Source, listen: str, tls: TlsOptions | None = None) -> None:
        self._source = source
        self._listen = listen
        self._tls = tls
        self._server: aio.Server | None = None
        self.devices: list[Device] = []
        self.address = ""

    async def __aenter__(self) -> AgentServer:
        known = program.load()
        credentials = None if self._tls is None else self._tls.credentials()
        await self._source.open()
        try:
            for number, switch in enumerate(self._source.switches, 1):
                self.devices.append(Device(number, switch, known))
            await self._start()
            self._source.keep()
            await self._serve(credentials)
        except BaseException:
            await self._source.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            await self._server.stop(GRACE_S)
        for device in self.devices:
            device.stop()
        await self._source.close()

    def reset_arbitration(self) -> None:
        """Forgets all election ids, and ends the streams: their controllers begin again."""
        for device in self.devices:
            device.arbiter.reset()

    async def _start(self) -> None:
        try:
            await asyncio.gather(*(device.start() for device in self.devices))
        except TargetError as error:  # gone since it was opened
            raise UserError(f"switch: {error}; start it, and then the agent again") from error

    async def _serve(self, credentials: ServerCredentials | None) -> None:
        server = aio.server(options=OPTIONS, maximum_concurrent_rpcs=MAX_CALLS)
        server.add_generic_rpc_handlers((methods.handler(P4RuntimeService(self.devices)),))
        try:
            if credentials is None:
                port = server.add_insecure_port(self._listen)
            else:
                port = server.add_secure_port(self._listen, credentials)
        except RuntimeError as error:
            raise UserError(
                f"--listen: {self._listen}: cannot listen there; is the port in use, or the address not of "
                "this machine?"
            ) from error
        await server.start()
        self._server = server
        self.address = f"{self._listen.rpartition(':')[0]}:{port}"
