# SPDX-License-Identifier: Apache-2.0
"""The cases that test_wrapper.py simulates, on clarion_250mhz with stand-ins for the units."""

from __future__ import annotations

import os
import random
from collections import deque
from dataclasses import dataclass
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from clarion_nic.driver import register_map as regs

PORTS = 2
REGISTER_CLOCK_PS = int(os.environ.get("WRAPPER_REGISTER_CLOCK_PS", "8000"))
DATA_CLOCK_PS = 4000
INGRESS_MARK, EGRESS_MARK = 0x1000, 0x2000  # written to tuser_src by the stand-ins
WIRE_IN, WIRE_OUT = "s_axis_adap_rx_250mhz", "m_axis_adap_tx_250mhz"
HOST_IN, HOST_OUT = "s_axis_qdma_h2c", "m_axis_qdma_c2h"


@dataclass(frozen=True)
class Frame:
    """A frame on a stream, with its side-band."""

    data: bytes
    source: int
    destination: int = 0

    def beats(self) -> list[tuple[int, int, int]]:
        """Return data, keep and last of each beat."""
        parts = [self.data[at : at + 64] for at in range(0, len(self.data), 64)]
        return [
            (int.from_bytes(part, "little"), (1 << len(part)) - 1, int(at == len(parts) - 1))
            for at, part in enumerate(parts)
        ]


def value(signal: Any) -> int:
    return int(signal.value)


class Streams:
    """All ports of one direction; each signal is one vector over all ports."""

    def __init__(self, dut: Any, prefix: str, chance: random.Random) -> None:
        self.dut, self.prefix, self.chance = dut, prefix, chance
        self.waiting: list[deque[Frame]] = [deque() for _ in range(PORTS)]
        self.got: list[list[Frame]] = [[] for _ in range(PORTS)]

    def signal(self, name: str) -> Any:
        return getattr(self.dut, f"{self.prefix}_{name}")

    def field(self, name: str, port: int, bits: int) -> int:
        return value(self.signal(name)) >> (port * bits) & ((1 << bits) - 1)

    async def drive(self) -> None:
        """Send the waiting frames, with gaps; valid stays high until ready."""
        beats: list[list[tuple[int, int, int]]] = [[] for _ in range(PORTS)]
        offered = [False] * PORTS
        frames: list[Frame | None] = [None] * PORTS
        while True:
            for port in range(PORTS):
                if not beats[port] and self.waiting[port]:
                    frame = self.waiting[port].popleft()
                    frames[port], beats[port] = frame, frame.beats()
                offered[port] = offered[port] or (bool(beats[port]) and self.chance.random() < 0.7)
            self._put(beats, offered, frames)
            await RisingEdge(self.dut.axis_aclk)
            ready = value(self.signal("tready"))
            for port in range(PORTS):
                if offered[port] and ready >> port & 1:
                    beats[port].pop(0)
                    offered[port] = False

    def _put(self, beats: list[Any], offered: list[bool], frames: list[Frame | None]) -> None:
        def packed(bits: int, of: list[int]) -> int:
            return sum(number << (port * bits) for port, number in enumerate(of))

        now = [beats[port][0] if offered[port] else (0, 0, 0) for port in range(PORTS)]
        sizes = [len(frame.data) if frame else 0 for frame in frames]
        sources = [frame.source if frame else 0 for frame in frames]
        self.signal("tvalid").value = packed(1, [int(is_offered) for is_offered in offered])
        self.signal("tdata").value = packed(512, [beat[0] for beat in now])
        self.signal("tkeep").value = packed(64, [beat[1] for beat in now])
        self.signal("tlast").value = packed(1, [beat[2] for beat in now])
        self.signal("tuser_size").value = packed(16, sizes)
        self.signal("tuser_src").value = packed(16, sources)
        self.signal("tuser_dst").value = 0  # as in the shell

    async def collect(self) -> None:
        """Take frames, with ready low now and then."""
        data = [b""] * PORTS
        while True:
            ready = sum(int(self.chance.random() < 0.8) << port for port in range(PORTS))
            self.signal("tready").value = ready
            await RisingEdge(self.dut.axis_aclk)
            taken = ready & value(self.signal("tvalid"))
            for port in range(PORTS):
                if taken >> port & 1:
                    keep = self.field("tkeep", port, 64)
                    data[port] += self.field("tdata", port, 512).to_bytes(64, "little")[: keep.bit_count()]
                    if self.field("tlast", port, 1):
                        self._finish(port, data[port])
                        data[port] = b""

    def _finish(self, port: int, data: bytes) -> None:
        assert self.field("tuser_size", port, 16) == len(data)
        source, destination = self.field("tuser_src", port, 16), self.field("tuser_dst", port, 16)
        self.got[port].append(Frame(data, source, destination))


async def started(dut: Any) -> AxiLiteMaster:
    """Start both clocks on one edge, go through the shell's reset, return a master of the registers."""
    for prefix in (WIRE_IN, HOST_IN):
        getattr(dut, f"{prefix}_tvalid").value = 0
    for prefix in (WIRE_OUT, HOST_OUT):
        getattr(dut, f"{prefix}_tready").value = 0
    Clock(dut.axis_aclk, DATA_CLOCK_PS, "ps").start()
    Clock(dut.axil_aclk, REGISTER_CLOCK_PS, "ps").start()
    for name in ("awvalid", "wvalid", "bready", "arvalid", "rready"):
        getattr(dut, f"s_axil_{name}").value = 0
    await reset(dut)
    return AxiLiteMaster(AxiLiteBus.from_prefix(dut, "s_axil"), dut.axil_aclk)


async def reset(dut: Any) -> None:
    dut.mod_rstn.value = 0
    for _ in range(4):
        await RisingEdge(dut.axil_aclk)
    assert value(dut.mod_rst_done) == 0
    dut.mod_rstn.value = 1
    for _ in range(40):
        await RisingEdge(dut.axil_aclk)
    assert value(dut.mod_rst_done) == 1


def expected(bump: bool, origin: str, port: int, frame: Frame) -> tuple[str, int, Frame] | None:
    """Return the port and content with which a frame must come out; None: dropped."""
    if bump and origin == HOST_IN:
        return None
    to_wire = bump or origin == HOST_IN
    out = 1 - port if bump else port
    marks = INGRESS_MARK | EGRESS_MARK if bump else EGRESS_MARK if to_wire else INGRESS_MARK
    destination = 1 << (6 + out) if to_wire else 1 << out
    return (WIRE_OUT if to_wire else HOST_OUT), out, Frame(frame.data, frame.source | marks, destination)


@cocotb.test(timeout_time=100, timeout_unit="us")
async def every_frame_arrives_where_it_should(dut: Any) -> None:
    await started(dut)
    chance = random.Random(5)
    inputs = {prefix: Streams(dut, prefix, chance) for prefix in (WIRE_IN, HOST_IN)}
    outputs = {prefix: Streams(dut, prefix, chance) for prefix in (WIRE_OUT, HOST_OUT)}
    wanted: dict[tuple[str, int], list[Frame]] = {(o, p): [] for o in outputs for p in range(PORTS)}
    for length in (60, 63, 64, 65, 128, 129, 1514, 9600, *(chance.randint(60, 1600) for _ in range(12))):
        for origin in inputs:
            for port in range(PORTS):
                shell_source = 1 << (6 + port) if origin == WIRE_IN else 1 << port
                frame = Frame(chance.randbytes(length), shell_source)
                inputs[origin].waiting[port].append(frame)
                if (arrival := expected(bool(value(dut.BUMP)), origin, port, frame)) is not None:
                    wanted[arrival[0], arrival[1]].append(arrival[2])
    for streams in inputs.values():
        cocotb.start_soon(streams.drive())
    for streams in outputs.values():
        cocotb.start_soon(streams.collect())
    for _ in range(3000):
        await RisingEdge(dut.axis_aclk)
    for (prefix, port), frames in wanted.items():
        assert outputs[prefix].got[port] == frames, f"{prefix} port {port}"
    assert not any(waiting for streams in inputs.values() for waiting in streams.waiting)


async def walk(master: AxiLiteMaster) -> list[tuple[int, int, int]]:
    """Return offset, type and port of every block."""
    found, offset = [], 0
    while True:
        kind, port, following = [
            await master.read_dword(offset + regs.HEADER[name].offset) for name in ("type", "port", "next")
        ]
        found.append((offset, kind, port))
        if following == 0:
            return found
        offset = following


@cocotb.test(timeout_time=100, timeout_unit="us")
async def software_finds_the_blocks(dut: Any) -> None:
    master = await started(dut)
    types = regs.BLOCK_TYPES
    assert [(kind, port) for _, kind, port in await walk(master)] == [
        (types["clarion"], 0xFFFFFFFF),
        (types["ingress"], 0),
        (types["ingress"], 1),
        (types["egress"], 0),
        (types["egress"], 1),
    ]


@cocotb.test(timeout_time=100, timeout_unit="us")
async def each_unit_answers_through_its_own_mailbox(dut: Any) -> None:
    master = await started(dut)
    protocol = regs.REGISTERS["clarion"]["protocol"].offset
    await master.write_dword(protocol, 0x5A)
    blocks = (await walk(master))[1:]
    request, done = regs.MAILBOX["request"].offset, regs.MAILBOX["done"].offset
    for offset, kind, port in blocks:  # all requests first, to detect an answer in the wrong place
        await master.write_dword(offset + regs.COMMAND_OFFSET, 0xC0000000 | kind & 0xFF)
        await master.write_dword(offset + regs.COMMAND_OFFSET + 4, 0xA0 + port)
        await master.write_dword(offset + request, 7)
    for offset, kind, port in blocks:
        while await master.read_dword(offset + done) != 7:
            pass
        reply = [await master.read_dword(offset + regs.REPLY_OFFSET + 4 * word) for word in range(7)]
        name = b"ingr" if kind == regs.BLOCK_TYPES["ingress"] else b"egrs"
        assert reply[:4] == [int.from_bytes(name, "big"), 0xC0000000 | kind & 0xFF, 0xA0 + port, 0x5A]
        assert reply[4] > 0, "the units see no time"
        sizes = [reply[6]]
        if kind == regs.BLOCK_TYPES["egress"]:
            beat = offset + regs.REPLY_OFFSET + 5 * 4 * regs.BEAT_WORDS  # where the stand-in puts it
            assert [await master.read_dword(beat + 4 * word) for word in range(2)] == [0, 0], (
                "queue_elsewhere"
            )
            sizes.append(await master.read_dword(beat + 8))
        assert sizes == [int(dut.BUCKETS.value), int(dut.QUEUE_BEATS.value)][: len(sizes)]


@cocotb.test(timeout_time=100, timeout_unit="us")
async def outside_the_window_is_refused(dut: Any) -> None:
    master = await started(dut)
    for address in (0x10000, 0xFFFFC, 0x80000000):
        assert (await master.read(address, 4)).resp == AxiResp.DECERR
        assert (await master.write(address, bytes(4))).resp == AxiResp.DECERR
    assert (await master.read(0x0, 4)).resp == AxiResp.OKAY  # and still answers


@cocotb.test(timeout_time=100, timeout_unit="us")
async def reads_and_writes_from_both_sides_at_once(dut: Any) -> None:
    master = await started(dut)
    scratch = regs.REGISTERS["clarion"]["scratch"].offset
    type_offset = regs.HEADER["type"].offset
    writes = [cocotb.start_soon(master.write_dword(scratch, number)) for number in range(20)]
    for _ in range(20):
        assert await master.read_dword(type_offset) == regs.BLOCK_TYPES["clarion"]
    for write in writes:
        await write
    assert await master.read_dword(scratch) == 19


@cocotb.test(timeout_time=100, timeout_unit="us")
async def the_shells_reset_resets_the_registers(dut: Any) -> None:
    master = await started(dut)
    scratch = regs.REGISTERS["clarion"]["scratch"].offset
    await master.write_dword(scratch, 0x12345678)
    assert await master.read_dword(scratch) == 0x12345678
    await reset(dut)
    assert await master.read_dword(scratch) == 0
