# SPDX-License-Identifier: Apache-2.0
"""Properties that hold for any input: equality of core and reference, and laws of docs/datapath.md.

The laws are computed here in fractions and hold for the reference, the C++ core and the P4 program. Those of
generation 2 are in test_maxmin_properties.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Protocol

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
    decode,
    explain,
)
from conformance.p4_player import P4Player
from conformance.reference import ACK, DATA, FEEDBACK_MAX, TAG, Config, Packet, classify, gain, quotient

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


def configs(*generations: int) -> st.SearchStrategy[Config]:
    """Return configurations, legal or not, with these generations of XCP."""
    return st.builds(
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
        wire=st.booleans(),
        generation=st.sampled_from(generations),
    )


@st.composite
def event_lists(draw: st.DrawFn) -> list[Event]:
    """Return configured ports and packets that come in, join a queue and mostly leave it."""
    events: list[Event] = [Configure(port, draw(configs(1, 2))) for port in range(2)]
    now = draw(st.integers(0, 2**40))
    for slot, frame in enumerate(draw(st.lists(frame_bytes, min_size=1, max_size=12))):
        now += draw(st.sampled_from([0, 1, 2**10, 2**20, 2**28, 2**33]))
        queue = draw(st.sampled_from([0, 1, 1500, 2**20, 2**39, 2**41]))
        events += [Ingress(0, slot, now, frame), Enqueue(1, slot, now, queue)]
        if draw(st.integers(0, 5)):
            events.append(Dequeue(1, slot, now, queue))
    return events + [State(port) for port in range(PORTS)]


class Target(Protocol):
    """A player of events: reference, core or P4 program."""

    def play(self, events: list[Event], /) -> bytes: ...


@pytest.fixture(scope="module")
def shared_driver(driver_binary: object) -> Iterator[Driver]:
    process = Driver(driver_binary)  # type: ignore[arg-type]
    yield process
    process.close()


@pytest.fixture(scope="module", params=["reference", "core", "p4"])
def target(request: pytest.FixtureRequest) -> Target:
    players = {"reference": ReferencePlayer, "p4": P4Player}
    name: str = request.param
    return players[name]() if name in players else request.getfixturevalue("shared_driver")  # type: ignore[no-any-return]


def answers(target: Target, events: list[Event]) -> list[tuple[Event, dict[str, Any]]]:
    """The answers of a fresh data plane to events."""
    target.play([Restart()])
    return decode(events, target.play(events))


@given(events=event_lists())
@settings(max_examples=400)
def test_core_and_reference_agree(shared_driver: Driver, events: list[Event]) -> None:
    shared_driver.play([Restart()])
    got, expected = shared_driver.play(events), ReferencePlayer().play(events)
    assert got == expected, explain(events, got, expected)


# The divisions of the reference; those of the core are in core/tests/division_test.cpp.


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


# --- Laws ---------------------------------------------------------------------------------------------

START = 5_000_000  # ticks
LEAST_ELAPSED = 2**28  # the longest control interval of these ports

rtts = st.integers(1, 2**25).map(lambda units: units * 8)  # what the header can say
flows = st.tuples(rtts, st.integers(1, 2**31), s32, st.integers(0, 1400))


class Interval:
    """One control interval of port 1: the packets (rtt, x, delta, padding) that arrive in it, and its end."""

    def __init__(
        self, config: Config, packets: list[tuple[int, int, int, int]], elapsed: int, queue: int
    ) -> None:
        self.config, self.packets, self.elapsed, self.queue = config, packets, elapsed, queue
        self.frames = [
            frames.ipv4(frames.data(rtt=rtt, x=x, delta=delta) + bytes(padding))
            for rtt, x, delta, padding in packets
        ]
        self.input = sum(map(len, self.frames))
        self.sum_x = sum(x for _, x, _, _ in packets)

    def events(self) -> list[Event]:
        """Return the arrivals and an ordinary packet that ends the interval."""
        made: list[Event] = [Configure(1, self.config)]
        for slot, frame in enumerate(self.frames):
            made += [Ingress(0, slot, START, frame), Enqueue(1, slot, START, self.queue)]
        end, slot = START + self.elapsed, len(self.frames)
        return [*made, Ingress(0, slot, end, bytes(60)), Enqueue(1, slot, end, self.queue)]


intervals = st.builds(
    Interval,
    st.builds(
        Config,
        xcp=st.just(True),
        capacity=st.one_of(st.integers(0, 2**38 - 1), st.integers(0, 10**5)),
        alpha=st.integers(0, 2**18 - 1),
        beta=st.integers(0, 2**18 - 1),
        gamma=st.integers(0, 2**18 - 1),
    ),
    st.lists(flows, min_size=1, max_size=12),
    st.integers(LEAST_ELAPSED, 2**32 - 1),
    st.one_of(st.just(0), st.integers(0, 2**30)),
)


def is_quotient(found: Fraction | int, true: Fraction, slack: Fraction | int = 0) -> bool:
    """Whether a result of the division is within its documented error, and a rounding of `slack`."""
    return true * (1 - Fraction(1, 2**17)) - slack <= found <= true * (1 + Fraction(1, 2**31)) + slack


@given(interval=intervals)
@settings(max_examples=200)
def test_an_interval_ends_with_the_control_law(target: Target, interval: Interval) -> None:
    events: list[Event] = [*interval.events(), State(1)]
    end = answers(target, events)[-1][1]
    config = interval.config
    assert (end["intervals"], end["elapsed"]) == (1, interval.elapsed)
    assert is_quotient(end["rate"], Fraction(interval.input * 2**36, interval.elapsed), 1)
    mean_rtt = Fraction(sum(x * rtt for rtt, x, _, _ in interval.packets), interval.sum_x)
    rounding = Fraction(128 * len(interval.packets), interval.sum_x)  # of x * rtt
    assert is_quotient(end["avg_rtt"], mean_rtt, 1 + rounding)
    assert end["persistent_queue"] == interval.queue
    drain = min(Fraction(interval.queue * 2**36, end["avg_rtt"]), Fraction(2**46))
    spare = config.capacity * 256 - end["rate"]
    phi = (config.alpha * spare - config.beta * drain) / 65536
    assert abs(end["phi"] - phi) <= 2 + config.beta * (drain / 2**17 + 1) / 65536
    shuffle = max(0, Fraction(config.gamma * end["rate"], 65536) - abs(end["phi"]))
    assert abs(min(end["pos"], end["neg"]) - min(shuffle, 2**48 - 1)) < 1 or shuffle > 2**48 - abs(end["phi"])
    if max(end["pos"], end["neg"]) < 2**48 - 1:
        assert end["pos"] - end["neg"] == end["phi"]


@given(interval=intervals)
@settings(max_examples=200)
def test_gains_share_a_pool_out_over_the_interval(target: Target, interval: Interval) -> None:
    events: list[Event] = [*interval.events(), State(1)]
    end = answers(target, events)[-1][1]
    for pool, gain_name, total in (("pos", "cp", interval.sum_x), ("neg", "cn", interval.input)):
        mantissa, shift = end[gain_name], end[f"{gain_name}_shift"]
        share = Fraction(end[pool], total)
        if mantissa == 0:
            assert share < Fraction(1, 2**31)  # below one unit for any packet
        elif (mantissa, shift) == (2**32 - 1, 0):
            assert share * (1 + Fraction(1, 2**31)) >= mantissa
        else:
            assert is_quotient(Fraction(mantissa, 2**shift), share)


@given(interval=intervals)
@settings(max_examples=200)
def test_grants_are_what_leaves_the_pools(target: Target, interval: Interval) -> None:
    # Debits of both pools, and nothing else, become feedback, to within one byte/s for the whole run.
    events = interval.events()
    end = START + interval.elapsed
    leaving: list[Event] = [Dequeue(1, slot, end, interval.queue) for slot, _ in enumerate(interval.packets)]
    found = [answer for _, answer in answers(target, events + leaving)]
    before, after = found[len(events) - 1], found[-1]
    granted = 0
    for (_, _, asked, _), answer in zip(interval.packets, found[len(events) :], strict=True):
        packet, malformed = classify(bytes.fromhex(answer["frame"]), 253)
        assert not malformed
        grant = packet.fields["delta_throughput"]
        assert -(2**31) <= grant <= min(asked, FEEDBACK_MAX)
        granted += grant
    if after["pos"] < 2**48 - 1:  # not saturated
        handed_out = (before["pos"] - after["pos"]) - (before["neg"] - after["neg"])
        assert (before["carry"], before["intervals"]) == (0, 1)
        assert granted * 256 == handed_out - after["carry"]


def numbered(seqs: list[int], bucket: int) -> list[Event]:
    """Packets with these numbers of a wire that port 0 checks."""
    made: list[Event] = [Configure(0, Config(check=True, wire=True))]
    for seq in seqs:
        frame = frames.ipv4(frames.tag(bucket=bucket, link_seq=seq % 65536))
        made += [Ingress(0, 0, 0, frame), Enqueue(1, 0, 0, 0)]
    return [*made, State(0)]


@given(
    bucket=st.integers(0, 63),
    start=u16,
    steps=st.lists(st.one_of(st.integers(1, 50), st.just(1)), max_size=60),
)
def test_a_check_counts_exactly_what_is_missing(
    target: Target, bucket: int, start: int, steps: list[int]
) -> None:
    seqs = [start]
    for step in steps:
        seqs.append(seqs[-1] + step)
    found = answers(target, numbered(seqs, bucket))
    verdicts = [answer["corrupt"] for event, answer in found if isinstance(event, Ingress)]
    missing = [seq - start - place for place, seq in enumerate(seqs)]
    assert verdicts == missing
    assert found[-1][1][f"wire_total[{bucket}]"] == found[-1][1]["wire_lost"] == missing[-1]


@given(start=u16, order=st.permutations(range(1, 41)))
def test_reordering_alone_counts_nothing_in_the_end(target: Target, start: int, order: list[int]) -> None:
    # 40 packets behind a base, all of them arriving: every gap is taken back once.
    end = answers(target, numbered([start, *(start + number for number in order)], 0))[-1][1]
    assert end["wire_total[0]"] == 0
    assert end["wire_lost"] == end["wire_late"]


@given(start=u16, behind=st.lists(st.integers(1, 16000), min_size=1, max_size=63, unique=True))
def test_packets_overtaken_over_any_distance_are_taken_back(
    target: Target, start: int, behind: list[int]
) -> None:
    newest = start + 16001
    end = answers(target, numbered([start, newest, *(newest - n for n in behind), newest + 1], 0))[-1][1]
    assert (end["wire_lost"], end["wire_late"], end["wire_rebased"]) == (16000, len(behind), 0)
    assert end["wire_total[0]"] == 16000 - len(behind)


@given(start=u16, back=st.integers(257 + 64, 16383), numbers=st.integers(64, 200))
def test_a_sender_that_starts_again_is_a_new_base(
    target: Target, start: int, back: int, numbers: int
) -> None:
    again = start - back + 1
    seqs = [start, *range(again, again + numbers), again + numbers + 2]
    end = answers(target, numbered(seqs, 0))[-1][1]
    assert (end["wire_lost"], end["wire_late"], end["wire_rebased"]) == (2, 63, 1)


@given(frame=frame_bytes)
def test_only_the_named_fields_change(target: Target, frame: bytes) -> None:
    everything = Config(xcp=True, capacity=10**6, stamp=True, check=True, edge=True, wire=True)
    events: list[Event] = [Configure(0, everything), Configure(1, everything)]
    events += [Ingress(0, 0, 0, frame), Enqueue(1, 0, 0, 0), Dequeue(1, 0, 0, 0)]
    left = bytes.fromhex(answers(target, events)[-1][1]["frame"])
    packet, _ = classify(frame, 253)
    changed = {at - packet.at for at in range(len(frame)) if left[at] != frame[at]}
    allowed: dict[int, set[int]] = {
        DATA: {3, *range(12, 16), *range(22, 28)},
        TAG: set(range(6, 12)),
        ACK: set(),
    }
    assert len(left) == len(frame)
    assert changed <= allowed.get(packet.format, set())
    if 3 in changed:
        assert (left[packet.at + 3] ^ frame[packet.at + 3]) & ~0x0E == 0


@given(header=data_headers, config=configs(1))
def test_generation_1_leaves_the_hint_of_the_limiting_hop(
    target: Target, header: bytes, config: Config
) -> None:
    frame = frames.ipv4(header)
    events: list[Event] = [Configure(1, replace(config, xcp=True)), Ingress(0, 0, 0, frame)]
    events += [Enqueue(1, 0, 0, 0), Enqueue(1, 0, 2**33, 0), Dequeue(1, 0, 2**33, 0)]
    left = bytes.fromhex(answers(target, events)[-1][1]["frame"])
    packet, _ = classify(frame, 253)
    word = slice(packet.at + 4, packet.at + 8)
    assert left[word] == frame[word]


def test_packets_are_independent_copies() -> None:
    packet = Packet(b"", DATA, 0, fields={"corrupt": 1})
    packet.copy().fields["corrupt"] = 2
    assert packet.fields["corrupt"] == 1
