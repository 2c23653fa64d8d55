# SPDX-License-Identifier: Apache-2.0
"""The P4 program with queues that fill and drain on a virtual clock."""

from __future__ import annotations

import pytest

from clarion_contract.words import WORDS, put_together, taken_apart
from conformance import frames
from conformance.bmv2.fifo import FifoSwitch, Queue
from conformance.bmv2.switch import Frame, Recirculated, Switch
from conformance.p4_player import PROGRAM
from conformance.reference import Config, classify

SECOND = 2**28  # ticks
MILLION = 1e6  # microseconds
LENGTH = 1514
RECEIVER = frames.MACS[:6]


def data_frame(flow: int, rate: float, rtt_us: float) -> bytes:
    """A full-sized packet of a flow of `rate` bytes/s that requests the largest increase."""
    x = min(int(LENGTH / rate * SECOND), 2**32 - 1)
    header = frames.data(rtt=int(rtt_us / MILLION * SECOND), x=x, delta=2**31 - 1, bucket=flow)
    return frames.ipv4(header + bytes(LENGTH - 34 - 32))


class Loop:
    """Ideal senders behind a bottleneck: paced flows that add every grant to their rate one RTT later."""

    def __init__(self, flows: int, bytes_per_s: float, rtt_us: float) -> None:
        self.rtt = rtt_us
        self.least = LENGTH / (10 * rtt_us / MILLION)
        self.rates = [self.least] * flows
        self.received = [0] * flows
        self.deepest = 0
        self.fifo = FifoSwitch(Switch(PROGRAM), self.deliver)
        self.fifo.queues[1] = Queue(bytes_per_s)
        config = Config(xcp=True, capacity=int(bytes_per_s)).limited()
        values = (config.alpha, config.beta, config.gamma, config.min_interval, config.max_interval)
        tables = self.fifo.switch
        tables.table("xcp_port").add(1, "set_xcp_port", config.capacity, *values, config.generation, 1)
        tables.table("l2_forward").add(int.from_bytes(RECEIVER, "big"), "forward", 1)
        for flow in range(flows):
            self.send(flow, rtt_us * flow / flows)

    def send(self, flow: int, time: float) -> None:
        def sends() -> None:
            self.fifo.arrive(self.fifo.now, 0, data_frame(flow, self.rates[flow], self.rtt))
            self.deepest = max(self.deepest, len(self.fifo.queues[1].waiting))
            self.send(flow, self.fifo.now + LENGTH / self.rates[flow] * MILLION)

        self.fifo.at(time, sends)

    def deliver(self, time: float, frame: Frame) -> None:
        fields = classify(frame.data, 253)[0].fields
        flow, granted = fields["bucket"], fields["delta_throughput"]
        self.received[flow] += len(frame.data)

        def hears() -> None:
            self.rates[flow] = max(self.least, self.rates[flow] + granted)

        self.fifo.at(time + self.rtt, hears)


def test_newcomers_fill_a_link_and_share_it() -> None:
    capacity, rtt = 1.25e6, 100e3  # 10 Mbit/s, 100 ms
    loop = Loop(4, capacity, rtt)
    loop.fifo.run_until(40 * rtt)
    loop.received, loop.deepest = [0] * 4, 0
    loop.fifo.run_until(80 * rtt)
    total = sum(loop.received)
    jain = total**2 / (4 * sum(flow**2 for flow in loop.received))
    assert total > 0.97 * capacity * 40 * rtt / MILLION
    assert jain > 0.999
    assert loop.deepest < 0.5 * capacity * rtt / MILLION / LENGTH  # half of the packets in flight
    reports = [report for _, report in loop.fifo.switch.digests]
    assert [report["intervals"] for report in reports] == list(range(1, len(reports) + 1))
    assert 0.95 * rtt < reports[-1]["avg_rtt"] / SECOND * MILLION < 1.05 * rtt


def test_every_drop_is_counted_and_reported() -> None:
    # 60 packets at once for a queue of 20 packets, in bytes, on a link that sends one in 10 ms.
    left: list[Frame] = []
    fifo = FifoSwitch(Switch(PROGRAM), lambda _, frame: left.append(frame))
    fifo.queues[1] = Queue(LENGTH * 100.0)
    switch = fifo.switch
    switch.table("l2_forward").add(int.from_bytes(RECEIVER, "big"), "forward", 1)
    switch.table("stamp_port").add(1, "stamp")
    switch.table("queue_port").add(1, "set_queue_port", 20 * LENGTH)
    for number in range(60):
        fifo.arrive(100.0 * number, 0, data_frame(7, 1e6, 1e4))
    fifo.arrive(MILLION, 0, data_frame(7, 1e6, 1e4))
    fifo.run_until(2 * MILLION)
    drops = [report for name, report in switch.digests if name == "queue_drop_t"]
    assert switch.counters["queue_drops"][1][0] == len(drops) == 61 - len(left)
    assert switch.registers["queue_lost"][1] == len(drops)
    assert classify(left[-1].data, 253)[0].fields["congest"] == len(drops)
    assert [report["drops"] for report in drops] == list(range(1, len(drops) + 1))
    # 21 were accepted: 20 waiting and the one that left at once.
    assert len(left) == 22


def test_a_drop_by_the_traffic_manager_is_found_too() -> None:
    # The target's queue takes 5 packets; the program sees the drops only as gaps in the numbers.
    left: list[Frame] = []
    fifo = FifoSwitch(Switch(PROGRAM), lambda _, frame: left.append(frame))
    fifo.queues[1] = Queue(LENGTH * 100.0, depth=5)
    fifo.switch.table("l2_forward").add(int.from_bytes(RECEIVER, "big"), "forward", 1)
    fifo.switch.table("stamp_port").add(1, "stamp")
    for number in range(12):
        fifo.arrive(float(number), 0, data_frame(7, 1e6, 1e4))
    fifo.arrive(MILLION, 0, data_frame(7, 1e6, 1e4))
    fifo.run_until(2 * MILLION)
    assert fifo.dropped == 7
    assert fifo.switch.registers["queue_lost"][1] == 7
    accepted, gone = (fifo.switch.registers[name][1] for name in ("accepted_bytes", "left_bytes"))
    assert accepted == gone


def test_the_queue_summed_over_time_is_bytes_times_microseconds() -> None:
    # At 1 byte/us a packet waits as many microseconds as there are bytes before it, its own not counted.
    fifo = FifoSwitch(Switch(PROGRAM), lambda *_: None)
    fifo.queues[1] = Queue(MILLION)
    fifo.switch.groups[1] = [(256, 0), (257, 1), (258, 2)]
    fifo.switch.table("l2_forward").add(int.from_bytes(RECEIVER, "big"), "forward", 1)

    def arrive(at_us: int, length: int, receiver: bytes = RECEIVER) -> None:
        fifo.arrive(at_us, 0, (receiver + frames.ipv4(b"")[6:]).ljust(length, b"\0"))

    def total() -> int:
        return fifo.switch.registers["queue_byte_us"][1]

    arrive(10, 100)  # finds an empty queue
    arrive(10, 1000)
    arrive(50, 60)
    fifo.run_until(2000)
    assert total() == 1000 * 100 + 60 * (100 + 1000 - 40)
    arrive(3000, 1500)
    fifo.run_until(5000)
    assert total() == 1000 * 100 + 60 * 1060  # the queue was empty
    arrive(6000, 500)
    arrive(6000, 200, b"\xff" * 6)  # flooded: one copy waits here, the other leaves port 2 at once
    fifo.run_until(8000)
    assert total() == 1000 * 100 + 60 * 1060 + 200 * 500
    assert sum(fifo.switch.registers["queue_byte_us"]) == total()


@pytest.mark.parametrize("full", ["input", "sum_x", "sum_x_rtt"])
def test_a_sum_stays_at_its_limit_and_out_of_its_neighbours(full: str) -> None:
    # Beside each other in one word, and usually added to all at once.
    switch = Switch(PROGRAM)
    switch.table("l2_forward").add(int.from_bytes(RECEIVER, "big"), "forward", 1)
    never = 2**32 - 1
    switch.table("xcp_port").add(1, "set_xcp_port", 10**6, 26214, 14811, 6554, never, never, 1, 1)
    frame = data_frame(7, 1e6, 1e4)
    switch.forward(0, frame, 0)
    before = taken_apart("interval_sums", switch.registers["interval_sums"][1])
    limit = 2 ** WORDS["interval_sums"][full] - 1
    for start in (limit, limit - 1, limit // 2):
        switch.registers["interval_sums"][1] = put_together("interval_sums", before | {full: start})
        switch.forward(0, frame, 1)
        after = taken_apart("interval_sums", switch.registers["interval_sums"][1])
        sums = {name: 2 * before[name] for name in ("input", "sum_x", "sum_x_rtt")}
        sums[full] = min(start + before[full], limit)
        assert after == before | sums


def test_no_frame_goes_back_by_the_port_that_it_came_in_by() -> None:
    switch = Switch(PROGRAM)
    switch.table("l2_forward").add(int.from_bytes(RECEIVER, "big"), "forward", 1)
    switch.groups[1] = [(256, 0), (257, 1)]
    known, unknown = frames.ipv4(b""), b"\xff" * 6 + frames.ipv4(b"")[6:]
    assert switch.ingress(1, known, 0) == []
    assert [copy.port for copy in switch.ingress(0, known, 0)] == [1]
    copies = switch.ingress(1, unknown, 0)
    assert [type(switch.egress(copy, 0)) for copy in copies] == [Recirculated, type(None)]


def test_what_comes_in_is_counted_by_port_whatever_becomes_of_it() -> None:
    switch = Switch(PROGRAM)
    switch.groups[1] = [(256, 0), (257, 1)]
    flooded = b"\xff" * 6 + frames.ipv4(b"")[6:]
    for copy in switch.ingress(0, flooded, 0):
        again = switch.egress(copy, 0)
        if isinstance(again, Recirculated):
            assert [copy.port for copy in switch.ingress_again(again, 0)] == [1]
    assert switch.counters["rx"][0] == [1, len(flooded)]  # the copies do not count again
    assert switch.counters["rx"][1] == [0, 0]


def test_ports_without_registers_take_and_bring_nothing() -> None:
    # The registers have 64 cells: entries of another P4Runtime client must not reach beyond them.
    switch = Switch(PROGRAM)
    switch.table("l2_forward").add(int.from_bytes(RECEIVER, "big"), "forward", 64)
    known = frames.ipv4(b"")
    assert switch.ingress(0, known, 0) == []
    switch.table("l2_forward").add(int.from_bytes(b"\x02" * 6, "big"), "forward", 1)
    assert switch.ingress(64, b"\x02" * 6 + known[6:], 0) == []
    assert [copy.port for copy in switch.ingress(62, b"\x02" * 6 + known[6:], 0)] == [1]
