# SPDX-License-Identifier: Apache-2.0
"""One run: execute the scenario on an engine, then write whatever was measured, complete or not."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clarion_base.errors import Interrupted, RunFailedError, UserError
from clarion_lab.engines.registry import Engine
from clarion_lab.machine import environment
from clarion_lab.recording import files
from clarion_lab.recording.progress import Progress
from clarion_lab.recording.recording import Recording
from clarion_lab.results.decisions import judged
from clarion_lab.results.expectations import evaluate
from clarion_lab.results.summary import summarise
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import plan


@dataclass(frozen=True)
class Outcome:
    """A finished, interrupted or failed run."""

    directory: Path
    summary: dict[str, Any]
    error: Interrupted | UserError | None


def run(
    scenario: Scenario,
    engine: Engine,
    directory: Path,
    progress: Progress,
    labels: Mapping[str, Any],
    draw: bool = True,
) -> Outcome:
    """Runs once into `directory`. An error is returned with the partial results, not raised. Without `draw`
    there are neither plots nor a report.
    """
    directory.mkdir(parents=True, exist_ok=True)
    recording = Recording(environment=environment.describe())
    state = "complete"
    error: Interrupted | UserError | None = None
    try:
        engine.execute(scenario, directory, recording, progress)
    except Interrupted as stop:
        state, error = "interrupted", stop
    except Exception as failure:  # of any kind: the partial results are written
        state, error = "failed", _failure(failure, directory)
    status = {"state": state, "reason": reason_of(error), "engine": engine.name, **labels}
    progress.step("results")
    decisions = judged(scenario, recording)
    summary = summarise(scenario, plan(scenario), recording, status, decisions)
    summary["expectations"] = evaluate(scenario.expect, summary, labels.get("settings", {}))
    files.write(directory, summary, recording, decisions)
    if draw:
        show(directory)
    progress.done()
    return Outcome(directory, summary, error)


def show(directory: Path) -> None:
    """Draws the plots of a run from its files and writes its report."""
    from clarion_lab.results import plots, report  # a second of imports that a run without them has not

    plots.draw(directory)
    report.write(directory)


def _failure(failure: Exception, directory: Path) -> UserError:
    """The failure as one line; the traceback of an unexpected one goes to a file."""
    if isinstance(failure, UserError):
        return failure
    text = " ".join(str(failure).split())
    if isinstance(failure, OSError):
        return RunFailedError(text)
    log = directory / files.ERROR_LOG
    log.write_text("".join(traceback.format_exception(failure)))
    return RunFailedError(f"{type(failure).__name__}: {text}; details in {log}")


def reason_of(error: Interrupted | UserError | None) -> str | None:
    """Why a run or a batch did not complete, as summaries say it; None if it did."""
    if isinstance(error, Interrupted):
        return f"stopped by signal {error.signal_number}"
    return str(error) if error else None
