# SPDX-License-Identifier: Apache-2.0
"""One experiment: progress, output and results."""

from __future__ import annotations

from collections import deque

from nicegui import background_tasks, context, ui

from clarion_control.dashboard import experiment_results, parts, quantities
from clarion_control.dashboard.dashboard import Dashboard
from clarion_control.dashboard.pages.experiments import STATES, took
from clarion_control.dashboard.visit import Visit
from clarion_control.errors import NotFoundError
from clarion_control.experiments.service import FINAL, Experiments
from clarion_control.model import Actor, Experiment, ExperimentState, Role

LINES = 200
REFRESH_S = 1.0


def register(dashboard: Dashboard) -> None:
    """The page at /experiments/ID."""

    @dashboard.page("/experiments/{id:int}", "/experiments", "Experiment")
    async def experiment(visit: Visit, id: int) -> None:
        if dashboard.experiments is None:
            raise NotFoundError("experiment", id)
        await ExperimentPage(visit, dashboard.experiments, id).build()


class ExperimentPage:
    """An experiment: progress, table, plots and files."""

    def __init__(self, visit: Visit, experiments: Experiments, experiment_id: int) -> None:
        self._visit = visit
        self._experiments = experiments
        self._id = experiment_id
        self._lines: deque[str] = deque(maxlen=LINES)
        self._drawn: object = None

    async def build(self) -> None:
        """Draws the page and updates it until the experiment has ended."""
        found = await self._experiments.experiment(self._id)
        ui.page_title(f"{found.scenario} #{found.id} · Clarion")
        with parts.heading(f"{found.scenario} #{found.id}", ("Experiments", "/experiments")):
            self._state = parts.Badge(*STATES[found.state])
            parts.block(classes="grow")
            self._stop = parts.button("Stop", self._ask_to_stop)
        with parts.block(classes="stack"):
            with parts.card():
                parts.facts(
                    [
                        ("Engine", found.engine),
                        ("Repeats", quantities.count(found.repeat)),
                        ("Settings", ", ".join(found.settings) or "as the scenario has them"),
                        ("Started by", f"{found.created_by}, {quantities.instant(found.created_us)}"),
                        *([("Files", found.place)] if found.place is not None else []),
                    ]
                )
                self._took = parts.text("", "p", "muted number below")
            self._error = parts.block()
            self._progress = parts.card("Progress")
            with self._progress:
                self._log = parts.text("", "pre", "log").props(
                    'role="log" aria-label="Progress" tabindex="0"'
                )
            self._results = parts.block(classes="stack")
        self._found = found
        self._follow()
        await self._show()
        ui.timer(REFRESH_S, self._show, immediate=False)

    def _follow(self) -> None:
        async def follow() -> None:
            async for found, line in self._experiments.updates(self._id):
                self._found = found
                if line is not None and (not self._lines or self._lines[-1] != line):
                    self._lines.append(line)

        task = background_tasks.create(follow(), name=f"experiment {self._id}")
        context.client.on_delete(lambda: task.cancel() and None)

    async def _show(self) -> None:
        found = self._found
        ended = found.state in FINAL
        self._state.show(*STATES[found.state])
        self._took.text = f"Running time: {took(found)}"
        self._stop.set_visibility(not ended and self._visit.may(Role.EXPERIMENTER))
        self._log.text = "\n".join(self._lines)
        waiting = found.state is ExperimentState.QUEUED
        self._progress.set_visibility(bool(self._lines) or not ended)
        if not self._lines:
            self._log.text = "Waits for its turn." if waiting else "Begins."
        if ended and self._drawn != found:
            self._drawn = found
            await self._draw_results(found)

    async def _draw_results(self, found: Experiment) -> None:
        self._error.clear()
        if found.error:
            with self._error:
                parts.banner("bad", found.error)
        files = await self._experiments.files(self._id)
        document = await experiment_results.summary(self._experiments, self._id)
        self._results.clear()
        with self._results:
            rows = self._experiments.scenarios.rows(document or {})
            if rows:
                with parts.card("Results"):
                    experiment_results.show_table(self._experiments.scenarios.columns(), rows)
                    if any(file.path == experiment_results.REPORT for file in files):
                        target = experiment_results.address(self._id, experiment_results.REPORT)
                        with parts.block(classes="buttons pager"):
                            parts.link("Full report", target, "button small").props('target="_blank"')
            if any(file.path.endswith(".png") for file in files):
                with parts.card("Plots"):
                    experiment_results.show_plots(self._id, files)
            if files:
                with parts.card("Files"):
                    experiment_results.show_files(self._id, files)

    async def _ask_to_stop(self) -> None:
        async def stop(actor: Actor) -> None:
            await self._experiments.stop(actor, self._id)

        if await self._visit.act(Role.EXPERIMENTER, stop, "Stopping; what it has measured so far is kept."):
            self._found = await self._experiments.experiment(self._id)
            await self._show()
