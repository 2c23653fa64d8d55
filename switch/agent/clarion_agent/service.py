# SPDX-License-Identifier: Apache-2.0
"""The P4Runtime service: dispatches each call to its device, and turns refusals into gRPC statuses."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterable
from typing import Any

from finsy.proto import p4r
from google.protobuf.struct_pb2 import Struct
from grpc import StatusCode, aio

from clarion_agent.device import Device, RefusedBatch
from clarion_agent.status import Refused, abort, abort_write
from clarion_agent.stream import Stream
from clarion_contract.target import TargetError

API_VERSION = "1.4.0"
ENTITIES_PER_REPLY = 1000

Context = aio.ServicerContext[Any, Any]


class P4RuntimeService:
    """All devices of one agent."""

    def __init__(self, devices: Iterable[Device]) -> None:
        self._devices = {device.id: device for device in devices}

    async def Write(self, request: p4r.WriteRequest, context: Context) -> p4r.WriteResponse:  # noqa: N802
        """Writes a batch: all of its updates or none."""
        try:
            await self._device(request.device_id).write(request)
        except RefusedBatch as refused:
            await abort_write(context, refused.plan.errors, len(request.updates))
        except Refused as error:
            await abort(context, error)
        return p4r.WriteResponse()

    async def Read(self, request: p4r.ReadRequest, context: Context) -> AsyncIterator[p4r.ReadResponse]:  # noqa: N802
        """Streams the entities that match."""
        reply = p4r.ReadResponse()
        try:
            async for entity in self._device(request.device_id).read(request):
                reply.entities.append(entity)
                if len(reply.entities) >= ENTITIES_PER_REPLY:
                    yield reply
                    reply = p4r.ReadResponse()
        except Refused as error:
            await abort(context, error)
        except TargetError as error:
            await context.abort(StatusCode.UNAVAILABLE if error.gone else StatusCode.INTERNAL, str(error))
        if reply.entities:
            yield reply

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
    ) -> AsyncIterator[p4r.StreamMessageResponse]:
        """Arbitration, packets, digests and their acknowledgements."""
        stream = Stream(self._device)
        receiving = asyncio.create_task(stream.receive(request_iterator))
        try:
            async for message in stream.messages():
                yield message
            if stream.error is not None:
                await abort(context, stream.error)
        finally:
            stream.close()
            receiving.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await receiving

    async def Capabilities(  # noqa: N802
        self, request: p4r.CapabilitiesRequest, context: Context
    ) -> p4r.CapabilitiesResponse:
        """The version of P4Runtime that is spoken, by which names the switches send LLDP, and which of them
        can measure what their links carry.
        """
        response = p4r.CapabilitiesResponse(p4runtime_api_version=API_VERSION)
        extra = Struct()
        measuring = [device.id for device in self._devices.values() if device.target.measures_capacity]
        if measuring:
            extra["measured_capacity"] = {"devices": measuring}
        ids = {str(device.id): device.target.chassis_id for device in self._devices.values()}
        named = {number: chassis_id for number, chassis_id in ids.items() if chassis_id is not None}
        if named:
            ports = {
                str(device.id): {str(port): name for port, name in device.target.ports.items()}
                for device in self._devices.values()
            }
            extra["lldp"] = {
                "chassis_id": next(iter(named.values())),
                "chassis_ids": named,
                "port_ids": {number: ports[number] for number in named},
            }
        if extra.fields:
            response.experimental.Pack(extra)
        return response

    def _device(self, device_id: int) -> Device:
        device = self._devices.get(device_id)
        if device is None:
            has = ", ".join(map(str, sorted(self._devices)))
            raise Refused(StatusCode.NOT_FOUND, f"device {device_id}: is not here; there is {has}")
        return device
