# SPDX-License-Identifier: Apache-2.0
# Made by `python -m clarion_contract.generate` from registers.yaml; do not edit.
# ruff: noqa: E501
"""Registers of the FPGA block: where they are, what they hold. Offsets are bytes, registers 32 bits wide."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Register:
    """A register at an offset in its block; a write changes the bits of `mask`."""

    offset: int
    writable: bool
    reset: int
    mask: int
    about: str


@dataclass(frozen=True)
class Field:
    """A number in a command or reply. Wider than 32 bits, it takes `word` (low) and the one after.

    In a command `word` counts from its operation, which is word 0; in a reply from its first beat, 16 a beat.
    """

    name: str
    bits: int
    limit: int
    signed: bool
    word: int
    about: str


WINDOW_BYTES = 0x10000

STRIDE_BYTES = 0x1000

BLOCK_TYPES = {"clarion": 0x434C4152, "ingress": 0x434C4149, "egress": 0x434C4145}

BLOCK_VERSIONS: dict[str, tuple[int, int]] = {"clarion": (1, 0), "ingress": (2, 0), "egress": (2, 0)}

BLOCK_ABOUT = {
    "clarion": "the whole block",
    "ingress": "what comes in by one port",
    "egress": "what leaves by one port",
}

HEADER = {
    "type": Register(0x0, False, 0, 0xFFFFFFFF, "what block this is"),
    "version": Register(0x4, False, 0, 0xFFFFFFFF, "major * 65536 + minor; software refuses another major"),
    "next": Register(
        0x8, False, 0, 0xFFFFFFFF, "offset of the next block in the window, 0: this is the last"
    ),
    "port": Register(0xC, False, 0, 0xFFFFFFFF, "port that the block serves; 0xffffffff: all of them"),
}

REGISTERS = {
    "clarion": {
        "ports": Register(0x10, False, 0, 0xFFFFFFFF, "number of ports"),
        "buckets": Register(0x14, False, 0, 0xFFFFFFFF, "buckets per port"),
        "queue_beats": Register(0x18, False, 0, 0xFFFFFFFF, "packet memory of one port, beats of 64 bytes"),
        "clock_hz": Register(0x1C, False, 0, 0xFFFFFFFF, "data path clock"),
        "build": Register(
            0x20, False, 0, 0xFFFFFFFF, "first 32 bits of the source's commit, as stated when it was built"
        ),
        "scratch": Register(
            0x24, True, 0, 0xFFFFFFFF, "free for software; 0 after a reset, so that software sees one"
        ),
        "protocol": Register(0x28, True, 253, 0xFF, "IP protocol number of the Clarion header"),
        "now_low": Register(
            0x2C, False, 0, 0xFFFFFFFF, "time, ticks of 2^-28 s, low half; two reads of now_high tell a carry"
        ),
        "now_high": Register(0x30, False, 0, 0xFFFFFFFF, "high half"),
        "refused": Register(
            0x34,
            False,
            0,
            0xFFFFFFFF,
            "accesses answered by an error since reset: no register there, not writable, not 32 bits; saturating",
        ),
    }
}

MAILBOX = {
    "request": Register(0x10, True, 0, 0xFFFFFFFF, "change it to have `command` carried out"),
    "done": Register(
        0x14,
        False,
        0,
        0xFFFFFFFF,
        "the last request carried out; until it equals `request`, `reply` is not valid",
    ),
    "status": Register(0x18, False, 0, 0xFFFFFFFF, "how the last request ended"),
}

COMMAND_OFFSET = 0x40

COMMAND_WORDS = 16

REPLY_OFFSET = 0x100

REPLY_WORDS = 112

BEAT_WORDS = 16

OPERATIONS = {"configure": 1, "read": 2, "read_bucket": 3, "reset": 4}

STATUS = {"ok": 0, "unknown_operation": 1, "out_of_range": 2}

STATUS_ABOUT = {
    "ok": "carried out",
    "unknown_operation": "nothing was done",
    "out_of_range": "a value that the field does not hold; nothing was done",
}

COMMANDS: dict[str, dict[str, tuple[Field, ...]]] = {
    "ingress": {
        "configure": (
            Field("check", 1, 0x1, False, 1, "count the losses of the incoming link"),
            Field("edge", 1, 0x1, False, 2, "a host is behind this port: zero what it claims"),
            Field("wire", 1, 0x1, False, 3, "the link is a bare wire: gaps in its numbers count"),
            Field(
                "epoch",
                8,
                0xFF,
                False,
                4,
                "another one than before makes the check take new bases; not 0 while check is on",
            ),
        ),
        "read": (),
        "read_bucket": (Field("bucket", 16, 0xFFFF, False, 1, "which"),),
        "reset": (),
    },
    "egress": {
        "configure": (
            Field("xcp", 1, 0x1, False, 1, "efficiency and fairness controllers on"),
            Field("stamp", 1, 0x1, False, 2, "number packets for the link and count drops of the queue"),
            Field(
                "epoch",
                8,
                0xFF,
                False,
                3,
                "another one than the running one starts the controllers from nothing; not 0 while xcp is on",
            ),
            Field("capacity", 64, 0x3FFFFFFFFF, False, 4, "bytes/s"),
            Field("alpha", 18, 0x3FFFF, False, 6, "q16"),
            Field("beta", 18, 0x3FFFF, False, 7, "q16"),
            Field("gamma", 18, 0x3FFFF, False, 8, "q16"),
            Field("min_interval", 32, 0xFFFFFFFF, False, 9, "ticks, at least 1"),
            Field("max_interval", 32, 0xFFFFFFFF, False, 10, "ticks, at least min_interval"),
            Field("generation", 2, 0x2, False, 11, "1 or 2"),
            Field(
                "queue_limit", 64, 0xFFFFFFFFFF, False, 12, "bytes that may wait; packet memory limits it too"
            ),
        ),
        "read": (),
        "read_bucket": (Field("bucket", 16, 0xFFFF, False, 1, "which"),),
        "reset": (),
    },
}

REPLIES: dict[str, dict[str, tuple[tuple[Field, ...], ...]]] = {
    "ingress": {
        "configure": ((),),
        "read": (
            (
                Field("rx_packets", 64, 0xFFFFFFFFFFFFFFFF, False, 0, "whole frames that came in"),
                Field("rx_bytes", 64, 0xFFFFFFFFFFFFFFFF, False, 2, "their bytes without FCS"),
                Field(
                    "malformed",
                    64,
                    0xFFFFFFFFFFFFFFFF,
                    False,
                    4,
                    "of them, frames whose Clarion header cannot be read",
                ),
                Field(
                    "errored",
                    64,
                    0xFFFFFFFFFFFFFFFF,
                    False,
                    6,
                    "frames not passed on: under 60 or over 9600 bytes, gaps in keep, a stated size that is not true",
                ),
                Field(
                    "overflow",
                    64,
                    0xFFFFFFFFFFFFFFFF,
                    False,
                    8,
                    "whole frames not passed on, because the receiver behind was too slow",
                ),
                Field(
                    "lost", 64, 0xFFFFFFFFFFFFFFFF, False, 10, "packets missing in gaps of the link's numbers"
                ),
                Field(
                    "late",
                    64,
                    0xFFFFFFFFFFFFFFFF,
                    False,
                    12,
                    "packets that came after they were counted as lost",
                ),
                Field("rebased", 64, 0xFFFFFFFFFFFFFFFF, False, 14, "jumps that were not believed"),
            ),
            (
                Field("check", 1, 0x1, False, 16, "as configured"),
                Field("edge", 1, 0x1, False, 17, "as configured"),
                Field("wire", 1, 0x1, False, 18, "as configured"),
                Field("epoch", 8, 0xFF, False, 19, "as configured"),
            ),
        ),
        "read_bucket": (
            (
                Field("expected", 16, 0xFFFF, False, 0, "next number of the link"),
                Field("total", 16, 0xFFFF, False, 1, "losses"),
                Field("epoch", 8, 0xFF, False, 2, "of the check that wrote the two; 0: never"),
                Field("far", 8, 0xFF, False, 3, "packets in a row more than 256 behind"),
            ),
        ),
        "reset": ((),),
    },
    "egress": {
        "configure": ((),),
        "read": (
            (
                Field("tx_packets", 64, 0xFFFFFFFFFFFFFFFF, False, 0, "frames that left"),
                Field("tx_bytes", 64, 0xFFFFFFFFFFFFFFFF, False, 2, "their bytes"),
                Field(
                    "drop_packets", 64, 0xFFFFFFFFFFFFFFFF, False, 4, "frames that the queue had no room for"
                ),
                Field("drop_bytes", 64, 0xFFFFFFFFFFFFFFFF, False, 6, "their bytes"),
                Field(
                    "overflow",
                    64,
                    0xFFFFFFFFFFFFFFFF,
                    False,
                    8,
                    "of them, those that packet memory, not the limit, had no room for",
                ),
                Field("errored", 64, 0xFFFFFFFFFFFFFFFF, False, 10, "frames that are none; see ingress"),
                Field("queue_bytes", 64, 0xFFFFFFFFFFFFFFFF, False, 12, "waiting now"),
                Field(
                    "queue_byte_ticks",
                    64,
                    0xFFFFFFFFFFFFFFFF,
                    False,
                    14,
                    "waiting bytes times ticks, summed up modulo 2^64",
                ),
            ),
            (
                Field(
                    "queue_lost", 64, 0xFFFFFFFFFFFFFFFF, False, 16, "drops that the queue's check has found"
                ),
                Field(
                    "queue_late",
                    64,
                    0xFFFFFFFFFFFFFFFF,
                    False,
                    18,
                    "always 0 in a queue that keeps the order",
                ),
                Field("queue_rebased", 64, 0xFFFFFFFFFFFFFFFF, False, 20, "jumps that were not believed"),
                Field(
                    "input", 64, 0xFFFFFFFFFFFFFFFF, False, 22, "bytes that arrived in the running interval"
                ),
                Field("sum_x", 64, 0xFFFFFFFFFFFFFFFF, False, 24, "ticks"),
                Field("sum_x_rtt", 64, 0xFFFFFFFFFFFFFFFF, False, 26, "2^-48 s²"),
                Field("persistent_queue", 64, 0xFFFFFFFFFFFFFFFF, False, 28, "bytes"),
                Field("least_queue", 64, 0xFFFFFFFFFFFFFFFF, False, 30, "bytes"),
            ),
            (
                Field("intervals", 64, 0xFFFFFFFFFFFFFFFF, False, 32, "control intervals that have ended"),
                Field("rate", 64, 0xFFFFFFFFFFFFFFFF, False, 34, "input rate of the last, q8 bytes/s"),
                Field("phi", 64, 0x7FFFFFFFFFFFFFFF, True, 36, "wanted change, q8 bytes/s"),
                Field("interval_start", 64, 0xFFFFFFFFFFFFFFFF, False, 38, "ticks"),
                Field("window_start", 64, 0xFFFFFFFFFFFFFFFF, False, 40, "ticks"),
                Field(
                    "interval_input",
                    64,
                    0xFFFFFFFFFFFFFFFF,
                    False,
                    42,
                    "bytes that arrived in the last interval",
                ),
                Field("interval_sum_x", 64, 0xFFFFFFFFFFFFFFFF, False, 44, "ticks"),
                Field("interval_sum_x_rtt", 64, 0xFFFFFFFFFFFFFFFF, False, 46, "2^-48 s²"),
            ),
            (
                Field("avg_rtt", 32, 0xFFFFFFFF, False, 48, "ticks"),
                Field("elapsed", 32, 0xFFFFFFFF, False, 49, "length of the last interval, ticks"),
                Field(
                    "interval_queue",
                    64,
                    0xFFFFFFFFFFFFFFFF,
                    False,
                    50,
                    "persistent queue at the end of the last interval, bytes",
                ),
                Field(
                    "interval_pos",
                    64,
                    0xFFFFFFFFFFFFFFFF,
                    False,
                    52,
                    "handed out to packets, increases; q8 bytes/s",
                ),
                Field("interval_neg", 64, 0xFFFFFFFFFFFFFFFF, False, 54, "decreases"),
                Field("interval_cp", 32, 0xFFFFFFFF, False, 56, "mantissa of Cp"),
                Field("interval_cp_shift", 32, 0xFFFFFFFF, False, 57, "right shift of Cp"),
                Field("interval_cn", 32, 0xFFFFFFFF, False, 58, "mantissa of Cn"),
                Field("interval_cn_shift", 32, 0xFFFFFFFF, False, 59, "right shift of Cn"),
                Field("interval_started", 1, 0x1, False, 60, "an interval is running"),
                Field("window_started", 1, 0x1, False, 61, "a window of the persistent queue is running"),
            ),
            (
                Field("xcp", 1, 0x1, False, 64, "as configured"),
                Field("stamp", 1, 0x1, False, 65, "as configured"),
                Field("epoch", 8, 0xFF, False, 66, "as configured"),
                Field("capacity", 64, 0x3FFFFFFFFF, False, 67, "as configured"),
                Field("alpha", 18, 0x3FFFF, False, 69, "as configured"),
                Field("beta", 18, 0x3FFFF, False, 70, "as configured"),
                Field("gamma", 18, 0x3FFFF, False, 71, "as configured"),
                Field("min_interval", 32, 0xFFFFFFFF, False, 72, "as configured"),
                Field("max_interval", 32, 0xFFFFFFFF, False, 73, "as configured"),
                Field("generation", 2, 0x2, False, 74, "as configured"),
                Field("queue_limit", 64, 0xFFFFFFFFFF, False, 75, "as configured"),
                Field("running_epoch", 8, 0xFF, False, 77, "that the controllers started with"),
            ),
            (
                Field("pos", 64, 0xFFFFFFFFFFFFFFFF, False, 80, "left of the pool of increases, q8 bytes/s"),
                Field("neg", 64, 0xFFFFFFFFFFFFFFFF, False, 82, "left of the pool of decreases"),
                Field("cp", 32, 0xFFFFFFFF, False, 84, "mantissa"),
                Field("cp_shift", 32, 0xFFFFFFFF, False, 85, "right shift"),
                Field("cn", 32, 0xFFFFFFFF, False, 86, "mantissa"),
                Field("cn_shift", 32, 0xFFFFFFFF, False, 87, "right shift"),
                Field("carry", 8, 0xFF, False, 88, "q8 bytes/s"),
                Field(
                    "bank",
                    64,
                    0xFFFFFFFFFFFFFFFF,
                    False,
                    89,
                    "what flows above their share gave up and flows below it may have; q8 bytes/s",
                ),
                Field("credit", 8, 0xFF, False, 91, "half intervals with poor flows that may still be fast"),
            ),
            (
                Field(
                    "fair",
                    32,
                    0xFFFFFFFF,
                    False,
                    96,
                    "mantissa of R, what a flow with its fair share sends per tick of x; generation 2, like all of this beat",
                ),
                Field("fair_shift", 32, 0xFFFFFFFF, False, 97, "right shift of R"),
                Field(
                    "lift",
                    32,
                    0xFFFFFFFF,
                    False,
                    98,
                    "mantissa of H, the part of its gap that a flow is moved by",
                ),
                Field("lift_shift", 32, 0xFFFFFFFF, False, 99, "right shift of H"),
                Field(
                    "growth",
                    32,
                    0xFFFFFFFF,
                    False,
                    100,
                    "mantissa of G, what doubles a flow in a round trip, per byte",
                ),
                Field("growth_shift", 32, 0xFFFFFFFF, False, 101, "right shift of G"),
                Field(
                    "own_input",
                    64,
                    0xFFFFFFFFFFFFFFFF,
                    False,
                    102,
                    "bytes of flows that this hop limits, in the running interval",
                ),
                Field("own_sum_x", 64, 0xFFFFFFFFFFFFFFFF, False, 104, "their ticks"),
                Field(
                    "poor_sum_x",
                    64,
                    0xFFFFFFFFFFFFFFFF,
                    False,
                    106,
                    "of them, those of flows far below their share",
                ),
                Field(
                    "limited",
                    64,
                    0x7FFFFFFFFFFFFFFF,
                    True,
                    108,
                    "what flows limited elsewhere were granted in the running interval, bytes/s",
                ),
                Field(
                    "max_rtt", 32, 0xFFFFFFFF, False, 110, "longest round trip of the running interval, ticks"
                ),
            ),
        ),
        "read_bucket": (
            (
                Field(
                    "queue_next",
                    16,
                    0xFFFF,
                    False,
                    0,
                    "number that the next packet gets as it joins the queue",
                ),
                Field("queue_expected", 16, 0xFFFF, False, 1, "number expected to leave next"),
                Field("queue_total", 16, 0xFFFF, False, 2, "drops"),
                Field("queue_epoch", 8, 0xFF, False, 3, "1 once a packet has left"),
                Field("link_next", 16, 0xFFFF, False, 4, "number that the next packet gets as it leaves"),
                Field("queue_far", 8, 0xFF, False, 5, "packets in a row more than 256 behind"),
            ),
        ),
        "reset": ((),),
    },
}
