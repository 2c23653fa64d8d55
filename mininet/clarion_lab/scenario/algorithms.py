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
    counts_marks: bool = False  # it is made for queues that mark, and needs to know how many packets they did
    router: str | None = None  # the law that the routers on its way have to have
    quick_start_bps: int | None = None  # what its SYN asks of them (RFC 4782)
    xcp_ttl: bool = False  # its data has the IP option of XCP-i

    @property
    def is_plain_tcp(self) -> bool:
        """Whether the law knows nothing of Clarion's header."""
        return self.kernel not in HEADER_AWARE

    @property
    def needs_agent(self) -> bool:
        """Whether the law is one that clarion-host loads."""
        return self.kernel.startswith(OURS)


_BOOST_LITERAL, _BOOST_TAGGED, _BOOST_JUDGED = "0", "1", "2"  # hosts/bpf/cc/params.h, enum boost_loss_policy
_FAST_GENERALIZED, _FAST_ADAPTIVE = "1", "2"  # the same, enum fast_alpha_rule
_XCP_LOSS_NONE = "2"  # the same, enum xcp_loss_policy
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
            "p-xcp",
            "clarion_xcp",
            f"{_XCP}; no loss reduces",
            "Zhou, Yeung, Li, GLOBECOM 2004",
            header="DATA",
            params={"xcp_loss": _XCP_LOSS_NONE},
        ),
        Algorithm(
            "ixcp",
            "clarion_xcp",
            "XCP whose routers shuffle among the flows that they limit; every loss halves",
            "Zan, Yang, IFIP Networking 2007",
            header="DATA",
            router="ixcp",
        ),
        Algorithm(
            "xcp-i",
            "clarion_xcp",
            "XCP across routers that do not know it; every loss halves",
            "Lopez Pacheco, Pham, Lefevre, GLOBECOM 2006, reconstructed",
            header="DATA",
            only_simulated=True,
            router="xcp-i",
            xcp_ttl=True,
        ),
        Algorithm(
            "vcp",
            "vcp",
            "VCP: two bits say how loaded the path is",
            "Xia, Subramanian, Stoica, Kalyanaraman, SIGCOMM 2005",
            only_simulated=True,
            router="vcp",
        ),
        Algorithm(
            "jetmax",
            "jetmax",
            "after JetMax: the fair rate of the link that leaves it least",
            "Zhang, Leonard, Loguinov 2008, reconstructed",
            only_simulated=True,
            router="jetmax",
        ),
        Algorithm(
            "maxnet",
            "maxnet",
            "after MaxNet: all answer alike to the highest price of the path",
            "Wydrowski, Zukerman 2002, reconstructed",
            only_simulated=True,
            router="maxnet",
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
        Algorithm(
            "pcc", "pcc", "tries rates and keeps the more useful", "Dong et al. 2015", only_simulated=True
        ),
    ),
    "loss": (
        Algorithm("reno", "reno", "the kernel's Reno", "RFC 5681"),
        Algorithm(
            "tahoe",
            "tahoe",
            "every loss restarts from one packet",
            "Jacobson 1988; RFC 5681",
            only_simulated=True,
        ),
        Algorithm("newreno", "reno", "the kernel's Reno without SACK: NewReno", "RFC 6582", sack=False),
        Algorithm("cubic", "cubic", "the kernel's CUBIC", "RFC 9438"),
        Algorithm(
            "bic", "clarion_bic", "searches for the window of the last loss", "Xu, Harfoush, Rhee 2004; Linux"
        ),
        Algorithm(
            "hstcp", "clarion_hstcp", "HighSpeed TCP: its steps depend on the window", "RFC 3649; Linux"
        ),
        Algorithm(
            "stcp", "clarion_stcp", "Scalable TCP: one percent more per round trip", "Kelly 2003; Linux"
        ),
        Algorithm(
            "htcp",
            "clarion_htcp",
            "H-TCP: grows with the time since the last loss",
            "Leith, Shorten 2004; Linux",
        ),
        Algorithm(
            "hybla",
            "clarion_hybla",
            "grows in time as a flow of 25 ms, whatever its round trip",
            "Caini, Firrincieli 2004; Linux",
        ),
        Algorithm(
            "libra",
            "clarion_libra",
            "equal shares for unequal round trips, by measured capacity",
            "Marfia et al. 2007",
        ),
    ),
    "corruption": (
        Algorithm(
            "nctcp",
            "clarion_nctcp",
            "network-coded TCP's window: a loss on an empty path takes nothing",
            "Kim et al. 2012",
        ),
        Algorithm(
            "scps",
            "clarion_scps",
            "SCPS-TP: takes losses for what the path is said to have",
            "CCSDS 714.0-B-2",
        ),
    ),
    "delay": (
        Algorithm(
            "vegas", "clarion_vegas", "keeps two to four packets queued", "Brakmo, Peterson 1995; Linux"
        ),
        Algorithm(
            "packet-pair",
            "packet_pair",
            "Keshav's: steers its queue in a fair queue",
            "Keshav 1991",
            only_simulated=True,
        ),
        Algorithm("fast", "clarion_fast", "FAST TCP: keeps 50 packets queued", "Wei, Jin, Low, Hegde 2006"),
        Algorithm(
            "fast-generalized",
            "clarion_fast",
            "FAST whose queue grows as a power of the number of flows",
            "Yuan et al. 2008",
            params={"fast_alpha_rule": _FAST_GENERALIZED},
        ),
        Algorithm(
            "fast-adaptive",
            "clarion_fast",
            "FAST that keeps the queueing delay at a target",
            "Zhang, Zhang, Fan 2010",
            params={"fast_alpha_rule": _FAST_ADAPTIVE},
        ),
    ),
    "loss and delay": (
        Algorithm(
            "africa",
            "clarion_africa",
            "HighSpeed TCP on an empty path, else Reno",
            "King, Baraniuk, Riedi 2005",
        ),
        Algorithm(
            "areno",
            "clarion_areno",
            "Adaptive Reno: steps follow the level of congestion",
            "Shimonishi, Murase 2005",
        ),
        Algorithm(
            "ctcp",
            "clarion_ctcp",
            "Compound TCP: Reno and a window that gives way to a queue",
            "Tan et al. 2006; draft-sridharan-tcpm-ctcp-02",
        ),
        Algorithm(
            "illinois",
            "clarion_illin",
            "the queueing delay sets growth and reduction",
            "Liu, Basar, Srikant 2006; Linux",
        ),
        Algorithm(
            "yeah",
            "clarion_yeah",
            "Scalable TCP while the queue is short, else Reno",
            "Baiocchi et al. 2007; Linux",
        ),
    ),
    "bandwidth estimate": (
        Algorithm(
            "bbr", "bbr", "the kernel's BBR, version 1", "draft-cardwell-iccrg-bbr-congestion-control-00"
        ),
        Algorithm(
            "fusion", "clarion_fusion", "grows, stays or shrinks by the queueing delay", "Kaneko et al. 2007"
        ),
        Algorithm(
            "westwood",
            "clarion_westwd",
            "a loss leaves bandwidth times least round trip",
            "Mascolo et al. 2001",
        ),
        Algorithm(
            "westwood-plus",
            "clarion_westwp",
            "Westwood+: bandwidth once per round trip",
            "Grieco, Mascolo 2004; Linux",
        ),
        Algorithm(
            "westwood-new",
            "clarion_westwn",
            "growth follows the ratio of estimates (rule inferred)",
            "Hagag, El-Sayed 2012",
        ),
        Algorithm(
            "westwood-mod",
            "clarion_westwm",
            "WestwoodNew that adds the estimate to its growth",
            "IJET 7(4.31), 2018, 363-367",
        ),
    ),
    "of today": (
        Algorithm(
            "bbr3", "bbr3", "BBR, version 3", "draft-ietf-ccwg-bbr; Google's Linux", only_simulated=True
        ),
        Algorithm(
            "prague",
            "clarion_prague",
            "TCP Prague: reduces by the share of marks, for queues of a millisecond",
            "draft-briscoe-iccrg-prague-congestion-control-04; RFC 9331, 9768",
            params={"prague_assume_accurate_ecn": "1"},
            counts_marks=True,
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
