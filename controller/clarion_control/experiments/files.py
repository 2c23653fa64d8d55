# SPDX-License-Identifier: Apache-2.0
"""Results on disk: what there is, and opening it without ever leaving the directory of the experiment."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a FIFO would wait for its writer


@dataclass(frozen=True)
class ResultFile:
    """A regular file below the experiment's directory."""

    path: str
    bytes: int


def listing(directory: Path) -> list[ResultFile]:
    """All regular files, by path; symbolic links are not followed and not listed."""
    return sorted(_walk(str(directory), ""), key=lambda file: file.path)


def open_result(directory: Path, path: str) -> BinaryIO | None:
    """The file, open for reading, if it is a regular one below the directory; else None.

    Every part of the path is opened by itself and without following links, so that there is no moment between
    look and leap.
    """
    parts = path.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        return None
    try:
        here = os.open(directory, _DIRECTORY)
    except OSError:
        return None
    try:
        for part in parts[:-1]:
            inner = os.open(part, _DIRECTORY, dir_fd=here)
            os.close(here)
            here = inner
        file = os.open(parts[-1], _FILE, dir_fd=here)
    except (OSError, UnicodeEncodeError):
        return None
    finally:
        os.close(here)
    if not stat.S_ISREG(os.fstat(file).st_mode):
        os.close(file)
        return None
    return open(file, "rb")


def _walk(directory: str, prefix: str) -> Iterator[ResultFile]:
    with contextlib.suppress(FileNotFoundError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path, f"{prefix}{entry.name}/")
            elif entry.is_file(follow_symlinks=False):
                with contextlib.suppress(FileNotFoundError):
                    yield ResultFile(prefix + entry.name, entry.stat(follow_symlinks=False).st_size)
