# SPDX-License-Identifier: Apache-2.0
"""Many switches in one process that only report control intervals over P4Runtime.

For speed, a report is serialised once, and only its time is filled in. Like a switch, it collects reports
for the subscription's `max_timeout_ns` and sends them in one list.

    python -m tests.bench.digest_source DEVICES     prints its address; reads `rate N` (reports/s of each
                                                    switch) on stdin and prints how many it has sent

The time of a report, Unix time in us, travels as `sum_x_rtt`.
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

from clarion_contract import pipeline

STAMP = bytes.fromhex("a55aa55aa55aa55a")
SERVICE = "p4.v1.P4Runtime"
EMPTY = b""
DIGEST_TAG = p4r.StreamMessageResponse(digest=p4r.DigestList()).SerializeToString()[:-1]


class Source:
    """All switches."""

    def __init__(self, schema: P4Schema) -> None:
        self.rate = 0.0
        self.sent = 0
        self.late = 0  # lists sent more than a second late
        config = schema.get_pipeline_config()
        reply = p4r.GetForwardingPipelineConfigResponse()
        reply.config.cookie.CopyFrom(config.cookie)
        self._config: bytes = reply.SerializeToString()
        self._list, report = pieces(schema)
        self._head, self._tail = report.split(STAMP)
        self._collect_s: dict[int, float] = {}
        self._changed = asyncio.Event()

    def set_rate(self, rate: float) -> None:
        self.rate = rate
        self._changed.set()
        self._changed = asyncio.Event()

    async def write(self, request: bytes, context: Any) -> bytes:
        wanted = p4r.WriteRequest.FromString(request)
        for update in wanted.updates:
            if update.entity.HasField("digest_entry"):
                config = update.entity.digest_entry.config
                self._collect_s[wanted.device_id] = config.max_timeout_ns / 1e9
        return EMPTY

    async def get_config(self, request: bytes, context: Any) -> bytes:
        return self._config

    async def read(self, request: bytes, context: Any) -> AsyncIterator[bytes]:
        yield EMPTY

    async def stream(self, requests: AsyncIterator[bytes], context: Any) -> None:
        first = p4r.StreamMessageRequest.FromString(await context.read())
        reply = p4r.StreamMessageResponse(arbitration=first.arbitration)
        await context.write(reply.SerializeToString())
        device = first.arbitration.device_id
        offset = (device * 0.618034) % 1.0  # spreads the switches' reports over time
        rate, due_us = 0.0, 0.0
        while True:
            if rate != self.rate:
                rate = self.rate
                due_us = time.time() * 1e6 + offset * 1e6 / (rate or 1)
            if not rate:
                await self._changed.wait()
                continue
            collect_s = self._collect_s.get(device, 0.1)
            count = 1 + int(collect_s * rate)
            wait_s = due_us / 1e6 + collect_s - time.time()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
            elif wait_s < -1:
                self.late += 1
            await context.write(self._message([int(due_us + number * 1e6 / rate) for number in range(count)]))
            self.sent += count
            due_us += count * 1e6 / rate

    def _message(self, times_us: list[int]) -> bytes:
        reports = b"".join(self._head + each.to_bytes(8, "big") + self._tail for each in times_us)
        length = varint(len(self._list) + len(reports))
        return b"".join((DIGEST_TAG, length, self._list, reports))

    def handlers(self) -> grpc.GenericRpcHandler:
        return grpc.method_handlers_generic_handler(
            SERVICE,
            {
                "Write": grpc.unary_unary_rpc_method_handler(self.write),
                "GetForwardingPipelineConfig": grpc.unary_unary_rpc_method_handler(self.get_config),
                "Read": grpc.unary_stream_rpc_method_handler(self.read),
                "StreamChannel": grpc.stream_stream_rpc_method_handler(self.stream),
            },
        )


def pieces(schema: P4Schema) -> tuple[bytes, bytes]:
    """The head of a digest list, and a report of port 1 with STAMP in place of the time: serialised
    protobuf fields may be concatenated.
    """
    digest = next(each for each in schema.digests if each.alias == "interval_report_t")
    members = list(digest.type_spec.members)  # type: ignore[union-attr]
    values = dict.fromkeys(members, b"\x27\x10")
    values |= {"port": b"\x01", "cp_shift": b"\x02", "cn_shift": b"\x02", "sum_x_rtt": STAMP}
    data = [p4d.P4Data(bitstring=values[name]) for name in members]
    report = p4d.P4Data(struct=p4d.P4StructLike(members=data))
    beginning = p4r.DigestList(digest_id=digest.id, list_id=1)
    return beginning.SerializeToString(), p4r.DigestList(data=[report]).SerializeToString()


def varint(value: int) -> bytes:
    """A length as a protobuf varint."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


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
