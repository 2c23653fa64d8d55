# SPDX-License-Identifier: Apache-2.0
"""The record behind clarion_boost's constants: of today's defaults, and from paths that judge nobody.

Its figures are not compared: measuring them again takes minutes, and they move with every change of the law.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clarion_lab.scenario import documents
from clarion_lab.scenario.model import build

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/results/boost-sweep.md").read_text()
SWEEP = (ROOT / "tests/unit/cc/sweep.cpp").read_text()
PARAMETERS = (ROOT / "hosts/bpf/cc/params.def").read_text()

# Paths of the papers' figures that are no scenario of their own: Mbit/s and milliseconds.
OTHER_FIGURES = {
    *((rate, 64.0) for rate in (10.0, 100.0, 155.0, 622.0, 1000.0)),
    *((622.0, 2.0**power) for power in range(1, 10)),
    *((rate, rtt) for rate in (900.0, 1000.0) for rtt in (20.0, 139.0)),
    *((rate, rtt) for rate in (10.0, 150.0) for rtt in (540.0, 800.0)),
    (100.0, 560.0),
}
# A path is like another one where neither rate nor round trip differs by more than this factor.
LIKENESS = 1.5


def swept_values() -> list[tuple[str, int]]:
    rows = re.findall(r"^  SWEEP\((\w+), ([\d, ]+)\)$", SWEEP, re.MULTILINE)
    return [(name, int(value)) for name, values in rows for value in values.split(",")]


def defaults() -> dict[str, int]:
    return {
        name: int(value) for name, value in re.findall(r"^CC_PARAM\((\w+), (\d+),", PARAMETERS, re.MULTILINE)
    }


def swept_paths() -> list[list[str]]:
    """Name, rate, round trip, queue, loss and flows of each question."""
    question = r'\{"([\w ]+)", ([\d.]+), ([\d.]+), ([\d.]+), ([\d.]+), (\d+), '
    return [list(found) for found in re.findall(question, SWEEP)]


def figure_paths() -> set[tuple[float, float]]:
    """Mbit/s and milliseconds of every path on which a figure is measured."""
    paths = set(OTHER_FIGURES)
    for name, file in documents.shipped().items():
        if "no figure" in file.read_text() or name.startswith("smoke"):
            continue
        for point in documents.points(name, documents.read(file)):
            scenario = build(name, point.document)
            for link in scenario.bottlenecks:
                rates = {link.rate_of(direction) for direction in ("forward", "reverse")}
                paths |= {
                    (rate / 1e6, scenario.path_rtt_us(flow) / 1e3)
                    for rate in rates
                    for flow in scenario.flows
                }
    return paths


def are_alike(a: float, b: float) -> bool:
    return max(a, b) <= LIKENESS * min(a, b)


def test_the_page_has_a_row_for_each_value_and_the_default_is_bold() -> None:
    rows = re.findall(r"^\| `(\w+)` \| (\**)(\d+)\** \|", PAGE, re.MULTILINE)
    assert [(name, int(value)) for name, _, value in rows] == swept_values()
    bold = {name: int(value) for name, mark, value in rows if mark}
    assert bold == {name: defaults()[name] for name in bold}
    assert set(bold) == {name for name, _ in swept_values()}


def test_the_page_names_the_paths_of_the_sweep() -> None:
    rows = [row.strip("|").split("|") for row in PAGE.splitlines() if row.count("|") == 8]
    paths = [[cell.strip() for cell in row[:6]] for row in rows[2:]]
    assert paths == swept_paths()


@pytest.mark.parametrize("path", swept_paths(), ids=lambda path: path[0])
def test_no_figure_is_measured_on_a_path_like_one_of_the_sweep(path: list[str]) -> None:
    rate_mbit, rtt_ms = float(path[1]), float(path[2])
    alike = {
        other for other in figure_paths() if are_alike(other[0], rate_mbit) and are_alike(other[1], rtt_ms)
    }
    assert alike == set()
