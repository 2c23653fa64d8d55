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

from clarion_p4rt import refusals
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
            self._channel = grpc.aio.insecure_channel(self._address, options=CHANNEL_OPTIONS)
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
    """A controller's session with one switch, over one connection."""

    def __init__(
        self, name: str, address: str, device_id: int, schema: P4Schema, tls: TlsFiles | None = None
    ) -> None:
        self.name = name
        self.schema = schema
        self._address = address
        self._device_id = device_id
        self._tls = tls
        self._program = Entity(f"program of device {device_id}")
        self._election_id = U128.encode(0)
        self._atomicity = p4r.WriteRequest.ROLLBACK_ON_ERROR
        self._client: _Connection | None = None

    async def connect(self) -> None:
        """Opens the connection; a switch that does not listen is an error at once."""
        self._client = _Connection(self._address, self._credentials(), wait_for_ready=False)
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
        """Loads the program unless the switch runs it already; whether that has cleared the switch. What its
        own configuration has switched on stays, if the switch can keep it.
        """
        config = self.schema.get_pipeline_config()
        running = await self._running(p4r.GetForwardingPipelineConfigRequest.COOKIE_ONLY)
        if running is not None and running.HasField("config"):
            if await self._is(running.config, config):
                return False
        elif running is not None and await self._reconciled(config):
            return False
        try:
            await self._commit(config, p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT)
        except P4ClientError as error:
            raise self._failure(self._program, error) from None
        return True

    async def read(self, what: str, entities: Sequence[P4Entity]) -> list[Any]:
        """The switch's entities that match; a named one that does not exist is left out."""
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
            if not refusals.is_missing(error):
                raise self._failure(Entity(what), error) from None
        return found

    async def write(self, updates: Sequence[P4Entity]) -> None:
        """Writes all updates in one request, all or none where the switch can do that; SwitchError names the
        first that was refused.
        """
        if not updates:
            return
        encoded = [entity.encode_update(self.schema) for entity in updates]
        request = p4r.WriteRequest(device_id=self._device_id, updates=encoded, atomicity=self._atomicity)
        try:
            await self._connected().request(request)
        except P4ClientError as error:
            if error.code == GRPCStatusCode.UNIMPLEMENTED and self._atomicity:
                self._atomicity = p4r.WriteRequest.CONTINUE_ON_ERROR
                await self.write(updates)
                return
            raise refusals.refusal(self.name, self._address, updates, error) from None

    async def capabilities(self) -> Any:
        """What the switch says of its server; None of one that does not know the question."""
        try:
            return await self._connected().request(p4r.CapabilitiesRequest(device_id=self._device_id))
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

    async def _commit(self, config: Any, action: Any) -> None:
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self._device_id, action=action, config=config
        )
        await self._connected().request(request)

    async def _is(self, running: Any, config: Any) -> bool:
        """Whether the running program is this one. Another controller may have loaded it with another cookie,
        and a switch that is no P4 program shows nothing but its P4Info.
        """
        if running.HasField("cookie") and running.cookie.cookie == config.cookie.cookie:
            return True
        reply = await self._running(p4r.GetForwardingPipelineConfigRequest.ALL)
        if reply is None:
            return False
        program = config.p4_device_config
        return reply.config.p4info == config.p4info and reply.config.p4_device_config in (b"", program)

    async def _reconciled(self, config: Any) -> bool:
        """Sets the first config of a switch, and keeps what it has; False if it cannot."""
        try:
            await self._commit(config, p4r.SetForwardingPipelineConfigRequest.RECONCILE_AND_COMMIT)
        except P4ClientError as error:
            if error.code == GRPCStatusCode.UNIMPLEMENTED:
                return False
            raise self._failure(self._program, error) from None
        return True

    async def _running(self, kind: Any) -> Any:
        request = p4r.GetForwardingPipelineConfigRequest(device_id=self._device_id, response_type=kind)
        try:
            return await self._connected().request(request)
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
