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
    """Stands for a unit: answers with random beats after random delays, takes a command with the last."""

    kind: str
    port: int
    rng: random.Random
    held: bool = False  # no further beats are offered
    deaf: bool = False  # no command is looked at
    commands: list[list[int]] = field(default_factory=list)
    answers: list[list[Beat]] = field(default_factory=list)
    answering: bool = False
    offer: Beat | None = None
    waiting: deque[Beat] = field(default_factory=deque)
    delay: int = 0

    @property
    def ready(self) -> bool:
        """Whether the command is taken: with the last beat of its answer."""
        return self.answering and self.offer is not None and self.offer.last

    def clock(self, command: int | None, taken: bool) -> None:
        """Advance by a clock in which there was this command, and in which the offered beat was taken."""
        if self.offer is not None and taken:
            ended, self.offer = self.ready, None
            if ended:
                self.answering = False
                return  # the command is still there in this clock
        if command is not None and not self.answering and not self.deaf:
            self._accept(command)
        if self.offer is None and self.waiting and not self.held:
            if self.delay:
                self.delay -= 1
            elif self.rng.random() < 0.5:
                self.offer = self.waiting.popleft()

    def stray(self, beat: Beat) -> None:
        """Offer an unsolicited beat."""
        self.offer = beat

    def reset(self) -> None:
        """Forget the command and the answer to it."""
        self.answering, self.offer = False, None
        self.waiting.clear()

    def _accept(self, data: int) -> None:
        """Look at a command and plan its answer: beats in any order, the last one at the end."""
        self.commands.append([data >> 32 * i & 0xFFFFFFFF for i in range(regmap.COMMAND_WORDS)])
        count = self.rng.randint(1, BEATS)
        no_place = self.rng.sample(range(BEATS, 8), self.rng.randint(0, 8 - BEATS))
        others = [*range(count - 1), *no_place]
        self.rng.shuffle(others)
        indices = [*others, count - 1]
        self.answers.append([self._beat(index, i == len(others)) for i, index in enumerate(indices)])
        self.waiting.extend(self.answers[-1])
        self.answering = True
        self.delay = self.rng.choice([0, 0, 1, 3, 30])

    def _beat(self, index: int, last: bool) -> Beat:
        return Beat(index, last, self.rng.getrandbits(8), self.rng.getrandbits(COMMAND_BITS))
