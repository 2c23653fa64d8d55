# SPDX-License-Identifier: Apache-2.0
"""Cells that Yosys counts, and what it is asked to map."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from clarion_base.errors import UserError
from clarion_base.steps import Steps
from clarion_synth import area, circuits

SAMPLES = Path(__file__).resolve().parent / "samples"


def test_cells_that_yosys_counts() -> None:
    cells = area.cells((SAMPLES / "yosys_clarion_clock.txt").read_text(encoding="utf-8"))
    assert cells == {"LUT": 25, "FF": 89, "DSP": 0, "BRAM36": 0, "BRAM18": 0, "URAM": 0, "LUTRAM": 0}


def test_no_cells_are_an_error() -> None:
    with pytest.raises(UserError, match=r"no cells of UltraScale\+"):
        area.cells("=== unit ===\n   Number of cells:  3\n     $add   3\n")


def test_functions_are_boxes_in_a_unit() -> None:
    text = area.black_boxes(circuits.chosen(["judge"]))
    assert text.startswith("(* blackbox *)\nmodule clarion_judge (")


def test_a_name_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: "yosys")
    with pytest.raises(UserError, match="--only gudge: there are clarion_ingress, clarion_egress, lanes, "):
        area.rows(Steps(dry_run=True), Path(), 4096, ["gudge"])


def test_without_yosys_it_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(UserError, match="yosys is not on PATH"):
        area.rows(Steps(dry_run=True), Path(), 4096, None)
