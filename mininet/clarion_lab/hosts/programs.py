# SPDX-License-Identifier: Apache-2.0
"""The programs that send and receive the data of a flow: iperf3, and own ones (which run by their paths) for
what iperf3 does not do: a transfer that knows when its last byte came, bursts, datagrams sent one by one.
"""

from __future__ import annotations

import sys
from pathlib import Path

from clarion_lab.scenario.flows import Flow
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Endpoints

TRANSFER, DATAGRAMS = (
    (sys.executable, str(Path(__file__).with_name(name))) for name in ("transfer.py", "datagrams.py")
)
CONTROL_ROUND_TRIPS = 5  # measured: connect, cookie, parameters, data connection, start
LAUNCH_US = 30_000  # to start the program itself
COOKIE_BYTES = 37  # with which iperf3 opens the data connection
PYTHON_LEAD_US = 700_000  # to start Python twice on a busy machine, beside two round trips
SPARE_S = 60  # a client's own duration is this much longer than the flow's; see Traffic.advance
MIN_UNSENT_BYTES = 16 << 10
UNSENT_S = 0.01  # of the path: a burst ends no later


def kind(flow: Flow) -> str:
    """What sends a flow's data: "iperf3", "transfer", "bursts", "datagrams", or an application's name."""
    if flow.application is not None:
        return flow.application.name
    if flow.udp is not None:
        return "datagrams"
    if flow.bursts:
        return "bursts"
    return "iperf3" if flow.size_bytes is None else "transfer"


def lead_us(scenario: Scenario, flow: Flow) -> int:
    """How long before its first data a flow's client is launched. iperf3 talks over a control connection
    first.
    """
    if flow.application is not None:  # its connections are part of what it takes
        return PYTHON_LEAD_US
    if kind(flow) == "iperf3":
        return CONTROL_ROUND_TRIPS * scenario.path_rtt_us(flow) + LAUNCH_US
    return 2 * scenario.path_rtt_us(flow) + PYTHON_LEAD_US


def preface_bytes(flow: Flow) -> int:
    """What the sender sends ahead of its data."""
    return COOKIE_BYTES if kind(flow) == "iperf3" else 0


def receiver(flow: Flow, ends: Endpoints) -> list[str]:
    """The command of a flow's receiver."""
    if kind(flow) == "iperf3":
        return ["iperf3", "--server", "--one-off", "--port", str(ends.dport)]
    program = DATAGRAMS if flow.udp is not None else TRANSFER
    return [*program, "receive", "--port", str(ends.dport)]


def sender(scenario: Scenario, flow: Flow, ends: Endpoints, zero_ns: int, burst_file: Path) -> list[str]:
    """The command of a flow's sender; `zero_ns` is the start of the run on CLOCK_MONOTONIC."""
    where = ["--to", ends.receiver.address, *_options(port=ends.dport, source_port=ends.sport)]
    at_ns = zero_ns + flow.start_us * 1000
    if flow.udp is not None:
        rate = _options(rate_bps=flow.udp.rate_bps, packet_bytes=flow.udp.packet_bytes)
        payload = _options(payload_bytes=flow.udp.payload_bytes)
        times = _options(at_ns=at_ns, until_ns=zero_ns + flow.stop_us * 1000)
        return [*DATAGRAMS, "send", *where, *rate, *payload, *times]
    if kind(flow) == "iperf3":
        return _iperf3(flow, ends)
    command = [*TRANSFER, "send", *where, "--law", flow.algorithm.kernel]
    if flow.size_bytes is not None:
        return [*command, *_options(bytes=flow.size_bytes, at_ns=at_ns)]
    unsent = max(MIN_UNSENT_BYTES, int(scenario.narrowest_bps(flow) / 8 * UNSENT_S))
    return [*command, "--bursts", str(burst_file), *_options(unsent_bytes=unsent, at_ns=zero_ns)]


def _iperf3(flow: Flow, ends: Endpoints) -> list[str]:
    return [
        *("iperf3", "--client", ends.receiver.address),
        *_options(port=ends.dport, cport=ends.sport),
        *("--congestion", flow.algorithm.kernel, "--interval", "0", "--json"),
        *_options(time=(flow.stop_us - flow.start_us) // 1_000_000 + SPARE_S),
    ]


def _options(**values: int) -> list[str]:
    return [part for name, value in values.items() for part in (f"--{name.replace('_', '-')}", str(value))]
