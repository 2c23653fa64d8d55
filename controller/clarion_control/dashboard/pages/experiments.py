# SPDX-License-Identifier: Apache-2.0
"""The experiments: a form to start a shipped scenario, and a list of earlier ones."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from nicegui import ui

from clarion_base.errors import UserError
from clarion_control.dashboard import parts, quantities
from clarion_control.dashboard.dashboard import Dashboard
from clarion_control.dashboard.visit import Visit
from clarion_control.experiments.library import ExperimentFault, ScenarioInfo
from clarion_control.experiments.service import Experiments
from clarion_control.model import Actor, Experiment, ExperimentState, Role

PAGE = 30
REFRESH_S = 2.0
STATES = {
    ExperimentState.QUEUED: ("waiting", ""),
    ExperimentState.RUNNING: ("running", "warn"),
    ExperimentState.COMPLETE: ("complete", "good"),
    ExperimentState.FAILED: ("failed", "bad"),
    ExperimentState.STOPPED: ("stopped", ""),
    ExperimentState.LOST: ("lost", "bad"),
}


def register(dashboard: Dashboard) -> None:
    """The page at /experiments."""

    @dashboard.page("/experiments", "/experiments", "Experiments")
    async def experiments(visit: Visit) -> None:
        if dashboard.experiments is None:
            parts.heading("Experiments")
            with parts.card():
                parts.empty("This controller runs no experiments.")
            return
        await ExperimentsPage(visit, dashboard.experiments).build()


def took(experiment: Experiment) -> str:
    """The duration of an experiment, so far if it is running."""
    if experiment.started_us is None:
        return quantities.DASH
    end_s = time.time() if experiment.ended_us is None else experiment.ended_us / 1e6
    return quantities.age(end_s - experiment.started_us / 1e6)


class ExperimentsPage:
    """The form to start an experiment, and the list of all."""

    def __init__(self, visit: Visit, experiments: Experiments) -> None:
        self._visit = visit
        self._experiments = experiments
        before = visit.request.query_params.get("before", "")
        self._before = int(before) if before.isdecimal() else None
        self._shown: list[tuple[Experiment, str]] | None = None

    async def build(self) -> None:
        """Draws the page and keeps it up to date."""
        with parts.heading("Experiments"):
            parts.block(classes="grow")
            parts.link("Compare results", "/experiments/compare", "button small")
        with parts.block(classes="columns"):
            with parts.card(
                "Runs", "The controller's own one at a time; those of command lines as they report"
            ):
                self._list = parts.block()
            with parts.card("Start a scenario"):
                if not self._experiments.can_run:
                    parts.text("This controller runs none; it shows those that report to it.", "p", "hint")
                elif self._visit.may(Role.EXPERIMENTER):
                    self._form(await asyncio.to_thread(self._experiments.scenarios.catalogue))
                else:
                    parts.text("Your role may only look; starting needs the role experimenter.", "p", "hint")
        await self._refresh()
        ui.timer(REFRESH_S, self._refresh, immediate=False)

    def _form(self, scenarios: tuple[ScenarioInfo, ...]) -> None:
        self._infos = {each.name: each for each in scenarios}
        with parts.block("form", "form").props("novalidate").on("submit.prevent", self._start):
            names = list(self._infos)
            first = "smoke" if "smoke" in names else names[0]
            self._scenario = ui.select(names, value=first, label="Scenario", on_change=self._describe)
            self._scenario.props("outlined dense stack-label bottom-slots")
            self._description = parts.text("", "p", "hint")
            engines = self._experiments.scenarios.engines()
            self._engine = ui.select(engines, value=engines[0], label="Engine")
            self._engine.props("outlined dense stack-label bottom-slots")
            self._repeat = ui.number("Repeats", value=1, min=1, step=1, format="%d")
            self._repeat.props('outlined dense stack-label bottom-slots name="repeat"')
            self._settings = ui.textarea("Settings", placeholder='links.bottleneck.rate="50 Mbit/s"')
            self._settings.props(
                'outlined dense stack-label autogrow bottom-slots name="settings" '
                'hint="KEY=VALUE, one a line, as for clarion run --set"'
            )
            with parts.block("button", "button primary").props('type="submit"'):
                parts.text("Start")
        self._describe()

    def _describe(self) -> None:
        info = self._infos[str(self._scenario.value)]
        points = f"{info.points} runs" if info.points > 1 else "1 run"
        self._description.text = f"{info.description} {points}, {quantities.age(info.run_s)} of traffic."

    async def _start(self) -> None:
        inputs: dict[str, Any] = {
            "scenario": self._scenario,
            "engine": self._engine,
            "repeat": self._repeat,
            "settings": self._settings,
        }
        for entry in inputs.values():
            entry.error = None
        lines = [line.strip() for line in str(self._settings.value or "").splitlines() if line.strip()]
        try:
            settings = dict(self._experiments.scenarios.parse_setting(line) for line in lines)
        except UserError as error:
            self._settings.error = str(error).removeprefix("--set ")
            return
        made: list[Experiment] = []

        async def submit(actor: Actor) -> None:
            try:
                made.append(
                    await self._experiments.submit(
                        actor,
                        str(self._scenario.value),
                        str(self._engine.value),
                        settings,
                        int(self._repeat.value or 0),
                    )
                )
            except ExperimentFault as fault:
                inputs[str(fault.path[0])].error = fault.reason
                raise

        if await self._visit.act(Role.EXPERIMENTER, submit):
            ui.navigate.to(f"/experiments/{made[0].id}")

    async def _refresh(self) -> None:
        found = await self._experiments.experiments(before_id=self._before, limit=PAGE)
        shown = [(each, took(each)) for each in found]
        if shown == self._shown:
            return
        self._shown = shown
        self._list.clear()
        with self._list:
            if not found:
                parts.empty("Nothing has been run yet.")
                return
            with parts.block("table", "table rows"):
                parts.head_row("Run", "Scenario", "Engine", "By", "Started", "Took", "State")
                with parts.block("tbody"):
                    for each, time_taken in shown:
                        _row(each, time_taken)
            with parts.block(classes="buttons pager"):
                if self._before is not None:
                    parts.link("Newest", "/experiments", "button small")
                if len(found) == PAGE:
                    parts.link("Older", f"/experiments?before={found[-1].id}", "button small")


def _row(each: Experiment, time_taken: str) -> None:
    repeats = f" \N{MULTIPLICATION SIGN} {each.repeat}" if each.repeat > 1 else ""
    with parts.block("tr", "link"):
        with parts.cell("Run", "title"):
            parts.link(f"#{each.id}", f"/experiments/{each.id}")
        with parts.cell("Scenario"), parts.block():
            parts.link(each.scenario + repeats, f"/experiments/{each.id}")
            for setting in each.settings:
                parts.text(setting, "div", "hint mono")
            if each.place is not None:
                parts.text(each.place, "div", "hint mono")
        parts.cell_text("Engine", content=each.engine)
        parts.cell_text("By", content=each.created_by)
        parts.cell_text("Started", "number", quantities.instant(each.started_us).removesuffix(" UTC"))
        parts.cell_text("Took", "number", time_taken)
        with parts.cell("State"):
            parts.Badge(*STATES[each.state])
