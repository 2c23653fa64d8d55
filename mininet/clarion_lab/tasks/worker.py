# SPDX-License-Identifier: Apache-2.0
"""A process that does one task after the other: requests on its standard input, answers on its standard
output, each a line of JSON. SIGTERM ends the run that is under way, which is answered; the end of the input
ends the process.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clarion_base.errors import UserError
from clarion_lab.engines import registry
from clarion_lab.recording import files
from clarion_lab.recording.progress import Progress, stoppable
from clarion_lab.scenario.model import build
from clarion_lab.tasks.publish import publish
from clarion_lab.tasks.single import run_and_keep
from clarion_lab.tasks.store import Store
from clarion_lab.tasks.task import Task

RUN = "run"
PUBLISH = "publish"


def request(
    do: str,
    task: Task,
    directory: Path | None,
    store: Path | None = None,
    entry: Path | None = None,
    draw: bool = True,
) -> dict[str, Any]:
    """RUN: run the task, in `directory` if there is one, with plots and report there if `draw`, and keep it
    in `store` if there is one. PUBLISH: make `directory` of the `entry` of a store.
    """
    return {
        "do": do,
        "task": {
            "name": task.name,
            "document": task.document,
            "engine": task.engine,
            "labels": dict(task.labels),
        },
        "key": None if store is None else task.key(),
        "directory": None if directory is None else str(directory),
        "store": None if store is None else str(store),
        "entry": None if entry is None else str(entry),
        "draw": draw,
    }


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Does what is asked. `reason`: None if it was done, else why not, in one line; `interrupted`: the signal
    that ended a run, else None.
    """
    task = Task(**request["task"])
    directory, store, entry = (
        None if request[name] is None else Path(request[name]) for name in ("directory", "store", "entry")
    )
    try:
        if request["do"] == RUN:
            check_key(task, request["key"])
            return _run(task, directory, None if store is None else Store(store), request["draw"])
        assert directory is not None
        assert entry is not None
        publish(task, entry, directory)
    except UserError as error:
        return {"reason": str(error), "interrupted": None}
    except Exception as error:  # of any kind: this process goes on
        text = " ".join(str(error).split())
        return {"reason": f"{type(error).__name__}: {text}", "interrupted": None}
    return {"reason": None, "interrupted": None}


def check_key(task: Task, wanted: str | None) -> None:
    """UserError if what this process is made of gives a task another key than the one of who asks for it."""
    if wanted is not None and task.key() != wanted:
        what = "Clarion's sources or programs"
        if task.engine not in registry.SIDE_BY_SIDE:
            what += f" or the kernel ({platform.release()})"
        raise UserError(f"{what} differ here from those of who asks; make them the same")


def _run(task: Task, directory: Path | None, store: Store | None, draw: bool) -> dict[str, Any]:
    engine = registry.engine(task.engine)
    scenario = build(task.name, task.document)
    engine.check(scenario)
    if directory is not None:
        files.remove_results(directory)  # of a process that was killed
    with engine.session():
        progress = Progress(task.name, quiet=True)
        outcome = run_and_keep(task, engine, scenario, directory, store, progress, draw)
    reason = None if outcome.error is None else outcome.summary["reason"]
    return {"reason": reason, "interrupted": getattr(outcome.error, "signal_number", None)}


def main() -> None:
    """Answers until the input ends. What anything else prints goes to the standard error."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with stoppable():
        for line in sys.stdin:
            answers.write(json.dumps(answer(json.loads(line))) + "\n")
            answers.flush()


if __name__ == "__main__":
    main()
