# SPDX-License-Identifier: Apache-2.0
"""An AXI4-Lite master for simulations: any number of tasks at once, independent stalls on every channel."""

from __future__ import annotations

import logging
import random
from collections import deque
from collections.abc import Iterator
from typing import Any

import cocotb
from cocotb.triggers import Event
from cocotbext.axi import AxiLiteBus, axil_channels

OKAY, SLVERR = 0, 2


def stalls(rng: random.Random, share: float) -> Iterator[bool]:
    """Yield for each clock whether a channel stalls: a share of the clocks, in bursts."""
    while True:
        stalled = rng.random() < share
        for _ in range(rng.randint(1, 4)):
            yield stalled


class Master:
    """An AXI4-Lite master whose five channels stall independently; any number of tasks may use it at once."""

    def __init__(self, dut: Any) -> None:
        bus = AxiLiteBus.from_prefix(dut, "s_axil")
        clock = dut.aclk
        logging.getLogger(f"cocotb.{dut._name}").setLevel(logging.WARNING)
        self._address = axil_channels.AxiLiteAWSource(bus.write.aw, clock)
        self._data = axil_channels.AxiLiteWSource(bus.write.w, clock)
        self._written = axil_channels.AxiLiteBSink(bus.write.b, clock)
        self._read = axil_channels.AxiLiteARSource(bus.read.ar, clock)
        self._answer = axil_channels.AxiLiteRSink(bus.read.r, clock)
        self._writers: deque[Event] = deque()
        self._readers: deque[Event] = deque()
        self._responses: dict[Event, tuple[int, int]] = {}
        cocotb.start_soon(self._take_written())
        cocotb.start_soon(self._take_answers())

    @property
    def channels(self) -> list[Any]:
        return [self._address, self._data, self._written, self._read, self._answer]

    def stall(self, rng: random.Random, share: float) -> None:
        """Stall every channel in a share of the clocks, independently."""
        for channel in self.channels:
            channel.set_pause_generator(stalls(random.Random(rng.random()), share))

    def run_freely(self) -> None:
        for channel in self.channels:
            channel.clear_pause_generator()
            channel.pause = False

    def forget(self) -> None:
        """Drop pending transfers, as a reset does."""
        self._writers.clear()
        self._readers.clear()
        for channel in self.channels:
            channel.clear()

    def hold(self, held: bool) -> None:
        """Keep the channels in reset, in which no valid may be high."""
        for channel in self.channels:
            channel.assert_reset(held)

    async def write(self, address: int, data: int, strobes: int = 0xF) -> int:
        """Return the response."""
        self._address.send_nowait(axil_channels.AxiLiteAWTransaction(awaddr=address))
        self._data.send_nowait(axil_channels.AxiLiteWTransaction(wdata=data, wstrb=strobes))
        return (await self._wait(self._writers))[0]

    async def read(self, address: int) -> tuple[int, int]:
        """Return the response and the data."""
        self._read.send_nowait(axil_channels.AxiLiteARTransaction(araddr=address))
        return await self._wait(self._readers)

    async def _wait(self, queue: deque[Event]) -> tuple[int, int]:
        answered = Event()
        queue.append(answered)
        await answered.wait()
        return self._responses.pop(answered)

    async def _take_written(self) -> None:
        while True:
            answer = await self._written.recv()
            self._answered(self._writers, int(answer.bresp), 0)

    async def _take_answers(self) -> None:
        while True:
            answer = await self._answer.recv()
            self._answered(self._readers, int(answer.rresp), int(answer.rdata))

    def _answered(self, queue: deque[Event], response: int, data: int) -> None:
        assert queue, "an answer without a request"
        answered = queue.popleft()
        self._responses[answered] = (response, data)
        answered.set()
