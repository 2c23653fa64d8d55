# SPDX-License-Identifier: Apache-2.0
"""What of Clarion decides a result, as one digest: the senders, the data plane, the engine, the reckoning."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import clarion_base
import clarion_contract
import clarion_lab
from clarion_base import paths

PACKAGES = (clarion_base, clarion_contract, clarion_lab)
COMPILED = ("contract", "core", "hosts/bpf", "switch")  # folders of a checkout, for every engine
OF_ENGINE = {
    "sim": ("sim",),
    "emu": ("hosts",),
    "bmv2": ("hosts", "p4"),
    "hls-sim": ("hosts", "hls"),
}
PROGRAMS = {
    "sim": ("clarion-sim",),
    "emu": ("clarion-switch", "clarion-host", "clarion-proxy"),
    "bmv2": ("clarion-switch", "clarion-host"),
    "hls-sim": ("clarion-hls-sim", "clarion-host"),
}
SUFFIXES = frozenset(
    (".c", ".cpp", ".def", ".h", ".hpp", ".json", ".lock", ".p4", ".py", ".rs", ".toml", ".txt", ".yaml")
)
COMPILED_SUFFIXES = frozenset((".c", ".cpp", ".def", ".h", ".hpp", ".rs"))
BUILD_FILES = frozenset(("CMakeLists.txt", "Cargo.lock", "Cargo.toml"))
STAMP = "stamps/built"  # in build/, of the time when the last `make build` that succeeded began
BUILD_TYPE = "CMAKE_BUILD_TYPE:STRING=Release"
# Of clarion_lab: what starts runs and shows results, but changes none.
WITHOUT_INFLUENCE = frozenset(
    (
        "commands",
        "reproduce",
        "run",
        "controller/demo.py",
        "machine/cleanup.py",
        "machine/doctor.py",
        "results/compare.py",
        "results/comparison.py",
        "results/comparison_plot.py",
        "results/expectations.py",
        "results/key_metrics.py",
        "results/plots.py",
        "results/report.py",
        "results/samples.py",
        "results/selection.py",
        "results/slowness.py",
        "results/tables.py",
        "results/templates",
        "scenario/schema/experiment.schema.json",
        "tasks/cluster.py",
        "tasks/executor.py",
        "tasks/pool.py",
        "tasks/publish.py",
        "tasks/remote.py",
        "tasks/store.py",
        "tasks/worker.py",
    )
)


@lru_cache
def digest(engine: str) -> str:
    """SHA-256, in hex, of all that decides the results of an engine beside the scenario; once per process.

    In a checkout these are its sources. Programs count, too, where they are not known to be made of these:
    without a checkout, named by a variable such as CLARION_SIM_BIN, or not of a whole build since then.
    """
    total = hashlib.sha256()
    compiled = []
    for label, path in _sources(engine):
        _add(total, label, path.read_bytes())
        if path.suffix in COMPILED_SUFFIXES or path.name in BUILD_FILES:
            compiled.append(path)
    for name in PROGRAMS.get(engine, ()):
        program = paths.find_binary(name)
        if program is not None and not _is_built_of(program, compiled):
            _add(total, name, program.read_bytes())
    return total.hexdigest()


def _add(total: hashlib._Hash, label: str, content: bytes) -> None:
    total.update(f"{label}\0{len(content)}\0".encode() + content)


def _sources(engine: str) -> Iterator[tuple[str, Path]]:
    """Every file that counts with a label that is the same on every machine, in the order of the labels."""
    for package in PACKAGES:
        folder = Path(str(package.__file__)).parent
        yield from _files(folder, folder.name, WITHOUT_INFLUENCE if package is clarion_lab else frozenset())
    if is_checkout():
        root = paths.ROOT / "CMakeLists.txt"  # the options of every compiler
        yield root.name, root
        for name in sorted({*COMPILED, *OF_ENGINE.get(engine, ())}):
            yield from _files(paths.ROOT / name, name, frozenset())


def is_checkout() -> bool:
    """Whether the sources of the programs are there."""
    return (paths.ROOT / "hosts" / "bpf").is_dir()


def _files(folder: Path, label: str, left_out: frozenset[str]) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        inner = path.relative_to(folder)
        if path.suffix not in SUFFIXES or {"tests", "__pycache__", "target"} & set(inner.parts):
            continue
        if left_out & {inner.as_posix(), *(parent.as_posix() for parent in inner.parents)}:
            continue
        if path.is_file():
            yield f"{label}/{inner.as_posix()}", path


def _is_built_of(program: Path, sources: list[Path]) -> bool:
    """Whether a program comes from the checkout's last whole build, and that one began after the last change
    of a source. Its own time does not tell: a build changes only what it has to, and some fail half-way.
    """
    build = paths.ROOT / "build"
    stamp = build / STAMP
    if not is_checkout() or not program.is_relative_to(build) or not stamp.is_file():
        return False
    if program.is_relative_to(build / "cpp") and not _is_release(build / "cpp"):
        return False
    return stamp.stat().st_mtime >= max((path.stat().st_mtime for path in sources), default=0.0)


def _is_release(tree: Path) -> bool:
    """Whether CMake optimises as `make build` has it do: without, numbers may come out otherwise."""
    cache = tree / "CMakeCache.txt"
    return cache.is_file() and BUILD_TYPE in cache.read_text().splitlines()
