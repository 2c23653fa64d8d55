# SPDX-License-Identifier: Apache-2.0
"""A git worktree beside the user's, in which faults are planted and built.

It stays in `build/` between runs, so that the next one compiles only changes.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from mutation.catalogue import Fault

CMAKE = "cmake -S . -B build/cpp -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1"
CCACHE = " -DCMAKE_C_COMPILER_LAUNCHER=ccache -DCMAKE_CXX_COMPILER_LAUNCHER=ccache"
TIMED_OUT = -1


class TreeError(Exception):
    """The worktree cannot be made or used."""


@dataclass(frozen=True)
class Outcome:
    """Exit status and output of a command."""

    status: int
    output: str


class Tree:
    """The worktree, at the commit of the user's."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.path = root / "build" / "mutate"
        self._lock = self._locked()
        try:
            self._set_up()
        except BaseException:
            self.close()
            raise

    def _set_up(self) -> None:
        self._check_out()
        self._share()
        made = self.run(CMAKE + (CCACHE if shutil.which("ccache") else ""), 600)
        if made.status:
            raise TreeError(f"cmake failed:\n{made.output}")

    def _locked(self) -> IO[str]:
        """Lock the tree for this run, until it is closed or the process ends."""
        self.path.parent.mkdir(exist_ok=True)
        lock = self.path.with_suffix(".lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            lock.close()
            raise TreeError(f"{self.path} is in use by another run; wait for its end") from None
        return lock

    def _git(self, *arguments: str, folder: Path | None = None) -> str:
        done = subprocess.run(
            ["git", "-C", folder or self.root, *arguments], capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise TreeError(f"git {arguments[0]}: {done.stderr.strip()}")
        return done.stdout.strip()

    def _check_out(self) -> None:
        commit = self._git("rev-parse", "HEAD")
        self._git("worktree", "prune")
        if (self.path / ".git").exists():
            self._git("checkout", "--quiet", "--force", "--detach", commit, folder=self.path)
        else:
            self._git("worktree", "add", "--quiet", "--force", "--detach", str(self.path), commit)

    def _share(self) -> None:
        """Use the user's Python environment and downloads; neither is changed by a fault."""
        for shared in (".venv", "build/ap_types"):
            link = self.path / shared
            link.parent.mkdir(exist_ok=True)
            if not link.is_symlink():
                link.symlink_to(self.root / shared)

    def close(self) -> None:
        """Unlock the tree."""
        self._lock.close()

    def uncommitted(self) -> list[str]:
        """Files of the user's tree with uncommitted changes, which this tree lacks."""
        return self._git("diff", "--name-only", "HEAD").splitlines()

    @contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        """The tree with a fault in it, which is removed in any case at the end."""
        path = self.path / fault.file
        before = path.read_bytes()
        path.write_text(before.decode().replace(fault.find, fault.replace), encoding="utf-8")
        try:
            yield
        finally:
            path.write_bytes(before)  # a new time stamp, so that its users are built again

    def run(self, command: str, limit_s: float) -> Outcome:
        """Run a shell command in the tree, with its Python before the installed one; kill it at the limit."""
        process = subprocess.Popen(
            ["bash", "-c", command],
            cwd=self.path,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return Outcome(TIMED_OUT, output)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return Outcome(process.returncode, output)

    def _environment(self) -> dict[str, str]:
        roots = subprocess.run(
            [self.path / "tools/source-roots.py"], capture_output=True, text=True, check=True
        )
        python_path = os.pathsep.join(str(self.path / folder) for folder in roots.stdout.split())
        own = {"PYTHONPATH": python_path, "PYTHONDONTWRITEBYTECODE": "1", "CCACHE_BASEDIR": str(self.path)}
        return {**os.environ, **own}
