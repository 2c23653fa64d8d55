# SPDX-License-Identifier: Apache-2.0
"""The senders that a scenario may name, and what each means on a host: the one registry."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

OURS = "clarion_"  # what the kernel's names of all our laws begin with
HEADER_AWARE = ("clarion_boost", "clarion_fast", "clarion_xcp")
MOST_QUICK_START_BPS = 1_310_720_000  # that the option can say: routers lower it to what they have
MACHINES = "kernel:"  # before the name of a congestion control that the machine brings


@dataclass(frozen=True)
class Algorithm:
    """One sender: its congestion control as the kernel calls it, and the header on its data."""

    name: str
    kernel: str
    summary: str
    source: str
    tags: bool = False
    header: str = "none"
    params: Mapping[str, str] = field(default_factory=dict)
    sack: bool = True  # whether its connections negotiate SACK
    only_simulated: bool = False  # no kernel has it, and none could be given it
    router: str | None = None  # the law that the routers on its way have to have
    quick_start_bps: int | None = None  # what its SYN asks of them (RFC 4782)

    @property
    def is_plain_tcp(self) -> bool:
        """Whether the law knows nothing of Clarion's header."""
        return self.kernel not in HEADER_AWARE

    @property
    def needs_agent(self) -> bool:
        """Whether the law is one that clarion-host loads."""
        return self.kernel.startswith(OURS)


_BOOST_LITERAL, _BOOST_TAGGED, _BOOST_JUDGED = "0", "1", "2"  # hosts/bpf/cc/params.h, enum boost_loss_policy
_XCP = "explicit rate from the routers"
_XCP_SOURCE = "draft-falk-xcp-spec-03; Katabi et al. 2002"
_BOOST = "BoostTCP growth from measured throughput"
_BOOST_SOURCE = "Sensors 2022, 22(23), 9187"
GROUPS: Mapping[str, tuple[Algorithm, ...]] = {
    "told by routers": (
        Algorithm(
            "xcp", "clarion_xcp", f"{_XCP}; tagged corruption is only resent", _XCP_SOURCE, True, "DATA"
        ),
        Algorithm("xcp-notags", "clarion_xcp", f"{_XCP}; every loss halves", _XCP_SOURCE, False, "DATA"),
        Algorithm(
            "vcp",
            "vcp",
            "VCP: two bits say how loaded the path is",
            "Xia, Subramanian, Stoica, Kalyanaraman, SIGCOMM 2005",
            only_simulated=True,
            router="vcp",
        ),
        Algorithm(
            "cubic-quickstart",
            "cubic",
            "CUBIC; begins at the rate that all routers approve",
            "RFC 4782; RFC 9438",
            only_simulated=True,
            router="quick-start",
            quick_start_bps=MOST_QUICK_START_BPS,
        ),
    ),
    "learning": (
        Algorithm(
            "boost",
            "clarion_boost",
            f"{_BOOST}; backs off for tagged congestion",
            _BOOST_SOURCE,
            True,
            "TAG",
            {"boost_loss": _BOOST_TAGGED},
        ),
        Algorithm(
            "boost-literal",
            "clarion_boost",
            f"{_BOOST}; backs off on every loss",
            _BOOST_SOURCE,
            params={"boost_loss": _BOOST_LITERAL},
        ),
        Algorithm(
            "boost-judged",
            "clarion_boost",
            f"{_BOOST}; judges losses by delay",
            _BOOST_SOURCE,
            params={"boost_loss": _BOOST_JUDGED},
        ),
    ),
    "delay": (
        Algorithm("fast", "clarion_fast", "FAST TCP: keeps packets queued", "Wei, Jin, Low, Hegde 2006"),
    ),
    "loss": (
        Algorithm("stcp", "clarion_stcp", "Scalable TCP: one percent per round trip", "Kelly 2003"),
        Algorithm("cubic", "cubic", "the kernel's CUBIC", "RFC 9438"),
        Algorithm("reno", "reno", "the kernel's Reno", "RFC 5681"),
        Algorithm("newreno", "reno", "the kernel's Reno without SACK: NewReno", "RFC 6582", sack=False),
    ),
    "bandwidth estimate": (
        Algorithm(
            "bbr", "bbr", "the kernel's BBR, version 1", "draft-cardwell-iccrg-bbr-congestion-control-00"
        ),
    ),
}
ALGORITHMS = {algorithm.name: algorithm for group in GROUPS.values() for algorithm in group}
ALIASES = {"boost-tagged": "boost"}
DEFAULT = "xcp"
DEMO = ("xcp", "boost", "fast", "cubic", "bbr", "reno")  # what `clarion demo` compares


def lookup(name: str) -> Algorithm:
    """The algorithm of that name or alias, or kernel:NAME; ValueError lists the legal names."""
    module = name.removeprefix(MACHINES)
    if module != name and re.fullmatch("[a-z0-9_]{1,15}", module) and not module.startswith(OURS):
        return Algorithm(name, module, f"the machine's own {module}", "the machine's kernel")
    algorithm = ALGORITHMS.get(ALIASES.get(name, name))
    if algorithm is None:
        legal = ", ".join((*ALGORITHMS, *ALIASES, f"{MACHINES}NAME"))
        raise ValueError(f'"{name}": unknown algorithm; use {legal}')
    return algorithm
