# SPDX-License-Identifier: Apache-2.0
"""`clarion cleanup`: undo what dead runs left, and nothing else.

Only recorded attachments are detached, only processes that still have their recorded start time are
signalled, and only devices that still have their recorded ifindex are deleted.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import time
from typing import Any

from clarion_base.errors import UserError
from clarion_base.paths import find_binary
from clarion_lab.machine.attachments import attachments
from clarion_lab.machine.state import (
    alive,
    is_scratch,
    left_behind,
    machine_lock,
    remove_scratch,
    same_device,
)

GRACE_S = 5.0
COMMAND_TIMEOUT_S = 60


def cleanup() -> list[str]:
    """Cleans up after every dead runner and returns what was done, one line each; UserError while a run
    lives.
    """
    with machine_lock():
        return undo()


def undo() -> list[str]:
    """The same for the holder of the machine's lock. A record whose traces could not all be removed stays."""
    done: list[str] = []
    for directory, data in left_behind():
        _detach(data)
        done += _kill(data)
        done += _delete_devices(data)
        done += _forget_lost(data)
        done += _delete_scratch(data)
        done += _clean_proxies(data)
        left = _left(data)
        if left:
            done += [f"could not {what}; its record stays in {directory}" for what in left]
        else:
            shutil.rmtree(directory, ignore_errors=True)
            done.append(f"removed {directory}")
    return done


def tidy() -> list[str]:
    """Undoes what dead runs left before the lock's holder starts one; UserError if something stays."""
    done = undo()
    stuck = left_behind()
    if stuck:
        raise UserError(f"an earlier run left things behind ({stuck[0][0]}); run `clarion cleanup`")
    return done


def _kill(data: dict[str, Any]) -> list[str]:
    living = [process for process in data.get("processes", []) if alive(process)]
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
        for process in living:
            if alive(process):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process["pid"], number)
        deadline = time.monotonic() + (GRACE_S if number != signal.SIGTERM else 0.5)
        while any(alive(process) for process in living) and time.monotonic() < deadline:
            time.sleep(0.02)
    return [f"stopped {process['name']} (pid {process['pid']})" for process in living if not alive(process)]


def _run(command: list[str]) -> None:
    """Runs a command without a check: `_left` finds afterwards what is still there."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(command, capture_output=True, timeout=COMMAND_TIMEOUT_S, check=False)


def _recorded(data: dict[str, Any]) -> set[tuple[str, str]]:
    return {(entry["netns"], entry["device"]) for entry in data.get("attached", [])}


def _detach(data: dict[str, Any]) -> None:
    """Takes the agent off the recorded devices, while their namespaces may still be there."""
    program = find_binary("clarion-host")
    recorded = _recorded(data)
    if not recorded or program is None:
        return
    for netns, device in sorted(recorded & attachments(str(program))):
        _run([str(program), "detach", "--netns", netns, "--dev", device])


def _forget_lost(data: dict[str, Any]) -> list[str]:
    """Attachments that have lost their namespace go too, and with the last one what all share."""
    program = find_binary("clarion-host")
    recorded = _recorded(data)
    if not recorded or program is None:
        return []
    _run([str(program), "detach", "--lost"])
    gone = recorded - attachments(str(program))
    return [f"detached clarion-host from {len(gone)} devices"] if gone else []


def _delete_devices(data: dict[str, Any]) -> list[str]:
    left = [device for device in data.get("devices", []) if same_device(device)]
    for device in left:
        _run(["ip", "link", "delete", device["name"]])
    return [f"deleted device {device['name']}" for device in left if not same_device(device)]


def _delete_scratch(data: dict[str, Any]) -> list[str]:
    """The files of applications on tmpfs."""
    left = [directory for directory in data.get("scratch", []) if is_scratch(directory)]
    for directory in left:
        remove_scratch(directory)
    return [f"removed {directory}" for directory in left if not is_scratch(directory)]


def _clean_proxies(data: dict[str, Any]) -> list[str]:
    """What dead proxies left, as they say themselves; their rules went with the namespaces of the hosts."""
    program = find_binary("clarion-proxy")
    if not data.get("proxies") or program is None:
        return []
    try:
        done = subprocess.run(
            [str(program), "cleanup"], capture_output=True, text=True, timeout=COMMAND_TIMEOUT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return []
    return [line for line in done.stdout.splitlines() if line.strip()]


def _left(data: dict[str, Any]) -> list[str]:
    """What is still there, each as words that follow "could not"."""
    recorded = _recorded(data)
    if recorded:
        program = find_binary("clarion-host")
        if program is None:
            return ["find clarion-host to detach it"]
        recorded &= attachments(str(program))
    return [
        *(f"detach clarion-host from {device} in {netns}" for netns, device in sorted(recorded)),
        *(f"remove {directory}" for directory in data.get("scratch", []) if is_scratch(directory)),
        *(f"stop {process['name']}" for process in data.get("processes", []) if alive(process)),
        *(f"delete device {device['name']}" for device in data.get("devices", []) if same_device(device)),
    ]
