# SPDX-License-Identifier: Apache-2.0
"""A port between real devices that measures what its link carries, while the rate of that changes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from integration.switch_net import Host, Network, Switch, one_switch, switch
from integration.waiting import wait_until

pytestmark = pytest.mark.root

MEASURED = {"enabled": True, "capacity_bps": "measured", "max_interval_us": 50_000}
FRAME_BYTES = 1000
PATIENT_S = 60.0


@pytest.fixture
def two() -> Iterator[Network]:
    network = Network(2)
    yield network
    network.close()


@contextmanager
def sending(sender: Host, receiver: Host, pause_s: float) -> Iterator[None]:
    """One frame after the other, about `pause_s` apart: they meet by chance at most."""
    stop = threading.Event()

    def send() -> None:
        while not stop.is_set():
            sender.raw.send(sender.frame(receiver.mac, FRAME_BYTES))
            time.sleep(pause_s)

    thread = threading.Thread(target=send)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def measures(running: Switch, rate_bps: int) -> bool:
    """Whether the last interval has measured that rate, to a thousandth."""
    measured_bps = running.ports()["p2"]["xcp"]["measured_bps"]
    return bool(abs(measured_bps - rate_bps) <= rate_bps / 1000)


def test_a_port_follows_the_rate_of_its_link(two: Network, tmp_path: Path) -> None:
    """8 Mbit/s at most are offered: of 20 and 50 Mbit/s only pairs tell, of 4 Mbit/s the queue does."""
    a, b = two.hosts
    port = {"rate_bps": 20_000_000, "queue_bytes": 100_000, "xcp": MEASURED}
    with switch(tmp_path, one_switch({}, port)) as running:
        b.raw.send(b.frame(a.mac))  # so that its address is known
        with sending(a, b, 0.001):
            for rate_bps in (20_000_000, 50_000_000, 4_000_000, 20_000_000):
                running.command(cmd="set", port="s1:p2", rate_bps=rate_bps)
                wait_until(partial(measures, running, rate_bps), f"{rate_bps} bit/s", PATIENT_S)
        assert running.ports()["p2"]["tx_errors"] == 0
