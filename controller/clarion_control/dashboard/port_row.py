# SPDX-License-Identifier: Apache-2.0
"""One port in a table: its settings and its latest figures."""

from __future__ import annotations

import time
from collections.abc import Iterable
from urllib.parse import quote

from clarion_control.controller import Controller
from clarion_control.dashboard import parts, quantities
from clarion_control.errors import NotFoundError
from clarion_control.growth import Growth
from clarion_control.model import Interval, Policy, PolicyState, PortState, handed_out_bps
from clarion_p4rt.switch import Switch

COLUMNS = ("Port", "Capacity", "Utilisation", "Queue", "Lost on wire", "Dropped by queue", "State")
FLAGS = 500
QUIET_US = 30_000_000  # without a report for so long a port has no traffic: figures would mislead


def switch_address(name: str) -> str:
    """The address of a switch's page."""
    return f"/switches/{quote(name, safe='')}"


def forwarding_address(name: str) -> str:
    """The address of the page of a switch's forwarding."""
    return f"{switch_address(name)}/forwarding"


def port_address(name: str, port: int) -> str:
    """The address of a port's page."""
    return f"{switch_address(name)}/ports/{port}"


def port_place(controller: Controller, switch: str, port: int) -> str:
    """A port among those of all switches, such as "s1 port 2 (h1)"; of a removed switch without its name."""
    try:
        title = controller.switches.get(switch).port_title(port)
    except NotFoundError:
        title = f"port {port}"
    return f"{switch} {title[0].lower()}{title[1:]}"


def fresh(interval: Interval | None) -> Interval | None:
    """The report, or None if it is too old to describe the port's present state."""
    if interval is None or time.time_ns() // 1000 - interval.time_us > QUIET_US:
        return None
    return interval


class PortRow:
    """The row of one port."""

    def __init__(self, controller: Controller, switch: Switch, port: int) -> None:
        self._controller = controller
        self._name, self._port = switch.name, port
        self._state: PortState | None = None
        self._wire, self._dropped = Growth(), Growth()
        self._flags: tuple[tuple[str, str], ...] | None = None
        self._is_quiet = False
        self._row = parts.block("tr", "link")
        with self._row:
            with parts.cell("Port", classes="title"):
                parts.link(switch.port_title(port), port_address(switch.name, port))
            self._capacity = parts.cell_text("Capacity", "number")
            with parts.cell("Utilisation"):
                self._bar = parts.Bar(f"Utilisation of port {port}")
            self._queue = parts.cell_text("Queue", "number")
            self._lost = parts.cell_text("Lost on wire", "number")
            self._drops = parts.cell_text("Dropped by queue", "number")
            with parts.cell("State", "keep"):
                self._badges = parts.block(classes="badges")

    def configure(self, state: PortState, policies: Iterable[Policy], degrading: bool) -> None:
        """Sets the port's settings, and whether its link is flagged."""
        self._state = state
        self._show_flags(flags(state, policies, degrading))

    def refresh(self) -> None:
        """Updates the figures."""
        latest = self._controller.telemetry.latest(self._name, self._port)
        if latest is not None:
            self._wire.add(latest.time_us, latest.report.lost_on_wire)
            self._dropped.add(latest.time_us, latest.report.dropped_by_queue)
        measured_bps = self._controller.telemetry.measured_bps(self._name, self._port)
        capacity = capacity_bps(self._state, measured_bps)
        self._capacity.text = quantities.rate(capacity)
        current = fresh(latest)
        report = None if current is None else current.report
        if (report is None) != self._is_quiet:  # on a phone a row without figures is one line
            self._is_quiet = report is None
            self._row.classes(toggle="quiet")
        self._bar.show(None if report is None or not capacity else report.input_bps / capacity)
        self._queue.text = quantities.size(None if report is None else report.queue_bytes)
        self._lost.text = quantities.per_second(self._wire.per_second() if report else None)
        self._drops.text = quantities.per_second(self._dropped.per_second() if report else None)

    def _show_flags(self, wanted: tuple[tuple[str, str], ...]) -> None:
        if wanted != self._flags:
            self._flags = wanted
            self._badges.clear()
            with self._badges:
                for word, tone in wanted:
                    parts.Badge(word, tone)


def capacity_bps(state: PortState | None, measured_bps: int | None) -> int | None:
    """What the port hands out, by its effective settings, else by the desired ones."""
    if state is None:
        return None
    settings = state.effective or (state.desired.settings if state.desired else None)
    return handed_out_bps(settings, measured_bps)


async def degrading_ports(controller: Controller, switch: str | None = None) -> set[tuple[str, int]]:
    """Ports whose link policy noise has flagged last, as far back as its latest decisions go."""
    latest: dict[tuple[str, int], bool] = {}
    for decision in await controller.tuning.decisions(switch=switch, policy="noise", limit=FLAGS):
        latest.setdefault((decision.switch, decision.port), decision.evidence.get("state") == "degrading")
    return {place for place, is_degrading in latest.items() if is_degrading}


def flags(state: PortState, policies: Iterable[Policy], degrading: bool) -> tuple[tuple[str, str], ...]:
    """Short flags of a port for the overview, each as a word and a tone."""
    found = []
    if degrading:
        found.append(("link degrading", "bad"))
    if state.wire is not None and state.wire.is_conflict:
        found.append(("wire conflict", "bad"))
    if state.desired is not None and not state.applied:
        found.append(("change not applied", "warn"))
    found += [(f"{each.name} held", "warn") for each in policies if each.state is PolicyState.HELD]
    settings = state.effective or (state.desired.settings if state.desired else None)
    if settings is None:
        found.append(("not known", ""))
    elif settings.xcp is None:
        found.append(("XCP off", ""))
    else:
        found.append(("XCP on", "good"))
    active = [each.name for each in policies if each.state is PolicyState.ACTIVE]
    if active:
        found.append((f"tuned: {', '.join(active)}", "good"))
    return tuple(found)
