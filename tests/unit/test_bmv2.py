# SPDX-License-Identifier: Apache-2.0
"""Engine bmv2 without a switch: the plan for BMv2 of a scenario, and its telemetry."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from itertools import chain, pairwise
from typing import Any

import pytest

from clarion_base.faults import ScenarioError
from clarion_contract.telemetry import IntervalReport
from clarion_lab.engines.bmv2 import plans
from clarion_lab.engines.bmv2.engine import Bmv2Engine
from clarion_lab.engines.bmv2.runtime import Occupancy
from clarion_lab.engines.bmv2.series import EDGES_BYTES, PortSeries
from clarion_lab.engines.bmv2.shaping import Shaping, shapings
from clarion_lab.engines.bmv2.thrift_client import Call, ThriftClient, ThriftError, Wide, encode
from clarion_lab.engines.bmv2.wires import NODE, cabling, wire_config
from clarion_lab.recording.recording import Recording
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.scenario.topology import plan


def scenario(*settings: tuple[str, object], name: str = "geo") -> Scenario:
    document = documents.read(documents.locate(name))
    return build(name, documents.points(name, document, settings)[0].document)


def shaping_of(made: Scenario, port: str) -> Shaping:
    every = chain.from_iterable(shapings(made, plan(made)).values())
    return next(shaping for shaping in every if shaping.port == port)


# --- Rates and queues


@pytest.mark.parametrize(
    ("algorithm", "frame", "ack"), [("xcp", 1546, 78), ("boost", 1530, 82), ("cubic", 1514, 66)]
)
def test_a_rate_becomes_full_frames_of_the_flows_format(algorithm: str, frame: int, ack: int) -> None:
    made = scenario(("algorithm", algorithm))
    forward = shaping_of(made, "s1-right")
    assert (forward.frame_bytes, forward.rate_pps) == (frame, round(100e6 / 8 / frame))
    assert forward.carries_data
    reverse = shaping_of(made, "s2-left")
    assert (reverse.frame_bytes, reverse.rate_pps) == (ack, round(100e6 / 8 / ack))
    assert not reverse.carries_data
    assert shaping_of(made, "s2-r1").frame_bytes == frame
    assert shaping_of(made, "s1-h1").frame_bytes == ack


def test_mixed_flows_count_with_the_mean_of_their_frames() -> None:
    made = scenario(("flows", [{"count": 3}, {"algorithm": "cubic"}]))
    assert shaping_of(made, "s1-right").frame_bytes == (3 * 1546 + 1514) / 4
    assert shaping_of(made, "s2-r4").frame_bytes == 1514


def test_reverse_data_shapes_the_ports_that_it_leaves_by() -> None:
    made = scenario(("flows", [{"direction": "reverse"}]))
    assert shaping_of(made, "s2-left").frame_bytes == 1546
    assert shaping_of(made, "s1-h1").frame_bytes == 1546
    assert shaping_of(made, "s1-right").frame_bytes == 78


def test_the_limit_stays_in_bytes_and_bmv2s_own_is_never_met() -> None:
    made = scenario()
    forward = shaping_of(made, "s1-right")
    assert forward.queue_bytes == 7_125_000
    assert forward.depth_packets > 7_125_000 / 42
    assert set(forward.described()) == {"rate_bps", "frame_bytes", "rate_pps", "queue_bytes", "depth_packets"}


def test_an_unshaped_port_has_neither_rate_nor_limit() -> None:
    port = shaping_of(scenario(name="mixed-loss"), "s1-h1")
    assert (port.rate_bps, port.rate_pps, port.queue_bytes, port.depth_packets) == (0, 0, 0, 0)


# --- Links


def test_every_link_that_delays_or_loses_is_a_wire() -> None:
    made = scenario(("flows", [{"count": 2}]))
    found = cabling(plan(made))
    assert len(found.wires) == 5  # a bottleneck and four access links
    assert all(NODE in cable.nodes for cable in found.cables)
    ends = {
        device: (end.port, end.leaving, end.delay_us, end.loss.model) for device, end in found.ends().items()
    }
    assert ends["w1-s2"] == ("s1-right", True, 275_000, "packet")
    assert ends["w1-s1"] == ("s2-left", True, 275_000, "none")
    assert ends["w2-h1"] == ("s1-h1", True, 5000, "none")
    assert ends["w2-s1"] == ("s1-h1", False, 5000, "none")
    devices = found.devices(host.name for host in plan(made).hosts)
    assert len(devices) == len(set(devices)) == 16
    assert all(len(device) < 16 for device in devices)


def test_an_ideal_link_is_a_plain_pair() -> None:
    made = scenario(("links.access", {}), ("flows", [{"count": 1}]))
    found = cabling(plan(made))
    assert [wire.name for wire in found.wires] == ["w1"]
    assert {cable.nodes for cable in found.cables if NODE not in cable.nodes} == {("h1", "s1"), ("r1", "s2")}


def test_a_wire_shapes_nothing_and_touches_no_frame() -> None:
    made = scenario(("flows", [{"count": 1}]))
    config = wire_config(made, cabling(plan(made)).wires, "truth.csv")
    assert [len(wire["ports"]) for wire in config["switches"]] == [2, 2, 2]
    for port in chain.from_iterable(wire["ports"] for wire in config["switches"]):
        assert set(port) == {"name", "netdev", "delay_us", "loss"}
    assert config["seed"] == made.seed


# --- Entries


def test_settings_are_those_of_the_embedded_switch() -> None:
    made = scenario(("flows", [{"count": 1}]))
    first = plans.switch_plans(made, plan(made))[0]
    right, host = first.settings
    assert right.xcp is not None
    assert right.xcp.capacity_bps == 100_000_000
    assert (right.stamp, right.check, right.edge, right.queue_limit_bytes) == (True, True, False, 7_125_000)
    assert host.edge
    off = plans.switch_plans(made := scenario(("xcp.enabled", False), ("tagging", False)), plan(made))[0]
    assert off.settings[0].xcp is None
    assert (off.settings[0].stamp, off.settings[0].check, off.settings[1].edge) == (False, False, False)


def test_every_switch_knows_the_way_to_every_host() -> None:
    network = plan(made := scenario(name="parking-lot"))
    middle = plans.switch_plans(made, network)[1]
    names = [port.name for port in network.switches["s2"]]
    ways = {host.name: names[middle.addresses[host.mac] - 1] for host in network.hosts}
    assert ways["h1"] == "s2-left"  # at s1
    assert ways["r1"] == "s2-right"  # at s4
    assert ways["h3"] == "s2-h3"
    assert ways["r2"] == "s2-r2"


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        (
            "links.bottleneck.rate",
            "200 Mbit/s",
            "links.bottleneck.rate: 200 Mbit/s at s1-right: 16171 packets/s are beyond the 12000 of engine"
            " bmv2; use at most 148.4 Mbit/s",
        ),
        ("links.access.rate", "1 Gbit/s", "links.access.rate: 1 Gbit/s at s2-r1: 80854 packets/s are beyond"),
        ("flows", [{"count": 62}], "flows: 63 ports at s1: engine bmv2 has 62; use host-pairs"),
    ],
)
def test_what_bmv2_does_not_carry_is_refused_by_field(key: str, value: object, line: str) -> None:
    made = scenario((key, value))
    with pytest.raises(ScenarioError) as caught:
        Bmv2Engine().check_switches(made, plan(made))
    assert str(caught.value).startswith(f"scenario geo: {line}")


# --- Telemetry


def occupancy(queue_bytes: int, drops: int = 0) -> Occupancy:
    return Occupancy(10, 15_000, drops, queue_bytes, 1000)


def test_series_hold_what_thrift_p4runtime_and_the_wires_tell() -> None:
    series, recording = PortSeries({"s1": ["s1-right"]}), Recording()
    fields: dict[str, Any] = dict.fromkeys(IntervalReport._fields, 0)
    series.note_interval(
        "s1", IntervalReport(**{**fields, "port": 1, "phi_bps": -800.0, "avg_rtt_us": 24_000.4})
    )
    series.take(0, "s1", [occupancy(0)], {"s1-right": 3}, recording, False)
    series.take(100_000, "s1", [occupancy(5000, 2)], {"s1-right": 4}, recording, False)
    series.take(300_000, "s1", [occupancy(5000, 2)], {"s1-right": 4}, recording, True)
    last = recording.port_samples[-1]
    assert (last.drop_packets, last.wire_lost_packets) == (2, 4)
    assert (last.xcp_phi_bytes_per_s, last.xcp_avg_rtt_us) == (-100, 24_000)
    histogram = recording.histograms["s1-right"]
    (bin_,) = [index for index, spent in enumerate(histogram.latest_us) if spent]
    assert histogram.latest_us[bin_] == 300_000
    assert histogram.at_window_start_us[bin_] == 100_000
    assert EDGES_BYTES[bin_] <= 5000 < EDGES_BYTES[bin_ + 1]
    assert series.dropped_packets() == 2


def test_bins_are_narrow_and_reach_any_queue() -> None:
    assert sorted(set(EDGES_BYTES)) == EDGES_BYTES
    assert max(high / low for low, high in pairwise(EDGES_BYTES[1:])) < 1.0625
    assert EDGES_BYTES[-1] > 2**30


# --- Thrift, against answers written down byte by byte (protocol: thrift-binary-protocol.md)

REPLY = struct.pack(">Ii4si", 0x80010002, 4, b"name", 0)
LIST_OF_I64 = REPLY + struct.pack(">bhbi3qb", 15, 0, 10, 3, 1, -2, 3 << 40, 0)
COUNTER = REPLY + struct.pack(">bhbhqbhqbb", 12, 0, 10, 1, 1500, 10, 2, 7, 0, 0)
NOTHING = REPLY + b"\0"
REFUSED = REPLY + struct.pack(">bhbhibb", 12, 1, 8, 1, 5, 0, 0)
FAILED = struct.pack(">Ii4si", 0x80010003, 4, b"name", 0) + struct.pack(
    ">bhi5sbhib", 11, 1, 5, b"wrong", 8, 2, 1, 0
)
CALL = Call("standard", "bm_register_read_all", (0, "tx"))


@pytest.fixture
def server() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening


def answers(server: socket.socket, answer: bytes) -> ThriftClient:
    """A client of a service that sends `answer` to its first client."""

    def serve() -> None:
        connection, _ = server.accept()
        with connection:
            connection.sendall(answer)
            connection.recv(1 << 16)

    threading.Thread(target=serve, daemon=True).start()
    return ThriftClient(server.getsockname()[1])


def test_a_call_is_named_for_the_multiplexer() -> None:
    assert encode(CALL) == (
        struct.pack(">Ii", 0x80010001, 29) + b"standard:bm_register_read_all" + struct.pack(">i", 0)
        + struct.pack(">bhi", 8, 1, 0) + struct.pack(">bhi", 11, 2, 2) + b"tx" + b"\0"
    )  # fmt: skip
    assert encode(Call("s", "m", (Wide(5),)))[-12:] == struct.pack(">bhqb", 10, 1, 5, 0)


def test_answers_come_in_the_order_of_the_calls(server: socket.socket) -> None:
    client = answers(server, LIST_OF_I64 + COUNTER + NOTHING)
    assert client.call(CALL, CALL, CALL) == [[1, -2, 3 << 40], {1: 1500, 2: 7}, None]
    client.close()


@pytest.mark.parametrize(
    ("answer", "line"), [(REFUSED, "refused"), (FAILED, "wrong"), (LIST_OF_I64[:20], "connection closed")]
)
def test_a_call_that_fails_says_why(server: socket.socket, answer: bytes, line: str) -> None:
    client = answers(server, answer)
    with pytest.raises((ThriftError, OSError), match=line):
        client.call(CALL)
    client.close()
