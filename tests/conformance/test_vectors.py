# SPDX-License-Identifier: Apache-2.0
"""Every hand-written event vector holds on the C++ core, on its sanitised build and on the reference."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.harness import Driver, ReferencePlayer, decode
from conformance.vectors import FOLDER, Line, event_of, expected_of, load, texts

FILES = sorted(FOLDER.glob("*.jsonl"))


def assert_expected(lines: list[Line], reply: bytes) -> None:
    answers = decode([event_of(line) for line in lines], reply)
    for number, (line, (_, answer)) in enumerate(zip(lines, answers, strict=True), 2):
        expect = expected_of(line)
        assert {name: answer[name] for name in expect} == expect, f"line {number}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_reference(path: Path) -> None:
    lines = load(path)
    assert_expected(lines, ReferencePlayer().play([event_of(line) for line in lines]))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_core(driver: Driver, path: Path) -> None:
    lines = load(path)
    assert_expected(lines, driver.play([event_of(line) for line in lines]))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_sanitised_core(sanitised_driver: Driver, path: Path) -> None:
    lines = load(path)
    assert_expected(lines, sanitised_driver.play([event_of(line) for line in lines]))


def test_files_are_what_the_cases_say() -> None:
    # `python -m conformance.vectors` was run after the last change of a case.
    assert {path.name: path.read_text() for path in FILES} == dict(texts())


def test_a_wrong_outcome_is_noticed() -> None:
    lines = load(FOLDER / "wire-gap.jsonl")
    lines[-1]["out"] = lines[-1]["out"][:-2] + "ff"
    with pytest.raises(AssertionError, match="line"):
        assert_expected(lines, ReferencePlayer().play([event_of(line) for line in lines]))
