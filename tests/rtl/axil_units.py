# SPDX-License-Identifier: Apache-2.0
"""Stand-ins for the units behind a mailbox."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field

from clarion_nic.driver import register_map as regmap

COMMAND_BITS = 512
REPLY_BITS = 528
BEATS = regmap.REPLY_WORDS // regmap.BEAT_WORDS


@dataclass
class Beat:
    """One beat of an answer."""

    index: int
    last: bool
    status: int
    data: int

    def packed(self, rng: random.Random) -> int:
        """Return the beat as bits of the stream; unused bits are random."""
        low = self.index | self.last << 3 | self.status << 4 | rng.getrandbits(4) << 12
        return self.data << 16 | low


@dataclass
class Unit:
    """Stands for a unit: takes commands and answers each with random beats, after random delays."""

    kind: str
    port: int
    streams: int  # number of reply streams
    rng: random.Random
    held: bool = False  # no further beats are offered
    deaf: bool = False  # no command is accepted
    at_once: list[Beat] = field(default_factory=list)  # to be offered in the next clock, one on each stream
    commands: list[list[int]] = field(default_factory=list)
    answers: list[list[Beat]] = field(default_factory=list)
    ready: bool = False
    offers: list[Beat | None] = field(default_factory=list)
    waiting: list[deque[Beat]] = field(default_factory=list)
    delay: int = 0

    def __post_init__(self) -> None:
        self.offers = [None] * self.streams
        self.waiting = [deque() for _ in range(self.streams)]

    def accept(self, data: int) -> None:
        """Take a command and plan its answer: beats in any order on any stream, the last one at the end.

        A last beat on the second stream may overtake all pending beats of the first.
        """
        self.commands.append([data >> 32 * i & 0xFFFFFFFF for i in range(regmap.COMMAND_WORDS)])
        count = self.rng.randint(1, BEATS)
        no_place = self.rng.sample(range(BEATS, 8), self.rng.randint(0, 8 - BEATS))
        others = [*range(count - 1), *no_place]
        self.rng.shuffle(others)
        indices = [*others, count - 1]
        beats = [
            Beat(index, i == len(indices) - 1, self.rng.getrandbits(8), self.rng.getrandbits(COMMAND_BITS))
            for i, index in enumerate(indices)
        ]
        self.answers.append(beats)
        for beat in beats:
            self.waiting[self.rng.randrange(self.streams)].append(beat)
        self.delay = self.rng.choice([0, 0, 1, 3, 30])

    def clock(self, taken: list[bool]) -> None:
        """Advance by a clock, given which of the offered beats were taken in it."""
        for i, was_taken in enumerate(taken):
            if was_taken:
                self.offers[i] = None
        self.ready = not self.deaf and self.rng.random() < 0.3
        if self.at_once:
            self.offers, self.at_once = [*self.at_once], []
        if self.held:
            return
        if self.delay:
            self.delay -= 1
            return
        # On the first stream the last beat may be offered together with the one before it, not earlier.
        for i in self.rng.sample(range(self.streams), self.streams):
            if self.offers[i] is None and self.waiting[i] and self.rng.random() < 0.5:
                others = [beat for queue in self.waiting for beat in queue if beat is not self.waiting[i][0]]
                if i == 1 or not (self.waiting[i][0].last and others):
                    self.offers[i] = self.waiting[i].popleft()

    def answer_at_once(self, beats: list[Beat]) -> None:
        """Offer a beat on each stream in one clock, instead of the planned answer."""
        self.answers[-1] = sorted(beats, key=lambda beat: beat.last)
        for queue in self.waiting:
            queue.clear()
        self.at_once = beats

    @property
    def is_idle(self) -> bool:
        """Whether all answers have been taken."""
        return not any(self.offers) and not any(self.waiting)
