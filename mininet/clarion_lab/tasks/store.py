# SPDX-License-Identifier: Apache-2.0
"""Finished runs by their keys, so that none is done twice.

An entry is a directory KEY[:2]/KEY with the data of a run, no plots and no report, and a manifest with the
size and the SHA-256 of each file. It is filled under a name of its own and renamed: there is all of it or
nothing, and of two who make the same one the first has made it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from clarion_base.errors import UserError
from clarion_lab.recording import files
from clarion_lab.tasks.task import Task

MANIFEST = "manifest.json"
SHOWN = (".png", ".html")  # what is drawn from the data
UNFINISHED = "unfinished"  # the directory of entries that are being made
CHUNK_BYTES = 1 << 20


class Store:
    """Finished runs by key. Many processes may use one store at once."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    @classmethod
    def default(cls) -> Store:
        """That of CLARION_CACHE, else of this user: XDG_CACHE_HOME/clarion/runs, ~/.cache/clarion/runs."""
        named = os.environ.get("CLARION_CACHE")
        if named:
            return cls(Path(named))
        home = os.environ.get("XDG_CACHE_HOME")
        return cls((Path(home) if home else Path.home() / ".cache") / "clarion" / "runs")

    def find(self, task: Task) -> Path | None:
        """The directory of the finished run, None if there is none or if it is damaged. The labels in its
        summary are those of the task that made it; see `publish.labelled`.
        """
        entry = self._entry(task.key())
        return entry if _is_whole(entry) else None

    def add(self, task: Task, directory: Path) -> Path:
        """Keeps the data of a finished run, a copy of what lies in `directory`; returns the entry, which is
        another's if that one was first. UserError if it cannot be written.
        """
        with self.making(task) as made:
            for path in data_files(directory):
                target = made / path.relative_to(directory)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
        return self._entry(task.key())

    def add_bytes(self, task: Task, content: Mapping[str, bytes]) -> Path:
        """The same with the contents of the files by their names below the run's directory."""
        with self.making(task) as made:
            write_bytes(made, content)
        return self._entry(task.key())

    @contextlib.contextmanager
    def making(self, task: Task) -> Iterator[Path]:
        """An empty directory whose files are the task's entry once the block ends; nothing is kept if it
        raises.
        """
        key = task.key()
        with self._explained():
            folder = self.directory / UNFINISHED
            folder.mkdir(parents=True, exist_ok=True)
            temporary = tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True)
        with temporary:
            made = Path(temporary.name) / "entry"
            made.mkdir()
            yield made
            with self._explained():
                files.write_json(made / MANIFEST, {"key": key, "files": _checksums(made)})
                self._put(made, self._entry(key))

    def _put(self, made: Path, entry: Path) -> None:
        """Moves a whole entry to its place, from which a damaged one goes first."""
        entry.parent.mkdir(parents=True, exist_ok=True)
        while True:
            try:
                made.rename(entry)  # fails on a directory that is not empty
                return
            except OSError:
                if not entry.exists():
                    raise
            if _is_whole(entry):
                return
            with contextlib.suppress(FileNotFoundError):  # another has moved it away
                entry.rename(made.with_name("damaged"))
                shutil.rmtree(made.with_name("damaged"))

    def _entry(self, key: str) -> Path:
        return self.directory / key[:2] / key

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise UserError(
                f"cache {self.directory}: {error.strerror or error}; "
                "set CLARION_CACHE to a directory that you may write"
            ) from error


def data_files(directory: Path) -> list[Path]:
    """The files of a run that hold data: neither plots nor its report."""
    return [
        path
        for path in sorted(directory.rglob("*"))
        if path.is_file() and path.suffix not in SHOWN and path.name != MANIFEST
    ]


def read_bytes(directory: Path) -> dict[str, bytes]:
    """The contents of a run's data files by their names below its directory."""
    return {path.relative_to(directory).as_posix(): path.read_bytes() for path in data_files(directory)}


def write_bytes(directory: Path, content: Mapping[str, bytes]) -> None:
    """The opposite. UserError for a name that leads out of the directory."""
    for name, data in content.items():
        target = directory / name
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise UserError(f"{name}: not the name of a run's file")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def _checksums(directory: Path) -> dict[str, list[int | str]]:
    return {
        path.relative_to(directory).as_posix(): [path.stat().st_size, _sha256(path)]
        for path in data_files(directory)
    }


def _sha256(path: Path) -> str:
    total = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            total.update(chunk)
    return total.hexdigest()


def _is_whole(entry: Path) -> bool:
    """Whether every file is there as its manifest says, and a summary among them."""
    try:
        wanted = json.loads((entry / MANIFEST).read_text())["files"]
        return files.SUMMARY in wanted and wanted == _checksums(entry)
    except (OSError, ValueError, KeyError, TypeError):
        return False
