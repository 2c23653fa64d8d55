# SPDX-License-Identifier: Apache-2.0
"""Registers of the P4 program that hold several quantities in one word, for BMv2's sake: their members."""

from __future__ import annotations

from collections.abc import Mapping

# Widths by name, from the highest bits down; the slices of p4/xcp_state.p4.
WORDS: Mapping[str, Mapping[str, int]] = {
    "interval_clock": {
        "xcp_epoch": 8,
        "phi": 64,
        "avg_rtt": 32,
        "interval_start": 64,
        "window_start": 64,
        "persistent_queue": 40,
        "intervals": 32,
        "credit": 8,
    },
    "interval_sums": {
        "turn_epoch": 8,
        "turn_min_interval": 32,
        "turn_max_interval": 32,
        "next_turn": 64,
        "input": 48,
        "sum_x": 48,
        "sum_x_rtt": 64,
        "least_queue": 40,
    },
    "shares": {
        "carry": 8,
        "cp": 32,
        "cp_shift": 8,
        "cn": 32,
        "cn_shift": 8,
        "fair": 32,
        "fair_shift": 8,
        "lift": 32,
        "lift_shift": 8,
        "growth": 32,
        "growth_shift": 8,
        "max_rtt": 32,
        "limited": 40,
        "poor_sum_x": 48,
        "own_sum_x": 48,
        "own_input": 48,
        "bank": 48,
        "pos": 48,
        "neg": 48,
        "least_queue": 40,
    },
}

# Of the P4 program only: when a packet has to look at the clock, under which settings. 0 elsewhere.
P4_ONLY = frozenset({"turn_epoch", "turn_min_interval", "turn_max_interval", "next_turn"})


def taken_apart(register: str, word: int) -> dict[str, int]:
    """The members of a word."""
    members = {}
    for name, width in reversed(list(WORDS[register].items())):
        members[name] = word & (1 << width) - 1
        word >>= width
    return members


def put_together(register: str, members: Mapping[str, int]) -> int:
    """The word of these members."""
    word = 0
    for name, width in WORDS[register].items():
        word = word << width | members[name] & (1 << width) - 1
    return word
