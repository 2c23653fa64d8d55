# SPDX-License-Identifier: Apache-2.0
"""From an entry of the store to the directory of a result: the data, labelled anew, plots and report."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from clarion_lab.recording import files
from clarion_lab.results.expectations import evaluate
from clarion_lab.tasks.runner import show
from clarion_lab.tasks.store import data_files
from clarion_lab.tasks.task import Task


def publish(task: Task, entry: Path, directory: Path) -> None:
    """Makes of `directory` what a run of the task would have left there."""
    directory.mkdir(parents=True, exist_ok=True)
    for path in data_files(entry):
        if path.name != files.SUMMARY:
            target = directory / path.relative_to(entry)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    files.write_json(directory / files.SUMMARY, labelled(task, entry))
    show(directory)


def labelled(task: Task, entry: Path) -> dict[str, Any]:
    """The summary in an entry with what belongs to this task: name, description, labels, expectations."""
    summary = files.read_summary(entry)
    summary |= {
        "scenario": task.name,
        "description": " ".join(task.document["description"].split()),
        **task.labels,
        "document": task.document,
    }
    expected = task.document.get("expect", ())
    summary["expectations"] = evaluate(expected, summary, task.labels.get("settings", {}))
    return summary
