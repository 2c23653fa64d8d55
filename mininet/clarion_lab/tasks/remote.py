# SPDX-License-Identifier: Apache-2.0
"""What a worker of a Dask cluster does for a task; it is imported there, so Clarion has to be installed."""

from __future__ import annotations

import tempfile
import threading
from pathlib import Path
from typing import Any

from clarion_base.errors import UserError
from clarion_lab.tasks.pool import Job, Pool
from clarion_lab.tasks.store import read_bytes
from clarion_lab.tasks.task import Task
from clarion_lab.tasks.worker import RUN, check_key, request

POLL_S = 0.2
_of_thread = threading.local()


def run_remote(described: dict[str, Any], key: str) -> dict[str, Any]:
    """Runs a task, given as the fields of Task, in a process of its own, which takes one after the other.
    `reason`: None if it is complete, else why not, in one line with the address of this worker; `files`: the
    contents of its data files by name, partial ones too.
    """
    from distributed import get_worker

    address = get_worker().address
    task = Task(**described)
    try:
        check_key(task, key)
    except UserError as error:
        return {"reason": f"worker {address}: {error}", "files": {}}
    with tempfile.TemporaryDirectory(prefix="clarion-") as directory:
        reason = _run(task, Path(directory))
        told = None if reason is None else f"worker {address}: {reason}"
        return {"reason": told, "files": read_bytes(Path(directory))}


def _run(task: Task, directory: Path) -> str | None:
    """Why it did not complete; None if it did. Ends it if nobody wants the result any more."""
    pool: Pool | None = getattr(_of_thread, "pool", None)
    if pool is None:
        pool = _of_thread.pool = Pool(1)
    pool.submit(Job(task, request(RUN, task, directory, draw=False)))
    while True:
        for answer in pool.wait(POLL_S):
            return answer.reason
        if _is_cancelled():
            pool.interrupt()
            _of_thread.pool = None  # a process that was asked to stop takes nothing more
            pool.close()
            return "no longer wanted"


def _is_cancelled() -> bool:
    """Whether the client has taken back the task that this thread runs, or the worker is closing."""
    from distributed import get_worker
    from distributed.worker import thread_state

    state = get_worker().state.tasks.get(getattr(thread_state, "key", None))
    return state is None or state.state in ("cancelled", "forgotten", "released")
