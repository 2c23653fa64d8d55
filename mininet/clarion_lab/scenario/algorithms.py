# SPDX-License-Identifier: Apache-2.0
"""The senders that a scenario may name, and what each means on a host: the one registry.

Wire formats and their overhead follow the header table in docs/wire-format.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

ETHERNET_BYTES = 14  # lengths everywhere are Ethernet frames without the checksum
IPV4_BYTES = 20
TCP_BYTES = 20 + 12  # with the timestamp option, which Linux uses on every segment
MTU_BYTES = 1500  # of the inner packet; the header's room is added outside it
PAYLOAD_BYTES = MTU_BYTES - IPV4_BYTES - TCP_BYTES
HEADER_BYTES = {"none": 0, "DATA": 32, "TAG": 16}
ACK_HEADER_BYTES = {"none": 0, "DATA": 12, "TAG": 16}  # on pure ACKs of a flow, by the header of its data
FORMAT_BYTES = (0, HEADER_BYTES["DATA"], ACK_HEADER_BYTES["DATA"], HEADER_BYTES["TAG"])  # by format number


@dataclass(frozen=True)
class Algorithm:
    """One sender: its kernel congestion control, what the agent does for it, and the header on its data."""

    name: str
    kernel: str
    summary: str
    tags: bool = False
    header: str = "none"
    params: Mapping[str, str] = field(default_factory=dict)
    sack: bool = True  # whether its connections negotiate SACK

    @property
    def needs_agent(self) -> bool:
        """Whether the law is Clarion's own, loaded by clarion-host."""
        return self.kernel.startswith("clarion_")


_BOOST_LITERAL, _BOOST_TAGGED, _BOOST_JUDGED = "0", "1", "2"  # hosts/bpf/cc/params.h, enum boost_loss_policy
_XCP = "explicit rate from the routers"
_BOOST = "BoostTCP growth from measured throughput"
ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        Algorithm("xcp", "clarion_xcp", f"{_XCP}; tagged corruption is only resent", True, "DATA"),
        Algorithm("xcp-notags", "clarion_xcp", f"{_XCP}; every loss halves", False, "DATA"),
        Algorithm(
            "boost",
            "clarion_boost",
            f"{_BOOST}; backs off for tagged congestion",
            True,
            "TAG",
            {"boost_loss": _BOOST_TAGGED},
        ),
        Algorithm(
            "boost-literal",
            "clarion_boost",
            f"{_BOOST}; backs off on every loss",
            False,
            "none",
            {"boost_loss": _BOOST_LITERAL},
        ),
        Algorithm(
            "boost-judged",
            "clarion_boost",
            f"{_BOOST}; judges losses by delay",
            False,
            "none",
            {"boost_loss": _BOOST_JUDGED},
        ),
        Algorithm("fast", "clarion_fast", "FAST TCP, from queueing delay"),
        Algorithm("cubic", "cubic", "the kernel's CUBIC"),
        Algorithm("bbr", "bbr", "the kernel's BBR (version 1)"),
        Algorithm("newreno", "reno", "the kernel's Reno without SACK: NewReno (RFC 6582)", sack=False),
        Algorithm("reno", "reno", "the kernel's Reno"),
    )
}
ALIASES = {"boost-tagged": "boost"}


def lookup(name: str) -> Algorithm:
    """The algorithm of that name or alias; ValueError lists the legal names."""
    algorithm = ALGORITHMS.get(ALIASES.get(name, name))
    if algorithm is None:
        raise ValueError(f'"{name}": unknown algorithm; use {", ".join((*ALGORITHMS, *ALIASES))}')
    return algorithm


def frame_bytes(header: str) -> int:
    """Bytes on the link of a full-size segment with that header format ("none", "DATA", "TAG")."""
    return ETHERNET_BYTES + IPV4_BYTES + HEADER_BYTES[header] + TCP_BYTES + PAYLOAD_BYTES


def ack_frame_bytes(header: str) -> int:
    """Bytes on the link of a pure ACK of a flow whose data carries that header."""
    return ETHERNET_BYTES + IPV4_BYTES + ACK_HEADER_BYTES[header] + TCP_BYTES


def payload_share(header: str) -> float:
    """Payload bytes per byte on the link for full-size segments: the payload ceiling of a link of rate 1."""
    return PAYLOAD_BYTES / frame_bytes(header)


DEMO = ("xcp", "boost", "fast", "cubic", "bbr", "reno")  # what `clarion demo` compares
