# SPDX-License-Identifier: Apache-2.0
"""The queue of experiments, with a stand-in for the command that runs them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from clarion import scenario_library
from clarion_base.errors import UserError
from clarion_control.controller import Controller
from clarion_control.errors import NotFoundError
from clarion_control.experiments.client import RunnerClient
from clarion_control.experiments.library import ExperimentFault
from clarion_control.experiments.service import FINAL, Experiments
from clarion_control.model import Experiment, ExperimentState
from clarion_lab.machine.state import start_time
from fakes.controller import ADMIN, DEADLINE_S, open_controller, until
from fakes.runner import open_runner

GOES_ON = {"description": "goes on"}


@pytest.fixture
def cleanups(tmp_path: Path) -> Path:
    """The file in which the stand-in records its cleanups."""
    return tmp_path / "experiments" / "home" / "cleanups"


@pytest_asyncio.fixture
async def controller(tmp_path: Path) -> AsyncIterator[Controller]:
    async with open_controller(tmp_path) as made:
        yield made


@pytest_asyncio.fixture
async def runner(tmp_path: Path) -> AsyncIterator[RunnerClient]:
    async with open_runner(tmp_path / "experiments") as made:
        yield made


@pytest_asyncio.fixture
async def runs(controller: Controller, runner: RunnerClient) -> AsyncIterator[Experiments]:
    made = await opened(controller, runner)
    yield made
    await made.close()


async def opened(controller: Controller, runner: RunnerClient) -> Experiments:
    return await Experiments.open(controller, runner, scenario_library)


async def submit(runs: Experiments, **settings: Any) -> Experiment:
    return await runs.submit(ADMIN, "smoke", "emu", settings)


async def ended(runs: Experiments, experiment: Experiment) -> Experiment:
    """Waits until the experiment has ended; returns it."""

    async def watch() -> Experiment:
        async for now, _ in runs.updates(experiment.id):
            if now.state in FINAL:
                return now
        raise AssertionError("the updates ended before the run")

    return await asyncio.wait_for(watch(), DEADLINE_S)


async def going_on(runs: Experiments, experiment: Experiment) -> int:
    """Waits for the progress of a run that does not end; returns its process id."""

    async def watch() -> None:
        async for _, progress in runs.updates(experiment.id):
            if progress is not None and "18.9 Mbit/s" in progress:
                return

    await asyncio.wait_for(watch(), DEADLINE_S)
    assert runs._directory is not None
    [started] = runs._directory.glob(f"{experiment.id}-*/started")
    return int(started.read_text())


async def test_a_run_leaves_its_results(runs: Experiments) -> None:
    made = await runs.submit(ADMIN, "smoke", "emu", {"duration": "4 s", "flows.0.count": 2}, 3)
    assert (made.state, made.created_by) == (ExperimentState.QUEUED, "ann")
    done = await ended(runs, made)
    assert done.state is ExperimentState.COMPLETE
    assert done.error is None
    assert done.started_us is not None
    assert done.ended_us is not None
    assert done.created_us <= done.started_us <= done.ended_us
    assert done.files == ("arguments.json", "iperf3/flow-1.json", "started", "summary.json")
    assert [file.path for file in await runs.files(made.id)] == list(done.files)
    opened = await runs.open_file(made.id, "arguments.json")
    assert opened is not None
    with opened:
        arguments = json.load(opened)
    assert arguments[:6] == ["run", "smoke", "--engine", "emu", "--repeat", "3"]
    assert arguments[6:10] == ["--set", 'duration="4 s"', "--set", "flows.0.count=2"]
    assert await runs.open_file(made.id, "../../controller.db") is None


async def test_a_run_that_fails_says_why(runs: Experiments) -> None:
    done = await ended(runs, await submit(runs, description="fails"))
    assert done.state is ExperimentState.FAILED
    assert done.error == "scenario smoke: links: nothing works"


async def test_runs_wait_for_each_other(runs: Experiments) -> None:
    first = await submit(runs, **GOES_ON)
    second = await submit(runs)
    await going_on(runs, first)
    assert (await runs.experiment(second.id)).state is ExperimentState.QUEUED
    assert runs.progress(second) is None
    await runs.stop(ADMIN, first.id)
    assert (await ended(runs, second)).state is ExperimentState.COMPLETE
    assert (await runs.experiment(first.id)).state is ExperimentState.STOPPED


async def test_a_run_is_interrupted_and_writes_what_it_has(runs: Experiments, controller: Controller) -> None:
    made = await submit(runs, **GOES_ON)
    pid = await going_on(runs, made)
    await runs.stop(ADMIN, made.id)
    done = await ended(runs, made)
    assert done.state is ExperimentState.STOPPED
    assert "summary.json" in done.files
    assert start_time(pid) is None
    assert [record.action for record in await controller.records.audit(limit=2)] == [
        "experiment.stop",
        "experiment.create",
    ]


async def test_a_run_that_ignores_it_is_killed_and_cleaned_up_after(
    controller: Controller, tmp_path: Path, cleanups: Path
) -> None:
    async with open_runner(tmp_path / "experiments", grace_s=0.1) as runner:
        runs = await opened(controller, runner)
        made = await submit(runs, description="ignores signals")
        pid = await going_on(runs, made)
        await runs.stop(ADMIN, made.id)
        assert (await ended(runs, made)).state is ExperimentState.STOPPED
        assert start_time(pid) is None
        assert cleanups.read_text() == "cleanup\n"
        await runs.close()


async def test_one_that_waits_is_taken_out(runs: Experiments) -> None:
    first = await submit(runs, **GOES_ON)
    second = await submit(runs)
    assert (await runs.stop(ADMIN, second.id)).state is ExperimentState.STOPPED
    await going_on(runs, first)
    await runs.stop(ADMIN, first.id)
    await ended(runs, first)
    assert (await runs.experiment(second.id)).started_us is None


async def test_one_that_has_ended_stays_as_it_is(runs: Experiments) -> None:
    done = await ended(runs, await submit(runs))
    assert await runs.stop(ADMIN, done.id) == done


async def test_what_cannot_run_is_not_stored(runs: Experiments) -> None:
    with pytest.raises(ExperimentFault):
        await submit(runs, duration="5 parsecs")
    assert await runs.experiments() == []
    with pytest.raises(NotFoundError):
        await runs.experiment(1)


async def test_a_controller_that_stops_takes_its_run_along(
    controller: Controller, runner: RunnerClient
) -> None:
    runs = await opened(controller, runner)
    first, second = await submit(runs, **GOES_ON), await submit(runs)
    pid = await going_on(runs, first)
    await runs.close()
    assert start_time(pid) is None
    stopped = await controller.records.experiment(first.id)
    assert (stopped.state, stopped.error) == (ExperimentState.FAILED, "controller restarted")
    again = await opened(controller, runner)
    assert (await ended(again, second)).state is ExperimentState.COMPLETE
    await again.close()


async def test_after_a_crash_the_run_has_failed_and_the_queue_goes_on(
    controller: Controller, runner: RunnerClient
) -> None:
    """As kill -9 leaves it: running in the store, without a process."""
    runs = Experiments(controller, runner, scenario_library)
    first, second = await submit(runs), await submit(runs)
    await controller.records.update_experiment(first.id, state=ExperimentState.RUNNING, started_us=1)
    again = await opened(controller, runner)
    crashed = await again.experiment(first.id)
    assert (crashed.state, crashed.error) == (ExperimentState.FAILED, "controller restarted")
    assert (await ended(again, second)).state is ExperimentState.COMPLETE
    await again.close()


async def test_runs_of_another_controller_are_left_alone(controller: Controller, tmp_path: Path) -> None:
    """Its directory differs: it may be on another machine."""
    async with open_runner(tmp_path / "theirs") as first, open_runner(tmp_path / "ours") as second:
        await leave_each_other_alone(await opened(controller, first), await opened(controller, second))


async def leave_each_other_alone(theirs: Experiments, ours: Experiments) -> None:
    made = await submit(theirs, **GOES_ON)
    await going_on(theirs, made)
    waiting = await submit(theirs)
    with pytest.raises(UserError, match="another controller runs it"):
        await ours.stop(ADMIN, made.id)
    assert (await ours.experiment(made.id)).state is ExperimentState.RUNNING
    assert (await ours.stop(ADMIN, waiting.id)).state is ExperimentState.STOPPED
    await theirs.stop(ADMIN, made.id)
    await ended(theirs, made)
    last = await submit(theirs)
    await ended(theirs, last)
    assert (await theirs.experiment(waiting.id)).started_us is None
    await ours.close()
    await theirs.close()


def pipes() -> int:
    """Number of open pipe ends."""
    count = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):
            count += os.readlink(descriptor).startswith("pipe:")
    return count


async def test_pipes_and_tasks_are_not_lost(runs: Experiments) -> None:
    await ended(runs, await submit(runs))
    open_pipes = pipes()
    for _ in range(3):
        await ended(runs, await submit(runs))
    await until(
        lambda: (
            not [
                task
                for task in asyncio.all_tasks()
                if any(name in repr(task) for name in ("Child.", "Runner."))
            ]
        )
    )
    await until(lambda: pipes() <= open_pipes)


async def test_a_run_without_a_place_for_results_fails(runs: Experiments, tmp_path: Path) -> None:
    (tmp_path / "experiments").rename(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="no directory for results"):
        await submit(runs)
    found = await runs.experiments()
    assert [(each.state, each.error) for each in found] == [
        (ExperimentState.FAILED, "no directory for results: No such file or directory")
    ]
