# SPDX-License-Identifier: Apache-2.0
"""All switches and their ports at a glance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from nicegui import ui

from clarion_control.controller import Controller
from clarion_control.dashboard import parts, quantities
from clarion_control.dashboard.dashboard import Dashboard
from clarion_control.dashboard.port_row import COLUMNS, PortRow, degrading_ports, fresh, switch_address
from clarion_control.dashboard.switch_admin import AddSwitch
from clarion_control.dashboard.visit import Visit
from clarion_control.errors import NotFoundError
from clarion_control.growth import Growth
from clarion_control.model import LinkState, Role
from clarion_p4rt.switch import Switch

SHOWN = 20  # switches on one page: a browser has to draw them every second
SETTINGS_EVERY = 5  # refreshes between two reads of settings and policies


def register(dashboard: Dashboard) -> None:
    """The page at /."""

    @dashboard.page("/", "/", "Overview")
    async def overview(visit: Visit) -> None:
        await Overview(visit).build()


class SwitchCard:
    """A switch with its ports."""

    def __init__(self, controller: Controller, switch: Switch) -> None:
        self._controller = controller
        self.name = switch.name
        with parts.card() as box:
            box.props(f'aria-label="Switch {switch.name}"')
            with parts.block(classes="card-head"):
                with parts.block("h2"):
                    parts.link(switch.name, switch_address(switch.name))
                self._state = parts.state_badge(controller.switches.status(switch.name))
                self._leader = parts.text("", classes="muted")
                parts.text(switch.address, classes="muted mono end")
            if not switch.ports:
                parts.empty("This switch has no ports.")
            with parts.block("table", "table rows ports-table"):
                parts.head_row(*COLUMNS)
                with parts.block("tbody"):
                    self._rows = {port: PortRow(controller, switch, port) for port in switch.ports}

    async def configure(self, degrading: Collection[tuple[str, int]]) -> None:
        """Updates the rows with the present settings and policies."""
        policies = await self._controller.tuning.policies(self.name)
        for state in await self._controller.ports.all(self.name):
            if state.port in self._rows:
                mine = [each for each in policies if each.port == state.port]
                self._rows[state.port].configure(state, mine, (self.name, state.port) in degrading)

    def refresh(self) -> None:
        """Updates the figures of all rows."""
        status, standing = self._controller.switches.status(self.name), self._controller.standing
        self._state.show(*parts.state_words(status))
        self._leader.text = f"led by {parts.leader(standing, status)[0]}" if len(standing.known()) > 1 else ""
        for row in self._rows.values():
            row.refresh()


class Overview:
    """The page: a card for each switch."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._controller = visit.controller
        self._cards: list[SwitchCard] = []
        self._shown: list[str] | None = None
        self._pattern = ""
        self._page = 0
        self._refreshes = 0
        self._wire, self._dropped = Growth(), Growth()

    async def build(self) -> None:
        """Draws the page and keeps it up to date."""
        with parts.heading("Overview"):
            parts.block(classes="grow")
            if self._visit.may(Role.ADMIN):
                AddSwitch(self._visit)
            search = ui.input(placeholder="Filter switches", on_change=self._filter)
            search.props('outlined dense clearable debounce=250 type="search" aria-label="Filter switches"')
        self._banners = parts.block()
        self._said: list[tuple[str, str]] = []
        with parts.block("dl", "tiles"):
            self._switches = parts.Tile("Switches in sync")
            self._traffic = parts.Tile("Traffic arriving")
            self._lost = parts.Tile("Lost on wires")
            self._drops = parts.Tile("Dropped by queues")
            self._leads = parts.Tile("This controller leads")
        self._list = parts.block(classes="stack")
        self._pages = parts.block("nav", "buttons").props('aria-label="Pages"')
        await self.refresh()
        ui.timer(self._visit.options.refresh_s, self.refresh, immediate=False)

    async def refresh(self) -> None:
        """Updates figures each second, settings every few seconds, and the list after a change."""
        switches = sorted(self._controller.switches.all(), key=lambda switch: switch.name)
        matching = [each for each in switches if self._pattern in each.name.lower()]
        self._page = min(self._page, max(0, (len(matching) - 1) // SHOWN))
        shown = matching[self._page * SHOWN :][:SHOWN]
        names = [f"{each.uid} {each.name} {each.ports}" for each in shown]
        rebuilt = names != self._shown
        if rebuilt:
            self._shown = names
            self._draw(shown, len(switches), len(matching))
        try:
            if rebuilt or self._refreshes % SETTINGS_EVERY == 0:
                degrading = await degrading_ports(self._controller)
                for card in self._cards:
                    await card.configure(degrading)
            for card in self._cards:
                card.refresh()
        except NotFoundError:  # removed while we looked; the next refresh draws the list again
            self._shown = None
        self._refreshes += 1
        self._sum_up(switches)

    def _draw(self, shown: Sequence[Switch], total: int, matching: int) -> None:
        self._list.clear()
        with self._list:
            self._cards = [SwitchCard(self._controller, switch) for switch in shown]
            if not total:
                with parts.card():
                    parts.empty("No switches yet. An admin adds them, here or over REST.")
            elif not matching:
                with parts.card():
                    parts.empty(f"No switch has “{self._pattern}” in its name.")
        self._pages.clear()
        if matching > SHOWN:
            with self._pages:
                self._turn("Previous", -1, self._page > 0)
                last = (matching - 1) // SHOWN
                parts.text(f"Page {self._page + 1} of {last + 1}", classes="muted")
                self._turn("Next", 1, self._page < last)

    def _turn(self, name: str, by: int, possible: bool) -> None:
        async def turn() -> None:
            self._page += by
            await self.refresh()

        button = parts.block("button", "button small").props("type=button").on("click", turn)
        button.props(add="" if possible else "disabled")
        with button:
            parts.text(name)

    async def _filter(self, event: object) -> None:
        self._pattern = str(getattr(event, "value", "") or "").strip().lower()
        self._page = 0
        await self.refresh()

    def _sum_up(self, switches: Sequence[Switch]) -> None:
        states = Counter(self._controller.switches.status(each.name).state for each in switches)
        traffic, lost, dropped, newest = 0.0, 0, 0, 0
        for switch in switches:
            for port in switch.ports:
                latest = self._controller.telemetry.latest(switch.name, port)
                if latest is not None:
                    lost += latest.report.lost_on_wire
                    dropped += latest.report.dropped_by_queue
                    newest = max(newest, latest.time_us)
                    traffic += latest.report.input_bps if fresh(latest) else 0.0
        self._wire.add(newest, lost)
        self._dropped.add(newest, dropped)
        in_sync = states.pop(LinkState.IN_SYNC, 0)
        others = [f"{number} {state.value}" for state, number in states.items()]
        self._switches.show(f"{in_sync} of {len(switches)}", ", ".join(others))
        self._leads.show(*self._who_leads(switches))
        self._traffic.show(quantities.rate(traffic), "at ports with XCP")
        self._lost.show(quantities.per_second(self._wire.per_second()), quantities.packets(lost))
        self._drops.show(quantities.per_second(self._dropped.per_second()), quantities.packets(dropped))
        self._warn(switches)

    def _who_leads(self, switches: Sequence[Switch]) -> tuple[str, str]:
        """How many switches this controller leads, and who else leads how many."""
        standing = self._controller.standing
        primaries = Counter(self._controller.switches.status(each.name).primary for each in switches)
        mine = primaries.pop(standing.me.election_id, 0)
        others = [f"{standing.name_of(each) or 'no primary'}: {count}" for each, count in primaries.items()]
        return f"{mine} of {len(switches)}", ", ".join([standing.me.name, *others])

    def _warn(self, switches: Sequence[Switch]) -> None:
        statuses = {each.name: self._controller.switches.status(each.name) for each in switches}
        named = self._controller.standing.name_of
        wanted = [
            parts.state_sentence(name, status, named(status.primary)) for name, status in statuses.items()
        ]
        said = [each for each in wanted if each is not None]
        if len(said) > 3:
            said = [*said[:3], ("warn", f"{len(said) - 3} more switches need attention.")]
        if said != self._said:
            self._said = said
            self._banners.clear()
            with self._banners:
                for tone, sentence in said:
                    parts.banner(tone, sentence)
