# SPDX-License-Identifier: Apache-2.0
"""One StreamChannel: messages from the controller, and a bounded queue of messages to it."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import AsyncIterator, Callable

from finsy.proto import p4r
from grpc import StatusCode

from clarion_agent.arbitration import Controller
from clarion_agent.device import Device
from clarion_agent.status import Refused, Undecodable, number_of

_log = logging.getLogger(__name__)

MAX_WAITING = 4096  # queued messages of a controller that does not read them


class Stream:
    """The state of one StreamChannel."""

    def __init__(self, find_device: Callable[[int], Device]) -> None:
        self._find_device = find_device
        self._controller = Controller(self._put)
        self._device: Device | None = None
        self._waiting: deque[p4r.StreamMessageResponse] = deque()
        self._awake = asyncio.Event()
        self._ended = False
        self.error: Refused | None = None
        self.lost = 0

    async def receive(self, requests: AsyncIterator[p4r.StreamMessageRequest]) -> None:
        """Takes messages until the controller ends its half, or sends one that ends the stream."""
        try:
            async for request in requests:
                if isinstance(request, Undecodable):
                    raise request.refusal
                await self._take(request)
        except Refused as error:
            self.error = error
        finally:
            self._ended = True
            self._awake.set()

    async def messages(self) -> AsyncIterator[p4r.StreamMessageResponse]:
        """Messages to the controller, until the stream ends."""
        while True:
            while self._waiting:
                yield self._waiting.popleft()
            if self._ended:
                return
            self._awake.clear()
            await self._awake.wait()

    def close(self) -> None:
        """Ends `messages`."""
        self._ended = True
        if self._device is not None:
            self._device.arbiter.leave(self._controller)

    def _put(self, message: p4r.StreamMessageResponse) -> None:
        if len(self._waiting) >= MAX_WAITING and message.WhichOneof("update") != "arbitration":
            if self.lost == 0:
                _log.warning("a controller does not fetch its messages: digests and packets are dropped")
            self.lost += 1
            return
        self._waiting.append(message)
        self._awake.set()

    async def _take(self, request: p4r.StreamMessageRequest) -> None:
        what = request.WhichOneof("update")
        if what == "arbitration":
            self._arbitrate(request.arbitration)
            return
        if self._device is None:
            raise Refused(
                StatusCode.FAILED_PRECONDITION, "the first message of a stream must be an arbitration"
            )
        try:
            await self._serve(self._device, what, request)
        except Refused as error:
            self._put(_stream_error(error, what, request))

    def _arbitrate(self, update: p4r.MasterArbitrationUpdate) -> None:
        first = self._device is None
        device = self._find_device(update.device_id) if self._device is None else self._device
        if device.id != update.device_id:
            raise Refused(
                StatusCode.FAILED_PRECONDITION,
                f"device {update.device_id}: this stream is for device {device.id}; open another stream",
            )
        device.arbiter.arbitrate(self._controller, update, first=first)
        self._device = device

    async def _serve(self, device: Device, what: str | None, request: p4r.StreamMessageRequest) -> None:
        if what not in ("packet", "digest_ack"):
            raise Refused(StatusCode.INVALID_ARGUMENT, f"stream message {what}: is not known here")
        if not device.arbiter.is_primary(self._controller):
            raise Refused(StatusCode.PERMISSION_DENIED, f"{what}: device {device.id}: you are not primary")
        if what == "packet":
            await device.packet_out(request.packet)
        else:
            device.acknowledge(request.digest_ack)


def _stream_error(
    error: Refused, what: str | None, request: p4r.StreamMessageRequest
) -> p4r.StreamMessageResponse:
    message = p4r.StreamMessageResponse()
    message.error.canonical_code = number_of(error.code)
    message.error.message = error.message
    if what == "packet":
        message.error.packet_out.packet_out.CopyFrom(request.packet)
    elif what == "digest_ack":
        message.error.digest_list_ack.digest_list_ack.CopyFrom(request.digest_ack)
    elif what == "other":
        message.error.other.other.CopyFrom(request.other)
    return message
