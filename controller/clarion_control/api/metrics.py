# SPDX-License-Identifier: Apache-2.0
"""Figures for Prometheus, read from the controller's memory at each request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector

from clarion_control.api import expiry
from clarion_control.api.context import TunerView
from clarion_control.controller import Controller
from clarion_control.model import LinkState
from clarion_control.store.clock import now_us

_SWITCH = ["switch"]
_PORT = ["switch", "port"]

# Metrics of the last control interval: field, name, help text, and whether it is a counter.
_INTERVAL = (
    ("input_bps", "input_bits_per_second", "Rate at which bytes arrived for the port", False),
    ("queue_bytes", "queue_bytes", "Persistent queue", False),
    ("phi_bps", "phi_bits_per_second", "By how much the sum of all rates is to change", False),
    ("avg_rtt_us", "rtt_microseconds", "Mean round-trip time that packets stated", False),
    ("intervals", "intervals", "Control intervals that ended", True),
    ("lost_on_wire", "lost_on_wire_packets", "Packets lost on the wire into the port", True),
    ("dropped_by_queue", "dropped_by_queue_packets", "Packets that the port's queue dropped", True),
)


def exposition(
    controller: Controller, tuner: TunerView | None, https: Path | None, accept: str
) -> tuple[bytes, str]:
    """All figures, and their media type. `https` is the certificate that the API is served with."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(ControllerCollector(controller, tuner, https))
    encode, media_type = choose_encoder(accept)
    return encode(registry), media_type


class ControllerCollector(Collector):
    """Switches, ports and the controller itself."""

    def __init__(self, controller: Controller, tuner: TunerView | None, https: Path | None) -> None:
        self._controller = controller
        self._https = https
        self._tuner = tuner

    def describe(self) -> list[Metric]:
        """Nothing in advance: what there is depends on the switches."""
        return []

    def collect(self) -> Iterator[Metric]:
        """One family after the other."""
        yield from self._links()
        yield from self._intervals()
        yield from self._counters()
        if self._tuner is not None:
            yield from self._noise(self._tuner)
        conflicts = GaugeMetricFamily(
            "clarion_wire_conflict", "1 at a port declared a wire that LLDP denies", labels=_PORT
        )
        for switch, port, _ in self._controller.topology.conflicts():
            conflicts.add_metric([switch.name, str(port)], 1.0)
        yield conflicts
        waiting = GaugeMetricFamily("clarion_reports_waiting", "Reports that are not stored yet")
        waiting.add_metric([], self._controller.telemetry.reports_waiting)
        yield waiting
        lost = CounterMetricFamily("clarion_reports_lost", "Reports that the store did not take")
        lost.add_metric([], self._controller.telemetry.reports_lost)
        yield lost
        yield self._certificates()
        yield from self._tokens()
        operations = CounterMetricFamily("clarion_store_operations", "Transactions", labels=["kind"])
        for kind, count in self._controller.store_operations.items():
            operations.add_metric([kind], count)
        yield operations

    def _tokens(self) -> Iterator[Metric]:
        least = GaugeMetricFamily(
            "clarion_token_expires_in_seconds", "Until the next token expires; absent if none will"
        )
        expires_us = self._controller.tokens.next_expiry_us()
        if expires_us is not None:
            least.add_metric([], (expires_us - now_us()) / 1e6)
        yield least

    def _certificates(self) -> Metric:
        left = GaugeMetricFamily(
            "clarion_certificate_expires_in_seconds",
            "Until the certificate in a file that is in use expires",
            labels=["file"],
        )
        for path, left_s in expiry.seconds_left(self._https, self._controller.switches.all()):
            left.add_metric([path], left_s)
        return left

    def _links(self) -> Iterator[Metric]:
        state = GaugeMetricFamily(
            "clarion_switch_state", "1 for the state that the link is in", labels=["switch", "state"]
        )
        primary = GaugeMetricFamily(
            "clarion_switch_primary", "1 for the controller that leads", labels=["switch", "controller"]
        )
        reports = CounterMetricFamily("clarion_switch_reports", "Reports that came", labels=_SWITCH)
        reconnects = CounterMetricFamily("clarion_switch_reconnects", "Sessions that broke", labels=_SWITCH)
        for switch in self._controller.switches.all():
            status = self._controller.switches.status(switch.name)
            for each in LinkState:
                state.add_metric([switch.name, each.value], float(status.state is each))
            leader = self._controller.standing.name_of(status.primary)
            if leader is not None:
                primary.add_metric([switch.name, leader], 1.0)
            reports.add_metric([switch.name], status.reports)
            reconnects.add_metric([switch.name], status.reconnects)
        yield from (state, primary, reports, reconnects)

    def _intervals(self) -> Iterator[Metric]:
        families: dict[str, GaugeMetricFamily | CounterMetricFamily] = {}
        for field, name, what, grows in _INTERVAL:
            family = CounterMetricFamily if grows else GaugeMetricFamily
            families[field] = family(f"clarion_port_{name}", what, labels=_PORT)
        for name, port in self._ports():
            latest = self._controller.telemetry.latest(name, port)
            if latest is not None:
                for field, made in families.items():
                    made.add_metric([name, str(port)], getattr(latest.report, field))
        yield from families.values()

    def _counters(self) -> Iterator[Metric]:
        labels = [*_PORT, "counter"]
        packets = CounterMetricFamily("clarion_port_packets", "Counters of the switch", labels=labels)
        counted = CounterMetricFamily("clarion_port_bytes", "Counters of the switch", labels=labels)
        for name, port in self._ports():
            latest = self._controller.telemetry.latest_counters(name, port)
            if latest is not None:
                for counter, value in latest.packets.items():
                    packets.add_metric([name, str(port), counter], value)
                for counter, value in latest.bytes.items():
                    counted.add_metric([name, str(port), counter], value)
        yield from (packets, counted)

    def _noise(self, tuner: TunerView) -> Iterator[Metric]:
        """What the tuner's policy `noise` found where it is active."""
        packets = GaugeMetricFamily(
            "clarion_wire_packet_error_rate",
            "Part of the packets that the wire into a port lost",
            labels=_PORT,
        )
        bits = GaugeMetricFamily("clarion_wire_bit_error_rate", "The same as bit errors", labels=_PORT)
        for name, port in self._ports():
            seen = tuner.observed(name, port).get("noise", {})
            for field, family in (("per", packets), ("ber", bits)):
                if isinstance(seen.get(field), (int, float)):
                    family.add_metric([name, str(port)], seen[field])
        yield from (packets, bits)

    def _ports(self) -> Iterator[tuple[str, int]]:
        for switch in self._controller.switches.all():
            for port in switch.ports:
                yield switch.name, port
