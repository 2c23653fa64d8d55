# SPDX-License-Identifier: Apache-2.0
"""The P4 program's counters, registers and interval digest, as a card's units have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from clarion_nic.driver.limits import Values

BITS_32 = (1 << 32) - 1
BITS_40 = (1 << 40) - 1
BITS_64 = (1 << 64) - 1
TICKS_PER_S_LOG2 = 28

Cell = tuple[str, Callable[[Values], int]]  # kind of unit, and the cell's value from its state


def _plain(kind: str, name: str) -> Cell:
    return kind, lambda state: state[name]


def _slot(far: str, epoch: str, expected: str, total: str) -> Callable[[Values], int]:
    return lambda state: state[far] << 40 | state[epoch] << 32 | state[expected] << 16 | state[total]


# Counter arrays: the unit, its packets and its bytes. An array without bytes counts packets only.
COUNTERS: Mapping[str, tuple[str, str, str | None]] = {
    "rx": ("ingress", "rx_packets", "rx_bytes"),
    "malformed": ("ingress", "malformed", None),
    "wire_late": ("ingress", "late", None),
    "wire_rebased": ("ingress", "rebased", None),
    "tx": ("egress", "tx_packets", "tx_bytes"),
    "queue_drops": ("egress", "drop_packets", "drop_bytes"),
    "queue_late": ("egress", "queue_late", None),
    "queue_rebased": ("egress", "queue_rebased", None),
}

# Register arrays with a cell per port.
REGISTERS: Mapping[str, Cell] = {
    "wire_lost": _plain("ingress", "lost"),
    "accepted_bytes": ("egress", lambda state: (state["tx_bytes"] + state["queue_bytes"]) & BITS_64),
    "left_bytes": _plain("egress", "tx_bytes"),
    "queue_byte_us": ("egress", lambda state: state["queue_byte_ticks"] * 10**6 >> TICKS_PER_S_LOG2),
    "xcp_epoch": _plain("egress", "running_epoch"),
    "intervals": ("egress", lambda state: state["intervals"] & BITS_32),
    "queue_drop_number": ("egress", lambda state: state["drop_packets"] & BITS_32),
    **{
        name: _plain("egress", name)
        for name in (
            "avg_rtt", "interval_start", "window_start", "persistent_queue", "least_queue", "input", "sum_x",
            "sum_x_rtt", "pos", "neg", "cp", "cp_shift", "cn", "cn_shift", "carry", "queue_lost",
            "credit", "fair", "fair_shift", "lift", "lift_shift", "growth", "growth_shift", "bank",
            "own_input", "own_sum_x", "poor_sum_x", "max_rtt",
        )
    },
    "phi": ("egress", lambda state: state["phi"] & BITS_64),
    "limited": ("egress", lambda state: state["limited"] & BITS_40),
}  # fmt: skip

# Register arrays with a cell per port and bucket.
BUCKETS: Mapping[str, Cell] = {
    "wire_slots": ("ingress", _slot("far", "epoch", "expected", "total")),
    "queue_slots": ("egress", _slot("queue_far", "queue_epoch", "queue_expected", "queue_total")),
    "queue_numbers": _plain("egress", "queue_next"),
    "link_numbers": _plain("egress", "link_next"),
}


def interval_report(port: int, state: Values, wire_lost: int) -> tuple[int, ...]:
    """The members of `interval_report_t` for the interval that ended last."""
    return (
        port,
        state["intervals"] & BITS_32,
        state["elapsed"],
        state["avg_rtt"],
        state["interval_input"],
        state["interval_sum_x"],
        state["interval_sum_x_rtt"],
        state["interval_queue"],
        state["rate"],
        state["phi"] & BITS_64,  # two's complement
        state["interval_pos"],
        state["interval_neg"],
        state["interval_cp"],
        state["interval_cp_shift"],
        state["interval_cn"],
        state["interval_cn_shift"],
        wire_lost,
        state["queue_lost"],
        0,  # a card does not measure its links
    )
