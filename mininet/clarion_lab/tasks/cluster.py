# SPDX-License-Identifier: Apache-2.0
"""Tasks on a Dask cluster. What is lost with a worker or with the scheduler is submitted again."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import itertools
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from clarion_base.errors import UserError
from clarion_lab.engines.registry import SIDE_BY_SIDE
from clarion_lab.tasks.remote import run_remote
from clarion_lab.tasks.task import Task

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_S = 10.0
FETCH_S = 300.0  # for a result to come over; one that takes longer is asked for anew
RETURN_S = 600.0  # for a scheduler that has gone to come back
POLL_S = 0.1
MOST_LOSSES = 10  # of one task, with the scheduler or by it
RESOURCE = "emu"  # of the workers that may run in real time; each such run takes 1
SCHEMES = ("tcp://", "tls://")  # Dask has more, which need software of their own
TLS_KEYS = "distributed.comm.tls.ca-file and distributed.comm.tls.client.cert (and .key)"


@dataclass(eq=False)
class _Submitted:
    task: Task
    tag: Any
    future: Future | None = None
    fetch: concurrent.futures.Future[dict[str, Any]] | None = None  # of its result, which is on its way
    losses: int = 0

    def forget(self) -> None:
        """It is with no scheduler any more."""
        if self.fetch is not None:
            self.fetch.cancel()
        self.future = self.fetch = None


class Cluster:
    """The cluster behind a scheduler. UserError if there is none, if `distributed` is not installed, and in
    `wait` if a scheduler that went does not come back. `waiting` is told what has to change for it to go on.
    """

    def __init__(self, address: str, waiting: Callable[[str], None]) -> None:
        self._address = address
        self._waiting = waiting
        self._submitted: list[_Submitted] = []
        self._told: list[tuple[Any, dict[str, Any]]] = []  # over, and not returned by `wait` yet
        self._number = itertools.count()
        self._idle_told = False
        self._gone_s: float | None = None
        _check(address)
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # its losses are dealt with here
        try:
            self._client: Client | None = self._connect()
        except (OSError, ValueError, ImportError) as error:
            raise UserError(
                f"--cluster {address}: no Dask scheduler answers within {CONNECT_S:g} s; start one with "
                "`dask scheduler`"
            ) from error

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        """Takes back what is not done."""
        with contextlib.suppress(Exception):
            if self._client is not None:
                self._client.cancel([each.future for each in self._submitted if each.future], force=True)
        self._lose_all()

    def submit(self, task: Task, tag: Any) -> None:
        """Adds a task; `wait` returns its `tag` with what `remote.run_remote` told."""
        self._submitted.append(_Submitted(task, tag))

    def busy(self) -> bool:
        """Whether there is a task that `wait` has not returned yet."""
        return bool(self._submitted or self._told)

    def drop_waiting(self) -> None:
        """Takes back the tasks that are not done."""
        if self._client is not None:
            with contextlib.suppress(Exception):
                self._client.cancel([each.future for each in self._submitted if each.future])
        for each in self._submitted:
            each.forget()
        self._submitted.clear()

    def wait(self, timeout_s: float) -> list[tuple[Any, dict[str, Any]]]:
        """The tasks that are over, after `timeout_s` at the latest, but for the time to connect again."""
        deadline_s = time.monotonic() + timeout_s
        while True:
            told = self._look()
            if told or not self._submitted or time.monotonic() >= deadline_s:
                return told
            time.sleep(min(POLL_S, timeout_s))

    def _look(self) -> list[tuple[Any, dict[str, Any]]]:
        if self._is_connected():
            try:
                self._send()
                self._tell_if_idle()
                self._gather()
            except (OSError, TimeoutError, RuntimeError):  # the scheduler went while it was asked
                self._lose_all()
        told, self._told = self._told, []
        return told

    def _is_connected(self) -> bool:
        """Connects anew after the scheduler has gone; what was there is to be submitted again."""
        if self._client is not None and self._client.status == "running":
            self._gone_s = None
            return True
        if self._client is not None:
            self._lose_all()
        if self._gone_s is None:
            self._gone_s = time.monotonic()
            self._waiting(f"cluster {self._address}: its scheduler has gone; waiting for it")
        try:
            self._client = self._connect()
        except (OSError, ValueError):
            self._client = None
            if time.monotonic() - self._gone_s > RETURN_S:
                reason = f"--cluster {self._address}: its scheduler went and did not come back"
                raise UserError(f"{reason} in {RETURN_S:g} s; run again to go on") from None
            return False
        return True

    def _lose_all(self) -> None:
        for each in self._submitted:
            each.forget()
        self._close()

    def _close(self) -> None:
        if self._client is not None:
            with contextlib.suppress(Exception):
                self._client.close(timeout=1)
        self._client = None

    def _connect(self) -> Client:
        from distributed import Client

        return Client(self._address, timeout=CONNECT_S, set_as_default=False, heartbeat_interval=1000)

    def _send(self) -> None:
        assert self._client is not None
        for each in self._submitted:
            if each.future is None:
                described = {
                    "name": each.task.name,
                    "document": each.task.document,
                    "engine": each.task.engine,
                    "labels": dict(each.task.labels),
                }
                key = each.task.key()
                each.future = self._client.submit(
                    run_remote,
                    described,
                    key,
                    key=f"clarion-{key}-{next(self._number)}",
                    pure=False,
                    resources=None if each.task.engine in SIDE_BY_SIDE else {RESOURCE: 1},
                )

    def _tell_if_idle(self) -> None:
        """Once, if there is nobody who could do any of the tasks."""
        if self._idle_told:
            return
        self._idle_told = True
        assert self._client is not None
        workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        if not workers:
            self._waiting(f"cluster {self._address}: it has no workers; waiting for one (`dask worker`)")
        needs = any(each.task.engine not in SIDE_BY_SIDE for each in self._submitted)
        if workers and needs and not any(worker.get("resources", {}).get(RESOURCE) for worker in workers):
            self._waiting(
                f"cluster {self._address}: no worker has the resource {RESOURCE}; waiting for one "
                f"(`dask worker --resources {RESOURCE}=1`, as root)"
            )

    def _gather(self) -> None:
        """Adds what is over to what is told. Nothing leaves the submitted before its answer is there."""
        for each in list(self._submitted):
            assert each.future is not None
            status = each.future.status
            if status == "finished":
                self._take_result(each, each.future)
            elif status == "error":
                self._take_error(each, each.future)
            elif status != "pending":  # cancelled or lost
                self._lose(each, "it was cancelled")

    def _take_result(self, each: _Submitted, future: Future) -> None:
        """Its files may be large and the network slow: they come beside all else, and count once there."""
        if each.fetch is None:
            each.fetch = self._fetch(future)
        if not each.fetch.done():
            return
        fetch, each.fetch = each.fetch, None
        try:
            result = fetch.result()
        except asyncio.TimeoutError:  # it is still there
            self._waiting(
                f"cluster {self._address}: a result has not come over in {FETCH_S:g} s; asking for it anew"
            )
        except Exception:  # gone between being done and being fetched
            self._lose(each, "its result was lost")
        else:
            self._answer(each, result)

    def _fetch(self, future: Future) -> concurrent.futures.Future[dict[str, Any]]:
        assert self._client is not None
        result = self._client.gather(future, asynchronous=True)
        return asyncio.run_coroutine_threadsafe(
            asyncio.wait_for(result, FETCH_S), self._client.loop.asyncio_loop
        )

    def _take_error(self, each: _Submitted, future: Future) -> None:
        error = None  # which is also what a future of an earlier connection has
        with contextlib.suppress(Exception):
            error = future.exception(timeout=CONNECT_S)
        if error is None:
            self._lose(each, "its error was lost")
        else:
            self._answer(each, {"reason": _reason(error), "files": {}})

    def _lose(self, each: _Submitted, how: str) -> None:
        """To be submitted again, but not for ever."""
        each.forget()
        each.losses += 1
        if each.losses >= MOST_LOSSES:
            self._answer(each, {"reason": f"cluster: {how} {MOST_LOSSES} times", "files": {}})

    def _answer(self, each: _Submitted, told: dict[str, Any]) -> None:
        self._submitted.remove(each)
        self._told.append((each.tag, told))


def _check(address: str) -> None:
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        raise UserError("--cluster: needs Dask; pip install 'clarion[cluster]'") from error
    host, _, port = address.partition("://")[2].rpartition(":")
    if not address.startswith(SCHEMES) or not host or not port.isdecimal():
        raise UserError(
            f"--cluster {address}: write tcp://HOST:PORT or tls://HOST:PORT, such as tcp://10.0.0.1:8786"
        )
    if address.startswith("tls://"):
        _check_tls(address)


def _check_tls(address: str) -> None:
    from distributed.security import Security

    try:
        context = Security().get_connection_args("client")["ssl_context"]
    except (OSError, ValueError) as error:  # a file that is not there, or holds something else
        raise UserError(
            f"--cluster {address}: {error}; correct {TLS_KEYS} in Dask's configuration"
        ) from error
    if context is None:
        raise UserError(
            f"--cluster {address}: give {TLS_KEYS} in Dask's configuration, such as "
            "~/.config/dask/distributed.yaml"
        )


def _reason(error: BaseException) -> str:
    """What a task failed of on the cluster, in one line."""
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        return f"cluster: the worker died each time it ran, at last {error.last_worker.address}"
    if isinstance(error, ImportError):
        return f"cluster: a worker lacks this version of Clarion: {error}"
    return f"cluster: {type(error).__name__}: {' '.join(str(error).split())}"
