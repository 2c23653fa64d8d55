# SPDX-License-Identifier: Apache-2.0
"""Conditional requests as RFC 9110 has them."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clarion_control.api.etags import Condition, EntityTag, condition
from clarion_control.api.problems import Problem

TAGS = st.builds(
    EntityTag,
    st.text(st.characters(codec="latin-1", exclude_characters='"', exclude_categories=("Cc", "Zs"))),
    st.booleans(),
)


def read(*values: str) -> Condition | None:
    return condition("If-Match", values)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"7-3"', [EntityTag("7-3")]),
        ('W/"7-3"', [EntityTag("7-3", weak=True)]),
        ('"a", W/"b","c"', [EntityTag("a"), EntityTag("b", weak=True), EntityTag("c")]),
        ('"a,b"', [EntityTag("a,b")]),
        ('""', [EntityTag("")]),
        (' , "a" ,, "b" , ', [EntityTag("a"), EntityTag("b")]),
    ],
)
def test_lists_are_read(text: str, expected: list[EntityTag]) -> None:
    assert read(text) == Condition(False, tuple(expected))


def test_star_stands_for_anything() -> None:
    assert read("*") == Condition(True)


def test_lines_of_one_header_are_one_list() -> None:
    assert read('"a"', '"b"') == Condition(False, (EntityTag("a"), EntityTag("b")))


def test_no_header_is_no_condition() -> None:
    assert read() is None


@pytest.mark.parametrize(
    "text",
    ["7-3", '"7-3', '7-3"', 'w/"7-3"', '*, "a"', '"a" "b"', "**", "", ",", '"a b"', '"a";q=1', '"a\x7f"'],
)
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(Problem, match="If-Match: use"):
        read(text)


@given(st.lists(TAGS, min_size=1, max_size=5))
@settings(deadline=None)
def test_what_is_written_is_read_again(tags: list[EntityTag]) -> None:
    assert read(", ".join(map(str, tags))) == Condition(False, tuple(tags))


@given(st.text(max_size=40))
@settings(deadline=None)
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(Problem):
        assert read(text)


# The table of RFC 9110, section 8.8.3.2.
@pytest.mark.parametrize(
    ("first", "second", "strong", "weak"),
    [
        (EntityTag("1", True), EntityTag("1", True), False, True),
        (EntityTag("1", True), EntityTag("2", True), False, False),
        (EntityTag("1", True), EntityTag("1"), False, True),
        (EntityTag("1"), EntityTag("1"), True, True),
    ],
)
def test_strong_and_weak_comparison(first: EntityTag, second: EntityTag, strong: bool, weak: bool) -> None:
    assert Condition(False, (first,)).strongly(second) is strong
    assert Condition(False, (first,)).weakly(second) is weak
    assert Condition(True).strongly(second)
    assert Condition(True).weakly(second)
