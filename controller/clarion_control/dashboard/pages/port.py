# SPDX-License-Identifier: Apache-2.0
"""A port: live charts, settings, policies and their decisions."""

from __future__ import annotations

from nicegui import ui

from clarion_control.dashboard import parts, quantities
from clarion_control.dashboard.dashboard import Dashboard
from clarion_control.dashboard.decision_list import DecisionList
from clarion_control.dashboard.live import PortCharts
from clarion_control.dashboard.policy_cards import PolicyCards
from clarion_control.dashboard.port_row import capacity_bps, fresh, port_address, switch_address
from clarion_control.dashboard.settings_form import SettingsForm
from clarion_control.dashboard.visit import Visit
from clarion_control.errors import NotFoundError
from clarion_control.growth import Growth
from clarion_control.model import PortState
from clarion_control.tuner.loop import Tuner

SPANS = ((10, "10 min"), (60, "1 h"), (360, "6 h"), (1440, "1 d"))
DECISIONS = 5
SLOW_EVERY = 3  # refreshes between two reads of policies and decisions


def register(dashboard: Dashboard) -> None:
    """The page at /switches/SWITCH/ports/PORT."""

    @dashboard.page("/switches/{switch}/ports/{port:int}", "/", "Port")
    async def port(visit: Visit, switch: str, port: int) -> None:
        await PortPage(visit, dashboard.tuner, switch, port).build()


class PortPage:
    """A port: charts, settings and policies."""

    def __init__(self, visit: Visit, tuner: Tuner | None, name: str, port: int) -> None:
        self._visit = visit
        self._tuner = tuner
        self._controller = visit.controller
        self._name, self._port = name, port
        self._refreshes = 0
        self._wire, self._dropped = Growth(), Growth()
        self._said: tuple[str, str] | None = None

    async def build(self) -> None:
        """Draws the page and keeps it up to date."""
        state = await self._controller.ports.get(self._name, self._port)
        ui.page_title(f"{self._name} port {self._port} · Clarion")
        minutes = self._minutes()
        title = state.switch.port_title(self._port)
        with parts.heading(title, ("Overview", "/"), (self._name, switch_address(self._name))):
            self._link = parts.state_badge(self._controller.switches.status(self._name))
            parts.block(classes="grow")
            self._spans(minutes)
            with parts.block("nav", "jump").props('aria-label="On this page"'):
                for name, target in (
                    ("Settings", "#settings"),
                    ("Tuner", "#tuner"),
                    ("Decisions", "#decisions"),
                ):
                    parts.link(name, target, "button small")
        self._banner = parts.block()
        self._tiles()
        with parts.block(classes="columns"):
            with parts.block(classes="stack"):
                self._charts = PortCharts(self._controller, self._name, self._port, minutes)
                # Nobody knows what was measured in the past: no line is better than the newest one all over.
                await self._charts.build(capacity_bps(state, None))
                with parts.card("Decisions", "What the tuner changed or flagged here, and why") as box:
                    box.props('id="decisions"')
                    self._decisions = DecisionList(self._visit, with_place=False, refresh=self._slow)
                    with parts.block(classes="buttons pager"):
                        parts.link("All decisions", "/tuner", "button small")
            with parts.block(classes="stack"):
                self._form = SettingsForm(self._visit, self._name, state)
                stored = await self._controller.tuning.policies(self._name, self._port)
                self._policies = PolicyCards(self._visit, self._tuner, self._name, self._port, stored)
        self._timer = ui.timer(self._visit.options.refresh_s, self.refresh, immediate=False)
        await self.refresh()

    async def refresh(self) -> None:
        """Updates figures, charts and settings each second, policies and decisions every few seconds."""
        try:
            state = await self._controller.ports.get(self._name, self._port)
            status = self._controller.switches.status(self._name)
        except NotFoundError:  # the switch was removed; its last figures stay on the page
            self._timer.cancel()
            self._banner.clear()
            with self._banner:
                parts.banner("warn", f"{self._name} was removed from this controller.")
            return
        self._link.show(*parts.state_words(status))
        primary = self._controller.standing.name_of(status.primary)
        said = parts.state_sentence(self._name, status, primary) or _conflict(state)
        if said != self._said:
            self._said = said
            self._banner.clear()
            if said is not None:
                with self._banner:
                    parts.banner(*said)
        self._figures(state)
        self._charts.refresh(self._capacity_bps(state), self._bit_errors())
        self._form.refresh(state)
        if self._refreshes % SLOW_EVERY == 0:
            await self._slow()
        self._refreshes += 1

    async def _slow(self) -> None:
        await self._policies.refresh()
        decisions = await self._controller.tuning.decisions(
            switch=self._name, port=self._port, limit=DECISIONS
        )
        self._decisions.show(decisions, "No decisions yet. Switch a policy on, and it reports here.")

    def _minutes(self) -> int:
        asked = self._visit.request.query_params.get("minutes", "")
        known = {str(minutes): minutes for minutes, _ in SPANS}
        return known.get(asked, self._visit.options.history_minutes)

    def _spans(self, minutes: int) -> None:
        with parts.block("nav", "segments").props('aria-label="Time shown"'):
            for each, label in SPANS:
                link = parts.link(label, f"{port_address(self._name, self._port)}?minutes={each}")
                link.props('aria-current="true"' if each == minutes else "")

    def _tiles(self) -> None:
        with parts.block("dl", "tiles"):
            self._utilisation = parts.Tile("Utilisation")
            self._queue = parts.Tile("Queue")
            self._rtt = parts.Tile("Mean round trip")
            self._lost = parts.Tile("Lost on wire")
            self._drops = parts.Tile("Dropped by queue")
            self._ber = parts.Tile("Bit error rate")
            self._wire_state = parts.Tile("Wire")

    def _capacity_bps(self, state: PortState) -> int | None:
        return capacity_bps(state, self._controller.telemetry.measured_bps(self._name, self._port))

    def _figures(self, state: PortState) -> None:
        if state.wire is None:
            self._wire_state.show(quantities.DASH, "not known")
        else:
            self._wire_state.show(state.wire.state.value, state.wire.explanation)
        latest = self._controller.telemetry.latest(self._name, self._port)
        capacity = self._capacity_bps(state)
        if latest is not None:
            self._wire.add(latest.time_us, latest.report.lost_on_wire)
            self._dropped.add(latest.time_us, latest.report.dropped_by_queue)
        current = fresh(latest)
        if current is None:
            for tile in (self._utilisation, self._queue, self._rtt, self._lost, self._drops):
                tile.show(quantities.DASH, "no recent report")
        else:
            report = current.report
            share = report.input_bps / capacity if capacity else None
            of = f"{quantities.rate(report.input_bps)} of {quantities.rate(capacity)}"
            self._utilisation.show(quantities.percent(share), of)
            delay = report.queue_bytes * 8e6 / capacity if capacity else None
            self._queue.show(quantities.size(report.queue_bytes), f"{quantities.duration(delay)} of waiting")
            interval = quantities.duration(report.elapsed_us)
            self._rtt.show(quantities.duration(report.avg_rtt_us), f"control interval {interval}")
            lost, dropped = report.lost_on_wire, report.dropped_by_queue
            self._lost.show(quantities.per_second(self._wire.per_second()), quantities.packets(lost))
            self._drops.show(quantities.per_second(self._dropped.per_second()), quantities.packets(dropped))

    def _bit_errors(self) -> float | None:
        """Shows and returns the estimate from the counters, or else that of policy noise where it acts."""
        rates = self._controller.telemetry.wire_errors(self._name, self._port)
        if rates is not None:
            ber, low, high = rates.ber, rates.ber_low, rates.ber_high
        else:
            observed = {} if self._tuner is None else self._tuner.observed(self._name, self._port)
            noise = observed.get("noise", {})
            ber, low, high = (noise.get(name) for name in ("ber", "ber_low", "ber_high"))
        if ber is None:
            self._ber.show(quantities.DASH, "nothing received lately")
        else:
            bounds = f"{quantities.error_rate(low)} to {quantities.error_rate(high)}"
            self._ber.show(quantities.error_rate(ber), f"95 %: {bounds}")
        return ber


def _conflict(state: PortState) -> tuple[str, str] | None:
    """Tone and sentence if LLDP denies the wire that the port declares."""
    if state.wire is None or not state.wire.is_conflict:
        return None
    return "bad", f"Port {state.port} is {state.wire.explanation}."
