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

# Queued messages of a controller that does not read them.
MAX_WAITING = 4096
MAX_WAITING_BYTES = 4 << 20
MAX_NOTICES = 16  # of its arbitration: the last ones, which say how it is now
ARBITRATION_S = 10.0  # within which a stream has to ask for a device


LATE = Refused(StatusCode.DEADLINE_EXCEEDED, f"no arbitration came within {ARBITRATION_S:g} s")


class Stream:
    """The state of one StreamChannel."""

    def __init__(self, find_device: Callable[[int], Device]) -> None:
        self._find_device = find_device
        self._controller = Controller(self._put, self._end)
        self._device: Device | None = None
        self._waiting: deque[tuple[p4r.StreamMessageResponse, int]] = deque()  # with their bytes
        self._waiting_bytes = 0
        self._notices: deque[p4r.StreamMessageResponse] = deque(maxlen=MAX_NOTICES)
        self._clock = asyncio.get_running_loop().call_later(ARBITRATION_S, self._end, LATE)
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
            self._stop()

    async def messages(self) -> AsyncIterator[p4r.StreamMessageResponse]:
        """Messages to the controller, until the stream ends."""
        while True:
            while self._notices or self._waiting:
                if self._notices:
                    yield self._notices.popleft()
                    continue
                message, size = self._waiting.popleft()
                self._waiting_bytes -= size
                yield message
            if self._ended:
                return
            self._awake.clear()
            await self._awake.wait()

    def close(self) -> None:
        """Ends `messages`."""
        self._clock.cancel()
        self._ended = True
        if self._device is not None:
            self._device.arbiter.leave(self._controller)

    def _put(self, message: p4r.StreamMessageResponse) -> None:
        if message.WhichOneof("update") == "arbitration":
            self._notices.append(message)
        elif not self._queue(message):
            if self.lost == 0:
                _log.warning("a controller does not fetch its messages: digests and packets are dropped")
            self.lost += 1
            return
        self._awake.set()

    def _queue(self, message: p4r.StreamMessageResponse) -> bool:
        """Queues a message if there is room for it."""
        size = message.ByteSize()
        if len(self._waiting) >= MAX_WAITING or self._waiting_bytes + size > MAX_WAITING_BYTES:
            return False
        self._waiting.append((message, size))
        self._waiting_bytes += size
        return True

    def _end(self, error: Refused) -> None:
        """Ends the stream with a status; what waits is dropped."""
        self.error = error
        self._waiting.clear()
        self._stop()

    def _stop(self) -> None:
        self._ended = True
        self._awake.set()

    async def _take(self, request: p4r.StreamMessageRequest) -> None:
        what = request.WhichOneof("update")
        if what == "arbitration":
            await self._arbitrate(request.arbitration)
            return
        if self._device is None:
            raise Refused(
                StatusCode.FAILED_PRECONDITION, "the first message of a stream must be an arbitration"
            )
        try:
            await self._serve(self._device, what, request)
        except Refused as error:
            self._put(_stream_error(error, what, request))

    async def _arbitrate(self, update: p4r.MasterArbitrationUpdate) -> None:
        first = self._device is None
        device = self._find_device(update.device_id) if self._device is None else self._device
        if device.id != update.device_id:
            raise Refused(
                StatusCode.FAILED_PRECONDITION,
                f"device {update.device_id}: this stream is for device {device.id}; open another stream",
            )
        self._clock.cancel()
        await device.arbitrate(self._controller, update, first=first)
        self._device = device

    async def _serve(self, device: Device, what: str | None, request: p4r.StreamMessageRequest) -> None:
        if what not in ("packet", "digest_ack"):
            raise Refused(StatusCode.INVALID_ARGUMENT, f"stream message {what}: is not known here")
        if not device.arbiter.is_primary(self._controller):
            raise Refused(StatusCode.PERMISSION_DENIED, f"{what}: device {device.id}: you are not primary")
        access = device.arbiter.access(self._controller.role)
        if what == "packet":
            await device.packet_out(request.packet, access)
        else:
            device.acknowledge(request.digest_ack, access)


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
