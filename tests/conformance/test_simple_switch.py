# SPDX-License-Identifier: Apache-2.0
"""The interpreter behaves like simple_switch, and simple_switch like the vectors.

One packet at a time: the next is sent when all copies of the last one have come out.
"""

from __future__ import annotations

import contextlib
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from clarion_contract.words import WORDS, taken_apart
from conformance import frames
from conformance.bmv2.simple_switch import PATIENCE, SimpleSwitch, missing
from conformance.bmv2.switch import Frame, Switch
from conformance.harness import PORTS, Configure, Dequeue, Enqueue, Ingress, State
from conformance.p4_player import FLOOD_BASE, FLOOD_GROUP, PROGRAM
from conformance.reference import Config, Xcp, classify
from conformance.traffic import Traffic
from conformance.vectors import FOLDER, Line, event_of, load

MISSING = missing()
pytestmark = [
    pytest.mark.slow,  # together: each starts a switch
    pytest.mark.skipif(MISSING is not None, reason=str(MISSING)),
]

COUNTERS = ("tx", "malformed", "queue_drops", "wire_late", "wire_rebased", "queue_late", "queue_rebased")
TABLES = ("tag_port", "wire_judged", "l2_forward", "xcp_port", "stamp_port", "queue_port")
OF_THE_CLOCK = {"queue_byte_us"}  # registers
MEMBERS = {member for members in WORDS.values() for member in members}  # no register of their own
FLOOD_PORTS = [FLOOD_BASE + port for port in range(PORTS)]
LONGEST = 2**32 - 1  # ticks, 16 s
NEVER = (10**6, 26214, 14811, 6554, LONGEST, LONGEST, 1, 1)  # XCP whose first interval does not end here
SECOND = 2**28


def started(folder: Path) -> Iterator[SimpleSwitch]:
    with contextlib.closing(SimpleSwitch(PROGRAM, folder)) as switch:
        switch.flood_to(FLOOD_GROUP, FLOOD_PORTS)
        yield switch


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[SimpleSwitch]:
    """A simple_switch that has sent no digest yet."""
    yield from started(tmp_path)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleSwitch]:
    yield from started(tmp_path_factory.mktemp("bmv2"))


@pytest.fixture
def real(running: SimpleSwitch) -> SimpleSwitch:
    """simple_switch with empty tables and registers, and the group of all ports."""
    running.reset(*TABLES)
    return running


class Lockstep:
    """Both switches with the same entries, one packet at a time."""

    def __init__(self, real: SimpleSwitch) -> None:
        self.real, self.model = real, Switch(PROGRAM)
        self.model.groups[FLOOD_GROUP] = [(port, port) for port in FLOOD_PORTS]
        self.sent = 0

    def add(self, table: str, key: int, action: str, *data: int) -> None:
        self.real.add(table, key, action, *data)
        self.model.table(table).add(key, action, *data)

    def forward(self, port: int, frame: bytes) -> list[Frame]:
        """Send one frame through both; return the frames that left."""
        self.sent += 1
        expected = sorted(self.model.forward(port, frame, self.sent), key=lambda one: one.port)
        self.real.send(port, frame)
        got = [self.real.receive() for _ in expected]
        assert None not in got, f"packet {self.sent}, {frame.hex()}: {len(expected)} copies are expected"
        found = sorted((one for one in got if one is not None), key=lambda one: one.port)
        assert found == expected, f"packet {self.sent}, port {port}, {frame.hex()}"
        return found

    def compare_state(self) -> None:
        """Compare all registers and counters that do not depend on time."""
        for name, cells in self.model.registers.items():
            if name not in OF_THE_CLOCK and name not in WORDS:  # Thrift shows 64 bits at most
                assert self.real.register(name) == cells, name
        for name in COUNTERS:
            for port in range(PORTS):
                assert self.real.counter(name, port) == self.model.counters[name][port], (name, port)


def addresses(random: Random, frame: bytes) -> bytes:
    """Return the frame addressed to a port, to an unknown station or to all."""
    known = b"\2\0\0\0\1" + bytes([random.randrange(PORTS)])
    other = (known, known, known, frames.MACS[:6], b"\xff" * 6)
    return random.choice(other) + frame[6:] if len(frame) >= 6 else frame


def random_packets(lockstep: Lockstep, seed: int, packets: int) -> None:
    for port in range(PORTS):
        lockstep.add("l2_forward", 0x020000000100 + port, "forward", port)
    random = Random(seed)
    for event in Traffic(seed).batch(packets):
        if isinstance(event, Ingress):
            lockstep.forward(event.port, addresses(random, event.frame))
    # One more packet per port: when it has left, the writes of the packet before it are done.
    for port in range(PORTS):
        lockstep.forward(0, b"\2\0\0\0\1" + bytes([port]) + frames.ipv4(b"", protocol=6)[6:])
    lockstep.compare_state()


def test_random_packets_and_loss_causes(real: SimpleSwitch) -> None:
    lockstep = Lockstep(real)
    for port in range(PORTS):
        lockstep.add("tag_port", port, "set_tag_port", port != 3, port == 2, port != 2, port + 1)
        if port != 1:
            lockstep.add("stamp_port", port, "stamp")
    lockstep.add("queue_port", 2, "set_queue_port", 1000)  # drops longer packets
    random_packets(lockstep, 11, 6000)
    lost = lockstep.model.registers["wire_lost"]
    drops = [packets for packets, _ in lockstep.model.counters["queue_drops"]]
    assert lost[0] > 0
    assert drops[2] > 0


def test_random_packets_within_one_control_interval(fresh: SimpleSwitch) -> None:
    lockstep = Lockstep(fresh)
    for port in range(PORTS):
        lockstep.add("xcp_port", port, "set_xcp_port", *NEVER)
    random_packets(lockstep, 12, 600)
    # Another packet per port ends its interval: what it has collected is in the report.
    fresh.clear("xcp_port")
    for port in range(PORTS):
        fresh.add("xcp_port", port, "set_xcp_port", *NEVER[:4], 1, 1, *NEVER[6:])
    sums = [taken_apart("interval_sums", word) for word in lockstep.model.registers["interval_sums"][:PORTS]]
    for port in range(PORTS):
        fresh.send((port + 1) % PORTS, b"\2\0\0\0\1" + bytes([port]) + frames.ipv4(b"", protocol=6)[6:])
        assert fresh.receive() is not None
    reports = {report["port"]: report for _, report in fresh.digests(2.0)}
    assert sorted(reports) == list(range(PORTS))
    for port, wanted in enumerate(sums):
        found = {name: reports[port][name] for name in ("input", "sum_x", "sum_x_rtt")}
        assert found == {name: wanted[name] for name in found}
    assert min(wanted["sum_x_rtt"] for wanted in sums) > 0


def test_reports_of_drops(fresh: SimpleSwitch) -> None:
    lockstep = Lockstep(fresh)
    lockstep.add("l2_forward", int.from_bytes(frames.MACS[:6], "big"), "forward", 1)
    lockstep.add("queue_port", 1, "set_queue_port", 40)
    transport = bytes(range(40))
    dropped = [
        frames.ipv4(transport, protocol=6),
        frames.ipv6(transport, protocol=17),
        frames.ipv4(frames.tag(7) + transport, vlan=3),
        frames.ipv6(frames.data(bucket=9) + transport),
        frames.ipv4(frames.ack() + transport, options=bytes(8)),
        frames.ipv4(transport, protocol=1),
        frames.MACS + b"\x88\xb5" + transport,
    ]
    for frame in dropped:
        assert lockstep.forward(0, frame) == []
    found = [report for name, report in fresh.digests(2.0) if name == "queue_drop_t"]
    expected = [report for _, report in lockstep.model.digests]
    assert len(found) == len(dropped)
    for report in (*found, *expected):
        del report["timestamp"]
    assert found == expected


def without_clock(path: Path) -> bool:
    """Whether a vector file needs neither a clock nor a change of settings while packets wait."""
    waiting = False
    for line in load(path):
        if isinstance(event := event_of(line), Configure) and (event.config.xcp or waiting):
            return False
        waiting = isinstance(event, Enqueue) or (waiting and not isinstance(event, Dequeue))
    return True


FILES = [path for path in sorted(FOLDER.glob("*.jsonl")) if without_clock(path)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_vectors(real: SimpleSwitch, path: Path) -> None:
    VectorRun(real).play(load(path))


class VectorRun:
    """Plays a vector file on simple_switch; a packet leaves at once, or a queue without room drops it."""

    def __init__(self, real: SimpleSwitch) -> None:
        self.real = real
        self.epochs: dict[int, int] = defaultdict(int)  # by port: how often its check was switched on
        self.checks: dict[int, bool] = defaultdict(bool)
        self.entries: dict[int, list[tuple[str, int]]] = {}  # port: tables and handles

    def play(self, lines: list[Line]) -> None:
        events = [event_of(line) for line in lines]
        for at, (line, event) in enumerate(zip(lines, events, strict=True)):
            if isinstance(event, Configure):
                self.configure(event)
            elif isinstance(event, State):
                self.check_state(event.port, line["expect"])
            elif isinstance(event, Ingress):
                after = lines[at + 1 :]
                length = next((n for n, one in enumerate(after) if one["op"] == "ingress"), len(after))
                self.forward(event, after[:length])

    def configure(self, event: Configure) -> None:
        port, config = event.port, event.config
        for table, handle in self.entries.pop(port, []):
            self.real.remove(table, handle)
        self.epochs[port] += config.check and not self.checks[port]
        self.checks[port] = config.check
        made = []
        if config.check or config.edge:
            tag = (config.check, config.edge, config.wire, self.epochs[port])
            made.append(("tag_port", self.real.add("tag_port", port, "set_tag_port", *tag)))
        if config.stamp:
            made.append(("stamp_port", self.real.add("stamp_port", port, "stamp")))
        self.entries[port] = made

    def forward(self, event: Ingress, after: list[Line]) -> None:
        out = {line["port"]: bytes.fromhex(line["out"]) for line in after if line["op"] == "dequeue"}
        ports = [line["port"] for line in after if line["op"] == "enqueue"]
        for table in ("l2_forward", "queue_port"):
            self.real.clear(table)
        if len(ports) == 1 and len(event.frame) >= 14:
            self.real.add("l2_forward", int.from_bytes(event.frame[:6], "big"), "forward", ports[0])
            left = set(out)
        else:
            left = set(range(PORTS)) - {event.port}
        dropped = {port: self.real.counter("queue_drops", port)[0] + 1 for port in set(ports) - set(out)}
        for port in dropped:
            self.real.add("queue_port", port, "set_queue_port", 0)
            left.discard(port)
        self.real.send(event.port, event.frame)
        got = [self.real.receive() for _ in left]
        found = {frame.port: frame.data for frame in got if frame is not None}
        assert set(found) == left
        assert {port: found[port] for port in out} == out
        end = time.monotonic() + PATIENCE
        while any(self.real.counter("queue_drops", port)[0] != count for port, count in dropped.items()):
            assert time.monotonic() < end, "the queue drops nothing"

    def check_state(self, port: int, expect: dict[str, int]) -> None:
        for name, value in expect.items():
            if name in ("malformed", "wire_late", "wire_rebased"):
                assert self.real.counter(name, port)[0] == value, name
            elif name not in MEMBERS:
                assert self.real.register(name)[port] == value, name


def test_control_in_real_time(fresh: SimpleSwitch) -> None:
    # Only the interval's length and the queue depend on the clock, and both are in the reports. Given them,
    # every report and every grant is that of the reference, and the lengths add up to the time it took.
    config = Config(xcp=True, capacity=20_000_000, min_interval=SECOND // 1000).limited()
    gains = (config.alpha, config.beta, config.gamma)
    bounds = (config.min_interval, config.max_interval, config.generation)
    fresh.add("l2_forward", int.from_bytes(frames.MACS[:6], "big"), "forward", 1)
    fresh.add("xcp_port", 1, "set_xcp_port", config.capacity, *gains, *bounds, 1)
    sent, left, seconds = send_for(fresh, 3.0)
    reports = [values for _, values in fresh.digests(2.0)]
    compare_with_reference(config, sent, left, reports)
    assert len(reports) > 20
    lasted = sum(report["elapsed"] for report in reports) / SECOND
    assert 0.9 * seconds < lasted + reports[-1]["avg_rtt"] / SECOND
    assert lasted <= seconds * 1.01
    granted = sum(classify(frame, 253)[0].fields["delta_throughput"] for frame in left)
    offered = sum(report["pos"] - report["neg"] for report in reports) / 256
    assert 0.5 * offered < granted <= offered


def send_for(real: SimpleSwitch, seconds: float) -> tuple[list[bytes], list[bytes], float]:
    """Two flows of 50 and 100 ms RTT; return frames sent and received, and the time it took."""
    sent: list[bytes] = []
    left: list[bytes] = []
    now = 0.0
    start = time.monotonic()
    last = [start - 0.001, start - 0.001]
    while now < start + seconds:
        flow = len(sent) % 2
        now = time.monotonic()
        x, last[flow] = int((now - last[flow]) * SECOND), now
        header = frames.data(rtt=SECOND // (20 - 10 * flow), x=x, delta=2**31 - 1, bucket=flow)
        sent.append(frames.ipv4(header + bytes(934)))
        real.send(0, sent[-1])
        frame = real.receive()
        assert frame is not None
        left.append(frame.data)
    return sent, left, now - start


def compare_with_reference(
    config: Config, sent: list[bytes], left: list[bytes], reports: list[dict[str, int]]
) -> None:
    xcp, at = Xcp(), 0
    for report in reports:
        packets = report["input"] // len(sent[0])
        for frame, out in zip(sent[at : at + packets], left[at : at + packets], strict=True):
            packet, _ = classify(frame, 253)
            granted = classify(out, 253)[0].fields["delta_throughput"]
            assert granted == xcp.departure(len(frame), packet), f"packet {at}"
            x, rtt = packet.fields["x"], packet.fields["rtt"]
            xcp.input, xcp.sum_x = xcp.input + len(frame), xcp.sum_x + x
            xcp.sum_x_rtt += (x * rtt + 128) // 256
            at += 1
        sums = [report[name] for name in ("input", "sum_x", "sum_x_rtt")]
        assert sums == [xcp.input, xcp.sum_x, xcp.sum_x_rtt]
        xcp.persistent_queue = report["queue"]
        xcp.control(config, report["elapsed"])
        assert (report["rate"], report["phi"]) == (xcp.rate, xcp.phi % 2**64)
        shares = [report[name] for name in ("pos", "neg", "cp", "cp_shift", "cn", "cn_shift")]
        assert shares == [xcp.pos, xcp.neg, *xcp.cp, *xcp.cn]
        assert (report["intervals"], report["avg_rtt"]) == (xcp.intervals, xcp.avg_rtt)
        xcp.input = xcp.sum_x = xcp.sum_x_rtt = 0


# --- Ingress and egress at the same time ------------------------------------------------------------------

CAPACITY = (
    2**28
)  # bytes/s, so that the fair share of a packet is x bytes where a port has no flows of its own
HELD_BACK = -3  # bytes/s, what other hops have left of the requests
AT_ONCE = 200  # packets


def test_departures_beside_the_ends_of_intervals_count_once(fresh: SimpleSwitch) -> None:
    # Flows that other hops limit: every departure adds its request to `limited`, in egress, and what an
    # interval's end takes of that, in ingress, is in its phi. Nothing is lost and nothing counts twice.
    config = Config(xcp=True, capacity=CAPACITY, beta=0, min_interval=2**12, generation=2).limited()
    gains = (config.alpha, config.beta, config.gamma)
    bounds = (config.min_interval, config.min_interval, config.generation)
    fresh.add("l2_forward", int.from_bytes(frames.MACS[:6], "big"), "forward", 1)
    fresh.add("xcp_port", 1, "set_xcp_port", config.capacity, *gains, *bounds, 1)
    fresh.command(f"set_queue_depth {AT_ONCE}")
    poor = frames.ipv4(frames.data(rtt=2**20, x=2**16, delta=HELD_BACK) + bytes(100))
    fresh.add("queue_port", 1, "set_queue_port", 0)
    fresh.send(0, poor)  # is dropped: an interval with a flow, but none of the port's own
    assert fresh.receive(0.1) is None
    fresh.clear("queue_port")
    digests = []
    for _ in range(50):
        for _ in range(AT_ONCE):
            fresh.send(0, poor)
        for _ in range(AT_ONCE):
            frame = fresh.receive()
            assert frame is not None
            assert classify(frame.data, 253)[0].fields["delta_throughput"] == HELD_BACK
        digests += fresh.digests(0.0)
    for _ in range(2):  # ends the interval of the last ones
        pass_slowly(fresh, frames.ipv4(frames.tag()))
    digests += fresh.digests(2.0)
    reports = [values for name, values in digests if name == "interval_report_t"]
    assert [report["intervals"] for report in reports] == list(range(1, len(reports) + 1))
    assert len(reports) > 100
    assert sum(limited(config, report) for report in reports) == 50 * AT_ONCE * HELD_BACK


def pass_slowly(real: SimpleSwitch, frame: bytes) -> None:
    """A packet long behind the last one, which is alone in the switch."""
    time.sleep(0.01)
    real.send(0, frame)
    assert real.receive() is not None


def limited(config: Config, report: dict[str, int]) -> int:
    """What other hops had left of the requests, by the report of an interval."""
    phi = report["phi"] - (2**64 if report["phi"] >= 2**63 else 0)
    spare = config.capacity * 256 - report["rate"]
    assert spare >= 0
    assert (config.alpha * spare // 65536 - phi) % 256 == 0
    return (config.alpha * spare // 65536 - phi) // 256
