# SPDX-License-Identifier: Apache-2.0
"""The topology: a drawing and a table of all links, with utilisation, bit errors and conflicts."""

from __future__ import annotations

import time
from collections.abc import Sequence

from nicegui import ui

from clarion_contract.lldp import GROUP
from clarion_control.dashboard import parts, quantities
from clarion_control.dashboard.dashboard import Dashboard
from clarion_control.dashboard.port_row import port_address
from clarion_control.dashboard.topology_drawing import drawing, words
from clarion_control.dashboard.visit import Visit
from clarion_control.topology import LinkEnd, LinkFigures, WireLink

ADDRESS = "/topology"
SHOWN_BANNERS = 5
HINT = (
    "Green is proven, blue declared, amber unproven or unnumbered, red disproved; "
    "a dashed line is heard one way only"
)
COLUMNS = ("Link", "Wire", "Heard", "Utilisation", "Bit error rate", "Lost on wire", "Since")


def register(dashboard: Dashboard) -> None:
    """The page at /topology."""

    @dashboard.page(ADDRESS, ADDRESS, "Topology")
    async def topology(visit: Visit) -> None:
        await TopologyPage(visit).build()


class TopologyPage:
    """All links."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._controller = visit.controller
        self._said: list[str] = []
        self._rows: list[LinkRow] = []
        self._shown: list[tuple[str, ...]] | None = None

    async def build(self) -> None:
        """Draws the page and keeps it up to date."""
        parts.heading("Topology")
        self._banners = parts.block()
        with parts.card("Links", HINT):
            self._drawing = ui.html("", sanitize=False).classes("topology")  # escaped where it is made
            self._table = parts.block()
        await self.refresh()
        ui.timer(self._visit.options.refresh_s, self.refresh, immediate=False)

    async def refresh(self) -> None:
        """Updates drawing and figures; the table's rows are made anew when links come or go."""
        links = self._controller.topology.links()
        self._warn(links)
        self._drawing.content = drawing((each.name for each in self._controller.switches.all()), links)
        shown = [tuple(end.place for end in link.ends) for link in links]
        if shown != self._shown:
            self._shown = shown
            self._draw(links)
        for row, link in zip(self._rows, links, strict=True):
            row.refresh(link)

    def _draw(self, links: Sequence[WireLink]) -> None:
        self._table.clear()
        self._rows = []
        with self._table:
            if not links:
                group = GROUP.hex(":")
                parts.empty(
                    f"No port hears a neighbour. Clarion ports say hello by LLDP to {group} each second."
                )
                return
            with parts.block("table", "table rows"):
                parts.head_row(*COLUMNS)
                with parts.block("tbody"):
                    self._rows = [LinkRow(link) for link in links]

    def _warn(self, links: Sequence[WireLink]) -> None:
        said = list(dict.fromkeys(link.reason for link in links if link.is_conflict))
        if len(said) > SHOWN_BANNERS:
            said = [*said[:SHOWN_BANNERS], f"{len(said) - SHOWN_BANNERS} more ports have such a conflict."]
        if said != self._said:
            self._said = said
            self._banners.clear()
            with self._banners:
                for sentence in said:
                    parts.banner("bad", sentence)


class LinkRow:
    """The row of one link; both directions stand below each other, the first end's sending first."""

    def __init__(self, link: WireLink) -> None:
        with parts.block("tr"):
            with parts.cell("Link", "title"):
                for end in link.ends:
                    with parts.block():
                        _place(end)
            with parts.cell("Wire"), parts.block():
                self._badge = parts.Badge("", "")
                self._reason = parts.text("", "div", "hint")
            self._heard = parts.cell_text("Heard")
            self._bars = []
            with parts.cell("Utilisation"), parts.block():
                for near, far in (link.ends, link.ends[::-1]):
                    self._bars.append(parts.Bar(f"Utilisation from {near.place} to {far.place}"))
            self._errors = _Pair("Bit error rate")
            self._lost = _Pair("Lost on wire")
            self._since = parts.cell_text("Since", "number")

    def refresh(self, link: WireLink) -> None:
        """Updates the figures."""
        self._badge.show(*words(link))
        self._reason.text = link.reason
        self._heard.text = "both ways" if link.is_two_way else "one way"
        for bar, figures in zip(self._bars, link.figures, strict=True):
            bar.show(figures.utilisation)
        self._errors.show([_error_rate(figures) for figures in link.figures])
        self._lost.show([_lost(figures) for figures in link.figures])
        self._since.text = quantities.age(time.time() - link.since_us / 1e6)


class _Pair:
    """A cell with a figure of each direction."""

    def __init__(self, name: str) -> None:
        with parts.cell(name, "number"), parts.block():
            self._lines = [parts.text("", "div"), parts.text("", "div")]

    def show(self, figures: Sequence[str]) -> None:
        for line, figure in zip(self._lines, figures, strict=True):
            line.text = figure


def _place(end: LinkEnd) -> None:
    if end.switch is None or end.port is None:
        parts.text(end.place)
    else:
        parts.link(end.place, port_address(end.switch, end.port))


def _error_rate(figures: LinkFigures) -> str:
    return quantities.error_rate(None if figures.errors is None else figures.errors.ber)


def _lost(figures: LinkFigures) -> str:
    """Of the last minute."""
    return (
        quantities.DASH if figures.errors is None else f"{quantities.count(figures.errors.lost_packets)} pkt"
    )
