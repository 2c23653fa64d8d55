# SPDX-License-Identifier: Apache-2.0
"""The P4Runtime service: dispatches each call to its device, and turns refusals into gRPC statuses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from typing import Any

from finsy.proto import p4r
from google.protobuf.struct_pb2 import Struct
from grpc import StatusCode, aio

from clarion_agent.device import Device, RefusedBatch
from clarion_agent.reader import RefusedRead
from clarion_agent.status import Refused, abort, abort_read, abort_write
from clarion_agent.stream import Stream
from clarion_base import tasks
from clarion_contract.target import TargetError

API_VERSION = "1.5.0"
ENTITIES_PER_REPLY = 1000
MAX_STREAMS = 256  # of all devices

Context = aio.ServicerContext[Any, Any]


class P4RuntimeService:
    """All devices of one agent."""

    def __init__(self, devices: Iterable[Device]) -> None:
        self._devices = {device.id: device for device in devices}
        self._streams = 0

    async def Write(self, request: p4r.WriteRequest, context: Context) -> p4r.WriteResponse:  # noqa: N802
        """Writes a batch."""
        try:
            await self._device(request.device_id).write(request)
        except RefusedBatch as refused:
            await abort_write(context, refused.plan.errors, others_written=refused.others_written)
        except Refused as error:
            await abort(context, error)
        return p4r.WriteResponse()

    async def Read(  # noqa: N802
        self, request: p4r.ReadRequest, context: Context
    ) -> AsyncGenerator[p4r.ReadResponse, None]:
        """Streams the entities that match."""
        reply = p4r.ReadResponse()
        errors: Sequence[Refused | None] = ()
        try:
            async for entity in self._device(request.device_id).read(request):
                reply.entities.append(entity)
                if len(reply.entities) >= ENTITIES_PER_REPLY:
                    yield reply
                    reply = p4r.ReadResponse()
        except RefusedRead as refused:
            errors = refused.errors
        except Refused as error:
            await abort(context, error)
        except TargetError as error:
            await context.abort(StatusCode.UNAVAILABLE if error.gone else StatusCode.INTERNAL, str(error))
        if reply.entities:
            yield reply
        if errors:
            await abort_read(context, errors)

    async def SetForwardingPipelineConfig(  # noqa: N802
        self, request: p4r.SetForwardingPipelineConfigRequest, context: Context
    ) -> p4r.SetForwardingPipelineConfigResponse:
        """Accepts the switch's own program, with any cookie."""
        try:
            await self._device(request.device_id).set_pipeline(request)
        except Refused as error:
            await abort(context, error)
        return p4r.SetForwardingPipelineConfigResponse()

    async def GetForwardingPipelineConfig(  # noqa: N802
        self, request: p4r.GetForwardingPipelineConfigRequest, context: Context
    ) -> p4r.GetForwardingPipelineConfigResponse:
        """The program, or parts of it."""
        try:
            return self._device(request.device_id).get_pipeline(request)
        except Refused as error:
            await abort(context, error)

    async def StreamChannel(  # noqa: N802
        self, request_iterator: AsyncIterator[p4r.StreamMessageRequest], context: Context
    ) -> AsyncGenerator[p4r.StreamMessageResponse, None]:
        """Arbitration, packets, digests and their acknowledgements."""
        if self._streams >= MAX_STREAMS:
            await context.abort(StatusCode.RESOURCE_EXHAUSTED, f"there are {MAX_STREAMS} streams already")
        self._streams += 1
        stream = Stream(self._device)
        receiving = asyncio.create_task(stream.receive(request_iterator))
        try:
            async for message in stream.messages():
                yield message
            if stream.error is not None:
                await abort(context, stream.error)
        finally:
            self._streams -= 1
            stream.close()
            await tasks.end(receiving)

    async def Capabilities(  # noqa: N802
        self, request: p4r.CapabilitiesRequest, context: Context
    ) -> p4r.CapabilitiesResponse:
        """The version of P4Runtime that is spoken; of a device that is named, too, by which name it sends
        LLDP, and whether it can measure what its links carry.
        """
        response = p4r.CapabilitiesResponse(p4runtime_api_version=API_VERSION)
        if not request.device_id:
            return response
        try:
            extra = _experimental(self._device(request.device_id))
        except Refused as error:
            await abort(context, error)
        if extra.fields:
            response.experimental.Pack(extra)
        return response

    def _device(self, device_id: int) -> Device:
        device = self._devices.get(device_id)
        if device is None:
            has = ", ".join(map(str, sorted(self._devices)))
            raise Refused(StatusCode.NOT_FOUND, f"device {device_id}: is not here; there is {has}")
        return device


def _experimental(device: Device) -> Struct:
    target, number = device.target, str(device.id)
    extra = Struct()
    if target.measures_capacity:
        extra["measured_capacity"] = {"devices": [device.id]}
    if target.chassis_id is not None:
        extra["lldp"] = {
            "chassis_id": target.chassis_id,
            "chassis_ids": {number: target.chassis_id},
            "port_ids": {number: {str(port): name for port, name in target.ports.items()}},
        }
    return extra
