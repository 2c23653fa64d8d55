# SPDX-License-Identifier: Apache-2.0
"""A switch: session, ports with their counters, forwarding and latest changes."""

from __future__ import annotations

import time

from nicegui import ui

from clarion_control.dashboard import parts, quantities
from clarion_control.dashboard.audit_table import audit_table
from clarion_control.dashboard.dashboard import Dashboard
from clarion_control.dashboard.port_row import (
    COLUMNS,
    PortRow,
    degrading_ports,
    forwarding_address,
    port_address,
)
from clarion_control.dashboard.switch_admin import ChangeSwitch, RemoveSwitch
from clarion_control.dashboard.visit import Visit
from clarion_control.errors import NotFoundError
from clarion_control.model import Role
from clarion_p4rt.switch import Forwarding, Switch

SETTINGS_EVERY = 3
CHANGES = 10
PORT_COUNTERS = ("tx", "rx", "queue_drops", "malformed")
NAMES = {"tx": "Sent", "rx": "Received", "queue_drops": "Dropped by queue", "malformed": "Malformed headers"}


def register(dashboard: Dashboard) -> None:
    """The page at /switches/SWITCH."""

    @dashboard.page("/switches/{switch}", "/", "Switch")
    async def switch(visit: Visit, switch: str) -> None:
        await SwitchPage(visit, visit.controller.switches.get(switch)).build()


class SwitchPage:
    """A switch: its ports and session."""

    def __init__(self, visit: Visit, switch: Switch) -> None:
        self._visit = visit
        self._controller = visit.controller
        self._switch = switch
        self._refreshes = 0
        self._said: tuple[str, str] | None = None

    async def build(self) -> None:
        """Draws the page and keeps it up to date."""
        switch = self._switch
        ui.page_title(f"{switch.name} · Clarion")
        with parts.heading(switch.name, ("Overview", "/")):
            self._state = parts.state_badge(self._controller.switches.status(switch.name))
            if self._visit.may(Role.ADMIN):
                parts.block(classes="grow")
                ChangeSwitch(self._visit, switch)
                RemoveSwitch(self._visit, switch.name)
        self._banner = parts.block()
        with parts.block("dl", "tiles"):
            self._since = parts.Tile("In this state for")
            self._reports = parts.Tile("Reports received")
            self._reconnects = parts.Tile("Reconnects")
            self._primary = parts.Tile("Led by")
            parts.Tile("Device", str(switch.device_id), switch.address)
        with parts.block(classes="stack"):
            with parts.card("Ports"), parts.block("table", "table rows ports-table"):
                parts.head_row(*COLUMNS)
                with parts.block("tbody"):
                    self._rows = {port: PortRow(self._controller, switch, port) for port in switch.ports}
            with parts.card("Counters", "Since the switch started, read every few seconds"):
                self._counters()
            with parts.card("Forwarding", "Static entries that this controller keeps on the switch"):
                _forwarding(switch, await self._controller.forwarding.get(switch.name))
                if self._visit.may(Role.OPERATOR):
                    with parts.block(classes="buttons"):
                        parts.link("Change forwarding", forwarding_address(switch.name), "button small")
            if self._visit.may(Role.OPERATOR):
                with parts.card("Latest changes"):
                    audit_table(
                        await self._controller.records.audit(switch=switch.name, limit=CHANGES), place=False
                    )
        self._timer = ui.timer(self._visit.options.refresh_s, self.refresh, immediate=False)
        await self.refresh()

    async def refresh(self) -> None:
        """Updates figures each second, settings and policies every few seconds."""
        try:
            status = self._controller.switches.status(self._switch.name)
            if self._refreshes % SETTINGS_EVERY == 0:
                await self._settings()
            for row in self._rows.values():
                row.refresh()
            self._count()
        except NotFoundError:  # it was removed
            self._timer.cancel()
            self._banner.clear()
            with self._banner:
                parts.banner("warn", f"{self._switch.name} was removed from this controller.")
            return
        self._refreshes += 1
        self._state.show(*parts.state_words(status))
        self._since.show(quantities.age(time.time() - status.since_us / 1e6))
        last = status.last_report_us
        ago = "none yet" if last is None else f"last {quantities.age(time.time() - last / 1e6)} ago"
        self._reports.show(quantities.count(status.reports), ago)
        self._reconnects.show(quantities.count(status.reconnects))
        self._primary.show(*parts.leader(self._controller.standing, status))
        primary = self._controller.standing.name_of(status.primary)
        said = parts.state_sentence(self._switch.name, status, primary)
        if said != self._said:
            self._said = said
            self._banner.clear()
            if said is not None:
                with self._banner:
                    parts.banner(*said)

    async def _settings(self) -> None:
        policies = await self._controller.tuning.policies(self._switch.name)
        degrading = await degrading_ports(self._controller, self._switch.name)
        for state in await self._controller.ports.all(self._switch.name):
            if state.port in self._rows:
                mine = [each for each in policies if each.port == state.port]
                self._rows[state.port].configure(state, mine, (self._switch.name, state.port) in degrading)

    def _counters(self) -> None:
        self._cells = {}
        with parts.block("table", "table rows"):
            names = [NAMES[name] for name in PORT_COUNTERS]
            parts.head_row("Port", *names)
            with parts.block("tbody"):
                for port in self._switch.ports:
                    with parts.block("tr"):
                        with parts.cell("Port", "title"):
                            parts.link(self._switch.port_title(port), port_address(self._switch.name, port))
                        for name in PORT_COUNTERS:
                            self._cells[port, name] = parts.cell_text(NAMES[name], "number")

    def _count(self) -> None:
        for (port, name), cell in self._cells.items():
            counters = self._controller.telemetry.latest_counters(self._switch.name, port)
            packets = counters.packets.get(name) if counters else None
            size = counters.bytes.get(name) if counters else None
            shown = quantities.DASH if packets is None else f"{quantities.count(packets)} pkt"
            cell.text = f"{shown} · {quantities.size(size)}" if packets is not None and size else shown


def _forwarding(switch: Switch, forwarding: Forwarding | None) -> None:
    if forwarding is None:
        parts.empty("Nothing is set: the switch forwards by entries of others, or learns by itself.")
        return
    flood = ", ".join(map(str, forwarding.flood_ports)) or "none"
    parts.text(f"Frames for unknown addresses are flooded to ports: {flood}.", "p")
    if forwarding.addresses:
        with parts.block("table", "table"):
            parts.head_row("Ethernet address", "Port")
            with parts.block("tbody"):
                for address, port in sorted(forwarding.addresses.items()):
                    with parts.block("tr"):
                        parts.cell_text("Ethernet address", "mono", address)
                        with parts.cell("Port"):
                            parts.link(switch.port_title(port), port_address(switch.name, port))
