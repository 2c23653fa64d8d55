# SPDX-License-Identifier: Apache-2.0
"""Experiments of a controller without rights: `clarion runner` as root, the controller as another user."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from clarion_base.paths import ROOT, run_root
from clarion_control.experiments.rights import CAPABILITIES
from clarion_lab.machine.state import start_time
from integration.controller_net import CLARION, PATIENCE_S, Api, Process, create_token
from integration.waiting import wait_until

pytestmark = [pytest.mark.root, pytest.mark.beside]

USER = pwd.getpwnam("nobody")
RUN_S = 4 * PATIENCE_S  # a run takes a quarter of a minute where nothing else works
OFTEN = ("--requests-per-minute", "100000000")  # tests ask and ask
FINAL = ("complete", "failed", "stopped")
SHORT = {"scenario": "smoke", "settings": {"duration": "3 s"}}
LONG = {"scenario": "smoke", "settings": {"duration": "60 s"}}


class Site:
    """A runner of root's and a controller of nobody's."""

    def __init__(self, directory: Path, logs: Path) -> None:
        self.results = directory / "results"
        self.socket = directory / "runner.sock"
        self._store = directory / "store"
        self._store.mkdir()
        os.chown(self._store, USER.pw_uid, USER.pw_gid)
        self._logs = logs
        self._starts = 0
        self._tokens = 0
        self.runner = self._start_runner()
        self.controller = self._start_controller()

    def _process(self, name: str, *command: str) -> Process:
        self._starts += 1
        return Process(command, self._logs / f"{name}-{self._starts}.log")

    def _start_runner(self) -> Process:
        where = ["--socket", str(self.socket), "--results", str(self.results)]
        made = self._process("runner", *as_the_unit(), *CLARION, "runner", "--user", USER.pw_name, *where)
        made.await_text("clarion runner: at")
        if self._starts == 1:
            status = Path(f"/proc/{made.child.pid}/status").read_text()
            assert capabilities(status, "CapBnd") == {*CAPABILITIES, "fsetid", "setpcap"}
        return made

    def _start_controller(self) -> Process:
        made = self._process(
            "controller", *as_nobody(), *CLARION, "controller", "serve", "--listen", "127.0.0.1:0",
            "--store", f"{self._store}/controller.db", "--no-dashboard", *OFTEN,
            "--runner", str(self.socket), "--experiments", str(self.results),
        )  # fmt: skip
        self._url = next(word for word in made.await_text("API at").split() if word.startswith("http"))
        return made

    def restart_runner(self) -> None:
        """After a kill."""
        self.runner = self._start_runner()

    def api(self) -> Api:
        store = f"{self._store}/controller.db"
        self._tokens += 1
        return Api(self._url, create_token(store, f"t{self._tokens}", "experimenter", as_nobody()))

    def stop(self) -> None:
        for process in (self.controller, self.runner):
            process.stop()


def as_the_unit() -> tuple[str, ...]:
    """With the rights of the unit in docs/operations.md: its capabilities, and ProtectSystem=strict."""
    unit = (ROOT / "docs/operations.md").read_text()
    [stated] = re.findall(r"^CapabilityBoundingSet=((?:\\\n|.)*)$", unit, re.MULTILINE)
    kept = "".join(f",+{name.removeprefix('CAP_').lower()}" for name in stated.replace("\\\n", " ").split())
    run_root().mkdir(parents=True, exist_ok=True)
    strict = (
        'for each in /tmp "$1"; do mount --bind "$each" "$each"; done; mount -o remount,bind,ro /; '
        'shift; exec "$@"'
    )
    return (
        "unshare", "--mount", "sh", "-ec", strict, "sh", str(run_root()),
        "setpriv", f"--bounding-set=-all{kept}", "--no-new-privs", "--",
    )  # fmt: skip


def as_nobody() -> tuple[str, ...]:
    return (
        "setpriv", f"--reuid={USER.pw_uid}", f"--regid={USER.pw_gid}", "--clear-groups",
        "--bounding-set=-all", "--no-new-privs", "--pdeathsig=KILL", "--",
    )  # fmt: skip


@contextlib.contextmanager
def running_site(logs: Path) -> Iterator[Site]:
    with tempfile.TemporaryDirectory(prefix="runner-") as directory:  # tmp_path is closed to nobody
        os.chmod(directory, 0o755)
        made = Site(Path(directory), logs)
        try:
            yield made
        finally:
            made.stop()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with running_site(tmp_path_factory.mktemp("site")) as made:
        yield made


@pytest.fixture
def frail(tmp_path: Path) -> Iterator[Site]:
    """A site whose processes the test may kill."""
    with running_site(tmp_path) as made:
        yield made


def start(api: Api, body: dict[str, Any]) -> str:
    status, made = api.ask("POST", "/v1/experiments", body)
    assert status == 201, made
    return f"/v1/experiments/{made['id']}"


def await_state(api: Api, path: str, wanted: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
    wait_until(lambda: wanted(api.get(path)), f"{path}: {what}", RUN_S)
    found: dict[str, Any] = api.get(path)
    return found


def ended(api: Api, path: str) -> dict[str, Any]:
    return await_state(api, path, lambda found: found["state"] in FINAL, "its end")


def transfers(api: Api, path: str) -> None:
    await_state(api, path, lambda found: "/ 60 s" in (found["progress"] or ""), "a transfer")


def run_pid() -> int:
    """The process of the run that goes on."""
    [record] = run_root().glob("run-*")
    return int(record.name.removeprefix("run-"))


def capabilities(status: str, name: str) -> set[str]:
    value = int(re.search(rf"^{name}:\t(\w+)$", status, re.MULTILINE)[1], 16)  # type: ignore[index]
    names = subprocess.run(["capsh", f"--decode={value:x}"], capture_output=True, text=True, check=True)
    return {each.removeprefix("cap_") for each in names.stdout.strip().partition("=")[2].split(",") if each}


def test_a_controller_without_rights_runs_an_experiment_and_gives_out_its_results(site: Site) -> None:
    status = Path(f"/proc/{site.controller.child.pid}/status").read_text()
    assert re.search(rf"^Uid:\t{USER.pw_uid}\t", status, re.MULTILINE)
    assert "CapBnd:\t0000000000000000" in status
    with site.api() as api:
        path = start(api, SHORT)
        done = ended(api, path)
        assert done["state"] == "complete", done
        listed = {file["path"] for file in api.get(f"{path}/files")["items"]}
        assert {"summary.json", "report.html", "flows.parquet"} <= listed
        assert set(done["files"]) == listed
    [place] = site.results.glob(f"{done['id']}-*")
    on_disk = {str(each.relative_to(place)) for each in place.rglob("*") if each.is_file()}
    assert on_disk == listed
    for each in (place, *place.rglob("*")):
        found = each.stat()
        assert (found.st_uid, found.st_gid) == (0, USER.pw_gid), each
        assert not found.st_mode & stat.S_IRWXO, each
    script = "import sys\nfor name in sys.argv[1:]: open(name, 'rb').read()"
    names = [str(place / each) for each in listed]
    subprocess.run([*as_nobody(), sys.executable, "-c", script, *names], check=True)


def test_a_run_has_only_the_rights_that_it_needs(site: Site) -> None:
    with site.api() as api:
        path = start(api, LONG)
        transfers(api, path)
        pid = run_pid()
        for each in (
            pid,
            *(int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()),
        ):
            status = Path(f"/proc/{each}/status").read_text()
            assert capabilities(status, "CapBnd") <= set(CAPABILITIES)
            assert capabilities(status, "CapInh") == capabilities(status, "CapAmb") == set()
            assert "NoNewPrivs:\t1" in status
        assert capabilities(status, "CapBnd") >= {"net_admin", "net_raw", "sys_admin"}
        api.ask("DELETE", path)
        assert ended(api, path)["state"] == "stopped"
    assert not list(run_root().glob("run-*"))


def test_a_run_ends_with_its_controller(frail: Site) -> None:
    with frail.api() as api:
        transfers(api, start(api, LONG))
    pid = run_pid()
    frail.controller.kill()
    wait_until(lambda: start_time(pid) is None, "the run is gone", RUN_S)
    wait_until(lambda: not list(run_root().glob("run-*")), "nothing of it is left", RUN_S)
    frail.controller = frail._start_controller()
    with frail.api() as api:
        found = api.get("/v1/experiments/1")
        assert (found["state"], found["error"]) == ("failed", "controller restarted")


def test_a_runner_that_is_killed_is_missed_and_found_again(frail: Site) -> None:
    with frail.api() as api:
        first, waits = start(api, LONG), start(api, SHORT)
        transfers(api, first)
        pid = run_pid()
        frail.runner.kill()
        failed = ended(api, first)
        assert (failed["state"], failed["error"]) == ("failed", "the runner has gone; see its log")
        wait_until(lambda: start_time(pid) is None, "the run is gone", RUN_S)
        told = await_state(api, waits, lambda found: bool(found["progress"]), "what it waits for")
        assert (told["state"], "does not answer" in told["progress"]) == ("queued", True)
        status, refused = api.ask("POST", "/v1/experiments", SHORT)
        assert (status, "start it: clarion runner" in refused["detail"]) == (503, True)
        frail.restart_runner()
        assert ended(api, waits)["state"] == "complete"
    assert not list(run_root().glob("run-*"))


def test_a_runner_that_is_stopped_takes_its_run_down(frail: Site) -> None:
    with frail.api() as api:
        path = start(api, LONG)
        transfers(api, path)
        frail.runner.child.terminate()
        assert frail.runner.child.wait(RUN_S) == 0
        assert ended(api, path)["state"] == "failed"
    assert not list(run_root().glob("run-*"))
    assert not frail.socket.exists()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_runner_of_the_controllers_own_goes_with_it(tmp_path: Path, number: signal.Signals) -> None:
    store = f"{tmp_path}/controller.db"
    controller = Process(
        [
            *CLARION,
            "controller",
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--store",
            store,
            "--no-dashboard",
            *OFTEN,
        ],
        tmp_path / "controller.log",
    )
    try:
        url = next(word for word in controller.await_text("API at").split() if word.startswith("http"))
        with Api(url, create_token(store, "ann", "experimenter")) as api:
            transfers(api, start(api, LONG))
        pid = run_pid()
        [own] = Path(f"/proc/{controller.child.pid}/task/{controller.child.pid}/children").read_text().split()
        assert b"\0runner\0" in Path(f"/proc/{own}/cmdline").read_bytes()
        controller.child.send_signal(number)
        controller.child.wait(RUN_S)
        for each in (pid, int(own)):
            wait_until(lambda each=each: start_time(each) is None, f"{each} is gone", RUN_S)  # type: ignore[misc]
        assert not list(run_root().glob("run-*"))
    finally:
        controller.stop()


def test_other_users_cannot_ask(site: Site) -> None:
    """Neither by the file's mode nor, past it, by who they are."""
    ask = "import socket, sys\ns = socket.socket(socket.AF_UNIX)\ns.connect(sys.argv[1])\nprint(s.recv(999))"
    other = [each for each in as_nobody() if not each.startswith("--reuid")]
    other.insert(1, "--reuid=12345")
    command = [*other, sys.executable, "-c", ask, str(site.socket)]
    assert "PermissionError" in subprocess.run(command, capture_output=True, text=True, check=False).stderr
    site.socket.chmod(0o777)
    said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "user 12345 may not ask this runner" in said


def test_a_directory_that_others_can_change_is_refused(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(theirs, USER.pw_uid, USER.pw_gid)
    where = ["--socket", str(tmp_path / "s"), "--results", str(theirs / "results")]
    command = [*CLARION, "runner", "--user", USER.pw_name, *where]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
    assert done.returncode == 2
    assert f"--results: {theirs} can be changed by other users" in done.stderr
    assert not (theirs / "results").exists()
