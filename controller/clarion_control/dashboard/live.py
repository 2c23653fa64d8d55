# SPDX-License-Identifier: Apache-2.0
"""The charts of a port: a history to begin with, then a point a second, drawn in place."""

from __future__ import annotations

import json
import time
from dataclasses import replace

from nicegui import background_tasks, context, ui

from clarion_control.controller import Controller
from clarion_control.dashboard import parts
from clarion_control.dashboard.charts import CHARTS
from clarion_control.dashboard.series import Capacities, Gathering, Point, history
from clarion_control.model import Interval

MAX_POINTS = 900  # of a line; more could not be told apart on any screen
SHORTEST_STEP_US = 1_000_000
RECORDS = 1000  # of the audit searched for changes of the capacity
WAITING = 20_000  # reports that may wait for the next point: a second of 50 us intervals


class PortCharts:
    """All charts of a port over the last minutes."""

    def __init__(self, controller: Controller, name: str, port: int, minutes: int) -> None:
        self._controller = controller
        self._name, self._port = name, port
        self._span_us = minutes * 60_000_000
        self._step_us = max(SHORTEST_STEP_US, self._span_us // MAX_POINTS)
        self._gathering = Gathering()
        self._charts: list[ui.echart] = []

    async def build(self, capacity_bps: float | None) -> None:
        """Draws the history and subscribes to new reports. The capacity is that of a port which nobody has
        changed, None where that is measured.
        """
        reader = self._controller.telemetry.subscribe(
            switch=self._name, port=self._port, kinds=("interval",), maxsize=WAITING
        )
        context.client.on_delete(reader.close)

        async def listen() -> None:
            async for event in reader:
                if isinstance(event, Interval):
                    self._gathering.add(event)

        background_tasks.create(listen(), name=f"charts of {self._name} port {self._port}")
        now_us = time.time_ns() // 1000
        summaries = await self._controller.telemetry.interval_summaries(
            self._name,
            self._port,
            from_us=now_us - self._span_us,
            to_us=now_us,
            step_us=self._step_us,
            limit=MAX_POINTS,
        )
        records = await self._controller.records.audit(switch=self._name, limit=RECORDS)
        self._draw(history(summaries, Capacities(records, self._port, capacity_bps)), now_us)

    def _draw(self, points: list[Point], now_us: int) -> None:
        self._next_us = now_us + self._step_us
        with parts.block(classes="charts"):
            for chart in CHARTS:
                with parts.card(chart.title, chart.hint, level="h3"):
                    made = ui.echart(chart.options(points, self._span_us), renderer="svg")
                    made.classes("chart").props(f'data-chart="{chart.key}"')
                    self._charts.append(made)

    def refresh(self, capacity_bps: float | None, bit_error_rate: float | None) -> Point | None:
        """Adds a point from the reports since the last one; to be called about once a second."""
        now_us = time.time_ns() // 1000
        if now_us < self._next_us:
            return None
        self._next_us = now_us + self._step_us - SHORTEST_STEP_US // 2
        point = self._gathering.take(capacity_bps)
        if point is None:
            return None
        point = replace(point, ber=bit_error_rate)
        rows = {made.id: chart.row(point) for chart, made in zip(CHARTS, self._charts, strict=True)}
        gap_ms = max(10_000, 3 * self._step_us // 1000)
        ui.run_javascript(f"clarion.append({json.dumps(rows)}, {self._span_us // 1000}, {gap_ms})")
        return point
