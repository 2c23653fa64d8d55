# SPDX-License-Identifier: Apache-2.0
"""Properties that must hold whatever arrives: equality of core and reference, and laws of the reference."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance import frames
from conformance.harness import (
    PORTS,
    Configure,
    Dequeue,
    Driver,
    Enqueue,
    Event,
    Ingress,
    ReferencePlayer,
    Restart,
    State,
    explain,
)
from conformance.reference import (
    ACK,
    DATA,
    FEEDBACK_MAX,
    TAG,
    Check,
    Config,
    Packet,
    Xcp,
    classify,
    gain,
    quotient,
)

u16 = st.integers(0, 2**16 - 1)
u32 = st.one_of(st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 2**31, 2**32 - 1]))
s32 = st.one_of(st.integers(-(2**31), 2**31 - 1), st.integers(-5000, 5000))
pools = st.integers(0, 2**48 - 1)
wide = st.integers(0, 63).flatmap(lambda bits: st.integers(2**bits, 2 ** (bits + 1) - 1))

data_headers = st.builds(
    frames.data, u32, u32, s32, u32, st.integers(0, 3), u16, u16, u16, u16, u16, st.integers(0, 255)
)
tag_headers = st.builds(frames.tag, st.integers(0, 3), u16, u16, u16, u16, u16)
ack_headers = st.builds(frames.ack, u32, u16, u16)
headers = st.one_of(data_headers, data_headers, tag_headers, ack_headers)
frame_bytes = st.one_of(
    st.builds(lambda header: frames.ipv4(header), headers),
    st.builds(lambda header: frames.ipv6(header, vlan=9), headers),
    st.builds(lambda header, cut: frames.ipv4(header)[:cut], headers, st.integers(0, 70)),
    st.binary(max_size=200),
)
configs = st.builds(
    Config,
    xcp=st.booleans(),
    capacity=st.integers(0, 2**40),
    alpha=st.integers(0, 2**19),
    beta=st.integers(0, 2**19),
    gamma=st.integers(0, 2**19),
    min_interval=st.one_of(st.integers(0, 1000), u32),
    max_interval=st.one_of(st.integers(0, 10**6), u32),
    stamp=st.booleans(),
    check=st.booleans(),
    edge=st.booleans(),
)


@st.composite
def event_lists(draw: st.DrawFn) -> list[Event]:
    """Return configured ports and packets that come in, meet a queue and mostly leave it."""
    events: list[Event] = [Configure(port, draw(configs)) for port in range(2)]
    now = draw(st.integers(0, 2**40))
    for slot, frame in enumerate(draw(st.lists(frame_bytes, min_size=1, max_size=12))):
        now += draw(st.sampled_from([0, 1, 2**10, 2**20, 2**28, 2**33]))
        queue = draw(st.sampled_from([0, 1, 1500, 2**20, 2**39, 2**41]))
        events += [Ingress(0, slot, now, frame), Enqueue(1, slot, now, queue)]
        if draw(st.integers(0, 5)):
            events.append(Dequeue(1, slot, now, queue))
    return events + [State(port) for port in range(PORTS)]


@pytest.fixture(scope="module")
def shared_driver(driver_binary: object) -> Iterator[Driver]:
    process = Driver(driver_binary)  # type: ignore[arg-type]
    yield process
    process.close()


@given(events=event_lists())
@settings(max_examples=400)
def test_core_and_reference_agree(shared_driver: Driver, events: list[Event]) -> None:
    shared_driver.play([Restart()])
    got, expected = shared_driver.play(events), ReferencePlayer().play(events)
    assert got == expected, explain(events, got, expected)


@given(numerator=wide, denominator=wide)
@settings(max_examples=2000)
def test_a_quotient_is_within_its_bound(numerator: int, denominator: int) -> None:
    mantissa, exponent = quotient(numerator, denominator)
    error = Fraction(mantissa) * Fraction(2) ** exponent * denominator / numerator - 1
    assert -Fraction(1, 2**17) <= error <= Fraction(1, 2**31)


@given(numerator=st.integers(1, 2**48 - 1), denominator=st.integers(1, 2**48 - 1), factor=u32)
@settings(max_examples=2000)
def test_a_gain_is_within_its_bound(numerator: int, denominator: int, factor: int) -> None:
    mantissa, shift = gain(numerator, denominator)
    product, true = mantissa * factor >> shift, Fraction(numerator * factor, denominator)
    if (mantissa, shift) != (2**32 - 1, 0):
        assert true * (1 - Fraction(1, 2**17)) - 1 <= product <= true * (1 + Fraction(1, 2**31))
    else:
        assert product <= true


@given(
    pos=st.integers(0, 2**48 - 1), neg=st.integers(0, 2**48 - 1), packets=st.lists(data_headers, max_size=30)
)
def test_grants_are_what_leaves_the_pools(pos: int, neg: int, packets: list[bytes]) -> None:
    # Debits of both pools, and nothing else, become feedback, to within one byte/s for the whole run.
    xcp = Xcp()
    xcp.pos, xcp.neg, xcp.cp, xcp.cn = pos, neg, gain(pos, 2**30), gain(neg, 20_000)
    granted = 0
    for header in packets:
        packet, malformed = classify(frames.ipv4(header), 253)
        assert not malformed
        asked = packet.fields["delta_throughput"]
        answer = xcp.departure(1546, packet)
        assert -(2**31) <= answer <= min(asked, FEEDBACK_MAX)
        granted += answer
    if xcp.pos < 2**48 - 1:  # not saturated
        handed_out = (pos - xcp.pos) - (neg - xcp.neg)
        assert 0 <= xcp.carry < 256
        assert granted * 256 == handed_out - xcp.carry


@given(start=u16, steps=st.lists(st.one_of(st.integers(1, 50), st.just(1)), max_size=60))
def test_a_check_counts_exactly_what_is_missing(start: int, steps: list[int]) -> None:
    check, seq = Check(), start
    check.packet(0, seq)
    for step in steps:
        seq = (seq + step) % 65536
        total = check.packet(0, seq)
    assert check.total[0] == sum(step - 1 for step in steps) % 65536
    if steps:
        assert total == check.total[0]


@given(start=u16, order=st.permutations(range(1, 41)))
def test_reordering_alone_counts_nothing_in_the_end(start: int, order: list[int]) -> None:
    # 40 packets behind a base, all of them arriving: every gap is taken back once.
    check = Check()
    check.packet(0, start)
    for number in order:
        check.packet(0, (start + number) % 65536)
    assert check.total[0] == 0


@given(frame=frame_bytes)
def test_only_the_named_fields_change(frame: bytes) -> None:
    everything = Config(xcp=True, capacity=10**6, stamp=True, check=True, edge=True)
    player = ReferencePlayer()
    events: list[Event] = [Configure(0, everything), Configure(1, everything)]
    events += [Ingress(0, 0, 0, frame), Enqueue(1, 0, 0, 0), Dequeue(1, 0, 0, 0)]
    player.play(events)
    packet, _ = classify(frame, 253)
    left = player.slots[0].frame
    changed = {at - packet.at for at in range(len(frame)) if left[at] != frame[at]}
    allowed: dict[int, set[int]] = {
        DATA: {*range(12, 16), *range(22, 28)},
        TAG: set(range(6, 12)),
        ACK: set(),
    }
    assert len(left) == len(frame)
    assert changed <= allowed.get(packet.format, set())


def test_packets_are_independent_copies() -> None:
    packet = Packet(b"", DATA, 0, {"corrupt": 1})
    packet.copy().fields["corrupt"] = 2
    assert packet.fields["corrupt"] == 1
