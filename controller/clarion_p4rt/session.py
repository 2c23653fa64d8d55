# SPDX-License-Identifier: Apache-2.0
"""One P4Runtime session with a switch: mastership, program, reads, writes, and the stream of messages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import grpc
from finsy import (
    GRPCCredentialsTLS,
    GRPCStatusCode,
    P4Client,
    P4ClientError,
    P4PacketOut,
    P4Schema,
    p4entity,
)
from finsy.pbutil import PBMessage
from finsy.proto import U128, p4r, p4r_grpc

from clarion_p4rt import plaintext, refusals
from clarion_p4rt.errors import SESSION, Entity, SwitchError
from clarion_p4rt.refusals import P4Entity
from clarion_p4rt.switch import TlsFiles

# A channel of its own connects at once, where a shared one would wait for its turn after earlier failures.
CHANNEL_OPTIONS = (("grpc.max_metadata_size", 64 * 1024), ("grpc.use_local_subchannel_pool", 1))


class _Connection(P4Client):
    async def open(
        self,
        *,
        schema: P4Schema | None = None,
        complete_request: Callable[[PBMessage], None] | None = None,
    ) -> None:
        """As finsy's, with our options."""
        if self._credentials is None:
            options = (*CHANNEL_OPTIONS, *plaintext.CHANNEL_OPTIONS)
            self._channel = grpc.aio.insecure_channel(self._address, options=options)
        else:
            credentials = self._credentials.to_client_credentials()
            self._channel = grpc.aio.secure_channel(self._address, credentials, options=CHANNEL_OPTIONS)
        self._stub = p4r_grpc.P4RuntimeStub(self._channel)
        self._schema = schema
        self._complete_request = complete_request

    async def end_stream(self) -> None:
        """Ends our half of the stream; the switch then ends its own."""
        if self._stream is not None:
            await self._stream.done_writing()


class Session:
    """A controller's session with one switch, over one connection.

    Without TLS only to a switch of this machine, unless `insecure`: anyone between may then read and write.
    """

    def __init__(
        self,
        name: str,
        address: str,
        device_id: int,
        schema: P4Schema,
        tls: TlsFiles | None = None,
        *,
        insecure: bool = False,
    ) -> None:
        self.name = name
        self.schema = schema
        self._address = address
        self._device_id = device_id
        self._tls = tls
        self._insecure = insecure
        self._program = Entity(f"program of device {device_id}")
        self._election_id = U128.encode(0)
        self._client: _Connection | None = None

    async def connect(self) -> None:
        """Opens the connection; a switch that does not listen is an error at once."""
        target: str | None = self._address
        if self._tls is None and not self._insecure:
            target = await plaintext.local_target(self._address)
        if target is None:
            raise refusals.in_the_clear(self.name, self._address)
        self._client = _Connection(target, self._credentials(), wait_for_ready=False)
        await self._client.open(schema=self.schema, complete_request=self._claim)

    async def request_mastership(self, election_id: int) -> None:
        """Requests mastership under this id; the answer comes as an arbitration message."""
        self._election_id = U128.encode(election_id)
        request = p4r.MasterArbitrationUpdate(device_id=self._device_id, election_id=self._election_id)
        try:
            await self._connected().send(p4r.StreamMessageRequest(arbitration=request))
        except P4ClientError as error:
            raise self._failure(SESSION, error) from None

    async def hang_up(self) -> None:
        """Ends our half of the stream. Once the switch has ended its own, `receive` fails: time to close."""
        if self._client is not None:
            await self._client.end_stream()

    async def close(self) -> None:
        """Ends the session, whatever state it is in; the switch forwards on."""
        if self._client is not None:
            client, self._client = self._client, None
            await client.close()

    async def load_program(self) -> bool:
        """Loads the program unless the switch runs it already; whether it was loaded."""
        config = self.schema.get_pipeline_config()
        running = await self._running(p4r.GetForwardingPipelineConfigRequest.COOKIE_ONLY)
        if running is not None and await self._is(running, config):
            return False
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self._device_id,
            action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
            config=config,
        )
        try:
            await self._connected().request(request)
        except P4ClientError as error:
            raise self._failure(self._program, error) from None
        return True

    async def read(self, what: str, entities: Sequence[P4Entity]) -> list[Any]:
        """The switch's entities that match; the list ends at a named one that does not exist."""
        wanted = [entity.encode(self.schema) for entity in entities]
        found = await self.read_messages(what, wanted)
        return [p4entity.decode_entity(entity, self.schema) for entity in found]

    async def read_messages(self, what: str, entities: Sequence[Any]) -> list[Any]:
        """`read` without translation."""
        request = p4r.ReadRequest(device_id=self._device_id, entities=entities)
        found: list[Any] = []
        try:
            async for reply in self._connected().request_iter(request):
                found.extend(reply.entities)
        except P4ClientError as error:
            if error.code != GRPCStatusCode.NOT_FOUND:
                raise self._failure(Entity(what), error) from None
        return found

    async def write(self, updates: Sequence[P4Entity]) -> None:
        """Writes all updates in one request; SwitchError names the first that was refused."""
        if not updates:
            return
        encoded = [entity.encode_update(self.schema) for entity in updates]
        try:
            await self._connected().request(p4r.WriteRequest(device_id=self._device_id, updates=encoded))
        except P4ClientError as error:
            raise refusals.refusal(self.name, self._address, updates, error) from None

    async def capabilities(self) -> Any:
        """What the switch says of its server; None of one that does not know the question."""
        try:
            return await self._connected().request(p4r.CapabilitiesRequest())
        except P4ClientError as error:
            if error.code == GRPCStatusCode.UNIMPLEMENTED:
                return None
            raise self._failure(Entity("capabilities"), error) from None

    async def send_packet(self, packet: P4PacketOut) -> None:
        """Sends a frame through the switch."""
        try:
            await self._connected().send(packet.encode_update(self.schema))
        except P4ClientError as error:
            raise self._failure(Entity("packet_out"), error) from None

    async def receive(self) -> Any:
        """The next message of the stream; SwitchError when the session is over."""
        try:
            return await self._connected().receive()
        except P4ClientError as error:
            raise self._failure(SESSION, error) from None
        except RuntimeError:  # so finsy calls it when the switch ends the stream
            raise refusals.no_answer(self.name, self._address) from None

    async def _is(self, running: Any, config: Any) -> bool:
        """Whether the running program is this one. Another controller may have loaded it with another cookie,
        and a switch that is no P4 program shows nothing but its P4Info.
        """
        if running.HasField("cookie") and running.cookie.cookie == config.cookie.cookie:
            return True
        running = await self._running(p4r.GetForwardingPipelineConfigRequest.ALL)
        program = config.p4_device_config
        return running is not None and (
            running.p4info == config.p4info and running.p4_device_config in (b"", program)
        )

    async def _running(self, kind: Any) -> Any:
        request = p4r.GetForwardingPipelineConfigRequest(device_id=self._device_id, response_type=kind)
        try:
            return (await self._connected().request(request)).config
        except P4ClientError as error:
            if error.is_pipeline_missing:
                return None
            raise self._failure(self._program, error) from None

    def _connected(self) -> P4Client:
        if self._client is None:
            raise SwitchError(self.name, SESSION, "CANCELLED", "is not open; use `async with`")
        return self._client

    def _credentials(self) -> GRPCCredentialsTLS | None:
        if self._tls is None:
            return None
        for path in (self._tls.ca, self._tls.certificate, self._tls.key):
            try:
                Path(path).read_bytes()
            except OSError as error:
                message = f"{path}: {error.strerror}; correct the path"
                raise SwitchError(self.name, SESSION, "FAILED_PRECONDITION", message) from None
        return GRPCCredentialsTLS(
            cacert=Path(self._tls.ca), cert=Path(self._tls.certificate), private_key=Path(self._tls.key)
        )

    def _failure(self, entity: Entity, error: P4ClientError) -> SwitchError:
        return refusals.failure(self.name, self._address, entity, error)

    def _claim(self, request: PBMessage) -> None:
        """Signs every change with our election id."""
        if isinstance(request, (p4r.WriteRequest, p4r.SetForwardingPipelineConfigRequest)):
            request.election_id.CopyFrom(self._election_id)
