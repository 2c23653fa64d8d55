# SPDX-License-Identifier: Apache-2.0
"""Digests in ordinary units, with hand-computed numbers; the inbox of digests; messages for gRPC's errors."""

from __future__ import annotations

import asyncio
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any

import pytest
from finsy import (
    GRPCStatusCode,
    P4CounterEntry,
    P4DigestEntry,
    P4MulticastGroupEntry,
    P4TableEntry,
    P4TableMatch,
)

from clarion_base.errors import UserError
from clarion_contract import pipeline
from clarion_contract.telemetry import IntervalReport, QueueDrop, interval_report, queue_drop
from clarion_p4rt import inbox
from clarion_p4rt.errors import Entity, SwitchError
from clarion_p4rt.inbox import Inbox
from clarion_p4rt.refusals import entity_of, failure, refusal

DROP = {
    "timestamp": 12_345_678,
    "port": 2,
    "length": 1546,
    "src_addr": (0xFFFF << 32) | 0x0A000001,
    "dst_addr": (0xFFFF << 32) | 0x0A000102,
    "protocol": 6,
    "src_port": 5201,
    "dst_port": 40000,
    "format": 1,
    "bucket": 4097,
    "drops": 3,
}
INTERVAL = {
    "port": 3,
    "intervals": 7,
    "elapsed": 2**27,  # half a second
    "avg_rtt": 2**26,
    "input": 6_250_000,
    "sum_x": 3 * 2**28,
    "sum_x_rtt": 3 * 2**46,  # 3 s x 0.25 s
    "queue": 15460,
    "rate": 12_500_000 * 256,
    "phi": 2**64 - 1_250_000 * 256,
    "pos": 125_000 * 256,
    "neg": 128,  # half a byte/s
    "cp": 2**31,
    "cp_shift": 40,
    "cn": 2**31,
    "cn_shift": 30,
    "corrupt_total": 11,
    "congest_total": 2**40,
    "measured": 5_000_000,
}


def interval(fields: dict[str, int]) -> IntervalReport:
    return interval_report(list(fields.values()))


def drop(fields: dict[str, int]) -> QueueDrop:
    return queue_drop(list(fields.values()))


def test_an_interval_in_peoples_units() -> None:
    assert interval(INTERVAL) == IntervalReport(
        port=3,
        intervals=7,
        elapsed_us=500_000.0,
        avg_rtt_us=250_000.0,
        input_bytes=6_250_000,
        sum_x_s=3.0,
        sum_x_rtt_s2=0.75,
        queue_bytes=15460,
        input_bps=100e6,
        phi_bps=-10e6,
        positive_bps=1e6,
        negative_bps=4.0,
        cp_bps_per_s=2**-9 / 32 * 2**28,  # 2^31 / 2^40 q8 bytes/s per tick
        cn_bps_per_byte=2 / 32,  # 2^31 / 2^30 q8 bytes/s per byte
        lost_on_wire=11,
        dropped_by_queue=2**40,
        measured_bps=40_000_000,
    )


def test_a_link_that_was_not_measured_carries_an_unknown_rate() -> None:
    assert interval({**INTERVAL, "measured": 0}).measured_bps is None


def test_a_drop_in_peoples_units() -> None:
    assert drop(DROP) == QueueDrop(
        time_us=12_345_678,
        port=2,
        frame_bytes=1546,
        source="10.0.0.1",
        destination="10.0.1.2",
        protocol=6,
        source_port=5201,
        destination_port=40000,
        format=1,
        bucket=4097,
        drops=3,
    )


def test_a_drop_with_ipv6_or_neither() -> None:
    dropped = drop({**DROP, "src_addr": int(IPv6Address("fd00::1")), "dst_addr": 0})
    assert (dropped.source, dropped.destination) == ("fd00::1", "::")


def read_all(box: Inbox) -> list[Any]:
    async def read() -> list[Any]:
        return [report async for report in box.read()]

    return asyncio.run(read())


def test_the_inbox_gives_what_came_before_its_end() -> None:
    box = Inbox("s1")
    first, second = drop(DROP), interval(INTERVAL)
    box.put(first)
    box.put(second)
    box.end()
    box.put(first)
    assert read_all(box) == [first, second]
    assert read_all(box) == []


def test_the_inbox_says_that_reports_are_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inbox, "MAX_WAITING", 2)
    box = Inbox("s1")
    for _ in range(4):
        box.put(drop(DROP))
    with pytest.raises(SwitchError, match=r"^s1: reports: 2 reports are unread; iterate"):
        read_all(box)
    with pytest.raises(SwitchError):
        read_all(box)


@pytest.mark.parametrize(
    ("entity", "made", "name"),
    [
        (P4TableEntry("xcp_port", match=P4TableMatch(port=3)), Entity("xcp_port", 3), "xcp_port[3]"),
        (
            P4TableEntry("l2_forward", match=P4TableMatch(dst_addr=2**41 + 1)),
            Entity("l2_forward", 2**41 + 1),
            "l2_forward[02:00:00:00:00:01]",
        ),
        (P4MulticastGroupEntry(1), Entity("multicast group", 1), "multicast group 1"),
        (P4DigestEntry("queue_drop_t"), Entity("digest queue_drop_t"), "digest queue_drop_t"),
        (P4CounterEntry("tx"), Entity("counter tx"), "counter tx"),
    ],
)
def test_entities_have_keys_and_names(entity: Any, made: Entity, name: str) -> None:
    assert entity_of(entity) == made
    assert str(made) == name


class RefusedError(Exception):
    """The fields of finsy's error that are used."""

    def __init__(self, code: GRPCStatusCode, message: str, details: dict[int, Any] | None = None) -> None:
        self.code = self.canonical_code = code
        self.message = message
        self.details = details or {}
        self.is_election_id_used = "election" in message.lower()


@pytest.mark.parametrize(
    ("code", "said", "message"),
    [
        (
            GRPCStatusCode.UNAVAILABLE,
            "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:9",
            "s1: counters: no switch answers at h:9; start it, or correct the address",
        ),
        (
            GRPCStatusCode.INVALID_ARGUMENT,
            "Election id already exists",
            "s1: counters: another controller is primary at this switch; stop that one",
        ),
        (GRPCStatusCode.INTERNAL, "two\nlines ", "s1: counters: the switch refused: two lines"),
        (GRPCStatusCode.RESOURCE_EXHAUSTED, "", "s1: counters: the switch refused: resource exhausted"),
    ],
)
def test_failures_are_in_our_words(code: GRPCStatusCode, said: str, message: str) -> None:
    error: Any = RefusedError(code, said)
    assert str(failure("s1", "h:9", Entity("counters"), error)) == message


def test_a_refused_write_names_its_first_entry() -> None:
    updates = [P4TableEntry("stamp_port", match=P4TableMatch(port=port)) for port in (1, 2, 3)]
    details = {n: RefusedError(GRPCStatusCode.ALREADY_EXISTS, "Match entry exists") for n in (2, 1)}
    error: Any = RefusedError(GRPCStatusCode.UNKNOWN, "Write failure", details)
    made = refusal("s1", "h:9", updates, error)
    assert str(made) == "s1: stamp_port[2]: the switch refused: Match entry exists (and 1 more of 3)"
    assert (made.entity, made.code) == (Entity("stamp_port", 2), "ALREADY_EXISTS")


def test_a_program_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLARION_P4_DIR", str(tmp_path))
    with pytest.raises(UserError, match=r"clarion.p4info.txtpb: not found; set CLARION_P4_DIR"):
        pipeline.load()
