# SPDX-License-Identifier: Apache-2.0
"""The table of the hostile paths, from summaries of runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench import safety
from clarion_base.errors import UserError
from clarion_lab.recording import files


def leave(
    directory: Path,
    goodput_bps: float,
    resent: int,
    left_bps: float | None,
    decisions: object,
    state: str = "complete",
) -> None:
    """A run's summary, as far as the table reads it."""
    flows: list[dict[str, Any]] = [
        {"goodput_bits_per_s": goodput_bps, "retransmits": resent, "decisions": decisions}
    ]
    if left_bps is not None:
        flows.append({"goodput_bits_per_s": left_bps, "retransmits": 0, "decisions": None})
    directory.mkdir(parents=True)
    files.write_json(
        directory / files.SUMMARY, {"format": files.RUN_FORMAT, "version": 2, "state": state, "flows": flows}
    )


def table(xcp: str, cubic: str) -> str:
    return f"| path | xcp | cubic |\n| --- | --: | --: |\n| shared-untagged | {xcp} | {cubic} |"


def matrix(tmp_path: Path, *paths: str, seeds: int = 2) -> safety.Matrix:
    return safety.Matrix(paths, ["xcp", "cubic"], seeds, tmp_path)


def test_a_sender_is_compared_with_cubic(tmp_path: Path) -> None:
    verdicts = {"right": 4, "wrong": 1, "missed": 0}
    wanted = matrix(tmp_path, "shared-untagged")
    leave(wanted.directory("shared-untagged", "xcp", 1), 10e6, 30, 4e6, verdicts)
    leave(wanted.directory("shared-untagged", "xcp", 2), 12e6, 50, 6e6, {**verdicts, "wrong": 3})
    leave(wanted.directory("shared-untagged", "cubic", 1), 9e6, 20, 10e6, None)
    assert safety.tables(wanted).split("\n\n")[1::2] == [
        table("11.0 (10.0 to 12.0)", "9.0"),
        table("40 (30 to 50); 2.0x", "20; 1.0x"),
        table("5.0 (4.0 to 6.0); 50.0 %", "10.0; 100.0 %"),
        table("4/2/0", "-/-/-"),
    ]


def test_nothing_is_left_where_nobody_is_beside_and_what_is_missing_has_no_row(tmp_path: Path) -> None:
    wanted = matrix(tmp_path, "policer", "ecn")
    leave(wanted.directory("policer", "xcp", 1), 10e6, 30, None, None)
    leave(wanted.directory("ecn", "xcp", 1), 10e6, 30, None, None, state="interrupted")
    found = safety.tables(wanted)
    assert "left to" not in found
    assert "ecn" not in found
    assert "| policer | 30; 30.0x | - |" in found


def test_seeds_come_one_after_the_other(tmp_path: Path) -> None:
    runs = list(matrix(tmp_path, "policer", "ecn").runs())
    assert [each[:3] for each in runs[:4]] == [
        ("policer", "xcp", 1), ("policer", "cubic", 1), ("ecn", "xcp", 1), ("ecn", "cubic", 1)
    ]  # fmt: skip
    assert runs[4][2] == 2


def test_cubic_is_always_there_and_names_are_checked() -> None:
    wanted, only_table = safety.parse(["--senders", "xcp,bbr", "--paths", "policer", "--table"])
    assert list(wanted.senders) == ["xcp", "bbr", "cubic"]
    assert only_table
    with pytest.raises(UserError, match="--paths fog: unknown; use "):
        safety.parse(["--paths", "fog"])
    with pytest.raises(UserError, match="--senders vegs: unknown; use xcp,"):
        safety.parse(["--senders", "vegs"])
