# SPDX-License-Identifier: Apache-2.0
"""The list of checks: what the specification says in one sentence, and a function that tries it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from conformance.p4runtime.peer import Lab

Level = Literal["MUST", "SHOULD", "MAY"]
SPECIFICATION = "1.5.0"
TITLES = {
    "5": "Client Arbitration and Controller Replication",
    "8": "General Principles for Message Formatting",
    "9.1": "TableEntry",
    "9.2": "ActionProfileMember and ActionProfileGroup",
    "9.3": "CounterEntry and DirectCounterEntry",
    "9.4": "MeterEntry and DirectMeterEntry",
    "9.5": "PacketReplicationEngineEntry",
    "9.6": "ValueSetEntry",
    "9.7": "RegisterEntry",
    "9.8": "DigestEntry",
    "9.9": "ExternEntry",
    "10": "Error Reporting Messages",
    "12": "Write RPC",
    "13": "Read RPC",
    "14": "SetForwardingPipelineConfig RPC",
    "15": "GetForwardingPipelineConfig RPC",
    "16": "P4Runtime Stream Messages",
    "17": "Capabilities RPC",
    "A.4": "Guidelines for Implementations",
}


@dataclass(frozen=True)
class Check:
    """One sentence of the specification."""

    section: str  # such as 9.1.3
    level: Level
    sentence: str
    run: Callable[[Lab], None]

    @property
    def id(self) -> str:
        """A name that is unique in the list."""
        return self.run.__name__

    @property
    def chapter(self) -> str:
        """The section's key in TITLES: its longest prefix there."""
        return max((key for key in TITLES if f"{self.section}.".startswith(f"{key}.")), key=len)


CHECKS: dict[str, Check] = {}


def check(
    section: str, level: Level, sentence: str
) -> Callable[[Callable[[Lab], None]], Callable[[Lab], None]]:
    """Adds a function to the list."""

    def add(run: Callable[[Lab], None]) -> Callable[[Lab], None]:
        made = Check(section, level, sentence, run)
        assert made.id not in CHECKS, f"{made.id}: there are two"
        CHECKS[made.id] = made
        return run

    return add


class Deviation(Exception):  # noqa: N818  (what a server does, not a fault of ours)
    """What a server does instead of what the specification says."""


def wants(found: object, *allowed: object) -> None:
    """Ends the check with a Deviation unless the server did one of the things that are allowed."""
    if found not in allowed:
        raise Deviation(str(found))
