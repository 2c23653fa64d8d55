# SPDX-License-Identifier: Apache-2.0
"""One P4Runtime session: charge of a switch, its program, reads, writes, and what it sends unasked."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from finsy import GRPCStatusCode, P4Client, P4ClientError, P4DigestList, P4Schema, p4entity
from finsy.pbutil import PBMessage
from finsy.proto import U128, p4r

from clarion_control import refusals
from clarion_control.errors import SwitchError
from clarion_control.refusals import Entity

ELECTION_ID = U128.encode(1)
RETRY_S = 0.05
CONFLICT_S = 2.0  # how long a session that has just ended may keep its place


class _Connection(P4Client):
    async def end_stream(self) -> None:
        """Ends our half of the stream; the switch then ends its own."""
        if self._stream is not None:
            await self._stream.done_writing()


class Session:
    """The primary controller's session with one switch, over one connection."""

    def __init__(self, name: str, address: str, device_id: int, schema: P4Schema) -> None:
        self.name = name
        self.schema = schema
        self._address = address
        self._device_id = device_id
        self._client: _Connection | None = None

    async def open(self, timeout_s: float) -> None:
        """Returns when the switch has put us in charge; SwitchError if it has not within `timeout_s`."""
        try:
            await asyncio.wait_for(self._win_charge(min(CONFLICT_S, timeout_s / 2)), timeout_s)
        except asyncio.TimeoutError:
            await self.close()
            raise refusals.no_answer(self.name, self._address) from None
        except BaseException:
            await self.close()
            raise

    async def hang_up(self) -> None:
        """Tells the switch that we leave. Once it has let go of us, `receive` fails: time to close."""
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
        if await self._running_cookie() == config.cookie.cookie:
            return False
        request = p4r.SetForwardingPipelineConfigRequest(
            device_id=self._device_id,
            action=p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT,
            config=config,
        )
        try:
            await self._connected().request(request)
        except P4ClientError as error:
            raise self._failure(f"program of device {self._device_id}", error) from None
        return True

    async def read(self, what: str, entities: Sequence[Entity]) -> list[Any]:
        """The switch's entities that match. One that is asked for by name and is not there ends the list."""
        request = p4r.ReadRequest(
            device_id=self._device_id, entities=[entity.encode(self.schema) for entity in entities]
        )
        found: list[Any] = []
        try:
            async for reply in self._connected().request_iter(request):
                found.extend(p4entity.decode_entity(entity, self.schema) for entity in reply.entities)
        except P4ClientError as error:
            if error.code != GRPCStatusCode.NOT_FOUND:
                raise self._failure(what, error) from None
        return found

    async def write(self, updates: Sequence[Entity]) -> None:
        """Writes all updates in one request; SwitchError names the first that was refused."""
        if not updates:
            return
        encoded = [entity.encode_update(self.schema) for entity in updates]
        try:
            await self._connected().request(p4r.WriteRequest(device_id=self._device_id, updates=encoded))
        except P4ClientError as error:
            raise refusals.refusal(self.name, self._address, updates, error) from None

    async def receive(self) -> P4DigestList | None:
        """The next digest list, None for other messages; SwitchError when the session is over."""
        try:
            message = await self._connected().receive()
        except P4ClientError as error:
            raise self._failure("session", error) from None
        except RuntimeError:  # so finsy calls it when the switch ends the stream
            raise refusals.no_answer(self.name, self._address) from None
        kind = message.WhichOneof("update")
        if kind == "arbitration" and message.arbitration.status.code != GRPCStatusCode.OK:
            raise refusals.not_in_charge(self.name)
        return P4DigestList.decode(message, self.schema) if kind == "digest" else None

    async def _win_charge(self, patience_s: float) -> None:
        loop = asyncio.get_running_loop()
        conflict_end = loop.time() + patience_s
        while True:
            try:
                return await self._ask_for_charge()
            except SwitchError as error:
                if error.code != "ALREADY_EXISTS" or loop.time() >= conflict_end:
                    raise
            await self.close()
            await asyncio.sleep(RETRY_S)

    async def _ask_for_charge(self) -> None:
        self._client = _Connection(self._address)
        await self._client.open(schema=self.schema, complete_request=_claim)
        request = p4r.MasterArbitrationUpdate(device_id=self._device_id, election_id=ELECTION_ID)
        try:
            await self._client.send(p4r.StreamMessageRequest(arbitration=request))
        except P4ClientError as error:
            raise self._failure("session", error) from None
        await self.receive()

    async def _running_cookie(self) -> int | None:
        request = p4r.GetForwardingPipelineConfigRequest(
            device_id=self._device_id, response_type=p4r.GetForwardingPipelineConfigRequest.COOKIE_ONLY
        )
        try:
            reply = await self._connected().request(request)
        except P4ClientError as error:
            if error.is_pipeline_missing:
                return None
            raise self._failure(f"program of device {self._device_id}", error) from None
        return reply.config.cookie.cookie if reply.config.HasField("cookie") else None

    def _connected(self) -> P4Client:
        if self._client is None:
            raise SwitchError(self.name, "session", "CANCELLED", "is not open; use `async with`")
        return self._client

    def _failure(self, entry: str, error: P4ClientError) -> SwitchError:
        return refusals.failure(self.name, self._address, entry, error)


def _claim(request: PBMessage) -> None:
    """Says with every change that it is ours."""
    if isinstance(request, (p4r.WriteRequest, p4r.SetForwardingPipelineConfigRequest)):
        request.election_id.CopyFrom(ELECTION_ID)
