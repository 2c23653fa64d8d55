# SPDX-License-Identifier: Apache-2.0
"""Whether the link at a port is a bare wire, judged by the LLDP neighbours that it hears.

Only across a bare wire is a gap in the numbers of packets a loss by corruption. A bridge or a modem between
two ports may drop packets of its own: it shows as an LLDP neighbour without the Clarion TLV, or by letting
several neighbours through.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clarion_contract.lldp import Hello, Identifier

MAX_NEIGHBOURS = 8  # at a port; two disprove its wire already

US_PER_S = 1_000_000


class Judgement(enum.Enum):
    """What LLDP says of a wire."""

    UNPROVEN = "unproven"
    UNNUMBERED = "unnumbered"  # by its neighbour: sequence numbers were stamped further upstream
    PROVEN = "proven"
    DISPROVED = "disproved"


@dataclass(frozen=True)
class Verdict:
    """A judgement with its reason, one line. It stands until `until_us` if no further hello comes; None for
    UNPROVEN, which needs none.
    """

    judgement: Judgement
    reason: str
    until_us: int | None = None


@dataclass(frozen=True)
class Neighbour:
    """A neighbour by its last hello."""

    hello: Hello
    since_us: int  # of its first hello
    until_us: int  # the end of its time to live


class Neighbours:
    """The neighbours of one port. All times are of one clock of the caller's."""

    def __init__(self) -> None:
        self._known: dict[tuple[Identifier, Identifier], Neighbour] = {}

    def hear(self, hello: Hello, now_us: int) -> None:
        """Takes a hello. A time to live of 0 ends its neighbour; what exceeds MAX_NEIGHBOURS is dropped."""
        key = hello.chassis, hello.port
        self._known = {known: each for known, each in self._known.items() if now_us < each.until_us}
        if hello.ttl_s == 0:
            self._known.pop(key, None)
            return
        before = self._known.get(key)
        if before is None and len(self._known) >= MAX_NEIGHBOURS:
            return
        since_us = now_us if before is None else before.since_us
        self._known[key] = Neighbour(hello, since_us, now_us + hello.ttl_s * US_PER_S)

    def alive(self, now_us: int) -> list[Neighbour]:
        """Those whose time to live has not ended, the one heard first leading."""
        found = (each for each in self._known.values() if now_us < each.until_us)
        return sorted(found, key=lambda each: each.since_us)


def judge(alive: Iterable[Neighbour]) -> Verdict:
    """The verdict on a port with these neighbours alive."""
    neighbours = list(alive)
    judgement, reason = _judged(neighbours)
    if judgement is Judgement.UNPROVEN:
        return Verdict(judgement, reason)
    for until_us in sorted(each.until_us for each in neighbours):
        left = [each for each in neighbours if each.until_us > until_us]
        if _judged(left)[0] is not judgement:
            return Verdict(judgement, reason, until_us)
    raise AssertionError("without neighbours nothing is judged")


def _judged(neighbours: Sequence[Neighbour]) -> tuple[Judgement, str]:
    if not neighbours:
        return Judgement.UNPROVEN, "no LLDP neighbour is heard"
    if len(neighbours) > 1:
        named = " and ".join(_named(each.hello) for each in neighbours[:2])
        more = f" and {len(neighbours) - 2} more" if len(neighbours) > 2 else ""
        return Judgement.DISPROVED, f"{len(neighbours)} neighbours are heard: {named}{more}"
    (only,) = neighbours
    name = _named(only.hello)
    if only.hello.clarion is None:
        return Judgement.DISPROVED, f"{name} is not a Clarion port"
    if not only.hello.clarion.stamps:
        return Judgement.UNNUMBERED, f"{name} does not number its packets"
    return Judgement.PROVEN, f"{name} is the only neighbour and numbers its packets"


class WireState(enum.Enum):
    """What counts at a port, the declaration considered."""

    DECLARED = "declared"
    PROVEN = "proven"
    DISPROVED = "disproved"
    UNNUMBERED = "unnumbered"
    UNPROVEN = "unproven"


@dataclass(frozen=True)
class Wire:
    """The wire at a port: what LLDP says, and what its port declares."""

    declared: bool
    verdict: Verdict

    @property
    def state(self) -> WireState:
        """LLDP's word if it has one, else the declaration."""
        if self.verdict.judgement is Judgement.UNPROVEN and self.declared:
            return WireState.DECLARED
        return WireState(self.verdict.judgement.value)

    @property
    def is_effective(self) -> bool:
        """Whether gaps count as corruption where the port checks."""
        return self.state in (WireState.DECLARED, WireState.PROVEN)

    @property
    def counts(self) -> str | None:
        """The side that decides: "lldp" or "declaration"; None if neither says anything."""
        if self.verdict.judgement is not Judgement.UNPROVEN:
            return "lldp"
        return "declaration" if self.declared else None

    @property
    def explanation(self) -> str:
        """Why the wire has this state and, in a conflict, what follows; one line."""
        if self.is_conflict:
            return f"declared a wire, but {self.verdict.reason}; LLDP counts, the check is off"
        if self.counts == "declaration":
            return f"declared a wire; {self.verdict.reason}"
        return self.verdict.reason

    @property
    def is_conflict(self) -> bool:
        """Whether the port is declared a bare wire and LLDP denies it. LLDP counts: the check is off."""
        return self.declared and not self.is_effective


def _named(hello: Hello) -> str:
    return f"{hello.chassis_name} port {hello.port_name}"
