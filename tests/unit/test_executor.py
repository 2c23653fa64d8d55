# SPDX-License-Identifier: Apache-2.0
"""Tasks on the processes of this machine, with the real simulator behind a script that may misbehave."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clarion import cli
from clarion_base.commands import EXIT_FAILED
from clarion_base.errors import UserError
from clarion_lab.engines import registry
from clarion_lab.recording import files
from clarion_lab.run import batch
from clarion_lab.tasks.executor import execute
from clarion_lab.tasks.pool import MOST_DEATHS
from clarion_lab.tasks.publish import labelled
from clarion_lab.tasks.store import Store
from clarion_lab.tasks.task import Task
from fakes.noted_simulator import SCENARIO, WAIT_S, installed, runs, tasks, until

DURATION = "30 s"  # takes a moment, but half a minute where the simulator is slow

# Notes each run of a seed; kills the worker that started it as often as the file "kills-SEED" says, fails if
# there is a file "fails-SEED", is slow if there is one "slow-SEED", and is the real simulator otherwise.
SIMULATOR = """#!{python}
import json, os, signal, subprocess, sys, time
from pathlib import Path
notes = Path({notes!r})
if sys.argv[1] != "laws":
    seed = json.loads(Path("simulation.json").read_text())["network"]["seed"]
    with (notes / f"runs-{{seed}}").open("a") as runs:
        runs.write("x")
    count = len((notes / f"runs-{{seed}}").read_text())
    kills = notes / f"kills-{{seed}}"
    if kills.exists() and count <= int(kills.read_text()):
        os.kill(os.getppid(), signal.SIGKILL)
        signal.pause()
    if (notes / f"fails-{{seed}}").exists():
        sys.exit("clarion-sim: as was wished")
if sys.argv[1] != "laws" and (notes / f"slow-{{seed}}").exists():
    simulator = subprocess.Popen([{real!r}, *sys.argv[1:]], stdout=subprocess.PIPE)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(simulator.kill()))
    for line in simulator.stdout:
        sys.stdout.buffer.write(line)
        sys.stdout.flush()
        time.sleep(0.1)
os.execv({real!r}, [{real!r}, *sys.argv[1:]])
"""


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the script finds what to do and notes what it did."""
    with installed(SIMULATOR, tmp_path, monkeypatch) as directory:
        yield directory


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "cache")


def test_each_task_is_told_of_once_and_run_once(notes: Path, store: Store) -> None:
    wanted = [*tasks(1, 2, 3), *tasks(2, description="Another sentence.")]
    told: list[tuple[int, Path]] = []
    assert execute(wanted, store, jobs=2, on_done=lambda task, path: told.append((id(task), path))) == []
    assert sorted(which for which, _ in told) == sorted(map(id, wanted))
    assert [runs(notes, seed) for seed in (1, 2, 3)] == [1, 1, 1]
    entries = dict(told)
    assert all(entries[id(task)] == store.find(task) for task in wanted)
    assert files.read_summary(entries[id(wanted[2])])["seed"] == 3
    again: list[Task] = []
    assert execute([*wanted, *tasks(4)], store, jobs=1, on_done=lambda task, _: again.append(task)) == []
    assert len(again) == 5
    assert [runs(notes, seed) for seed in (1, 2, 3, 4)] == [1, 1, 1, 1]


def test_an_entry_is_labelled_as_the_task_that_asks(notes: Path, store: Store) -> None:
    execute(tasks(1), store, jobs=1)
    expect = [{"metric": "totals.jain", "at-least": 2, "where": {"algorithm": "cubic"}}]
    other = Task(
        "two",
        {**tasks(1)[0].document, "description": "Another\n sentence.", "expect": expect},
        "sim",
        {"point": "p", "settings": {"algorithm": "cubic"}, "repeat": 4},
    )
    entry = store.find(other)
    assert entry is not None
    made = labelled(other, entry)
    assert (made["scenario"], made["description"]) == ("two", "Another sentence.")
    assert (made["point"], made["repeat"], made["settings"]) == ("p", 4, {"algorithm": "cubic"})
    assert [each["met"] for each in made["expectations"]] == [False]
    assert made["document"] == other.document
    assert made["flows"] == files.read_summary(entry)["flows"]


def test_a_killed_worker_loses_no_point(notes: Path, store: Store) -> None:
    (notes / "kills-2").write_text(f"{MOST_DEATHS - 1}")
    assert execute(tasks(1, 2, 3, 4), store, jobs=2) == []
    assert all(store.find(task) for task in tasks(1, 2, 3, 4))
    assert runs(notes, 2) == MOST_DEATHS


def test_a_point_that_kills_its_worker_again_and_again_fails_alone(notes: Path, store: Store) -> None:
    (notes / "kills-2").write_text("1000")
    failures = execute(tasks(1, 2, 3), store, jobs=1)
    assert [failure.task.document["seed"] for failure in failures] == [2]
    assert failures[0].reason == "its process died 3 times, at last by SIGKILL, perhaps for lack of memory"
    assert runs(notes, 2) == MOST_DEATHS
    assert [store.find(task) is not None for task in tasks(1, 2, 3)] == [True, False, True]


def test_a_failed_run_is_not_kept_and_says_why_in_one_line(notes: Path, store: Store) -> None:
    (notes / "fails-2").write_text("")
    refused = tasks(5, algorithm="kernel:lp")
    failures = execute([*tasks(1, 2, 3), *refused], store, jobs=2)
    reasons = {failure.task.document["seed"]: failure.reason for failure in failures}
    assert reasons == {
        2: "clarion-sim: as was wished",
        5: "scenario one: flows: kernel:lp: engine sim lacks this sender; use --engine emu",
    }
    assert [store.find(task) is not None for task in tasks(1, 2, 3)] == [True, False, True]
    (notes / "fails-2").unlink()
    assert execute(tasks(1, 2, 3), store, jobs=2) == []
    assert [runs(notes, seed) for seed in (1, 2, 3)] == [1, 2, 1]


def test_engines_that_need_the_machine_run_here_and_fail_alone(
    notes: Path, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refusing:
        name = "emu"

        def check(self, scenario: Any) -> None:
            raise UserError("engine emu: needs root")

    real = registry.engine
    monkeypatch.setattr(registry, "engine", lambda name: Refusing() if name == "emu" else real(name))
    emulated = Task("one", tasks(1)[0].document, "emu", tasks(1)[0].labels)
    failures = execute([emulated, *tasks(1)], store, jobs=1)
    assert [(failure.task.engine, failure.reason) for failure in failures] == [
        ("emu", "engine emu: needs root")
    ]
    assert store.find(tasks(1)[0]) is not None


def clarion(out: Path, *arguments: str) -> list[str]:
    scenario = out.with_suffix(".yaml")
    scenario.write_text(SCENARIO)
    return ["run", str(scenario), "--engine", "sim", "--out", str(out), *arguments]


def contents(out: Path) -> set[str]:
    return {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_sweep_from_the_cache_leaves_what_the_first_one_left(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep = ("--sweep", "flows.0.count=1,2", "--repeat", "2", "--seed", "5", "--jobs", "2")
    first, second, third = tmp_path / "first", tmp_path / "second", tmp_path / "third"
    assert cli.main(clarion(first, *sweep)) == 0
    assert "from the cache" not in capsys.readouterr().out
    assert cli.main(clarion(second, *sweep)) == 0
    assert "from the cache (4 of 4 runs): second 1 1/2, second 1 2/2, " in capsys.readouterr().out
    assert (runs(notes, 5), runs(notes, 6)) == (2, 2)
    assert contents(second) == contents(first)
    assert {"2/run-2/throughput.png", "2/run-2/report.html", "2/run-2/truth.csv"} <= contents(first)
    made = [json.loads((out / "2/run-1/summary.json").read_text()) for out in (first, second)]
    assert [each.pop("scenario") for each in made] == ["first", "second"]
    assert made[0] == made[1]
    assert files.read_summary(second)["points"] == files.read_summary(first)["points"]
    assert [run["directory"] for run in files.read_summary(second)["runs"]] == [
        "1/run-1",
        "1/run-2",
        "2/run-1",
        "2/run-2",
    ]
    assert cli.main(clarion(third, *sweep, "--no-cache")) == 0
    assert "from the cache" not in capsys.readouterr().out
    assert (runs(notes, 5), runs(notes, 6)) == (4, 4)
    assert contents(third) == contents(first)


@pytest.mark.slow
def test_a_single_run_is_cached_only_if_asked_for(notes: Path, tmp_path: Path) -> None:
    for count in (1, 2):
        assert cli.main(clarion(tmp_path / "a", "--seed", "5")) == 0
        assert runs(notes, 5) == count
    for _ in range(2):
        assert cli.main(clarion(tmp_path / "a", "--seed", "5", "--cache")) == 0
        assert runs(notes, 5) == 3


@pytest.mark.slow
def test_a_sweep_stops_at_a_failed_run_with_its_partial_results(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (notes / "fails-6").write_text("")
    out = tmp_path / "out"
    assert cli.main(clarion(out, "--repeat", "3", "--seed", "5", "--jobs", "1")) == EXIT_FAILED
    said = capsys.readouterr().err
    assert f"clarion: clarion-sim: as was wished (partial results are in {out})\n" in said
    summary = files.read_summary(out)
    assert (summary["state"], summary["reason"]) == ("failed", "clarion-sim: as was wished")
    assert [run["state"] for run in summary["runs"]] == ["complete", "failed"]
    assert runs(notes, 7) == 0


@pytest.mark.slow
def test_a_sweep_is_complete_only_at_its_end(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One that is killed leaves what it says on the way, one that cannot go on says why."""
    out = tmp_path / "out"
    said: list[tuple[str, str]] = []

    class OnAFullDisk(batch._Collector):
        def done(self, task: Task, directory: Path) -> None:
            if said:
                raise UserError("cache /x: No space left on device")
            super().done(task, directory)
            summary = files.read_summary(out)
            said.append((summary["state"], summary["reason"]))

    monkeypatch.setattr(batch, "_Collector", OnAFullDisk)
    assert cli.main(clarion(out, "--repeat", "2", "--seed", "5", "--jobs", "1")) == EXIT_FAILED
    assert said == [("interrupted", "the sweep has not ended")]
    summary = files.read_summary(out)
    assert (summary["state"], summary["reason"]) == ("failed", "cache /x: No space left on device")
    assert [run["state"] for run in summary["runs"]] == ["complete", "complete"]
    assert f"clarion: cache /x: No space left on device (partial results are in {out})" in (
        capsys.readouterr().err
    )


def test_a_sweep_that_cannot_begin_is_one_line(
    notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert cli.main(clarion(out, "--repeat", "2", "--cluster", "10.0.0.1:8786")) == 2
    assert capsys.readouterr().err.startswith("clarion: --cluster 10.0.0.1:8786: write tcp://HOST:PORT")
    assert not (out / files.SUMMARY).exists()


@pytest.mark.slow
def test_a_point_without_any_result_is_no_obstacle_to_the_next_run(notes: Path, tmp_path: Path) -> None:
    (notes / "kills-6").write_text("3")
    out = tmp_path / "out"
    arguments = clarion(out, "--repeat", "2", "--seed", "5", "--jobs", "1")
    assert cli.main(arguments) == EXIT_FAILED
    assert not (out / "run-2").exists()
    assert files.read_summary(out)["reason"].startswith("its process died 3 times")
    assert cli.main(arguments) == 0
    assert [run["state"] for run in files.read_summary(out)["runs"]] == ["complete", "complete"]


def with_environment(text: str) -> list[int]:
    """The processes with this in their environment."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            try:
                environment = (process / "environ").read_bytes()
            except OSError:
                continue
            if text.encode() in environment:
                found.append(int(process.name))
    return found


@contextlib.contextmanager
def started(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A command that does not outlive the test."""
    command = [sys.executable, "-m", "clarion", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_sweep_keeps_what_is_finished_and_goes_on_from_there(
    number: signal.Signals, notes: Path, store: Store, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    (notes / "slow-6").write_text("")
    sweep = ("--set", f"duration={DURATION}", "--repeat", "2", "--seed", "5", "--jobs", "2")
    first = tasks(5, duration=DURATION)[0]
    with started(*clarion(out, *sweep)) as process:
        until(lambda: process.poll() is not None or (store.find(first) is not None and runs(notes, 6) == 1))
        process.send_signal(number)
        _, said = process.communicate(timeout=WAIT_S)
    assert process.returncode == 128 + number, said
    assert f"clarion: stopped; partial results are in {out}" in said
    until(lambda: with_environment(str(store.directory)) == [])
    summary = files.read_summary(out)
    assert summary["state"] == "interrupted"
    assert [run["state"] for run in summary["runs"]] == ["complete", "interrupted"]
    (notes / "slow-6").unlink()
    with started(*clarion(out, *sweep)) as again:
        printed, said = again.communicate(timeout=WAIT_S)
    assert again.returncode == 0, said
    assert "from the cache (1 of 2 runs): out 1/2\n" in printed
    assert (runs(notes, 5), runs(notes, 6)) == (1, 2)


@pytest.mark.slow
def test_workers_end_with_a_killed_parent(notes: Path, store: Store, tmp_path: Path) -> None:
    out = tmp_path / "out"
    (notes / "slow-5").write_text("")
    with started(*clarion(out, "--set", f"duration={DURATION}", "--repeat", "2", "--seed", "5")) as process:
        until(lambda: process.poll() is not None or runs(notes, 5) == 1)
    until(lambda: with_environment(str(store.directory)) == [])
