# SPDX-License-Identifier: Apache-2.0
"""The compiled P4 program, in the interpreter, beside the reference model."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random

from conformance.bmv2.switch import Switch
from conformance.harness import (
    Configure,
    Copy,
    Dequeue,
    Enqueue,
    Event,
    Ingress,
    ReferencePlayer,
    Restart,
    State,
    decode,
    explain,
)
from conformance.p4_player import P4Player
from conformance.reference import ACK, COEFFICIENT_MAX, Config, classify
from fuzz.stream import MALFORMED, PROTOCOL, ROUND_FRAMES, VALID, Judged, frames

BATCH = 4096  # frames from one restart to the next; a whole number of them is a round
PORTS = 3
ETHERNET_BYTES = 14
NEAREST_BRIDGE = bytes.fromhex("0180c200000e")
CPU_PORT = 63
KINDS = {1: "data", 2: "ack", 3: "tag"}


class PropertyError(Exception):
    """A property does not hold; the text has the frame."""


def play(program: Path, count: int, seed: int, only_round: int | None = None) -> dict[str, object]:
    """Play so many frames, or one round; return what was played, as the other targets print it."""
    start, tally, player = time.monotonic(), Counter[str](), P4Player()
    first_round = only_round or 0
    stream = frames(program, count if only_round is None else ROUND_FRAMES, seed, first_round)
    number = first_round * ROUND_FRAMES // BATCH
    while batch := list(islice(stream, BATCH)):
        try:
            play_batch(player, batch, Random(f"{seed}-{number}"), tally)
        except PropertyError as error:
            again = f"make fuzz ONLY=p4 SEED={seed} ROUND={number * BATCH // ROUND_FRAMES}"
            raise PropertyError(f"fuzz: p4: {error}\n  again: {again}") from None
        number += 1
    seconds = round(time.monotonic() - start, 1)
    return {"target": "p4", "frames": tally["frames"], "seed": seed, "seconds": seconds, **tally}


def play_batch(player: P4Player, batch: list[Judged], random: Random, tally: Counter[str]) -> None:
    """Play frames from a restart on, and count them by kind."""
    player.play([Restart()])
    events: list[Event] = [Configure(port, any_config(random)) for port in range(PORTS)]
    sent: list[Judged] = []  # of each frame that leaves
    hellos: list[bytes] = []
    now = random.randrange(2**32)
    for judged in batch:
        require_same_judgement(judged)
        tally["frames"] += 1
        tally[kind_of(judged)] += 1
        if len(judged.frame) >= ETHERNET_BYTES and judged.frame.startswith(NEAREST_BRIDGE):
            hellos.append(judged.frame)
            continue
        now += random.choice((0, 1000, 100_000, random.randrange(2 ** random.randrange(1, 32))))
        passage = any_passage(judged.frame, now, random)
        sent += [judged for event in passage if isinstance(event, Dequeue)]
        events += passage
    events += [State(port) for port in range(PORTS)]
    got, expected = player.play(events), ReferencePlayer().play(events)
    if got != expected:
        last = last_frame(events, got, expected).hex()
        raise PropertyError(f"not as the reference: {explain(events, got, expected)}\n  frame: {last}")
    left = [bytes.fromhex(answer["frame"]) for _, answer in decode(events, got) if "frame" in answer]
    for judged, frame in zip(sent, left, strict=True):
        require_rewritten(judged, frame)
        tally["changed"] += frame != judged.frame
    for hello in hellos:  # last: the reference is a data plane without neighbours
        require_kept(player.switch, hello)


def last_frame(events: list[Event], got: bytes, expected: bytes) -> bytes:
    """The frame that came in last before two answers differ."""
    frame = b""
    for (event, one), (_, other) in zip(decode(events, got), decode(events, expected), strict=True):
        frame = event.frame if isinstance(event, Ingress) else frame
        if one != other:
            break
    return frame


def kind_of(judged: Judged) -> str:
    """What the frame is to a router."""
    if judged.verdict == VALID:
        return KINDS[judged.format]
    return "malformed" if judged.verdict == MALFORMED else "ordinary"


def any_config(random: Random) -> Config:
    """Settings of a port, likely and extreme."""
    bits = random.getrandbits
    config = Config(
        xcp=random.random() < 0.75,
        capacity=random.choice((12_500_000, 1 << bits(5), bits(38))),
        stamp=random.random() < 0.75,
        check=random.random() < 0.75,
        edge=random.random() < 0.25,
        wire=random.random() < 0.75,
    )
    if random.random() < 0.5:
        return config
    alpha, beta, gamma = (random.randrange(COEFFICIENT_MAX + 1) for _ in range(3))
    low, high = (bits(random.randrange(1, 33)) for _ in range(2))
    return replace(config, alpha=alpha, beta=beta, gamma=gamma, min_interval=low, max_interval=high)


def any_passage(frame: bytes, now: int, random: Random) -> list[Event]:
    """A frame in by port 0 and out by port 1, or flooded to two; some are dropped by the queue."""
    queue = random.choice((0, 0, random.randrange(10_000), random.getrandbits(40)))
    copies: list[Event] = []
    targets = [(1, 0)]
    if random.random() < 0.125:
        copies, targets = [Copy(0, 1)], [(1, 0), (2, 1)]
    events: list[Event] = [Ingress(0, 0, now, frame), *copies]
    for port, slot in targets:
        events.append(Enqueue(port, slot, now, queue))
        if random.random() < 0.9375:
            events.append(Dequeue(port, slot, now, queue))
    return events


def require_same_judgement(judged: Judged) -> None:
    """Two models of docs/wire-format.md, written apart, agree on the frame."""
    packet, malformed = classify(judged.frame, PROTOCOL)
    if (packet.format, malformed) != (judged.format, judged.verdict == MALFORMED):
        raise PropertyError(f"the judges disagree: {judged}, {packet.format}, {malformed}")


def require_kept(switch: Switch, frame: bytes) -> None:
    """What is for the nearest bridge goes to the controller at most."""
    ports = [copy.port for copy in switch.ingress(0, frame, 0)]
    if ports not in ([], [CPU_PORT]):
        raise PropertyError(f"forwarded to {ports} what no bridge forwards: {frame.hex()}")


def require_rewritten(judged: Judged, frame: bytes) -> None:
    """Only a header with totals is rewritten, and nothing else of its frame."""
    if judged.verdict == VALID and judged.format != ACK:
        same = len(frame) == len(judged.frame)
    else:
        same = frame == judged.frame
    if not same:
        raise PropertyError(f"changed otherwise than a router may: {judged.frame.hex()} to {frame.hex()}")
