# SPDX-License-Identifier: Apache-2.0
"""A run that fails, with engines that need neither root nor a network."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from clarion import cli
from clarion_base.commands import EXIT_FAILED
from clarion_base.errors import RunFailedError
from clarion_lab.engines import registry
from clarion_lab.recording import files
from clarion_lab.recording.progress import Progress
from clarion_lab.recording.recording import FlowSample, Recording
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.validation import first_fault


class Failing:
    """Delivers 1 MB in the first half second, then raises."""

    name = "failing"

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def check(self, scenario: Scenario) -> None:
        pass

    @contextmanager
    def session(self) -> Iterator[None]:
        yield

    def execute(self, scenario: Scenario, directory: Path, recording: Recording, progress: Progress) -> None:
        for time_us, delivered in ((0, 0), (500_000, 1_000_000)):
            counters = [0] * (len(FlowSample._fields) - 3)
            recording.flow_samples.append(FlowSample(time_us, 0, delivered, *counters))
        recording.ended_us = 500_000
        raise self._error


@pytest.mark.parametrize(
    ("error", "reason", "logged"),
    [
        (RuntimeError("a\nb"), "RuntimeError: a b; details in ", True),
        (KeyError("flows"), "KeyError: 'flows'; details in ", True),
        (FileNotFoundError(2, "gone", "/x"), "[Errno 2] gone: '/x'", False),
        (RunFailedError("clarion-switch: stopped"), "clarion-switch: stopped", False),
    ],
)
def test_whatever_a_run_dies_of_is_one_line_and_leaves_partial_results(
    error: Exception,
    reason: str,
    logged: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(registry, "engine", lambda name: Failing(error))
    out = tmp_path / "out"
    arguments = ["run", "smoke", "--set", "measure-from=0 s", "--out", str(out), "--json"]
    assert cli.main(arguments) == EXIT_FAILED
    said = capsys.readouterr().err
    assert said.startswith(f"clarion: {reason}")
    assert said.endswith(f"(partial results are in {out})\n")
    assert said.count("\n") == 1
    made = files.read_summary(out)
    assert first_fault("summary", made) is None
    assert made["state"] == "failed"
    assert made["reason"].startswith(reason)
    # 1 MB in 0.5 s
    assert made["flows"][0]["goodput_bits_per_s"] == 16e6
    assert (out / "error.log").exists() == logged
    if logged:
        assert "Traceback" in (out / "error.log").read_text()


@pytest.mark.parametrize(
    "sweep", [[], ["--sweep", "flows.0.count=1,2", "--repeat", "2"]], ids=["one", "many"]
)
def test_what_a_killed_run_leaves_is_replaced_by_the_next(
    sweep: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(Failing):
        def execute(self, scenario: Scenario, directory: Path, *rest: Any) -> None:
            (directory / "switch.json").write_text("{}")
            super().execute(scenario, directory, *rest)

    out = tmp_path / "out"
    arguments = ["run", "smoke", *sweep, "--set", "measure-from=0 s", "--out", str(out), "--json"]
    monkeypatch.setattr(registry, "engine", lambda name: Killed(SystemExit()))  # nothing is written after it
    with pytest.raises(SystemExit):
        cli.main(arguments)
    assert len(list(out.rglob("switch.json"))) == 1
    monkeypatch.setattr(registry, "engine", lambda name: Failing(RunFailedError("stopped")))
    assert cli.main(arguments) == EXIT_FAILED
    assert files.read_summary(out)["state"] == "failed"
    assert list(out.rglob("switch.json")) == []
    assert not (out / files.UNFINISHED).exists()
