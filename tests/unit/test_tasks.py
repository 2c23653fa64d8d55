# SPDX-License-Identifier: Apache-2.0
"""What decides a run's key, and the store of finished runs."""

from __future__ import annotations

import concurrent.futures
import os
import platform
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from clarion_base import paths
from clarion_base.errors import UserError
from clarion_lab.recording import files
from clarion_lab.results import report
from clarion_lab.scenario import documents
from clarion_lab.tasks import sources, worker
from clarion_lab.tasks.store import MANIFEST, UNFINISHED, Store
from clarion_lab.tasks.task import Task

SCENARIO = """
description: One flow.
topology: dumbbell
algorithm: cubic
links:
  bottleneck: {rate: 10 Mbit/s, rtt: 20 ms, queue: 1 bdp, loss: {forward: {model: packet, rate: 0.1}}}
flows: [{count: 1}]
duration: 2 s
"""


def task(text: str = SCENARIO, engine: str = "sim", **changes: Any) -> Task:
    return Task(
        "one", {**yaml.safe_load(text), **changes}, engine, {"point": "", "settings": {}, "repeat": 1}
    )


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small checkout with a built simulator; the digest is computed anew each time it is asked for."""
    for name in (
        "hosts/bpf/cc/reno.h",
        "docs/senders.md",
        "sim/main.cpp",
        "hosts/bpf/README.md",
        "CMakeLists.txt",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("int a;\n")
    program = tmp_path / "build/cpp/sim/clarion-sim"
    program.parent.mkdir(parents=True)
    program.write_text("built")
    program.chmod(0o755)
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    monkeypatch.delenv("CLARION_SIM_BIN", raising=False)
    monkeypatch.setattr(sources, "digest", sources.digest.__wrapped__)
    return tmp_path


@pytest.mark.parametrize(
    "other",
    [
        SCENARIO + "# a comment\n",
        SCENARIO.replace("One flow.", "Another sentence."),
        SCENARIO + "expect: [{metric: totals.jain, at-least: 0.5}]\n",
        SCENARIO + "seed: 1\n",
        "\n".join(reversed(SCENARIO.strip().replace("\n  bottleneck", " {bottleneck").splitlines())).replace(
            "0.1}}}", "0.1}}}}"
        ),
        SCENARIO.replace("{count: 1}", "{count: 1.0}"),
    ],
    ids=["comment", "description", "expect", "default seed", "order", "1.0 for 1"],
)
def test_documents_that_say_the_same_have_one_key(other: str) -> None:
    assert task(other).key() == task().key()


def test_names_and_labels_do_not_count() -> None:
    named = Task("two", task().document, "sim", {"point": "a_b", "settings": {"a": "b"}, "repeat": 7})
    assert named.key() == task().key()


def test_what_decides_a_result_counts() -> None:
    keys = {
        each.key()
        for each in (task(), task(seed=2), task(engine="emu"), task(SCENARIO.replace("rtt: 20", "rtt: 21")))
    }
    assert len(keys) == 4


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("hosts/bpf/cc/reno.h", True),
        ("sim/main.cpp", True),
        ("CMakeLists.txt", True),
        ("docs/senders.md", False),
        ("hosts/bpf/README.md", False),
    ],
)
def test_a_changed_byte_of_a_source_changes_keys(name: str, counts: bool, checkout: Path) -> None:
    before = task().key()
    (checkout / name).write_text("int b;\n")
    assert (task().key() != before) == counts


def test_the_digest_is_that_of_the_simulator_where_it_is_not_of_the_sources(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that is named, and one without sources."""
    built = task().key()
    other = tmp_path / "elsewhere"
    other.write_text("another build")
    other.chmod(0o755)
    monkeypatch.setenv("CLARION_SIM_BIN", str(other))
    named = task().key()
    assert named != built
    shutil.rmtree(checkout / "hosts")
    without_sources = task().key()
    other.write_text("yet another")
    assert task().key() != without_sources


def at(seconds: int, *paths: Path) -> None:
    """Changes files as of a time."""
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        os.utime(path, (seconds, seconds))


@pytest.fixture
def built(checkout: Path) -> Path:
    """The checkout after `make build`, with programs of CMake and of Cargo."""
    sources = ("hosts/bpf/cc/reno.h", "sim/main.cpp", "CMakeLists.txt", "sim/CMakeLists.txt")
    at(1000, *(checkout / name for name in (*sources, "hosts/agent/Cargo.toml")))
    for name in ("cpp/sim/clarion-sim", "cpp/switch/clarion-switch", "cargo/release/clarion-host"):
        at(1500, checkout / "build" / name)
        (checkout / "build" / name).chmod(0o755)
    (checkout / "build/cpp/CMakeCache.txt").write_text("A:BOOL=ON\nCMAKE_BUILD_TYPE:STRING=Release\n")
    at(2000, checkout / "build/stamps/built")
    return checkout


ENGINE_OF = {"cpp/sim/clarion-sim": "sim", "cargo/release/clarion-host": "emu"}


@pytest.mark.parametrize(("program", "engine"), ENGINE_OF.items())
def test_programs_of_a_whole_build_do_not_count(program: str, engine: str, built: Path) -> None:
    before = task(engine=engine).key()
    (built / "build" / program).write_text("by another compiler")
    assert task(engine=engine).key() == before


@pytest.mark.parametrize(
    ("source", "program"),
    [
        ("hosts/bpf/cc/reno.h", "cpp/sim/clarion-sim"),
        ("CMakeLists.txt", "cpp/sim/clarion-sim"),
        ("sim/CMakeLists.txt", "cpp/sim/clarion-sim"),
        ("hosts/bpf/cc/reno.h", "cargo/release/clarion-host"),
        ("hosts/agent/Cargo.toml", "cargo/release/clarion-host"),
    ],
)
def test_programs_count_until_the_sources_that_changed_are_built_as_a_whole(
    source: str, program: str, built: Path
) -> None:
    """A build of a part, or one that fails, changes some programs and Ninja's log, and leaves the others."""
    engine = ENGINE_OF[program]
    before = task(engine=engine).key()
    at(3000, built / source)
    (built / "build" / program).write_text("of the old sources or of the new ones")
    at(4000, built / "build" / program, built / "build/cpp/.ninja_log")
    assert task(engine=engine).key() != before
    at(5000, built / "build/stamps/built")
    assert task(engine=engine).key() == before


def test_programs_count_without_a_whole_build_and_without_optimisation(built: Path) -> None:
    before = task().key()
    cache = built / "build/cpp/CMakeCache.txt"
    cache.write_text("CMAKE_BUILD_TYPE:STRING=Debug\n")
    debugged = task().key()
    assert debugged != before
    cache.write_text("CMAKE_BUILD_TYPE:STRING=Release\n")
    (built / "build/stamps/built").unlink()
    assert task().key() == debugged


def test_the_kernel_counts_where_its_tcp_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    engines = ("sim", "emu", "bmv2", "hls-sim")
    before = {engine: task(engine=engine).key() for engine in engines}
    monkeypatch.setattr(platform, "release", lambda: "9.9.9-other")
    assert [engine for engine in engines if task(engine=engine).key() == before[engine]] == ["sim"]
    with pytest.raises(UserError, match=r"programs or the kernel \(9\.9\.9-other\) differ here"):
        worker.check_key(task(engine="emu"), before["emu"])


def finished(directory: Path, **summary: Any) -> Path:
    """A directory as a run leaves it, with plots and a report."""
    (directory / "iperf3").mkdir(parents=True)
    files.write_json(directory / files.SUMMARY, {"format": files.RUN_FORMAT, "version": 2, **summary})
    for name in ("flows.parquet", "iperf3/flow-1.json", "queue.png", "report.html"):
        (directory / name).write_bytes(b"0123456789")
    return directory


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def test_a_run_is_found_once_it_is_kept_and_without_what_is_drawn(store: Store, tmp_path: Path) -> None:
    assert store.find(task()) is None
    entry = store.add(task(), finished(tmp_path / "run"))
    assert store.find(task()) == entry
    assert store.find(task(seed=2)) is None
    kept = {path.relative_to(entry).as_posix() for path in entry.rglob("*") if path.is_file()}
    assert kept == {MANIFEST, files.SUMMARY, "flows.parquet", "iperf3/flow-1.json"}
    assert list((store.directory / UNFINISHED).iterdir()) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: (entry / "flows.parquet").write_bytes(b"01234"),
        lambda entry: (entry / "flows.parquet").write_bytes(b"012345678X"),
        lambda entry: (entry / "flows.parquet").unlink(),
        lambda entry: (entry / MANIFEST).write_text('{"files": '),
        lambda entry: (entry / MANIFEST).unlink(),
    ],
    ids=["truncated", "changed", "missing", "half a manifest", "no manifest"],
)
def test_a_damaged_entry_is_not_found_and_made_again(damage: Any, store: Store, tmp_path: Path) -> None:
    run = finished(tmp_path / "run")
    damage(store.add(task(), run))
    assert store.find(task()) is None
    store.add(task(), run)
    assert store.find(task()) is not None


def test_of_two_writers_of_a_key_the_first_wins(store: Store, tmp_path: Path) -> None:
    with store.making(task()) as slow:
        files.write_json(slow / files.SUMMARY, {"who": "slow"})
        store.add(task(), finished(tmp_path / "fast", who="fast"))
    entry = store.find(task())
    assert entry is not None
    assert '"fast"' in (entry / files.SUMMARY).read_text()
    assert len(list(store.directory.glob("??/*"))) == 1


def test_many_writers_leave_one_whole_entry(store: Store, tmp_path: Path) -> None:
    run = finished(tmp_path / "run")
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        entries = list(threads.map(lambda _: store.add(task(), run), range(40)))
    assert set(entries) == {store.find(task())}
    assert list((store.directory / UNFINISHED).iterdir()) == []


def test_what_fails_half_way_is_not_kept(store: Store) -> None:
    def fail() -> None:
        with store.making(task()) as made:
            files.write_json(made / files.SUMMARY, {})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert store.find(task()) is None
    assert list((store.directory / UNFINISHED).iterdir()) == []


def test_bytes_from_elsewhere_stay_in_the_entry(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not the name"):
        store.add_bytes(task(), {files.SUMMARY: b"{}", "../../escaped": b""})
    assert store.find(task()) is None
    assert store.find(task()) != store.add_bytes(task(), {files.SUMMARY: b"{}", "iperf3/flow-1.json": b"1"})
    assert store.find(task()) is not None


def test_a_store_that_cannot_be_written_says_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"file/runs: .*; set CLARION_CACHE"):
        Store(tmp_path / "file" / "runs").add(task(), tmp_path)


def test_where_the_store_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CLARION_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert Store.default().directory == Path("/x/clarion/runs")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", "/home/u")
    assert Store.default().directory == Path("/home/u/.cache/clarion/runs")
    monkeypatch.setenv("CLARION_CACHE", "/y")
    assert Store.default().directory == Path("/y")


def test_shipped_scenarios_have_keys_of_their_own() -> None:
    """Every document is one that has a canonical form."""
    found = [
        Task(name, point.document, "sim").key()
        for name, path in documents.shipped().items()
        for point in documents.points(name, documents.read(path))
    ]
    assert len(found) > 100


def test_the_page_of_a_large_batch_names_the_plots_in_place_of_holding_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = {"rows": [], "runs": [{"directory": "a b"}, {"directory": "c"}]}
    finished(tmp_path / "a b")
    monkeypatch.setattr(report, "INLINED_RUNS", 1)
    images = [dict(run["images"])["queue.png"] for run in report._batch(tmp_path, summary)["runs"]]
    assert images == ["a%20b/queue.png", None]
    monkeypatch.setattr(report, "INLINED_RUNS", 2)
    images = [dict(run["images"])["queue.png"] for run in report._batch(tmp_path, summary)["runs"]]
    assert images[0].startswith("data:image/png;base64,")
