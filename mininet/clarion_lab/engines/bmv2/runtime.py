# SPDX-License-Identifier: Apache-2.0
"""What BMv2 offers beside P4Runtime, over Thrift: queue rates and depths, registers, counters, its clock."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from clarion_base.errors import RunFailedError
from clarion_lab.engines.bmv2.shaping import Shaping
from clarion_lab.engines.bmv2.thrift_client import Call, ThriftClient, ThriftError, Wide

UNLIMITED_DEPTH = 16384  # packets; of ports that no byte limit bounds, so that BMv2's 64 do not
CLOCK_READINGS = 5


class Occupancy(NamedTuple):
    """A port at one instant; all but the queue counts from the start of the switch."""

    tx_packets: int
    tx_bytes: int
    drop_packets: int
    queue_bytes: int
    queue_byte_us: int


class Runtime:
    """One switch's Thrift service."""

    def __init__(self, name: str, port: int) -> None:
        self._name = name
        with self._named():
            self._client = ThriftClient(port)
        self._asked: list[Call] = []
        self._ports = range(0)

    def close(self) -> None:
        """Ends the connection."""
        self._client.close()

    def shape(self, shapings: Iterable[Shaping]) -> None:
        """Sets rate and depth of every port's queue."""
        calls = [_switch("set_all_egress_queue_depths", UNLIMITED_DEPTH)]
        for shaping in shapings:
            calls.append(_switch("set_egress_queue_rate", shaping.number, Wide(shaping.rate_pps)))
            if shaping.depth_packets:
                calls.append(_switch("set_egress_queue_depth", shaping.number, shaping.depth_packets))
        with self._named():
            self._client.call(*calls)

    def clock_zero_us(self) -> int:
        """CLOCK_MONOTONIC at the zero of the switch's time stamps: the tightest of a few readings."""
        readings = []
        for _ in range(CLOCK_READINGS):
            before_ns = time.monotonic_ns()
            with self._named():
                (elapsed_us,) = self._client.call(_switch("get_time_elapsed_us"))
            after_ns = time.monotonic_ns()
            readings.append((after_ns - before_ns, (before_ns + after_ns) // 2000 - elapsed_us))
        zero_us: int = min(readings)[1]
        return zero_us

    def ask(self, ports: int) -> None:
        """Asks for the state of the ports from 1 to that number, for `answer` to return."""
        self._ports = range(1, ports + 1)
        counters = [_counter(name, port) for name in ("tx", "queue_drops") for port in self._ports]
        # What has left is read before what was accepted: the difference is never negative.
        registers = [_register(name) for name in ("left_bytes", "accepted_bytes", "queue_byte_us")]
        self._asked = [*counters, *registers]
        with self._named():
            self._client.send(self._asked)

    def answer(self) -> list[Occupancy]:
        """The state of the ports of the last `ask`."""
        with self._named():
            results = self._client.receive(self._asked)
        left, accepted, byte_us = results[-3:]
        count = len(self._ports)
        sent, dropped = results[:count], results[count : 2 * count]
        return [
            Occupancy(
                tx_packets=tx[_PACKETS],
                tx_bytes=tx[_BYTES],
                drop_packets=drops[_PACKETS],
                queue_bytes=accepted[port] - left[port],
                queue_byte_us=byte_us[port],
            )
            for port, tx, drops in zip(self._ports, sent, dropped, strict=True)
        ]

    @contextlib.contextmanager
    def _named(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ThriftError) as error:
            raise RunFailedError(f"{self._name}: BMv2's Thrift service: {error}") from error


_BYTES, _PACKETS = 1, 2  # fields of BmCounterValue


def _switch(method: str, *arguments: Any) -> Call:
    return Call("simple_switch", method, arguments)


def _register(name: str) -> Call:
    return Call("standard", "bm_register_read_all", (0, name))


def _counter(name: str, port: int) -> Call:
    return Call("standard", "bm_counter_read", (0, name, port))
