# SPDX-License-Identifier: Apache-2.0
"""The test bench of the AXI4-Lite front end: master, units, and a checker of the handshakes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from clarion_nic.driver import register_map as regmap
from rtl.axil_master import Master
from rtl.axil_units import COMMAND_BITS, REPLY_BITS, Unit

PERIOD_NS = 4


def slice_of(vector: Any, port: int, bits: int) -> int:
    """Return a port's part of a signal, while those of other ports may be undefined."""
    return int(vector.value[bits * (port + 1) - 1 : bits * port])


class Bench:
    """The front end under test, with a master, stand-in units and a clock."""

    def __init__(self, dut: Any, seed: int = 0) -> None:
        self.dut = dut
        self.rng = random.Random(seed)
        self.ports = int(dut.PORTS.value)
        kinds = ["ingress"] * int(dut.HAS_INGRESS.value) + ["egress"] * int(dut.HAS_EGRESS.value)
        self.units = [
            Unit(kind, port, random.Random(self.rng.random())) for kind in kinds for port in range(self.ports)
        ]
        self.orders: set[str] = set()  # orders in which address and data of writes arrived
        for kind in ("ingress", "egress"):
            for signal in ("command_tready", "reply_tvalid", "reply_tdata"):
                getattr(dut, f"{kind}_{signal}").value = 0
        dut.now.value = 0
        dut.aresetn.value = 0
        Clock(dut.aclk, PERIOD_NS, unit="ns").start()
        self.master = Master(dut)

    @classmethod
    async def started(cls, dut: Any, seed: int = 0) -> Bench:
        """Return a bench after its reset."""
        bench = cls(dut, seed)
        bench.master.hold(True)
        await bench.clocks(3)
        await bench.end_reset()
        cocotb.start_soon(bench._run_units())
        cocotb.start_soon(bench._watch())
        return bench

    async def reset(self, clocks: int) -> None:
        """Reset the front end and the units."""
        self.dut.aresetn.value = 0
        self.master.hold(True)
        self.master.forget()
        await self.clocks(clocks)
        await self.end_reset()

    async def end_reset(self) -> None:
        self.dut.aresetn.value = 1
        self.master.hold(False)
        await self.clocks(1)

    async def clocks(self, count: int) -> None:
        for _ in range(count):
            await RisingEdge(self.dut.aclk)

    def unit_offset(self, unit: Unit) -> int:
        """Return the offset of the unit's block."""
        return regmap.STRIDE_BYTES * (1 + self.units.index(unit))

    def blocks(self) -> list[tuple[str, int, int]]:
        """Return kind, offset and port of every block in the order of the window."""
        units = [(unit.kind, self.unit_offset(unit), unit.port) for unit in self.units]
        return [("clarion", 0, 0xFFFFFFFF), *units]

    async def _run_units(self) -> None:
        driven: dict[str, int] = {}
        while True:
            await RisingEdge(self.dut.aclk)
            values: dict[str, int] = {}
            for unit in self.units:
                self._clock(unit)
                self._offer(unit, values)
            for name, value in values.items():
                if driven.get(name) != value:
                    driven[name] = value
                    getattr(self.dut, name).value = value

    def _clock(self, unit: Unit) -> None:
        if self.dut.aresetn.value == 0:
            unit.reset()
            return
        there = int(getattr(self.dut, f"{unit.kind}_command_tvalid").value) >> unit.port & 1
        data = getattr(self.dut, f"{unit.kind}_command_tdata")
        command = slice_of(data, unit.port, COMMAND_BITS) if there else None
        taken = int(getattr(self.dut, f"{unit.kind}_reply_tready").value) >> unit.port & 1
        unit.clock(command, bool(taken))

    def _offer(self, unit: Unit, values: dict[str, int]) -> None:
        beat = unit.offer
        bits = beat.packed(random.Random(beat.data)) if beat else 0
        driven = {
            "command_tready": unit.ready << unit.port,
            "reply_tvalid": (beat is not None) << unit.port,
            "reply_tdata": bits << REPLY_BITS * unit.port,
        }
        for signal, value in driven.items():
            name = f"{unit.kind}_{signal}"
            values[name] = values.get(name, 0) | value

    async def _watch(self) -> None:
        """Check every output: once valid, it stays valid and unchanged until ready, or a reset."""
        before: dict[str, int] = {}
        while True:
            await RisingEdge(self.dut.aclk)
            self._note_order()
            now = {name: (payload, taken) for name, payload, taken in self._outputs()}
            for name, payload in before.items():
                assert name in now, f"{name} was withdrawn before it was taken"
                assert now[name][0] == payload, f"{name} changed before it was taken"
            in_reset = self.dut.aresetn.value == 0
            before = (
                {} if in_reset else {name: payload for name, (payload, taken) in now.items() if not taken}
            )

    def _outputs(self) -> Iterator[tuple[str, int, bool]]:
        """Yield name, payload and ready of every output that is valid."""
        dut = self.dut
        if dut.s_axil_bvalid.value == 1:
            yield "write response", int(dut.s_axil_bresp.value), dut.s_axil_bready.value == 1
        if dut.s_axil_rvalid.value == 1:
            payload = int(dut.s_axil_rresp.value) << 32 | int(dut.s_axil_rdata.value)
            yield "read data", payload, dut.s_axil_rready.value == 1
        for kind in {unit.kind for unit in self.units}:
            valid = int(getattr(dut, f"{kind}_command_tvalid").value)
            if not valid:
                continue
            ready = int(getattr(dut, f"{kind}_command_tready").value)
            data = getattr(dut, f"{kind}_command_tdata")
            for port in range(self.ports):
                if valid >> port & 1:
                    yield (
                        f"command of {kind} {port}",
                        slice_of(data, port, COMMAND_BITS),
                        bool(ready >> port & 1),
                    )

    def _note_order(self) -> None:
        dut = self.dut
        address = bool(dut.s_axil_awvalid.value) and bool(dut.s_axil_awready.value)
        data = bool(dut.s_axil_wvalid.value) and bool(dut.s_axil_wready.value)
        if address and data:
            self.orders.add("together")
        elif address and bool(dut.s_axil_wready.value):
            self.orders.add("address first")
        elif data and bool(dut.s_axil_awready.value):
            self.orders.add("data first")
