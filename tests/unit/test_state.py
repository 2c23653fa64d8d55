# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from clarion import cli
from clarion_base.commands import EXIT_FAILED
from clarion_base.errors import UserError
from clarion_lab.hosts.agent import Agent
from clarion_lab.machine import cleanup, state


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CLARION_RUN_ROOT", str(tmp_path))
    return tmp_path


def sleeper() -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-S", "-c", "import time; time.sleep(60)"])


def leave(root: Path, pid: int, started: int | None) -> None:
    """The record of a runner that has ended, with one process."""
    directory = root / "run-1"
    directory.mkdir()
    runner = {"pid": 1, "started": -1}
    processes = [{"name": "sleeper", "pid": pid, "started": started}]
    (directory / "state.json").write_text(json.dumps({"runner": runner, "processes": processes}))


def test_a_recorded_process_is_stopped(root: Path) -> None:
    child = sleeper()
    leave(root, child.pid, state.start_time(child.pid))
    done = cleanup.cleanup()
    assert done == [f"stopped sleeper (pid {child.pid})", f"removed {root / 'run-1'}"]
    assert child.wait(5) != 0
    assert cleanup.cleanup() == []


def test_a_process_with_another_start_time_is_spared(root: Path) -> None:
    child = sleeper()
    started = state.start_time(child.pid)
    assert started is not None
    leave(root, child.pid, started - 1)
    cleanup.cleanup()
    assert child.poll() is None
    child.kill()
    child.wait()


def test_the_record_of_a_living_runner_is_left_alone(root: Path) -> None:
    with state.RunState() as record:
        record.will_create(["s1-none"])
        assert state.left_behind() == []
        assert json.loads((record.directory / "state.json").read_text())["devices"][0]["name"] == "s1-none"
    assert not record.directory.exists()


def test_a_device_that_exists_is_not_taken_for_the_runs_own(root: Path) -> None:
    with state.RunState() as record, pytest.raises(UserError, match="device lo exists and is not Clarion's"):
        record.will_create(["s1-none", "lo"])


def test_a_device_is_known_by_its_index() -> None:
    # the loopback device has index 1 in every namespace
    assert state.same_device({"name": "lo", "ifindex": 1, "after": 0})
    assert not state.same_device({"name": "lo", "ifindex": 2, "after": 0})
    assert state.same_device({"name": "lo", "ifindex": None, "after": 0})
    assert not state.same_device({"name": "lo", "ifindex": None, "after": 1})
    assert not state.same_device({"name": "no-such", "ifindex": None, "after": 0})


def test_cleanup_refuses_while_a_run_lives(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with state.machine_lock():
        assert cli.main(["cleanup"]) == 2
    said = capsys.readouterr().err
    assert said == "clarion: another clarion run is using this machine; wait for it or stop it\n"


AGENT = """#!/bin/sh
echo "$*" >> "$0.calls"
case "$1 $2 $3" in
"list --json ") printf '[%s]' "$(cat "$0.attached")" ;;
"detach --netns pid:7") if [ ! -e "$0.stuck" ]; then printf '%s' "$(cat "$0.others")" > "$0.attached"; fi ;;
esac
"""
OWN = '{"netns": "pid:7", "device": "h1-eth0"}'
OTHER = '{"netns": "lab", "device": "eth0"}'


@pytest.fixture
def agent(root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clarion-host that records its calls, with an attachment of a dead run and one of another owner."""
    program = root / "clarion-host"
    program.write_text(AGENT)
    program.chmod(0o755)
    (root / "clarion-host.attached").write_text(f"{OWN}, {OTHER}")
    (root / "clarion-host.others").write_text(OTHER)
    (root / "run-1").mkdir()
    attached = [json.loads(OWN), {"netns": "pid:8", "device": "r1-eth0"}]
    (root / "run-1" / "state.json").write_text(json.dumps({"runner": None, "attached": attached}))
    monkeypatch.setenv("CLARION_HOST_BIN", str(program))
    return root


def test_only_recorded_attachments_are_detached(agent: Path) -> None:
    assert cleanup.cleanup() == ["detached clarion-host from 2 devices", f"removed {agent / 'run-1'}"]
    calls = (agent / "clarion-host.calls").read_text().splitlines()
    detached = [call for call in calls if call.startswith("detach")]
    assert detached == ["detach --netns pid:7 --dev h1-eth0", "detach --lost"]


def test_a_record_stays_while_its_traces_do(agent: Path) -> None:
    (agent / "clarion-host.stuck").touch()
    said = cleanup.cleanup()
    assert "could not detach clarion-host from h1-eth0 in pid:7; its record stays" in said[-1]
    assert (agent / "run-1").exists()
    with pytest.raises(UserError, match=r"an earlier run left things behind .*; run `clarion cleanup`"):
        cleanup.tidy()
    (agent / "clarion-host.stuck").unlink()
    assert cleanup.tidy()[-1] == f"removed {agent / 'run-1'}"


def test_cleanup_that_leaves_something_fails(agent: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (agent / "clarion-host.stuck").touch()
    assert cli.main(["cleanup"]) == EXIT_FAILED
    assert "could not detach" in capsys.readouterr().out


def test_what_was_detached_is_no_longer_recorded(agent: Path) -> None:
    network = Agent(record := state.RunState(), 100)
    with record:
        record.attached("pid:7", "h1-eth0")
        network._attached, network._program = [("pid:7", "h1-eth0")], str(agent / "clarion-host")
        network.detach()
        assert not state.remains(json.loads((record.directory / "state.json").read_text()))
    assert not record.directory.exists()


def test_a_run_that_cannot_take_itself_down_keeps_its_record(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "EXIT_WAIT_S", 0.0)
    child = sleeper()
    with state.RunState() as record:
        record.process("sleeper", child.pid)
    ((_, data),) = state.left_behind()
    assert data["processes"][0]["pid"] == child.pid
    cleanup.cleanup()
    assert child.wait(5) != 0
    assert state.left_behind() == []


def test_one_batch_at_a_time(root: Path) -> None:
    with state.machine_lock(), pytest.raises(UserError, match="another clarion run"), state.machine_lock():
        pass
    with state.machine_lock():
        assert (root / "lock").exists()


def test_a_torn_record_is_removed(root: Path) -> None:
    (root / "run-1").mkdir()
    (root / "run-1" / "state.json").write_text('{"runner": ')
    assert cleanup.cleanup() == [f"removed {root / 'run-1'}"]
