# SPDX-License-Identifier: Apache-2.0
"""Plays recorded tokens into the RTL of one unit and compares what comes out, token by token; run by cocotb.

A token is a line of words, and word N of stream `s` goes through port `s_N`. Environment: PLAY_FOLDER with
STREAM.txt, PLAY_IN and PLAY_OUT (stream:words, comma separated), PLAY_LIMIT tokens of the first input,
PLAY_RESULT (a file), PLAY_STALLS (chance in percent that a port waits in a clock), PLAY_WIRES (wire:value,
comma separated: what is neither a stream nor changes).
"""

from __future__ import annotations

import json
import os
import random
from pathlib import Path
from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, RisingEdge


def tokens(stream: str) -> list[list[int]]:
    """Read the tokens of a stream."""
    path = Path(os.environ["PLAY_FOLDER"]) / f"{stream}.txt"
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [[int(word, 16) for word in line.split()] for line in lines]


def streams(name: str) -> list[tuple[str, int]]:
    """Return the streams of a variable and their words, or wires and their values."""
    parts = (each.split(":") for each in os.environ[name].split(",") if each)
    return [(stream, int(words)) for stream, words in parts]


class Ports:
    """One direction of the unit: what is still to go in, or what has come out, by port."""

    def __init__(self, dut: Any, names: list[str]) -> None:
        self.signals = {
            name: tuple(dut[f"{name}_{signal}"] for signal in ("TDATA", "TVALID", "TREADY")) for name in names
        }


async def drive(dut: Any, name: str, words: list[int], chance: random.Random, stalls: int) -> None:
    """Offer words at a port, each until it is taken."""
    data, valid, ready = Ports(dut, [name]).signals[name]
    for word in words:
        while chance.randrange(100) < stalls:
            valid.value = 0
            await FallingEdge(dut.clock)
        data.value = word
        valid.value = 1
        while True:
            await RisingEdge(dut.clock)
            taken = str(ready.value) == "1"
            await FallingEdge(dut.clock)
            if taken:
                break
    valid.value = 0


async def collect(
    dut: Any, name: str, into: list[tuple[int, int]], clocks: list[int], chance: random.Random, stalls: int
) -> None:
    """Take words from a port, with the clock in which each came."""
    data, valid, ready = Ports(dut, [name]).signals[name]
    while True:
        ready.value = int(chance.randrange(100) >= stalls)
        await RisingEdge(dut.clock)
        if str(valid.value) == "1" and str(ready.value) == "1":
            into.append((clocks[0], int(data.value)))
        await FallingEdge(dut.clock)


def different(got: list[int], wanted: list[int]) -> int | None:
    """Return the place of the first word that is not as recorded."""
    pairs = enumerate(zip(got, wanted, strict=False))
    place = next((at for at, (word, other) in pairs if word != other), None)
    return len(wanted) if place is None and len(got) > len(wanted) else place


async def count(dut: Any, clocks: list[int]) -> None:
    """Count clocks."""
    while True:
        await RisingEdge(dut.clock)
        clocks[0] += 1


@cocotb.test()
async def unit(dut: Any) -> None:
    """Play."""
    chance = random.Random(3)
    stalls = int(os.environ["PLAY_STALLS"])
    inputs, outputs = streams("PLAY_IN"), streams("PLAY_OUT")
    limit = int(os.environ["PLAY_LIMIT"])
    wanted = {f"{s}_{w}": [token[w] for token in tokens(s)] for s, words in outputs for w in range(words)}
    got: dict[str, list[tuple[int, int]]] = {port: [] for port in wanted}
    clocks = [0]
    for wire, value in streams("PLAY_WIRES"):
        dut[wire].value = value
    dut.reset.value = 0
    dut.start_port.value = 0
    for stream, words in inputs:
        for word in range(words):
            dut[f"{stream}_{word}_TVALID"].value = 0
            dut[f"{stream}_{word}_TDATA"].value = 0
    for port in wanted:
        dut[f"{port}_TREADY"].value = 0
    Clock(dut.clock, 4, unit="ns").start()
    for _ in range(5):
        await FallingEdge(dut.clock)
    dut.reset.value = 1
    dut.start_port.value = 1
    cocotb.start_soon(count(dut, clocks))
    for port, into in got.items():
        cocotb.start_soon(collect(dut, port, into, clocks, chance, stalls))
    tasks = []
    for stream, words in inputs:
        most = limit if stream == inputs[0][0] else None  # of the others what goes with it is taken
        for word in range(words):
            offered = [token[word] for token in tokens(stream)[:most]]
            task = cocotb.start_soon(drive(dut, f"{stream}_{word}", offered, chance, stalls))
            if most is not None:
                tasks.append(task)
    for task in tasks:
        await task
    for _ in range(300):  # what is still inside
        await FallingEdge(dut.clock)
    result = {
        "clocks": clocks[0] - 300,
        "taken": min(limit, len(tokens(inputs[0][0]))),
        "ports": {
            port: {
                "words": len(into),
                "recorded": len(wanted[port]),
                "different": different([word for _, word in into], wanted[port]),
                "first": into[0][0] if into else None,
            }
            for port, into in got.items()
        },
    }
    Path(os.environ["PLAY_RESULT"]).write_text(json.dumps(result, indent=1), encoding="utf-8")
