# SPDX-License-Identifier: Apache-2.0
"""Tasks on a local Dask cluster of scheduler and worker processes that are killed and started again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clarion import cli
from clarion_base.errors import UserError
from clarion_lab.recording import files
from clarion_lab.tasks import cluster as clusters
from clarion_lab.tasks import executor
from clarion_lab.tasks.executor import Failure, execute
from clarion_lab.tasks.store import Store
from clarion_lab.tasks.task import Task
from fakes.noted_simulator import SCENARIO, WAIT_S, installed, runs, tasks, until

dask = pytest.importorskip("dask")
pytest.importorskip("distributed")

# Notes each run of a seed; if "holds" exists, waits until it does not.
SIMULATOR = """#!{python}
import json, os, sys, time
from pathlib import Path
notes = Path({notes!r})
if sys.argv[1] != "laws":
    seed = json.loads(Path("simulation.json").read_text())["network"]["seed"]
    with (notes / f"runs-{{seed}}").open("a") as runs:
        runs.write("x")
    while (notes / "holds").exists():
        time.sleep(0.02)
os.execv({real!r}, [{real!r}, *sys.argv[1:]])
"""


class LocalCluster:
    """A scheduler at a fixed port and its workers, each a process that can be killed."""

    def __init__(self, directory: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.address = f"tcp://127.0.0.1:{self.port}"
        self._directory = directory
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", f"{self.port}")
        self.workers: list[subprocess.Popen[bytes]] = []

    def _start(self, *arguments: str, **environment: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "dask", *arguments, "--no-dashboard"]
        with (self._directory / "dask.log").open("ab") as log:
            return subprocess.Popen(command, stdout=log, stderr=log, env={**os.environ, **environment})

    def add_worker(self, *options: str, **environment: str) -> subprocess.Popen[bytes]:
        local = str(self._directory / f"worker-{len(self.workers)}")
        arguments = ("worker", self.address, "--nthreads", "1", "--no-nanny", "--local-directory", local)
        self.workers.append(self._start(*arguments, *options, **environment))
        return self.workers[-1]

    def restart_scheduler(self) -> None:
        self.scheduler.kill()
        self.scheduler.wait()
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", f"{self.port}")

    def stop(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the script finds what to do and notes what it did."""
    with installed(SIMULATOR, tmp_path, monkeypatch) as directory:
        yield directory


@pytest.fixture
def cluster(notes: Path, tmp_path: Path) -> Iterator[LocalCluster]:
    made = LocalCluster(tmp_path)
    yield made
    made.stop()


class Running:
    """An execution beside the test."""

    def __init__(self, wanted: list[Task], store: Store, address: str) -> None:
        self.done: list[Any] = []
        self.failures: list[Failure] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(wanted, store, address))
        self._thread.start()

    def _run(self, wanted: list[Task], store: Store, address: str) -> None:
        try:
            self.failures = execute(
                wanted,
                store,
                cluster=address,
                on_done=lambda task, _: self.done.append(task.document["seed"]),
            )
        except BaseException as error:
            self._error = error

    def result(self) -> list[Failure]:
        self._thread.join(WAIT_S)
        assert not self._thread.is_alive()
        if self._error is not None:
            raise self._error
        return self.failures


@contextlib.contextmanager
def held(notes: Path) -> Iterator[None]:
    """While inside, simulations begin and do not end."""
    (notes / "holds").write_text("")
    try:
        yield
    finally:
        (notes / "holds").unlink()


@pytest.mark.slow
def test_a_killed_worker_and_a_restarted_scheduler_lose_no_point(
    cluster: LocalCluster, notes: Path, tmp_path: Path
) -> None:
    store = Store(tmp_path / "cache")
    wanted = tasks(1, 2, 3, 4, 5, 6)
    with held(notes):
        first = cluster.add_worker()
        running = Running(wanted, store, cluster.address)
        until(lambda: sum(runs(notes, seed) for seed in range(1, 7)) == 1)
        first.send_signal(signal.SIGKILL)
        first.wait()
        second = cluster.add_worker()
        until(lambda: sum(runs(notes, seed) for seed in range(1, 7)) == 2)
    until(lambda: len(running.done) >= 1)
    with held(notes):
        before = sum(runs(notes, seed) for seed in range(1, 7))
        until(lambda: sum(runs(notes, seed) for seed in range(1, 7)) > before or len(running.done) == 6)
        cluster.restart_scheduler()
        second.kill()
        second.wait()
    cluster.add_worker()
    assert running.result() == []
    assert sorted(running.done) == [1, 2, 3, 4, 5, 6]
    for task in wanted:
        entry = store.find(task)
        assert entry is not None
        assert files.read_summary(entry)["seed"] == task.document["seed"]
    assert len(list(store.directory.glob("??/*"))) == 6


@pytest.mark.slow
def test_a_worker_with_other_sources_refuses_and_real_time_needs_the_resource(
    cluster: LocalCluster, notes: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.write_text((tmp_path / "simulator").read_text() + "# another build\n")
    other.chmod(0o755)
    cluster.add_worker(CLARION_SIM_BIN=str(other))
    store = Store(tmp_path / "cache")
    failures = execute(tasks(1), store, cluster=cluster.address)
    assert len(failures) == 1
    assert failures[0].reason.startswith("worker tcp://127.0.0.1:")
    assert "Clarion's sources or programs differ here" in failures[0].reason
    assert store.find(tasks(1)[0]) is None
    assert runs(notes, 1) == 0
    refused = tasks(2, engine="bmv2", topology="ring")  # by whoever gets it, on every machine
    running = Running(refused, store, cluster.address)
    cluster.add_worker("--resources", "emu=1")
    failures = running.result()
    assert failures[0].reason.startswith("worker tcp://127.0.0.1:")
    assert "topology" in failures[0].reason


@pytest.mark.slow
def test_a_sweep_on_a_cluster_leaves_the_files_of_one_here(
    cluster: LocalCluster, notes: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.add_worker()
    scenario = tmp_path / "one.yaml"
    scenario.write_text(SCENARIO)
    arguments = ["run", str(scenario), "--engine", "sim", "--repeat", "2", "--jobs", "1"]
    there, here = tmp_path / "there", tmp_path / "here"
    assert cli.main([*arguments, "--cluster", cluster.address, "--out", str(there)]) == 0
    assert cli.main([*arguments, "--no-cache", "--out", str(here)]) == 0

    def names(out: Path) -> set[str]:
        return {path.relative_to(out).as_posix() for path in out.rglob("*")}

    assert names(there) == names(here)
    assert files.read_summary(there)["rows"] == files.read_summary(here)["rows"]


@pytest.mark.slow
def test_a_stopped_command_takes_its_runs_back(cluster: LocalCluster, notes: Path, tmp_path: Path) -> None:
    cluster.add_worker()
    scenario = tmp_path / "one.yaml"
    scenario.write_text(SCENARIO)
    options = [
        "--engine",
        "sim",
        "--repeat",
        "3",
        "--cluster",
        cluster.address,
        "--out",
        str(tmp_path / "out"),
    ]
    command = [sys.executable, "-m", "clarion", "run", str(scenario), *options]
    with held(notes), subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        until(lambda: process.poll() is not None or simulators(notes) != [])
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=WAIT_S)
        assert process.returncode == 128 + signal.SIGINT, said
        until(lambda: simulators(notes) == [])
    assert not list((tmp_path / "out").iterdir())


def simulators(notes: Path) -> list[str]:
    """The processes that are simulating for this test."""
    found = []
    for process in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            arguments = (process / "cmdline").read_bytes().decode()
            if str(notes.parent / "simulator") in arguments and "--config" in arguments:
                found.append(process.name)
    return found


@pytest.mark.parametrize(
    "address",
    [
        "10.0.0.1:8786",
        "tcp://10.0.0.1",
        "http://x:8786",
        "tcp://:1",
        "ucx://10.0.0.1:8786",
        "ws://10.0.0.1:8786",
        "wss://10.0.0.1:8786",
    ],
)
def test_a_wrong_address_is_refused(address: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"--cluster .*: write tcp://HOST:PORT"):
        execute(tasks(1), Store(tmp_path), cluster=address)


@pytest.mark.parametrize(
    ("file", "said"),
    [
        (None, r"--cluster tls://127.0.0.1:1: give distributed.comm.tls.ca-file and .*client.cert"),
        ("/no/such.pem", r"--cluster tls://127.0.0.1:1: .*No such file.*; correct .*ca-file"),
    ],
)
def test_tls_without_its_files_says_what_to_give(file: str | None, said: str, tmp_path: Path) -> None:
    keys = ("distributed.comm.tls.ca-file", "distributed.comm.tls.client.cert")
    with dask.config.set(dict.fromkeys(keys, file)), pytest.raises(UserError, match=said):
        execute(tasks(1), Store(tmp_path), cluster="tls://127.0.0.1:1")


def test_nobody_at_the_address_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "CONNECT_S", 0.5)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # and does not listen
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(UserError, match=r"no Dask scheduler answers within 0\.5 s"):
            execute(tasks(1), Store(tmp_path), cluster=address)


def test_without_dask_the_line_that_installs_it_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UserError, match=r"pip install 'clarion\[cluster\]'"):
        execute(tasks(1), Store(tmp_path), cluster="tcp://127.0.0.1:1")


def test_a_cluster_goes_without_a_controller_and_with_the_cache(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "smoke", "--engine", "sim", "--cluster", "tcp://x:1", "--no-cache"]) == 2
    assert "--no-cache: not with --cluster" in capsys.readouterr().err


class ScriptedFuture:
    """A future of Dask in some state, with what its results or errors are that are asked for in turn: the
    last one stays. An exception as such is raised.
    """

    def __init__(self, status: str, *found: Any) -> None:
        self.status = status
        self._found = list(found)
        self.asked = 0

    def next(self) -> Any:
        self.asked += 1
        return self._found.pop(0) if len(self._found) > 1 else self._found[0]

    def exception(self, timeout: float) -> Any:
        found = self.next()
        if isinstance(found, Raised):
            raise found.error
        return found


class Raised:
    """What is raised in place of a result or of an error."""

    def __init__(self, error: Exception) -> None:
        self.error = error


SLOW = "a result that is on its way for ever"


def finished(*before: Any) -> ScriptedFuture:
    """A future whose result comes after these attempts."""
    return ScriptedFuture("finished", *before, {"reason": None, "files": {}})


class ScriptedClient:
    """A connection to a scheduler, as far as the cluster uses it: gives out these futures in turn."""

    def __init__(self, futures: list[ScriptedFuture]) -> None:
        self.status = "running"
        self.asyncio_loop = asyncio.new_event_loop()
        self.loop = self
        self._thread = threading.Thread(target=self.asyncio_loop.run_forever)
        self._thread.start()
        self._futures = futures

    async def gather(self, future: ScriptedFuture, *, asynchronous: bool) -> Any:
        found = future.next()
        if isinstance(found, Raised):
            raise found.error
        if found is SLOW:
            await asyncio.Event().wait()
        return found

    def submit(self, *_: Any, **__: Any) -> ScriptedFuture:
        return self._futures.pop(0)

    def scheduler_info(self, **_: Any) -> dict[str, Any]:
        return {"workers": {"tcp://127.0.0.1:1": {}}}

    def cancel(self, *_: Any, **__: Any) -> None:
        pass

    def close(self, timeout: float) -> None:
        self.status = "closed"
        self.asyncio_loop.call_soon_threadsafe(self.asyncio_loop.stop)
        self._thread.join()
        self.asyncio_loop.close()


def answers(
    monkeypatch: pytest.MonkeyPatch,
    futures: list[ScriptedFuture],
    count: int,
    waiting: Callable[[str], None] = lambda _: None,
) -> dict[Any, Any]:
    """What a cluster tells of so many tasks, by their seeds; each must be told of once."""
    monkeypatch.setattr(clusters.Cluster, "_connect", lambda _: ScriptedClient(futures))
    told = []
    with clusters.Cluster("tcp://127.0.0.1:1", waiting) as made:
        for seed in range(1, count + 1):
            made.submit(tasks(seed)[0], seed)
        while made.busy():
            told += made.wait(0.01)
    assert len(told) == count
    return {seed: answer["reason"] for seed, answer in told}


@pytest.mark.parametrize(
    "trouble", [Raised(TimeoutError("slow")), Raised(RuntimeError("closed")), Raised(OSError("gone")), None]
)
def test_an_error_that_is_lost_loses_no_answer(trouble: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither its own, for it is run again, nor those that were fetched at the same look."""
    known = ScriptedFuture("error", ValueError("no such path"))
    futures = [finished(), ScriptedFuture("error", trouble), finished(), finished(), known]
    told = answers(monkeypatch, futures, 4)
    assert told == {1: None, 2: "cluster: ValueError: no such path", 3: None, 4: None}


def test_an_error_that_is_lost_each_time_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    lost = [ScriptedFuture("error", None) for _ in range(clusters.MOST_LOSSES)]
    assert answers(monkeypatch, lost, 1) == {1: "cluster: its error was lost 10 times"}


def test_a_result_that_takes_long_is_asked_for_again_and_not_run_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """More often than a task may be lost."""
    monkeypatch.setattr(clusters, "FETCH_S", 0.01)
    slow = finished(*[SLOW] * clusters.MOST_LOSSES)
    said: list[str] = []
    assert answers(monkeypatch, [slow], 1, said.append) == {1: None}
    assert slow.asked == clusters.MOST_LOSSES + 1
    assert len(said) == clusters.MOST_LOSSES
    assert "a result has not come over in 0.01 s" in said[0]


def test_a_result_on_its_way_keeps_no_other_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters.Cluster, "_connect", lambda _: ScriptedClient([finished(SLOW), finished()]))
    with clusters.Cluster("tcp://127.0.0.1:1", lambda _: None) as made:
        for seed in (1, 2):
            made.submit(tasks(seed)[0], seed)
        assert [seed for seed, _ in made.wait(WAIT_S)] == [2]


def test_a_result_that_is_gone_is_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers(monkeypatch, [finished(Raised(OSError("gone"))), finished()], 1) == {1: None}


def test_a_task_that_nobody_tells_of_has_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Forgetful(clusters.Cluster):
        def wait(self, timeout_s: float) -> list[tuple[Any, dict[str, Any]]]:
            return super().wait(timeout_s)[1:]

    monkeypatch.setattr(executor, "Cluster", Forgetful)
    monkeypatch.setattr(clusters.Cluster, "_connect", lambda _: ScriptedClient([finished()]))
    (failure,) = execute(tasks(1), Store(tmp_path), cluster="tcp://127.0.0.1:1")
    assert failure.reason.startswith("internal error: it neither ended nor failed")
