# SPDX-License-Identifier: Apache-2.0
"""Experiments: what can be run, and runs."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field

from clarion_control.api.schemas.base import LINE, Model, Page, Whole, time_field
from clarion_control.experiments.library import MAX_REPEAT, MAX_SETTINGS, settings_object
from clarion_control.model import Experiment, ExperimentState

EXAMPLE: dict[str, Any] = {"scenario": "smoke", "settings": {"duration": "5 s", "algorithm": "cubic"}}


RUN_EXAMPLE: dict[str, Any] = {
    "scenario": "geo",
    "engine": "emu",
    "settings": {"sweep.algorithm": ["xcp", "cubic"]},
    "place": "lab-3:/home/ann/out/geo-20260101-120000",
}
SettingKey = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,640}$")]
MAX_REPORTED_REPEAT = 2**31 - 1  # what the store holds; how often somebody runs something is theirs to say


class ScenarioView(Model):
    """A scenario that ships with Clarion."""

    name: str = Field(description="Its name.", examples=["smoke"])
    description: str = Field(description="What it shows.")
    points: int = Field(description="Runs of one repeat: the points of its sweep.", examples=[1])
    run_s: float = Field(description="How long one repeat takes at the least.", examples=[10.0])


class Scenarios(Model):
    """All scenarios, and the engines that can run them."""

    items: list[ScenarioView]
    engines: list[str] = Field(
        examples=[["emu", "bmv2", "sim", "hls-sim"]], description="What carries the packets."
    )


class NewExperiment(Model):
    """A scenario to be run; it waits until those before it have ended."""

    model_config = ConfigDict(json_schema_extra={"examples": [EXAMPLE]})

    scenario: str = Field(description="Name of a shipped scenario.", max_length=100)
    engine: str = Field("emu", description="What carries the packets.", max_length=20)
    settings: dict[str, Any] = Field(
        default_factory=dict,
        description="Fields of the scenario to change, by dotted name, as `--set` of `clarion run` does.",
        max_length=MAX_SETTINGS,
    )
    repeat: Whole = Field(1, description="Runs per point, with seeds in sequence.", ge=1, le=MAX_REPEAT)


class ExperimentView(Model):
    """A run of a scenario."""

    id: int = Field(description="Its number, ascending.", examples=[5])
    scenario: str = Field(description="Name of the scenario.", examples=["smoke"])
    engine: str = Field(description="What carries the packets.", examples=["emu"])
    settings: dict[str, Any] = Field(description="Fields that were changed.", examples=[{"duration": "5 s"}])
    repeat: int = Field(description="Runs per point.", examples=[1])
    state: ExperimentState = Field(
        description="queued and running go on; complete, failed and stopped are final. lost: a run that"
        " reports by itself was not heard for 30 s; it is running again if it is."
    )
    created_us: int = time_field("When it was requested")
    created_by: str = Field(description="By whom.", examples=["alice"])
    started_us: int | None = time_field("When it started")
    ended_us: int | None = time_field("When it ended")
    error: str | None = Field(description="Why it failed.")
    progress: str | None = Field(
        description="What it said last, while it runs.", examples=["smoke:   4.0 / 10 s   18.9 Mbit/s"]
    )
    files: list[str] = Field(
        description="Results that can be fetched.", examples=[["summary.json", "report.html"]]
    )
    place: str | None = Field(
        description="Where all its files are, HOST:DIRECTORY, if it was started elsewhere and reports by"
        " itself; null: the controller runs it.",
        examples=["lab-3:/home/ann/out/geo-20260101-120000"],
    )
    stop: bool = Field(description="Whether a run that reports by itself was asked to stop.")

    @classmethod
    def of(cls, experiment: Experiment, progress: str | None) -> ExperimentView:
        """From the controller's record."""
        return cls(
            id=experiment.id,
            scenario=experiment.scenario,
            engine=experiment.engine,
            settings=settings_object(experiment.settings),
            repeat=experiment.repeat,
            state=experiment.state,
            created_us=experiment.created_us,
            created_by=experiment.created_by,
            started_us=experiment.started_us,
            ended_us=experiment.ended_us,
            error=experiment.error,
            progress=progress,
            files=list(experiment.files),
            place=experiment.place,
            stop=experiment.stop_us is not None,
        )


class NewRun(Model):
    """A run that was started elsewhere, on a command line."""

    model_config = ConfigDict(json_schema_extra={"examples": [RUN_EXAMPLE]})

    scenario: str = Field(description="Name of its scenario, shipped or not.", pattern=LINE, max_length=100)
    engine: str = Field(description="What carries the packets.", pattern=LINE, max_length=20)
    settings: dict[SettingKey, Any] = Field(
        default_factory=dict,
        description="Fields of the scenario that were changed, by dotted name; `sweep.NAME` has all values.",
        max_length=MAX_SETTINGS,
    )
    repeat: Whole = Field(1, description="Runs per point.", ge=1, le=MAX_REPORTED_REPEAT)
    place: str = Field(
        description="Where its files are, HOST:DIRECTORY.",
        pattern=LINE,
        min_length=1,
        max_length=4096,
        examples=["lab-3:/home/ann/out/geo-20260101-120000"],
    )


class RunProgress(Model):
    """A sign of life of a run, due every few seconds."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"progress": "geo: 4.0 / 25 s   91 Mbit/s"}]})

    progress: str | None = Field(
        None, description="What it is doing; null: as before.", pattern=LINE, max_length=500
    )


class RunResult(Model):
    """The end of a run."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"state": "complete"}]})

    state: Literal["complete", "failed", "stopped"] = Field(description="How it ended.")
    error: str | None = Field(None, description="Why it failed.", pattern=LINE, max_length=500)
    summary: dict[str, Any] | None = Field(
        None, description="Its summary, as docs/summary-format.md has it; null without one."
    )


class FileView(Model):
    """A result."""

    path: str = Field(description="Below the experiment.", pattern=LINE, examples=["summary.json"])
    bytes: int = Field(description="Its length.", examples=[10233])


class Files(Model):
    """All results of an experiment."""

    items: list[FileView]


class ExperimentList(Page[ExperimentView]):
    """A page of experiments, newest first."""
