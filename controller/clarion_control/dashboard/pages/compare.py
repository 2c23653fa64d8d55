# SPDX-License-Identifier: Apache-2.0
"""Results side by side: any number of experiments, filtered, as box plots or as curves over a parameter."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from nicegui import ui

from clarion_base.errors import UserError
from clarion_base.units import format_rate
from clarion_control.dashboard import comparison_chart, experiment_results, parts, quantities
from clarion_control.dashboard.dashboard import Dashboard
from clarion_control.dashboard.visit import Visit
from clarion_control.experiments.service import Experiments
from clarion_control.model import Experiment

LISTED = 200  # the newest experiments
AT = "At"
NUMBERS = ("n", "Mean", "95 % interval", "Median", "Least", "Most")
COLUMNS = ("Runs", AT, *NUMBERS)
NOTHING = "nothing: box plots over repeats"


def register(dashboard: Dashboard) -> None:
    """The page at /experiments/compare."""

    @dashboard.page("/experiments/compare", "/experiments", "Compare results")
    async def compare(visit: Visit) -> None:
        if dashboard.experiments is None:
            parts.heading("Compare results", ("Experiments", "/experiments"))
            with parts.card():
                parts.empty("This controller has no experiments.")
            return
        await ComparePage(visit, dashboard.experiments).build()


class ComparePage:
    """The choice, the chart and the table."""

    def __init__(self, visit: Visit, experiments: Experiments) -> None:
        self._visit = visit
        self._experiments = experiments
        self._library = experiments.scenarios
        self._results: dict[str, Mapping[str, Any]] = {}
        self._conditions: dict[str, tuple[str, Any]] = {}  # by their text
        self._drawings = 0

    async def build(self) -> None:
        """Draws the page; every choice draws the chart anew."""
        summary = self._library.summary_file()
        found = await self._experiments.experiments(limit=LISTED)
        with_results = [each for each in found if summary in each.files]
        parts.heading("Compare results", ("Experiments", "/experiments"))
        if not with_results:
            with parts.card():
                parts.empty("No experiment has results yet.")
            return
        with parts.block(classes="columns"):
            with parts.block(classes="stack"):
                self._shown = parts.block(classes="stack")
            with parts.card("What is compared"), parts.block("div", "form"):
                self._controls({each.id: _title(each) for each in with_results}, self._asked(with_results))
        await self._read()

    def _asked(self, there: list[Experiment]) -> list[int]:
        """The experiments in the address (?of=3,5), else the newest."""
        words = self._visit.request.query_params.get("of", "").split(",")
        known = {each.id for each in there}
        asked = [int(word) for word in words if word.isdecimal() and int(word) in known]
        return asked or [there[0].id]

    def _controls(self, experiments: dict[int, str], first: list[int]) -> None:
        self._of = ui.select(experiments, value=first, label="Results", multiple=True, on_change=self._read)
        self._metric = ui.select([], label="Metric", on_change=self._draw)
        self._senders = ui.select([], value=[], label="Senders", multiple=True, on_change=self._draw)
        self._engines = ui.select([], value=[], label="Engines", multiple=True, on_change=self._draw)
        self._where = ui.select([], value=[], label="Only where", multiple=True, on_change=self._draw)
        self._over = ui.select([NOTHING], value=NOTHING, label="Over", on_change=self._draw)
        for each in (self._of, self._metric, self._senders, self._engines, self._where, self._over):
            each.props("outlined dense stack-label bottom-slots")
        self._pool = ui.checkbox("All results are repeats of each other", on_change=self._draw)

    async def _read(self) -> None:
        """Reads the results that were chosen, and offers what there is in them."""
        self._results = {}
        for number in self._of.value or []:
            document = await experiment_results.summary(self._experiments, int(number))
            if document is not None:
                self._results[f"#{number}"] = document
        try:
            there = await asyncio.to_thread(self._library.to_compare, self._results)
        except UserError as error:
            self._fail(str(error))
            return
        self._offer(there)
        await self._draw()

    def _offer(self, there: Mapping[str, Any]) -> None:
        """What was chosen before stays, as far as the results have it."""
        parameters: Mapping[str, list[Any]] = there["parameters"]
        self._conditions = {
            f"{key} = {value}": (key, value) for key, values in parameters.items() for value in values
        }
        metrics = list(there["metrics"])
        metric = self._metric.value if self._metric.value in metrics else next(iter(metrics), None)
        self._metric.set_options(metrics, value=metric)
        for entry, offers in (
            (self._senders, list(there["senders"])),
            (self._engines, list(there["engines"])),
            (self._where, list(self._conditions)),
        ):
            entry.set_options(offers, value=[each for each in entry.value or [] if each in offers])
        over = self._over.value if self._over.value in parameters else NOTHING
        self._over.set_options([NOTHING, *parameters], value=over)

    async def _draw(self) -> None:
        self._drawings += 1
        mine = self._drawings
        where: dict[str, list[Any]] = {}
        for text in self._where.value or []:
            key, value = self._conditions[text]
            where.setdefault(key, []).append(value)
        try:
            found = await asyncio.to_thread(
                self._library.compared,
                self._results,
                metric=self._metric.value,
                senders=list(self._senders.value or []),
                engines=list(self._engines.value or []),
                where=where,
                over=None if self._over.value == NOTHING else str(self._over.value),
                pool=bool(self._pool.value),
            )
        except UserError as error:
            if mine == self._drawings:
                self._fail(str(error))
            return
        if mine != self._drawings:  # another choice was made meanwhile
            return
        self._shown.clear()
        with self._shown:
            with parts.card(found["metric"], comparison_chart.describe(found)):
                chart = ui.echart(comparison_chart.options(found), renderer="svg")
                chart.classes("chart tall").props('data-chart="comparison"')
            with parts.card("Figures"):
                _table(found)

    def _fail(self, reason: str) -> None:
        self._shown.clear()
        with self._shown:
            parts.banner("warn", reason)


def _title(each: Experiment) -> str:
    return f"#{each.id} {each.scenario}, {each.engine}, {quantities.instant(each.started_us)}"


def _table(found: Mapping[str, Any]) -> None:
    with parts.block("table", "table rows"):
        parts.head_row(*(each for each in COLUMNS if found["over"] or each != AT), ends=NUMBERS)
        with parts.block("tbody"):
            for group in found["groups"]:
                for point in group["points"]:
                    _row(found, group["label"], point)
    if found["left_out"]:
        parts.text(f"Left out, because they are not complete: {found['left_out']} runs.", "p", "hint")


def _row(found: Mapping[str, Any], label: str, point: Mapping[str, Any]) -> None:
    is_rate = comparison_chart.unit_of(found["metric"]) == "bit/s"

    def figure(name: str) -> str:
        return format_rate(point[name]) if is_rate else f"{point[name]:.4g}"

    is_known = point["low"] is not None
    interval = f"{figure('low')} to {figure('high')}" if is_known else quantities.DASH
    with parts.block("tr"):
        parts.cell_text("Runs", "title", label)
        if found["over"]:
            parts.cell_text(AT, content=point["at"])
        cells = [str(point["n"]), figure("mean"), interval, *map(figure, ("median", "min", "max"))]
        for column, content in zip(NUMBERS, cells, strict=True):
            parts.cell_text(column, "number end", content)
