# SPDX-License-Identifier: Apache-2.0
"""The record of a running experiment under /run/clarion: what `clarion cleanup` needs if the runner is
killed.

A process is recorded with its start time from /proc and a device with its ifindex, so that a process id or a
device name that something else uses by now is never touched.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from clarion_base import paths
from clarion_base.errors import UserError

SCRATCH_ROOT = Path("/dev/shm")
EXIT_WAIT_S = 10.0  # for stopped processes to end and for the kernel to remove devices


def start_time(pid: int) -> int | None:
    """When a process started, in clock ticks since boot; None if there is none (or only its zombie)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text.rpartition(")")[2].split()
    return None if fields[0] == "Z" else int(fields[19])


def ifindex(name: str) -> int | None:
    """The index of a network device of this namespace, which the kernel never uses twice; None without
    the device.
    """
    try:
        return int(Path("/sys/class/net", name, "ifindex").read_text())
    except (OSError, ValueError):
        return None


@contextlib.contextmanager
def machine_lock() -> Iterator[None]:
    """Held by one batch of runs at a time: device names and processor time cannot be shared."""
    root = paths.run_root()
    try:
        root.mkdir(parents=True, exist_ok=True)
        lock = (root / "lock").open("a+")
    except OSError as error:
        raise UserError(f"{root}: {error.strerror}; run as root") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise UserError("another clarion run is using this machine; wait for it or stop it") from error
        yield


class RunState:
    """This process's record; a context manager that removes it when the run has taken itself down.

    What could not be taken down keeps its record, as that of a dead run.
    """

    def __init__(self) -> None:
        self.directory = paths.run_root() / f"run-{os.getpid()}"
        self._data: dict[str, Any] = {
            "runner": {"pid": os.getpid(), "started": start_time(os.getpid())},
            "processes": [],
            "devices": [],
            "attached": [],
            "scratch": [],
            "proxies": False,
        }

    def __enter__(self) -> RunState:
        shutil.rmtree(self.directory, ignore_errors=True)
        self.directory.mkdir(parents=True)
        self._write()
        return self

    def __exit__(self, *_: object) -> None:
        for directory in self._data["scratch"]:
            remove_scratch(directory)
        deadline = time.monotonic() + EXIT_WAIT_S
        while remains(self._data) and time.monotonic() < deadline:
            time.sleep(0.02)
        if remains(self._data):
            self._data["runner"] = None
            self._write()
            self.directory.replace(self.directory.with_name(f"{self.directory.name}-{time.monotonic_ns()}"))
        else:
            shutil.rmtree(self.directory, ignore_errors=True)

    def process(self, name: str, pid: int) -> None:
        """Records a child process."""
        self._data["processes"].append({"name": name, "pid": pid, "started": start_time(pid)})
        self._write()

    def will_create(self, names: Sequence[str]) -> None:
        """Records devices of this namespace before they are created: anything of that name that comes later
        is the run's. UserError if one of them exists.
        """
        for name in names:
            if ifindex(name) is not None:
                raise UserError(f"device {name} exists and is not Clarion's; remove or rename it")
        newest = max((ifindex(name) or 0 for name in os.listdir("/sys/class/net")), default=0)
        self._data["devices"] = [{"name": name, "ifindex": None, "after": newest} for name in names]
        self._write()

    def created(self) -> None:
        """Records which devices they have become."""
        for device in self._data["devices"]:
            device["ifindex"] = ifindex(device["name"])
        self._write()

    def attached(self, netns: str, device: str) -> None:
        """Records that the agent is attached to a device, before it is."""
        self._data["attached"].append({"netns": netns, "device": device})
        self._write()

    def detached(self, netns: str, device: str) -> None:
        """Forgets an attachment that is undone."""
        with contextlib.suppress(ValueError):
            self._data["attached"].remove({"netns": netns, "device": device})
        self._write()

    def scratch(self) -> Path:
        """A directory of this run on tmpfs, for the files that applications move; made once."""
        directory = SCRATCH_ROOT / f"clarion-{self.directory.name}"
        if str(directory) not in self._data["scratch"]:
            self._data["scratch"].append(str(directory))
            self._write()
            remove_scratch(str(directory))
            directory.mkdir()
        return directory

    def proxies(self) -> None:
        """Records that proxies run, which may leave something behind, before they do."""
        self._data["proxies"] = True
        self._write()

    def _write(self) -> None:
        temporary = self.directory / "state.json.new"
        temporary.write_text(json.dumps(self._data, indent=1))
        temporary.replace(self.directory / "state.json")


def alive(process: dict[str, Any]) -> bool:
    """Whether a recorded process still is the one that was recorded."""
    return process["started"] is not None and start_time(process["pid"]) == process["started"]


def same_device(device: dict[str, Any]) -> bool:
    """Whether the device that now has a recorded name is the one that the run created."""
    now = ifindex(device["name"])
    if now is None:
        return False
    recorded: int | None = device["ifindex"]
    return now == recorded if recorded is not None else now > int(device["after"])


def remains(data: dict[str, Any]) -> bool:
    """Whether anything of a record is still there."""
    return (
        bool(data.get("attached"))
        or any(alive(process) for process in data.get("processes", []))
        or any(same_device(device) for device in data.get("devices", []))
        or any(is_scratch(directory) for directory in data.get("scratch", []))
    )


def is_scratch(directory: str) -> bool:
    """Whether a recorded directory on tmpfs is there, and of a name that runs give."""
    path = Path(directory)
    named = path.parent == SCRATCH_ROOT and path.name.startswith("clarion-run-")
    return named and path.is_dir() and not path.is_symlink()


def remove_scratch(directory: str) -> None:
    """Removes a run's directory on tmpfs, and nothing else."""
    if is_scratch(directory):
        shutil.rmtree(directory, ignore_errors=True)


def left_behind() -> list[tuple[Path, dict[str, Any]]]:
    """The records of runs whose runner is gone."""
    found = []
    for directory in sorted(paths.run_root().glob("run-*")):
        data: object = {}
        with contextlib.suppress(OSError, ValueError):
            data = json.loads((directory / "state.json").read_text())
        data = data if isinstance(data, dict) else {}
        known = [device for device in data.get("devices", []) if isinstance(device, dict)]
        data["devices"] = known  # an older version wrote names only
        runner = data.get("runner")
        if not runner or start_time(runner["pid"]) != runner["started"]:
            found.append((directory, data))
    return found
