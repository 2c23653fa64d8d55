# SPDX-License-Identifier: Apache-2.0
"""Laws of generation 2 (docs/datapath.md) that hold for any packets, and its largest sums.

Every packet leaves at once, and the state of its port is read before and after: the laws are about what
changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, islice, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conformance import frames
from conformance.harness import (
    Configure,
    Dequeue,
    Driver,
    Enqueue,
    Event,
    Ingress,
    ReferencePlayer,
    State,
)
from conformance.p4_player import P4Player
from conformance.reference import CAPACITY_MAX, FEEDBACK_MAX, POOL_MAX, Config, classify
from conformance.test_properties import Target, answers, is_quotient

SECOND = 2**28
SHARES = ("pos", "neg", "carry", "bank")
FASTEST = 22938
CREDIT_MAX = 30
Values = dict[str, Any]


@pytest.fixture(scope="module", params=["reference", "core", "p4"])
def target(request: pytest.FixtureRequest, driver_binary: Path) -> Iterator[Target]:
    """The targets that have generation 2."""
    if request.param != "core":
        yield P4Player() if request.param == "p4" else ReferencePlayer()
        return
    process = Driver(driver_binary)
    yield process
    process.close()


@dataclass(frozen=True)
class Sent:
    """A packet as it comes to the port."""

    rtt: int
    field: int
    hop: int
    x: int
    delta: int
    padding: int

    @property
    def own_hop(self) -> int:
        """The number of the port's hop."""
        return min(self.hop + 1, 7)

    @property
    def frame(self) -> bytes:
        """The bytes."""
        header = frames.data(self.rtt + self.field, self.x, self.delta, flags=2 * self.hop)
        return frames.ipv4(header + bytes(self.padding))


@dataclass(frozen=True)
class Step:
    """A packet's departure: the port's state before and after, and what the packet has then."""

    sent: Sent
    before: Values
    after: Values
    granted: int
    field: int

    def product(self, gain: str, factor: int) -> int:
        """What a gain makes of a factor."""
        value: int = self.before[gain] * factor >> self.before[f"{gain}_shift"]
        return value

    @property
    def gap(self) -> int:
        """What the packet lacks of the fair share, q8 bytes."""
        return min(self.product("fair", self.sent.x), 2**32 - 1) - 256 * len(self.sent.frame)

    @property
    def takes_part(self) -> bool:
        """Whether pools and bank are there for it: it is an own one, or nothing is known about it."""
        return self.sent.rtt == 0 or self.after["own_input"] > self.before["own_input"]

    @property
    def surplus(self) -> int:
        """What it has been granted beyond what has left pools and bank, q8."""
        change: dict[str, int] = {name: self.before[name] - self.after[name] for name in SHARES}
        return 256 * self.granted - change["carry"] - (change["pos"] - change["neg"] + change["bank"])


deltas = st.one_of(
    st.integers(-(2**31), FEEDBACK_MAX),
    st.integers(-100, 100),
    st.integers(-(10**5), 10**5),
    st.just(FEEDBACK_MAX),
)
rtts = st.integers(1, 2**25).map(lambda units: units * 8)
any_packets = st.builds(
    Sent,
    rtt=st.one_of(st.just(0), rtts, rtts, rtts),
    field=st.integers(0, 7),
    hop=st.integers(0, 7),
    x=st.one_of(st.integers(0, 2**32 - 1), st.integers(2**18, 2**22)),
    delta=deltas,
    padding=st.integers(0, 1400),
)
# Of flows with alike packets, half, all, a little less, or twice of the fair share: they lift each other.
alike_packets = st.builds(
    Sent,
    rtt=st.sampled_from([0, 2**26, 2**27, 2**27]),
    field=st.sampled_from([0, 0, 1, 2]),
    hop=st.sampled_from([0, 0, 1]),
    x=st.one_of(st.sampled_from([2**19, 2**20, 2**21]), st.integers(2**20, 2**20 + 2**16)),
    delta=st.one_of(deltas, st.integers(0, 50)),
    padding=st.just(62),
)
ports = st.builds(
    Config,
    xcp=st.just(True),
    capacity=st.one_of(st.just(0), st.integers(0, 10**4), st.integers(0, 10**8)),
    alpha=st.sampled_from([0, 0, 0, 1000, 26214, 65536]),
    beta=st.just(0),
    gamma=st.sampled_from([0, 6554, 6554, 32768]),
    min_interval=st.just(SECOND),
    max_interval=st.just(SECOND),
    generation=st.just(2),
)
runs = st.one_of(
    st.lists(
        st.lists(st.one_of(any_packets, alike_packets), min_size=1, max_size=10), min_size=2, max_size=4
    ),
    st.lists(st.lists(alike_packets, min_size=4, max_size=10), min_size=2, max_size=4),
)


def events_of(config: Config, run: list[list[Sent]], port: int = 1, first_slot: int = 0) -> list[Event]:
    """Return the events of intervals of a second, each with these packets."""
    events: list[Event] = [Configure(port, config)]
    for number, interval in enumerate(run):
        now = number * SECOND
        for slot, sent in enumerate(interval, first_slot):
            events += [Ingress(0, slot, now, sent.frame), Enqueue(port, slot, now, 0), State(port)]
            events += [Dequeue(port, slot, now, 0), State(port)]
    return events


def steps_of(target: Target, config: Config, run: list[list[Sent]]) -> list[list[Step]]:
    """Play a run; return the steps of each interval."""
    found = [answer for _, answer in answers(target, events_of(config, run))]
    assert found.pop(0) == {}
    steps: list[list[Step]] = []
    for interval in run:
        steps.append([])
        for sent in interval:
            (_, _, before, left, after), found = found[:5], found[5:]
            packet, _ = classify(bytes.fromhex(left["frame"]), 253)
            outcome = (packet.fields["delta_throughput"], packet.fields["field"])
            steps[-1].append(Step(sent, before, after, *outcome))
    return steps


def every_step(target: Target, config: Config, run: list[list[Sent]]) -> Iterator[Step]:
    """Play a run; return the steps of all intervals."""
    return chain.from_iterable(steps_of(target, config, run))


@given(config=ports, run=runs)
@settings(max_examples=200)
def test_grants_of_packets_that_ask_for_all_are_conserved(
    target: Target, config: Config, run: list[list[Sent]]
) -> None:
    # Pools, bank and carry become feedback, and nothing else: to the last 1/256 byte/s, whatever the run.
    greedy = [[replace(sent, delta=FEEDBACK_MAX) for sent in interval] for interval in run]
    for step in every_step(target, config, greedy):
        if step.takes_part:
            assert step.surplus == 0
        else:
            assert step.field > step.sent.own_hop


@given(config=ports, run=runs)
@settings(max_examples=400)
def test_what_is_granted_has_been_there(target: Target, config: Config, run: list[list[Sent]]) -> None:
    # Conservation with any requests.
    for step in every_step(target, config, run):
        kept = all(step.after[name] == step.before[name] for name in SHARES)
        if not step.takes_part:
            assert kept
        else:
            assert step.surplus == 0


@given(config=ports, run=runs)
@settings(max_examples=200)
def test_a_bank_pays_what_was_paid_in(target: Target, config: Config, run: list[list[Sent]]) -> None:
    for interval in steps_of(target, config, run):
        assert interval[0].before["bank"] == 0
        paid_in = 0
        for step in interval:
            change = step.after["bank"] - step.before["bank"]
            assert abs(change) <= step.product("lift", abs(step.gap))
            assert change <= 0 if step.gap > 0 else change >= 0
            paid_in += change
            assert paid_in == step.after["bank"] >= 0


@given(config=ports, run=runs)
@settings(max_examples=200)
def test_a_packet_learns_who_limits_it(target: Target, config: Config, run: list[list[Sent]]) -> None:
    for step in every_step(target, config, run):
        sent, h = step.sent, step.sent.own_hop
        assert step.granted <= sent.delta
        if sent.rtt == 0 or sent.field > h or not step.takes_part:
            assert step.field == sent.field
        elif step.granted < sent.delta:
            assert step.field == h
        else:
            assert step.field == (0 if sent.field == h else sent.field)


@given(config=ports, run=runs)
@settings(max_examples=200)
def test_a_flow_that_has_its_share_is_never_limited_elsewhere(
    target: Target, config: Config, run: list[list[Sent]]
) -> None:
    for step in every_step(target, config, run):
        counted = step.after["limited"] - step.before["limited"]
        if step.sent.rtt > 0 and step.gap <= 8 * len(step.sent.frame):
            assert step.takes_part
        if step.takes_part or step.sent.field > step.sent.own_hop:
            assert counted == 0
        else:
            assert counted == step.granted == step.sent.delta


@given(config=ports, run=runs)
@settings(max_examples=200)
def test_what_is_not_paid_doubles_a_flow_at_most(
    target: Target, config: Config, run: list[list[Sent]]
) -> None:
    for step in every_step(target, config, run):
        if step.sent.field <= step.sent.own_hop or step.takes_part:
            continue
        length = len(step.sent.frame)
        p, n = (
            min(step.product(*each), 256 * FEEDBACK_MAX) for each in (("cp", step.sent.x), ("cn", length))
        )
        assert step.granted == min(step.sent.delta, (p - n) // 256, step.product("growth", length) // 256)


@given(config=ports, run=runs)
@settings(max_examples=400)
def test_an_interval_ends_with_the_law_of_generation_2(
    target: Target, config: Config, run: list[list[Sent]]
) -> None:
    steps = steps_of(target, config, run)
    for last, following in pairwise(steps):
        check_interval(config, last[-1].after, following[0].before)


def check_interval(config: Config, sums: Values, end: Values) -> None:
    """What follows from the sums at an interval's end, in fractions. No queue: drain is 0."""
    assert end["elapsed"] == SECOND
    spare = 256 * config.capacity - end["rate"]
    regulated = config.alpha * abs(spare) // 65536
    handed_out = sums["phi"] - (sums["pos"] + sums["bank"] - sums["neg"])
    unusual = max(0, handed_out - 256 * config.capacity // 32)
    phi = (regulated if spare >= 0 else -regulated) - 256 * sums["limited"]
    phi -= config.alpha * min(unusual, 2**46 - 1) // 65536 // 2
    assert end["phi"] == phi
    poor = 16 * sums["poor_sum_x"] > 5 * SECOND
    fast = poor and sums["credit"] >= 2 and phi <= 256 * config.capacity // 32
    assert end["credit"] == (max(sums["credit"] - 2, 0) if poor else min(sums["credit"] + 1, CREDIT_MAX))
    growth = Fraction(end["growth"], 2 ** end["growth_shift"])
    assert is_quotient(growth, min(Fraction(256 * SECOND, end["avg_rtt"]), Fraction(2**32 - 1)))
    shuffle, size = end["pos"] - max(phi, 0), abs(phi)
    fair, lift = (Fraction(end[name], 2 ** end[f"{name}_shift"]) for name in ("fair", "lift"))
    if sums["own_input"] < sums["input"] // 64 and sums["own_sum_x"] < sums["sum_x"] // 64:
        assert shuffle == lift == 0
        check_shares(end, sums["sum_x"], sums["input"], phi, shuffle)
        assert is_quotient(fair, Fraction(256 * config.capacity, SECOND))
        return
    check_shares(end, sums["own_sum_x"], sums["own_input"], phi, shuffle)
    gamma = Fraction(config.gamma)
    half_ratio = Fraction(end["avg_rtt"] * 2**15, sums["max_rtt"]) if sums["max_rtt"] else 0
    cap = max(gamma, min(half_ratio, Fraction(FASTEST)))
    own = Fraction(sums["own_input"] * 256) / 65536  # per second; to be scaled by the q16 of gamma and cap
    slack = 2 + own * (1 + cap / 2**16)  # floors; cap is floored to 2^-16, and a quotient is good to 2^-17
    churn = (cap if fast else gamma) * own
    assert abs(shuffle - max(0, churn - size)) <= slack
    most = (gamma if poor and not fast else cap) * own
    assert abs(lift * sums["own_input"] * 256 - max(0, most - size - shuffle)) <= 2 * slack
    if sums["own_sum_x"] > 0:
        assert is_quotient(fair, Fraction(256 * sums["own_input"], sums["own_sum_x"]))


def check_shares(end: Values, sum_x: int, total: int, phi: int, shuffle: int) -> None:
    """Gains are for the x of one flow at least; decreases are capped at the input rate."""
    rate = 256 * total  # of a second
    taken_back = end["neg"] - shuffle
    assert min(max(-phi, 0), rate - 1 - rate // 2**17) <= taken_back <= min(max(-phi, 0), rate)
    spread = max(sum_x, end["avg_rtt"])
    for name, pool, over in (("cp", end["pos"], spread if sum_x else 0), ("cn", end["neg"], total)):
        value = Fraction(end[name], 2 ** end[f"{name}_shift"])
        assert is_quotient(value, Fraction(pool, over)) if over else value == 0


@given(config=ports, run=runs)
def test_the_generation_changes_only_what_is_granted(
    target: Target, config: Config, run: list[list[Sent]]
) -> None:
    names = ("intervals", "avg_rtt", "elapsed", "rate", "persistent_queue", "input", "sum_x", "sum_x_rtt")

    def measured(generation: int) -> list[list[int]]:
        steps = steps_of(target, replace(config, generation=generation), run)
        return [[step.after[name] for name in names] for interval in steps for step in interval]

    assert measured(1) == measured(2)


@given(config=ports, run=runs, other_config=ports, other_run=runs)
def test_ports_have_nothing_in_common(
    target: Target, config: Config, run: list[list[Sent]], other_config: Config, other_run: list[list[Sent]]
) -> None:
    alone = events_of(config, run)
    others = iter(events_of(other_config, other_run, port=2, first_slot=100))
    both: list[Event] = []
    for event in alone:
        both += [event, *islice(others, 2)]
    found = iter(answers(target, both))
    assert all(answer in found for answer in answers(target, alone))  # in this order


# --- Largest sums -------------------------------------------------------------------------------------


POOR = Sent(rtt=2**27, field=0, hop=0, x=2**21, delta=FEEDBACK_MAX, padding=62)


def repeated(target: Target, config: Config, sent: Sent, times: int) -> list[Values]:
    """Return the state after each of many departures of one packet; the interval before has an x of 2^20."""
    events: list[Event] = [Configure(1, config)]
    first = replace(sent, x=2**20, delta=FEEDBACK_MAX)
    for now, packet, count in ((0, first, 1), (config.min_interval, sent, times)):
        events += [Ingress(0, 0, now, packet.frame), Enqueue(1, 0, now, 0)]
        events += [Dequeue(1, 0, now, 0), State(1)] * count
    states = [answer for event, answer in answers(target, events) if isinstance(event, State)]
    return states[1:]


def test_the_sum_of_flows_that_others_limit_saturates(target: Target) -> None:
    config = Config(xcp=True, alpha=65536, capacity=2**38, min_interval=SECOND, generation=2)
    down = repeated(target, config, replace(POOR, delta=-(2**31)), 130)
    assert [state["limited"] for state in down[126:]] == [-127 * 2**31, *[-CAPACITY_MAX] * 3]
    up = repeated(target, config, replace(POOR, delta=2**31 - 2), 130)
    assert [state["limited"] for state in up[127:]] == [128 * (2**31 - 2), *[CAPACITY_MAX] * 2]


def test_a_bank_saturates(target: Target) -> None:
    # 1024 bytes in 8 ticks are 2^43 q8. 0.35 of that per 2^18 q8 bytes, for a gap of 2^17: the largest lift.
    config = Config(xcp=True, alpha=0, beta=0, gamma=0, min_interval=8, max_interval=8, generation=2)
    most = 256 * FEEDBACK_MAX
    states = repeated(target, config, replace(POOR, rtt=8, x=2**19, padding=958), 514)
    assert [state["bank"] for state in states[510:]] == [511 * most, 512 * most, POOL_MAX, POOL_MAX]
    assert {state["carry"] for state in states} == {0}
