# SPDX-License-Identifier: Apache-2.0
"""Settings as JSON and as table entries, there and back; merge patches; refusals by name."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clarion_base.faults import pointer
from clarion_contract.entries import port_entries, port_settings
from clarion_contract.errors import SettingsError
from clarion_contract.settings import PORT, XCP, PortSettings, XcpSettings
from clarion_contract.settings_json import checked, from_json, merged, to_json

ON = PortSettings(1, xcp=XcpSettings(100_000_000), stamp=True)


@st.composite
def port(draw: st.DrawFn) -> PortSettings:
    """Settings that a switch can hold exactly: whole bytes/s, and coefficients of few digits."""
    xcp = None
    if draw(st.booleans()):
        alpha = draw(st.integers(100, 5553)) / 10_000
        low, high = sorted(
            draw(st.lists(st.integers(1, XCP["max_interval_us"].most), min_size=2, max_size=2))
        )
        xcp = XcpSettings(
            draw(st.just(0) | st.integers(1, XCP["capacity_bps"].most // 8)) * 8,  # 0: measured
            alpha,
            round(alpha**2 * math.sqrt(2), 9),
            draw(st.integers(1, 9999)) / 10_000,
            low,
            high,
        )
    limit = draw(st.none() | st.integers(1, PORT["queue_limit_bytes"].most))
    stamp, check, edge, wire = (draw(st.booleans()) for _ in range(4))
    return PortSettings(1, xcp, stamp, check, edge, wire, limit)


@settings(deadline=None)
@given(port())
def test_json_and_back(given: PortSettings) -> None:
    assert from_json("s1", 1, json.loads(json.dumps(to_json(given)))) == given


@settings(deadline=None)
@given(port())
def test_what_is_adopted_makes_the_same_entries(given: PortSettings) -> None:
    entries = list(port_entries(given, 3, 4))
    adopted = port_settings([1], entries)[1]
    assert list(port_entries(adopted, 3, 4)) == entries
    if given.xcp is not None:
        assert adopted.xcp is not None
        assert adopted.xcp.capacity_bps == given.xcp.capacity_bps
        assert adopted.xcp.gamma == given.xcp.gamma
        assert adopted.xcp.max_interval_us == given.xcp.max_interval_us


def test_entries_of_other_ports_are_left_out() -> None:
    assert port_settings([2], list(port_entries(ON, 1, 1))) == {2: PortSettings(2)}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, ON),
        ({"stamp": None}, PortSettings(1, xcp=ON.xcp)),
        ({"xcp": None}, PortSettings(1, stamp=True)),
        ({"xcp": {"gamma": 0.2}}, PortSettings(1, XcpSettings(100_000_000, gamma=0.2), stamp=True)),
        ({"xcp": {"gamma": None}}, ON),
        ({"queue_limit_bytes": 9000}, PortSettings(1, ON.xcp, stamp=True, queue_limit_bytes=9000)),
    ],
)
def test_a_merge_patch(changes: dict[str, Any], expected: PortSettings) -> None:
    assert merged("s1", ON, changes) == expected


def test_alpha_takes_beta_along_unless_both_are_given() -> None:
    alone = merged("s1", ON, {"xcp": {"alpha": 0.2}}).xcp
    assert alone is not None
    assert math.isclose(alone.beta, 0.04 * math.sqrt(2))
    both = merged("s1", ON, {"xcp": {"alpha": 0.2, "beta": 0.057}}).xcp
    assert both is not None
    assert both.beta == 0.057


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"speed": 1}, "/speed"),
        ({"stamp": 1}, "/stamp"),
        ({"xcp": 7}, "/xcp"),
        ({"xcp": {"speed": 1}}, "/xcp/speed"),
        ({"xcp": {"capacity_bps": None}}, "/xcp/capacity_bps"),
        ({"xcp": {"capacity_bps": "fast"}}, "/xcp/capacity_bps"),
        ({"xcp": {"capacity_bps": True}}, "/xcp/capacity_bps"),
        ({"xcp": {"alpha": 0.6}}, "/xcp/alpha"),
        ({"xcp": {"alpha": "0.4"}}, "/xcp/alpha"),
        ({"xcp": {"alpha": float("nan")}}, "/xcp/alpha"),
        ({"xcp": {"alpha": 10**400}}, "/xcp/alpha"),
        ({"xcp": {"beta": 0.3}}, "/xcp/beta"),
        ({"xcp": {"gamma": 1}}, "/xcp/gamma"),
        ({"xcp": {"gamma": True}}, "/xcp/gamma"),
        ({"xcp": {"min_interval_us": 2_000_000}}, "/xcp/min_interval_us"),
        ({"queue_limit_bytes": 0}, "/queue_limit_bytes"),
        ({"queue_limit_bytes": 1.5}, "/queue_limit_bytes"),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, Any], where: str) -> None:
    with pytest.raises(SettingsError) as caught:
        checked("s1", [1], merged("s1", ON, changes))
    assert pointer(caught.value.fault.path) == where
