# SPDX-License-Identifier: Apache-2.0
"""A run at a controller's experiments, over its real REST API: while it runs, at its end, and if it dies."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from clarion import cli
from clarion_base.commands import EXIT_FAILED
from clarion_base.errors import Interrupted, RunFailedError
from clarion_control.model import Experiment, ExperimentState, Role
from clarion_lab.controller import run_report
from clarion_lab.controller.registration import Registrar
from clarion_lab.controller.rest_client import RestClient
from clarion_lab.controller.run_report import RunReport
from clarion_lab.engines import registry
from clarion_lab.recording import files
from clarion_lab.recording.progress import Progress
from clarion_lab.recording.recording import FlowSample, Recording
from clarion_lab.scenario.model import Scenario
from fakes.rest_server import Served, served

DEADLINE_S = 30.0
PERIOD_S = 0.02


class Engine:
    """Says that it runs, waits for what the test waits for, and delivers 1 MB in half a second."""

    name = "fake"

    def __init__(self, meanwhile: Callable[[Progress], None] = lambda progress: None) -> None:
        self._meanwhile = meanwhile
        self.refused: RunFailedError | None = None

    def use_controller(self, registrar: Registrar) -> None:
        registrar.check()

    def check(self, scenario: Scenario) -> None:
        if self.refused is not None:
            raise self.refused

    @contextmanager
    def session(self) -> Iterator[None]:
        yield

    def execute(self, scenario: Scenario, directory: Path, recording: Recording, progress: Progress) -> None:
        progress.step("network")
        self._meanwhile(progress)
        for time_us, delivered in ((0, 0), (500_000, 1_000_000)):
            counters = [0] * (len(FlowSample._fields) - 3)
            recording.flow_samples.append(FlowSample(time_us, 0, delivered, *counters))
        recording.ended_us = 500_000


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_report, "PERIOD_S", PERIOD_S)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("rest")) as made:
        yield made


def newest(server: Served) -> Experiment:
    return server.do(lambda: server.rig.experiments.experiments(limit=1))[0]


def count(server: Served) -> int:
    return len(server.do(lambda: server.rig.experiments.experiments()))


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < deadline, "it does not happen"
        time.sleep(PERIOD_S)


def run(server: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, engine: Engine, *more: str) -> int:
    monkeypatch.setattr(registry, "engine", lambda name: engine)
    token = tmp_path / "token"
    token.write_text(server.rig.tokens[Role.ADMIN])
    arguments = ["run", "smoke", "--set", "measure-from=0 s", "--out", str(tmp_path / "out"), "--json"]
    arguments += ["--controller", server.url, "--token-file", str(token), *more]
    return cli.main(arguments)


def summary_of(server: Served, experiment: Experiment) -> dict[str, Any]:
    found = server.do(lambda: server.rig.controller.records.run_summary(experiment.id))
    assert found is not None
    return found


def test_a_run_is_an_experiment_while_it_runs_and_afterwards(
    server: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen: list[Experiment] = []

    def meanwhile(progress: Progress) -> None:
        until(lambda: count(server) > before)
        seen.append(newest(server))
        progress.step("half of it")
        until(lambda: newest(server).progress == "smoke: half of it")

    before = count(server)
    assert run(server, monkeypatch, tmp_path, Engine(meanwhile)) == 0
    (made,) = seen
    assert (made.scenario, made.state, made.created_by) == ("smoke", ExperimentState.RUNNING, "admin")
    assert made.settings == ('measure-from="0 s"',)
    assert made.place is not None
    assert made.place.endswith(f":{tmp_path / 'out'}")
    done = newest(server)
    assert (done.id, done.state, done.files) == (made.id, ExperimentState.COMPLETE, ("summary.json",))
    summary = summary_of(server, done)
    assert (summary["format"], summary["state"]) == ("clarion-batch", "complete")
    (entry,) = summary["runs"]
    assert (entry["engine"], entry["senders"], entry["directory"]) == ("fake", ["cubic"], ".")
    assert entry["metrics"]["goodput_bits_per_s"] > 0
    assert files.read_summary(tmp_path / "out")["format"] == "clarion-summary"


def test_a_sweep_is_one_experiment(server: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    before = count(server)
    more = ("--sweep", "flows.0.count=1,2", "--repeat", "2")
    assert run(server, monkeypatch, tmp_path, Engine(), *more) == 0
    assert count(server) == before + 1
    done = newest(server)
    assert done.settings == ('measure-from="0 s"', "sweep.flows.0.count=[1, 2]")
    assert done.repeat == 2
    assert len(summary_of(server, done)["runs"]) == 4


def test_a_run_that_fails_is_shown_as_failed(
    server: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def meanwhile(progress: Progress) -> None:
        raise RunFailedError("clarion-switch: it\nhas ended")

    assert run(server, monkeypatch, tmp_path, Engine(meanwhile)) == EXIT_FAILED
    done = newest(server)
    assert (done.state, done.error) == (ExperimentState.FAILED, "clarion-switch: it has ended")
    assert summary_of(server, done)["state"] == "failed"


def test_a_run_that_is_killed_from_within_is_not_left_running(
    server: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def meanwhile(progress: Progress) -> None:
        raise SystemExit

    with pytest.raises(SystemExit):
        run(server, monkeypatch, tmp_path, Engine(meanwhile))
    done = newest(server)
    assert (done.state, done.error, done.files) == (ExperimentState.FAILED, "SystemExit", ())


def test_the_controller_stops_a_run(server: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def meanwhile(progress: Progress) -> None:
        until(lambda: newest(server).state is ExperimentState.RUNNING)
        made = newest(server)
        stopped = server.do(lambda: server.rig.experiment("DELETE", f"/v1/experiments/{made.id}"))
        assert stopped.status_code == 202
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            progress.check()
            time.sleep(PERIOD_S)

    assert run(server, monkeypatch, tmp_path, Engine(meanwhile)) == 143
    assert newest(server).state is ExperimentState.STOPPED


def test_a_run_that_cannot_begin_is_no_experiment(
    server: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = count(server)
    engine = Engine()
    engine.refused = RunFailedError("not with this machine")
    assert run(server, monkeypatch, tmp_path, engine) == 2
    assert count(server) == before


def test_a_run_goes_on_though_its_report_is_refused(
    server: Served, capsys: pytest.CaptureFixture[str]
) -> None:
    token = server.rig.tokens[Role.VIEWER]
    report = RunReport(RestClient(server.url, token), run_report.document("x", "emu", {}, 1, Path("out")))
    report.say("network")
    report.end(None, None)
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "the controller does not show this run" in said


def test_the_end_waits_for_a_controller_that_restarts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run_report, "END_PAUSE_S", 0.0)

    class Restarting(RestClient):
        away = 3

        def call(self, method: str, path: str, document: object = None) -> Any:
            if path.endswith("/result"):
                ends.append(document)
                if len(ends) <= self.away:
                    raise RunFailedError("controller: connection refused")
            return {"id": 7, "stop": False}

    ends: list[Any] = []
    report = RunReport(Restarting("http://127.0.0.1:1", "t"), {})
    report.say("network")
    report.end(Interrupted(2), lambda: {"runs": ["x" * 500_000], "rows": []})
    assert len(ends) == 4
    assert ends[-1] == {"state": "stopped", "error": None, "summary": {"runs": [], "rows": []}}
    assert capsys.readouterr().err == ""


def test_settings_are_shown_as_json_and_not_at_any_length(tmp_path: Path) -> None:
    settings = {"a": [1, "x"], "b": "y" * 20_000}
    made = run_report.document("x", "sim", settings, 2, tmp_path)
    assert made["settings"]["a"] == [1, "x"]
    assert made["settings"]["b"].endswith("...")
    assert made["place"].endswith(f":{tmp_path}")
