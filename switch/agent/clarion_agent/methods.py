# SPDX-License-Identifier: Apache-2.0
"""The service's methods for gRPC. Requests that cannot be decoded are refused like other bad ones: by itself
gRPC would say UNKNOWN, and log a traceback.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

import grpc
from finsy.proto import p4r
from google.protobuf.message import DecodeError
from grpc import aio

from clarion_agent.service import Context, P4RuntimeService
from clarion_agent.status import Refused, Undecodable, abort

SERVICE = "p4.v1.P4Runtime"
STALL_S = 30.0  # until a Read ends whose client does not take the next part
STALLED = Refused(
    grpc.StatusCode.DEADLINE_EXCEEDED, f"the reply was not taken for {STALL_S:g} s; ask for less at a time"
)

_One = Callable[[Any, Context], Awaitable[Any]]
_Many = Callable[[Any, Context], AsyncGenerator[Any, None]]


def handler(service: P4RuntimeService) -> grpc.GenericRpcHandler:
    """The handler of all methods of the service."""
    unary: dict[str, tuple[_One, Any]] = {
        "Write": (service.Write, p4r.WriteRequest),
        "SetForwardingPipelineConfig": (
            service.SetForwardingPipelineConfig,
            p4r.SetForwardingPipelineConfigRequest,
        ),
        "GetForwardingPipelineConfig": (
            service.GetForwardingPipelineConfig,
            p4r.GetForwardingPipelineConfigRequest,
        ),
        "Capabilities": (service.Capabilities, p4r.CapabilitiesRequest),
    }
    methods = {
        name: grpc.unary_unary_rpc_method_handler(_one(method), _decoder(message), _encode)
        for name, (method, message) in unary.items()
    }
    methods["Read"] = grpc.unary_stream_rpc_method_handler(
        _many(service.Read), _decoder(p4r.ReadRequest), _encode
    )
    methods["StreamChannel"] = grpc.stream_stream_rpc_method_handler(
        _stream(service.StreamChannel), _decoder(p4r.StreamMessageRequest), _encode
    )
    return grpc.method_handlers_generic_handler(SERVICE, methods)


def _decoder(message: Any) -> Callable[[bytes], Any]:
    undecodable = Undecodable(message)

    def decode(data: bytes) -> Any:
        try:
            return message.FromString(data)
        except DecodeError:
            return undecodable

    return decode


def _encode(message: Any) -> bytes:
    data: bytes = message.SerializeToString()
    return data


def _one(method: _One) -> _One:
    async def checked(request: Any, context: Context) -> Any:
        if isinstance(request, Undecodable):
            await abort(context, request.refusal)
        return await method(request, context)

    return checked


def _many(method: _Many) -> _One:
    async def checked(request: Any, context: Context) -> None:
        if isinstance(request, Undecodable):
            await abort(context, request.refusal)
        await _send(method(request, context), context, STALL_S)

    return checked


def _stream(method: _Many) -> _One:
    async def unbounded(requests: Any, context: Context) -> None:
        await _send(method(requests, context), context, None)

    return unbounded


async def _send(replies: AsyncGenerator[Any, None], context: Context, stall_s: float | None) -> None:
    """Sends all replies, unless the client goes, or does not take one in time."""
    async with contextlib.aclosing(replies):
        async for reply in replies:
            try:
                await asyncio.wait_for(context.write(reply), stall_s)
            except aio.InternalError:
                return  # the client is gone
            except asyncio.TimeoutError:
                await abort(context, STALLED)
