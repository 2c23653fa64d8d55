# SPDX-License-Identifier: Apache-2.0
"""The target figures agree with each other and with the synthesised sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clarion_base.errors import UserError
from clarion_synth import targets
from clarion_synth.declared import Declarations

BLOCK = targets.ROOT / "hls" / "block"
TARGETS = targets.load()
PROCESSES = {process.name: process for top in TARGETS.tops for process in top.processes}


@pytest.mark.parametrize("process", PROCESSES.values(), ids=list(PROCESSES))
def test_a_process_is_asked_for_the_interval_that_it_has_to_hold(process: targets.Process) -> None:
    text = (BLOCK / process.file).read_text(encoding="utf-8")
    assert re.findall(r"#pragma HLS pipeline II = (\d+)", text) == [str(process.ii)]


@pytest.mark.parametrize("top", TARGETS.tops, ids=[top.name for top in TARGETS.tops])
def test_the_processes_of_a_top_are_those_it_is_composed_of(top: targets.Top) -> None:
    header = BLOCK / f"{top.name.removeprefix('clarion_')}.hpp"
    member = re.compile(r"^  (?:typename Parts::)?(\w+)(?:<Parts>)? (\w+)_;$", re.MULTILINE)
    members = member.findall(header.read_text(encoding="utf-8"))
    assert sorted(kind for kind, _ in members) == sorted(process.name for process in top.processes)


@pytest.mark.parametrize("top", TARGETS.tops, ids=[top.name for top in TARGETS.tops])
def test_the_way_through_a_top_fits_its_bound(top: targets.Top) -> None:
    assert top.latency - 4 <= top.way_clocks() <= top.latency


def test_a_slot_is_back_in_memory_before_it_is_forgotten() -> None:
    forwarded = Declarations().constant("FORWARDED")
    assert forwarded == 4  # the static_assert beside the pragma has this number too


def test_the_packets_of_a_pause_fit_while_the_divisions_run() -> None:
    interval = PROCESSES["IntervalStage"]
    assert interval.ii + interval.latency + 2 * targets.STREAM_CLOCKS < Declarations().constant(
        "DECISION_DEPTH"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clock_ns: 4.0\n", "processes: missing"),
        ("processes: {A: {file: a}}\n", "missing"),
        ("processes: {}\ntops: {t: {processes: [B], way: [], waits: 0, latency: 1}}\n", "B: missing"),
        ("[", "targets.yaml"),
    ],
)
def test_a_broken_file_is_refused_by_name(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "targets.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(UserError, match=message):
        targets.load(tmp_path / "targets.yaml")
