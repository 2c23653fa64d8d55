# SPDX-License-Identifier: Apache-2.0
"""Many switches in one process that do nothing but report control intervals over P4Runtime.

As cheaply as Python can: messages are made once, and only the time of sending is put in.

    python -m tests.bench.digest_source DEVICES     prints its address; reads `rate N` (reports/s of each
                                                    switch) on stdin and says how many it has sent

The time of sending, Unix time in us, travels as `sum_x_rtt`.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import grpc

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from finsy import P4Schema
from finsy.proto import p4d, p4r

from clarion_control import pipeline

STAMP = bytes.fromhex("a55aa55aa55aa55a")
SERVICE = "p4.v1.P4Runtime"
EMPTY = b""


class Source:
    """All switches."""

    def __init__(self, schema: P4Schema) -> None:
        self.rate = 0.0
        self.sent = 0
        self.late = 0  # reports that were more than an interval behind their time
        config = schema.get_pipeline_config()
        reply = p4r.GetForwardingPipelineConfigResponse()
        reply.config.cookie.CopyFrom(config.cookie)
        self._config: bytes = reply.SerializeToString()
        self._head, self._tail = message(schema).SerializeToString().split(STAMP)
        self._changed = asyncio.Event()

    def set_rate(self, rate: float) -> None:
        self.rate = rate
        self._changed.set()
        self._changed = asyncio.Event()

    async def unary(self, request: bytes, context: Any) -> bytes:
        return EMPTY

    async def get_config(self, request: bytes, context: Any) -> bytes:
        return self._config

    async def read(self, request: bytes, context: Any) -> AsyncIterator[bytes]:
        yield EMPTY

    async def stream(self, requests: AsyncIterator[bytes], context: Any) -> None:
        first = p4r.StreamMessageRequest.FromString(await context.read())
        reply = p4r.StreamMessageResponse(arbitration=first.arbitration)
        await context.write(reply.SerializeToString())
        offset = (first.arbitration.device_id * 0.618034) % 1.0  # so that they do not report all at once
        loop = asyncio.get_running_loop()
        due = loop.time() + offset
        while True:
            rate = self.rate
            if not rate:
                await self._changed.wait()
                due = loop.time() + offset / self.rate
                continue
            wait = due - loop.time()
            if wait > 0:
                await asyncio.sleep(wait)
            elif wait < -1 / rate:
                self.late += 1
            await context.write(self._head + (time.time_ns() // 1000).to_bytes(8, "big") + self._tail)
            self.sent += 1
            due += 1 / rate

    def handlers(self) -> grpc.GenericRpcHandler:
        return grpc.method_handlers_generic_handler(
            SERVICE,
            {
                "Write": grpc.unary_unary_rpc_method_handler(self.unary),
                "SetForwardingPipelineConfig": grpc.unary_unary_rpc_method_handler(self.unary),
                "GetForwardingPipelineConfig": grpc.unary_unary_rpc_method_handler(self.get_config),
                "Read": grpc.unary_stream_rpc_method_handler(self.read),
                "StreamChannel": grpc.stream_stream_rpc_method_handler(self.stream),
            },
        )


def message(schema: P4Schema) -> Any:
    """A report of port 1 with the mark where the time goes."""
    digest = next(each for each in schema.digests if each.alias == "interval_report_t")
    members = list(digest.type_spec.members)  # type: ignore[union-attr]
    values = dict.fromkeys(members, b"\x27\x10")
    values |= {"port": b"\x01", "cp_shift": b"\x02", "cn_shift": b"\x02", "sum_x_rtt": STAMP}
    data = [p4d.P4Data(bitstring=values[name]) for name in members]
    report = p4d.P4Data(struct=p4d.P4StructLike(members=data))
    return p4r.StreamMessageResponse(digest=p4r.DigestList(digest_id=digest.id, list_id=1, data=[report]))


async def main() -> None:
    source = Source(pipeline.load())
    server = grpc.aio.server()
    server.add_generic_rpc_handlers((source.handlers(),))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    print(f"127.0.0.1:{port}", flush=True)
    lines = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        source.set_rate(float(line.split()[1]))
        print(source.sent, source.late, flush=True)
    await server.stop(0)


if __name__ == "__main__":
    asyncio.run(main())
