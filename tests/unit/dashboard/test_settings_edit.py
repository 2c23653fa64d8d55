# SPDX-License-Identifier: Apache-2.0
"""From settings to the fields of a form and back to a merge patch."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clarion_contract.errors import SettingsError
from clarion_contract.settings import PORT, XCP, PortSettings, XcpSettings
from clarion_contract.settings_json import checked, merged
from clarion_control.dashboard.settings_edit import FIELDS, FieldProblem, Value, changes, differences, values

ON = PortSettings(2, XcpSettings(100_000_000), stamp=True)
OFF = PortSettings(2)


def entered(base: PortSettings, **fields: Value) -> dict[str, Value]:
    return values(base) | {name.replace("__", "."): value for name, value in fields.items()}


def test_fields_show_units() -> None:
    shown = values(ON)
    assert shown["xcp.capacity_bps"] == "100 Mbit/s"
    assert shown["xcp.min_interval_us"] == "1 ms"
    assert (shown["xcp"], shown["stamp"], shown["queue_limit_bytes"]) == (True, True, "")


def test_untouched_fields_are_not_sent() -> None:
    assert changes(ON, values(ON)) == {}
    assert changes(OFF, values(OFF)) == {}


def test_alpha_alone_lets_beta_follow() -> None:
    assert changes(ON, entered(ON, xcp__alpha="0.3")) == {"xcp": {"alpha": 0.3}}
    assert changes(ON, entered(ON, xcp__beta="")) == {"xcp": {"beta": None}}


@pytest.mark.parametrize("text", ["40 Mbit/s", "40000000", "0.04 Gbit/s", "40\N{NO-BREAK SPACE}Mbit/s"])
def test_a_capacity_is_read_with_its_unit_or_in_bits_per_second(text: str) -> None:
    assert changes(ON, entered(ON, xcp__capacity_bps=text)) == {"xcp": {"capacity_bps": 40_000_000}}


def test_a_capacity_may_be_measured() -> None:
    measured = PortSettings(2, XcpSettings(0))
    assert values(measured)["xcp.capacity_bps"] == "measured"
    assert changes(ON, entered(ON, xcp__capacity_bps="measured")) == {"xcp": {"capacity_bps": "measured"}}
    assert merged("s1", ON, {"xcp": {"capacity_bps": "measured"}}).xcp == XcpSettings(0)
    assert changes(measured, values(measured)) == {}
    assert changes(measured, entered(measured, xcp__capacity_bps="1 Gbit/s")) == {
        "xcp": {"capacity_bps": 1_000_000_000}
    }


def test_xcp_is_switched_off_and_on() -> None:
    assert changes(ON, entered(ON, xcp=False)) == {"xcp": None}
    patch = changes(OFF, entered(OFF, xcp=True, xcp__capacity_bps="1 Gbit/s"))
    assert merged("s1", OFF, patch).xcp == XcpSettings(1_000_000_000)


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("xcp.capacity_bps", "", "give the capacity"),
        ("xcp.capacity_bps", "fast", "not a quantity"),
        ("xcp.capacity_bps", "10 MB", "unknown unit"),
        ("xcp.alpha", "a lot", "not a number"),
        ("xcp.generation", "1.5", "not a whole number"),
        ("queue_limit_bytes", "3 apples", "unknown unit"),
    ],
)
def test_what_cannot_be_read_is_explained_beside_its_field(name: str, text: str, reason: str) -> None:
    with pytest.raises(FieldProblem, match=reason) as problem:
        changes(ON, values(ON) | {name: text})
    assert problem.value.name == name


@pytest.mark.parametrize("wrong", [{"xcp": {"alpha": 5.0}}, {"queue_limit_bytes": 0}])
def test_fields_are_found_by_the_path_of_an_error(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError) as refused:
        checked("s1", [2], merged("s1", ON, wrong))
    assert refused.value.fault.path in {field.path for field in FIELDS}


def test_differences_are_told_in_the_words_of_the_form() -> None:
    other = PortSettings(2, XcpSettings(40_000_000, gamma=0.2), queue_limit_bytes=3000)
    assert differences(ON, other) == [
        ("Capacity", "100 Mbit/s", "40 Mbit/s"),
        ("Gamma", "0.1", "0.2"),
        ("Queue limit", "none", "3 kB"),
        ("Stamp", "on", "off"),
    ]
    assert differences(ON, OFF) == [("XCP", "on", "off"), ("Stamp", "on", "off")]


@settings(deadline=None)
@given(
    st.integers(8, XCP["capacity_bps"].most),
    st.one_of(st.none(), st.integers(1, PORT["queue_limit_bytes"].most)),
    st.integers(1, 16_000_000),
    st.booleans(),
)
def test_what_was_entered_is_what_is_set(
    capacity_bps: int, limit: int | None, interval_us: int, check: bool
) -> None:
    wanted = PortSettings(
        2, XcpSettings(capacity_bps, max_interval_us=interval_us), check=check, queue_limit_bytes=limit
    )
    assert merged("s1", OFF, changes(OFF, values(wanted))) == wanted
