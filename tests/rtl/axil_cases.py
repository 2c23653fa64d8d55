# SPDX-License-Identifier: Apache-2.0
"""clarion_axil against the generated register map; run in the simulator by test_axil.py."""

from __future__ import annotations

import random
from typing import Any

import cocotb
from cocotb.triggers import gather

from clarion_nic.driver import register_map as regmap
from rtl.axil_bench import Bench
from rtl.axil_master import OKAY, SLVERR
from rtl.axil_units import BEATS, Beat, Unit

WORDS = regmap.BEAT_WORDS
WINDOW = range(0, regmap.WINDOW_BYTES, 4)
SOME_STALLS = 0.6


def registers_of(kind: str) -> dict[int, regmap.Register]:
    """Return every register of a kind of block by its offset."""
    found = [*regmap.HEADER.values(), *regmap.REGISTERS.get(kind, {}).values()]
    if kind != "clarion":
        found += regmap.MAILBOX.values()
        command = regmap.COMMAND_OFFSET
        found += [
            regmap.Register(command + 4 * i, True, 0, 0xFFFFFFFF, "") for i in range(regmap.COMMAND_WORDS)
        ]
        reply = regmap.REPLY_OFFSET
        found += [regmap.Register(reply + 4 * i, False, 0, 0, "") for i in range(regmap.REPLY_WORDS)]
    return {register.offset: register for register in found}


def expected_after_reset(bench: Bench) -> dict[int, int]:
    """Return the value of every register of the window after a reset, except counters."""
    values: dict[int, int] = {}
    blocks = bench.blocks()
    for i, (kind, offset, port) in enumerate(blocks):
        major, minor = regmap.BLOCK_VERSIONS[kind]
        is_last = i == len(blocks) - 1
        header = {
            "type": regmap.BLOCK_TYPES[kind],
            "version": major << 16 | minor,
            "next": 0 if is_last else blocks[i + 1][1],
            "port": port,
        }
        values |= {offset + register.offset: register.reset for register in registers_of(kind).values()}
        values |= {offset + regmap.HEADER[name].offset: value for name, value in header.items()}
    stated = {
        name: int(getattr(bench.dut, name.upper()).value) for name in ("ports", "buckets", "queue_beats")
    }
    stated |= {name: int(getattr(bench.dut, name.upper()).value) for name in ("clock_hz", "build")}
    return values | {regmap.REGISTERS["clarion"][name].offset: value for name, value in stated.items()}


REFUSED = regmap.REGISTERS["clarion"]["refused"].offset
SCRATCH = regmap.REGISTERS["clarion"]["scratch"].offset
PROTOCOL = regmap.REGISTERS["clarion"]["protocol"].offset
NOW_LOW = regmap.REGISTERS["clarion"]["now_low"].offset
NOW_HIGH = regmap.REGISTERS["clarion"]["now_high"].offset
REQUEST = regmap.MAILBOX["request"].offset
DONE = regmap.MAILBOX["done"].offset
STATUS = regmap.MAILBOX["status"].offset


async def read(bench: Bench, address: int) -> int:
    """Return the value of a register."""
    response, data = await bench.master.read(address)
    assert response == OKAY, f"{address:#x} cannot be read"
    return data


async def write(bench: Bench, address: int, data: int) -> None:
    """Write a register."""
    assert await bench.master.write(address, data) == OKAY, f"{address:#x} cannot be written"


async def holds(bench: Bench, values: dict[int, int]) -> None:
    """Every register holds its value."""
    for address, value in values.items():
        assert (address, await read(bench, address)) == (address, value)


async def walk(bench: Bench) -> list[tuple[int, int, int]]:
    """Return type, offset and port of every block as software finds them."""
    found: list[tuple[int, int, int]] = []
    offset = 0
    while not found or offset:
        type_ = await read(bench, offset + regmap.HEADER["type"].offset)
        found.append((type_, offset, await read(bench, offset + regmap.HEADER["port"].offset)))
        assert len(found) <= 16, "the walk has no end"
        offset = await read(bench, offset + regmap.HEADER["next"].offset)
    return found


async def is_done(bench: Bench, unit: Unit, number: int) -> None:
    """Wait until a request has been carried out."""
    for _ in range(500):
        if await read(bench, bench.unit_offset(unit) + DONE) == number:
            return
    raise AssertionError(f"request {number} of {unit.kind} {unit.port} is not carried out")


async def give(bench: Bench, unit: Unit, command: list[int], number: int) -> None:
    """Write a command and its request."""
    for i, word in enumerate(command):
        await write(bench, bench.unit_offset(unit) + regmap.COMMAND_OFFSET + 4 * i, word)
    await write(bench, bench.unit_offset(unit) + REQUEST, number)


async def answer_is_there(bench: Bench, unit: Unit) -> None:
    """`reply` and `status` hold the last answer of the unit only, not earlier ones."""
    reply = [0] * (8 * WORDS)
    for beat in unit.answers[-1]:
        reply[beat.index * WORDS : (beat.index + 1) * WORDS] = [
            beat.data >> 32 * i & 0xFFFFFFFF for i in range(WORDS)
        ]
    at = bench.unit_offset(unit)
    await holds(bench, {at + STATUS: unit.answers[-1][-1].status})
    await holds(bench, {at + regmap.REPLY_OFFSET + 4 * i: reply[i] for i in range(BEATS * WORDS)})


def a_command(rng: random.Random) -> list[int]:
    return [rng.getrandbits(32) for _ in range(regmap.COMMAND_WORDS)]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def software_finds_every_block_by_walking(dut: Any) -> None:
    bench = await Bench.started(dut)
    found = await walk(bench)
    assert found == [(regmap.BLOCK_TYPES[kind], offset, port) for kind, offset, port in bench.blocks()]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def every_register_is_that_of_the_map(dut: Any) -> None:
    bench = await Bench.started(dut)
    await holds(bench, expected_after_reset(bench))
    for kind, block, _ in bench.blocks():
        for offset, register in registers_of(kind).items():
            before = await read(bench, block + offset)
            for value in (0xA5C30F96, 0x5A3CF069, 0xFFFFFFFF, bench.rng.getrandbits(32)):
                response = await bench.master.write(block + offset, value)
                assert response == (OKAY if register.writable else SLVERR), f"{kind} {offset:#x}"
                if offset != REFUSED or kind != "clarion":
                    wanted = value & register.mask if register.writable else before
                    if kind == "clarion" or offset not in (DONE, STATUS):
                        assert await read(bench, block + offset) == wanted, f"{kind} {offset:#x}"


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def an_access_without_register_is_refused_and_counted(dut: Any) -> None:
    bench = await Bench.started(dut)
    values = expected_after_reset(bench)
    free = [address for address in WINDOW if address not in values]
    last = bench.blocks()[-1][1] + regmap.STRIDE_BYTES
    kinds = {kind: block for kind, block, _ in bench.blocks()}
    chosen = [a for a in free if any(0 <= a - block < 0x400 for block in kinds.values())]
    chosen += [*[a for a in free if a >= last][:4], *bench.rng.sample(free, 300)]
    chosen += [address + bench.rng.randint(1, 3) for address in bench.rng.sample(sorted(values), 40)]
    for address in chosen:
        assert await bench.master.read(address) == (SLVERR, 0), f"{address:#x}"
        assert await bench.master.write(address, bench.rng.getrandbits(32)) == SLVERR, f"{address:#x}"
    del values[REFUSED]
    await holds(bench, values)
    assert await read(bench, REFUSED) == 2 * len(chosen)
    assert not any(unit.commands for unit in bench.units)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_write_of_less_than_a_word_is_refused(dut: Any) -> None:
    bench = await Bench.started(dut)
    writable = {
        block + offset: register
        for kind, block, _ in bench.blocks()
        for offset, register in registers_of(kind).items()
        if register.writable
    }
    for address in [SCRATCH, PROTOCOL, *bench.rng.sample(sorted(writable), 5)]:
        for strobes in range(15):
            assert await bench.master.write(address, ~writable[address].reset & 0xFFFFFFFF, strobes) == SLVERR
        assert await read(bench, address) == writable[address].reset
    assert await read(bench, REFUSED) == 7 * 15


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def refused_accesses_are_counted_up_to_the_last_number(dut: Any) -> None:
    bench = await Bench.started(dut)
    for start in (0xFFFFFFFC, 0xFFFFFFFD, 0xFFFFFFFE):
        dut.identity.refused.value = start
        for refused in range(1, 6):
            await bench.master.write(0, 0)
            assert await read(bench, REFUSED) == min(start + refused, 0xFFFFFFFF)
    # A write and a read that are refused in the same clock count as two; the offset at which they meet is
    # found by trying.
    for start in (0, 0xFFFFFFFD, 0xFFFFFFFE, 0xFFFFFFFF):
        both = 0
        for delay in range(6):
            dut.identity.refused.value = start
            reading = cocotb.start_soon(bench.master.read(2))
            await bench.clocks(delay)
            writing = cocotb.start_soon(bench.master.write(0, 0))
            while not (writing.done() and reading.done()):
                await bench.clocks(1)
                both += dut.refused_write.value == 1 and dut.refused_read.value == 1
            assert await read(bench, REFUSED) == min(start + 2, 0xFFFFFFFF)
        assert both


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def time_is_shown_as_it_comes_in(dut: Any) -> None:
    bench = await Bench.started(dut)
    for _ in range(20):
        now = bench.rng.getrandbits(64)
        dut.now.value = now
        assert (await read(bench, NOW_HIGH)) << 32 | await read(bench, NOW_LOW) == now


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def the_protocol_goes_to_the_units(dut: Any) -> None:
    bench = await Bench.started(dut)
    assert dut.protocol.value == regmap.REGISTERS["clarion"]["protocol"].reset
    for value in (0, 1, 0x80, 0xFF, 0x1234):
        await write(bench, PROTOCOL, value)
        assert dut.protocol.value == value & 0xFF


async def keep_writing(bench: Bench, addresses: list[int], rng: random.Random, rounds: int) -> None:
    """Write registers that no other task writes, and read them back."""
    held = {address: await read(bench, address) for address in addresses}
    for _ in range(rounds):
        address = rng.choice(addresses)
        kind = rng.randrange(4)
        if kind == 0:
            held[address] = rng.getrandbits(32)
            await write(bench, address, held[address])
        elif kind == 1:
            assert await bench.master.write(address, rng.getrandbits(32), rng.randrange(15)) == SLVERR
        elif kind == 2:
            assert await bench.master.read(address | 2) == (SLVERR, 0)
        else:
            await holds(bench, {address: held[address]})


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def channels_in_any_order_with_stalls(dut: Any) -> None:
    bench = await Bench.started(dut, seed=2)
    own = [[SCRATCH]]
    for unit in bench.units:
        at = bench.unit_offset(unit) + regmap.COMMAND_OFFSET
        own += [[at + 4 * i for i in range(8)], [at + 4 * i for i in range(8, 16)]]
    for share in (0.0, 0.3, SOME_STALLS, 0.9):
        bench.master.stall(bench.rng, share)
        tasks = [keep_writing(bench, addresses, random.Random(bench.rng.random()), 40) for addresses in own]
        await gather(*tasks)
    assert bench.orders == {"together", "address first", "data first"}
    assert not any(unit.commands for unit in bench.units)


async def many_requests(bench: Bench, unit: Unit, rng: random.Random, rounds: int) -> None:
    """Every request reaches the unit as written, and the answer read is the one that the unit sent."""
    at = bench.unit_offset(unit)
    given: list[list[int]] = []
    number = 0
    for _ in range(rounds):
        given.append(a_command(rng))
        number = (number + rng.choice([1, 2, 0x80000000])) & 0xFFFFFFFF
        await give(bench, unit, given[-1], number)
        if rng.random() < 0.5:  # the copy already taken does not change
            await write(bench, at + regmap.COMMAND_OFFSET + 4 * rng.randrange(16), rng.getrandbits(32))
        await is_done(bench, unit, number)
        assert unit.commands == given
        await answer_is_there(bench, unit)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def requests_of_all_units_at_once(dut: Any) -> None:
    bench = await Bench.started(dut, seed=3)
    bench.master.stall(bench.rng, 0.3)
    tasks = [many_requests(bench, unit, random.Random(bench.rng.random()), 6) for unit in bench.units]
    await gather(*tasks)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_request_while_one_runs_comes_after_it(dut: Any) -> None:
    bench = await Bench.started(dut, seed=4)
    for unit in bench.units:
        at = bench.unit_offset(unit)
        first, second = a_command(bench.rng), a_command(bench.rng)
        await give(bench, unit, a_command(bench.rng), 6)  # leaves a reply, which must disappear
        await is_done(bench, unit, 6)
        unit.held = True
        await give(bench, unit, first, 7)
        await bench.clocks(30)
        await give(bench, unit, second, 8)
        await holds(bench, {at + REQUEST: 8, at + DONE: 6, at + STATUS: 0})
        await holds(bench, {at + regmap.REPLY_OFFSET + 4 * i: 0 for i in range(regmap.REPLY_WORDS)})
        assert unit.commands[1:] == [first]
        unit.held = False
        await is_done(bench, unit, 8)
        assert unit.commands[1:] == [first, second]
        await answer_is_there(bench, unit)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_request_that_is_taken_back_runs_under_its_new_number(dut: Any) -> None:
    bench = await Bench.started(dut, seed=5)
    unit = bench.units[-1]
    unit.held = True
    command = a_command(bench.rng)
    await give(bench, unit, command, 1)
    await write(bench, bench.unit_offset(unit) + REQUEST, 0)
    unit.held = False
    await bench.clocks(200)
    await is_done(bench, unit, 0)
    assert unit.commands == [command, command]


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def the_same_number_again_is_no_request(dut: Any) -> None:
    bench = await Bench.started(dut)
    unit = bench.units[0]
    await give(bench, unit, a_command(bench.rng), 0)
    await bench.clocks(50)
    assert unit.commands == []
    await give(bench, unit, a_command(bench.rng), 5)
    await is_done(bench, unit, 5)
    await give(bench, unit, a_command(bench.rng), 5)
    await bench.clocks(50)
    assert len(unit.commands) == 1


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_reset_at_any_time_leaves_nothing(dut: Any) -> None:
    bench = await Bench.started(dut, seed=6)
    for round_ in range(8):
        bench.master.stall(bench.rng, SOME_STALLS)
        tasks = [
            cocotb.start_soon(many_requests(bench, unit, random.Random(bench.rng.random()), 3))
            for unit in bench.units
        ]
        tasks.append(cocotb.start_soon(keep_writing(bench, [SCRATCH], random.Random(round_), 1000)))
        await bench.clocks(bench.rng.randint(1, 1200))
        for task in tasks:
            task.cancel()
        await bench.reset(bench.rng.randint(1, 3))
        for name in ("s_axil_bvalid", "s_axil_rvalid", "ingress_command_tvalid", "egress_command_tvalid"):
            assert getattr(dut, name).value == 0, name
        bench.master.run_freely()
        for unit in bench.units:
            unit.commands.clear()
        await holds(bench, expected_after_reset(bench))
    bench.master.stall(bench.rng, 0.3)
    await many_requests(bench, bench.units[0], bench.rng, 3)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_reset_in_any_clock_of_an_access_ends_it(dut: Any) -> None:
    bench = await Bench.started(dut)
    for delay in range(1, 8):
        for address in (SCRATCH, WINDOW[-1]):
            reading = cocotb.start_soon(bench.master.read(address))
            writing = cocotb.start_soon(bench.master.write(address, 5))
            await bench.clocks(delay)
            reading.cancel()
            writing.cancel()
            await bench.reset(1)
            for _ in range(6):
                assert (dut.s_axil_bvalid.value, dut.s_axil_rvalid.value) == (0, 0)
                await bench.clocks(1)
            await holds(bench, {SCRATCH: 0, REFUSED: 0})


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_beat_that_nobody_has_asked_for_is_dropped(dut: Any) -> None:
    bench = await Bench.started(dut, seed=7)
    for unit in bench.units:
        at = bench.unit_offset(unit)
        for last in (False, True):
            unit.stray(Beat(0, last, bench.rng.getrandbits(8), bench.rng.getrandbits(512)))
            await bench.clocks(4)
            assert unit.offer is None, "it is taken all the same"
        await holds(bench, {at + DONE: 0, at + STATUS: 0})
        await holds(bench, {at + regmap.REPLY_OFFSET + 4 * i: 0 for i in range(regmap.REPLY_WORDS)})
        await give(bench, unit, a_command(bench.rng), 3)
        await is_done(bench, unit, 3)
        await answer_is_there(bench, unit)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_reset_ends_an_answer(dut: Any) -> None:
    bench = await Bench.started(dut, seed=8)
    for unit in bench.units:
        at = bench.unit_offset(unit)
        unit.commands.clear()
        await give(bench, unit, a_command(bench.rng), 9)
        while unit.offer is None:
            await bench.clocks(1)
        await bench.reset(1)
        await bench.clocks(40)
        await holds(bench, {at + DONE: 0, at + STATUS: 0})
        await holds(bench, {at + regmap.REPLY_OFFSET + 4 * i: 0 for i in range(regmap.REPLY_WORDS)})
        await give(bench, unit, a_command(bench.rng), 3)
        await is_done(bench, unit, 3)
        await answer_is_there(bench, unit)
