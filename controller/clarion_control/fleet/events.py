# SPDX-License-Identifier: Apache-2.0
"""Turns the reports, counters and states of links into events: published at once, reports kept as well."""

from __future__ import annotations

from clarion_contract.telemetry import IntervalReport
from clarion_control.fleet.live import Hub
from clarion_control.fleet.recorder import Recorder
from clarion_control.model import Drop, Interval, PortCounters, StatusChange, SwitchStatus
from clarion_control.store.clock import now_us
from clarion_p4rt.device import Reports
from clarion_p4rt.switch import Switch


class Events:
    """The way of events from the links to the hub and the recorder."""

    def __init__(self, hub: Hub, recorder: Recorder) -> None:
        self._hub = hub
        self._recorder = recorder

    def reported(self, switch: Switch, reports: Reports) -> None:
        """Publishes and records reports that have just arrived."""
        time_us, name = now_us(), switch.name
        events: list[Interval | Drop] = [
            Interval(time_us, name, report)
            if isinstance(report, IntervalReport)
            else Drop(time_us, name, report)
            for report in reports
        ]
        for event in events:
            self._hub.publish(event)
        self._recorder.add(switch.uid, events)

    def counted(self, counters: PortCounters) -> None:
        """Publishes the counters of a port."""
        self._hub.publish(counters)

    def state_changed(self, switch: Switch, status: SwitchStatus) -> None:
        """Publishes a new state of a link."""
        self._hub.publish(StatusChange(now_us(), switch.name, status))
