# SPDX-License-Identifier: Apache-2.0
"""Runs that were started elsewhere: what is known of them, and what becomes of those that fall silent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from clarion import scenario_library
from clarion_control.controller import Controller
from clarion_control.errors import FieldError, NotFoundError, RunError
from clarion_control.experiments import reported
from clarion_control.experiments.service import Experiments, NoExperimentsError
from clarion_control.model import Actor, Experiment, ExperimentState, Role
from fakes.controller import ADMIN, DEADLINE_S, open_controller
from fakes.runner import open_runner

BOB = Actor("bob", Role.OPERATOR)
PLACE = "lab-3:/home/ann/out"
SUMMARY = {"format": "clarion-batch", "rows": []}


@pytest_asyncio.fixture
async def controller(tmp_path: Path) -> AsyncIterator[Controller]:
    async with open_controller(tmp_path) as made:
        yield made


@pytest_asyncio.fixture
async def runs(controller: Controller) -> AsyncIterator[Experiments]:
    """Of a controller that runs none itself."""
    made = await Experiments.open(controller, None, scenario_library)
    yield made
    await made.close()


async def register(runs: Experiments) -> Experiment:
    return await runs.reported.register(ADMIN, "geo", "emu", {"sweep.algorithm": ["xcp", "bbr"]}, 2, PLACE)


async def until_state(runs: Experiments, experiment: Experiment, state: ExperimentState) -> Experiment:
    async def watch() -> Experiment:
        async for now, _ in runs.updates(experiment.id):
            if now.state is state:
                return now
        raise AssertionError(f"it ended otherwise: {await runs.experiment(experiment.id)}")

    return await asyncio.wait_for(watch(), DEADLINE_S)


async def test_a_run_is_seen_while_it_runs_and_afterwards(runs: Experiments) -> None:
    made = await register(runs)
    assert (made.state, made.created_by, made.place) == (ExperimentState.RUNNING, "ann", PLACE)
    assert made.settings == ('sweep.algorithm=["xcp", "bbr"]',)
    assert await runs.experiments() == [made]
    said = await runs.reported.hear(ADMIN, made.id, "geo: 4.0 / 25 s")
    assert runs.progress(said) == "geo: 4.0 / 25 s"
    assert runs.progress(await runs.reported.hear(ADMIN, made.id, None)) == "geo: 4.0 / 25 s"
    assert await runs.files(made.id) == []
    done = await runs.reported.finish(ADMIN, made.id, ExperimentState.COMPLETE, None, SUMMARY)
    assert (done.state, done.files) == (ExperimentState.COMPLETE, ("summary.json",))
    assert done.ended_us is not None
    assert runs.progress(done) is None
    assert [file.path for file in await runs.files(made.id)] == ["summary.json"]
    opened = await runs.open_file(made.id, "summary.json")
    assert opened is not None
    with opened:
        assert json.load(opened) == SUMMARY
    assert await runs.open_file(made.id, "report.html") is None


async def test_the_end_said_twice_is_as_said_once(runs: Experiments, controller: Controller) -> None:
    made = await register(runs)
    done = await runs.reported.finish(ADMIN, made.id, ExperimentState.FAILED, "no route", SUMMARY)
    before = await controller.records.audit()
    assert await runs.reported.finish(ADMIN, made.id, ExperimentState.FAILED, "no route", SUMMARY) == done
    assert await controller.records.audit() == before
    with pytest.raises(RunError, match="has ended already: failed"):
        await runs.reported.finish(ADMIN, made.id, ExperimentState.COMPLETE, None, None)
    with pytest.raises(RunError, match="has ended already: failed"):
        await runs.reported.hear(ADMIN, made.id, "goes on")


async def test_only_the_token_that_registered_it_reports(runs: Experiments) -> None:
    made = await register(runs)
    with pytest.raises(RunError, match="token ann registered it"):
        await runs.reported.hear(BOB, made.id, "mine")
    with pytest.raises(RunError, match="token ann registered it"):
        await runs.reported.finish(BOB, made.id, ExperimentState.COMPLETE, None, None)
    with pytest.raises(NotFoundError):
        await runs.reported.hear(ADMIN, made.id + 1, None)


async def test_a_run_of_the_controller_is_not_reported(controller: Controller, tmp_path: Path) -> None:
    async with open_runner(tmp_path / "runs") as runner:
        runs = await Experiments.open(controller, runner, scenario_library)
        try:
            made = await runs.submit(ADMIN, "smoke", "emu", {"description": "goes on"})
            with pytest.raises(RunError, match="a controller runs it"):
                await runs.reported.hear(ADMIN, made.id, "me, too")
        finally:
            await runs.close()


async def test_a_run_learns_that_it_is_to_stop(runs: Experiments) -> None:
    made = await register(runs)
    assert (await runs.reported.hear(ADMIN, made.id, "1 s")).stop_us is None
    assert (await runs.stop(BOB, made.id)).state is ExperimentState.RUNNING
    assert (await runs.reported.hear(ADMIN, made.id, "2 s")).stop_us is not None
    done = await runs.reported.finish(ADMIN, made.id, ExperimentState.STOPPED, None, SUMMARY)
    assert await runs.stop(BOB, made.id) == done


async def test_a_lost_run_that_comes_back_learns_that_it_is_to_stop(
    runs: Experiments, controller: Controller
) -> None:
    made = await register(runs)
    await controller.records.lose_silent_runs((made.heard_us or 0) + 1)
    asked = await runs.stop(BOB, made.id)
    assert asked.state is ExperimentState.LOST
    assert asked.stop_us is not None
    back = await runs.reported.hear(ADMIN, made.id, "back")
    assert back.state is ExperimentState.RUNNING
    assert back.stop_us == asked.stop_us


async def test_a_run_that_falls_silent_is_lost_until_it_is_heard_again(
    controller: Controller, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = Experiments(controller, None, scenario_library)
    made = await register(runs)
    runs.reported._silent_s = runs.reported._watch_s = 0.02
    watcher = asyncio.create_task(runs.reported.watch())
    lost = await until_state(runs, made, ExperimentState.LOST)
    watcher.cancel()
    await asyncio.gather(watcher, return_exceptions=True)
    assert lost.ended_us == made.heard_us
    assert lost.error is not None
    assert "no word from it" in lost.error
    found = await runs.reported.hear(ADMIN, made.id, "back")
    assert (found.state, found.ended_us, found.error) == (ExperimentState.RUNNING, None, None)


async def test_silence_counts_from_the_start_of_the_controller(controller: Controller) -> None:
    runs = Experiments(controller, None, scenario_library)
    made = await register(runs)
    await controller.records.lose_silent_runs(made.heard_us or 0)  # heard at that moment
    assert (await runs.experiment(made.id)).state is ExperimentState.RUNNING
    assert await controller.records.lose_silent_runs((made.heard_us or 0) + 1) == 1
    assert (await runs.experiment(made.id)).state is ExperimentState.LOST


async def test_the_result_of_a_lost_run_counts(runs: Experiments, controller: Controller) -> None:
    made = await register(runs)
    await controller.records.lose_silent_runs((made.heard_us or 0) + 1)
    done = await runs.reported.finish(ADMIN, made.id, ExperimentState.COMPLETE, None, SUMMARY)
    assert (done.state, done.error) == (ExperimentState.COMPLETE, None)


async def test_a_restart_leaves_runs_that_report_alone(controller: Controller, tmp_path: Path) -> None:
    async with open_runner(tmp_path / "runs") as runner:
        first = await Experiments.open(controller, runner, scenario_library)
        made = await register(first)
        await first.close()
        again = await Experiments.open(controller, runner, scenario_library)
        assert (await again.experiment(made.id)).state is ExperimentState.RUNNING
        await again.close()


async def test_a_controller_without_a_runner_runs_none(runs: Experiments) -> None:
    assert not runs.can_run
    with pytest.raises(NoExperimentsError, match="--no-experiments"):
        await runs.submit(ADMIN, "smoke", "emu", {})


async def test_a_setting_has_its_limits(runs: Experiments) -> None:
    given = {"sweep.seed": "x" * reported.MAX_SETTING_CHARACTERS}
    with pytest.raises(FieldError, match="longer than") as caught:
        await runs.reported.register(ADMIN, "geo", "emu", given, 1, PLACE)
    assert caught.value.field == "settings.sweep.seed"
