# SPDX-License-Identifier: Apache-2.0
"""Refusals of the client, with their messages."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from clarion_contract.checks import checked_addresses, checked_ports, checked_settings
from clarion_contract.errors import SettingsError
from clarion_contract.settings import PortSettings, XcpSettings

GOOD = XcpSettings(capacity_bps=100_000_000)
KNOWN = [1, 2, 3]
UNSTABLE = "or the control loop is not stable"
SWITCH = "; with allow_unstable from 0 to 3.99998"


def refusal(*settings: PortSettings) -> str:
    with pytest.raises(SettingsError) as refused:
        checked_settings("s1", KNOWN, settings)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_good_settings_pass() -> None:
    settings = [
        PortSettings(3, xcp=GOOD, stamp=True, queue_limit_bytes=2**40 - 1),
        PortSettings(1, check=True, edge=True),
        PortSettings(2, xcp=XcpSettings(8, 0.5553, 0.4361, 0.999, 1, 16_000_000), queue_limit_bytes=1),
    ]
    assert checked_settings("s1", KNOWN, settings) == {each.port: each for each in settings}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"capacity_bps": 1},
            'capacity_bps: 1: use a whole number of bit/s from 8 to 2199023255551, or "measured"',
        ),
        ({"capacity_bps": -1}, "capacity_bps: -1: use"),
        ({"capacity_bps": 7}, "capacity_bps: 7: use"),
        ({"capacity_bps": 2**41}, "capacity_bps: 2199023255552: use"),
        ({"capacity_bps": 1e8}, "capacity_bps: 100000000.0: use a whole number"),
        ({"capacity_bps": True}, "capacity_bps: True: use a whole number"),
        (
            {"alpha": 0.6},
            f"alpha: 0.6: must be above 0 and below 0.5553 (pi/(4*sqrt 2)), {UNSTABLE}",
        ),
        ({"alpha": 0.5554}, "alpha: 0.5554: must be above 0"),
        ({"alpha": 0}, "alpha: 0: must be above 0"),
        ({"alpha": float("nan")}, "alpha: nan: must be above 0"),
        ({"alpha": "0.4"}, "alpha: 0.4: must be above 0"),
        ({"beta": 0.3}, f"beta: 0.3: must be 0.2263 (alpha^2*sqrt 2) within 1 %, {UNSTABLE}"),
        ({"beta": 0.2239}, "beta: 0.2239: must be 0.2263"),
        ({"beta": float("nan")}, "beta: nan: must be 0.2263"),
        ({"alpha": 0.2}, "beta: 0.226: must be 0.05657"),
        ({"alpha": 0.002, "beta": 5.65685e-06}, "beta: 5.65685e-06: the switch would round it to 0; use"),
        ({"gamma": 0}, "gamma: 0: must be above 0 and below 1"),
        ({"gamma": 1}, "gamma: 1: must be above 0 and below 1"),
        ({"gamma": 0.000001}, "gamma: 1e-06: the switch would round it to 0; use at least 1/65536"),
        ({"min_interval_us": 0}, "min_interval_us: 0: use a whole number of microseconds from 1 to 16000000"),
        ({"max_interval_us": 16_000_001}, "max_interval_us: 16000001: use"),
        ({"min_interval_us": 1.5}, "min_interval_us: 1.5: use"),
        (
            {"min_interval_us": 2_000_000},
            "min_interval_us: 2000000: must be at most max_interval_us, 1000000",
        ),
    ],
)
def test_xcp_settings_are_refused(change: dict[str, Any], message: str) -> None:
    text = refusal(PortSettings(1), PortSettings(3, xcp=replace(GOOD, **change)))
    assert text.startswith(f"s1: xcp_port[3].{message}")


def test_alpha_is_refused_in_one_line_with_the_remedy() -> None:
    assert refusal(PortSettings(3, xcp=replace(GOOD, alpha=0.6))) == (
        "s1: xcp_port[3].alpha: 0.6: must be above 0 and below 0.5553 (pi/(4*sqrt 2)), "
        "or the control loop is not stable; with allow_unstable from 0 to 3.99998"
    )


@pytest.mark.parametrize("limit", [0, -1, 2**40, 1500.0])
def test_queue_limits_are_refused(limit: Any) -> None:
    message = f"s1: queue_port[2].queue_limit_bytes: {limit}: use a whole number of bytes from 1 to "
    assert refusal(PortSettings(2, queue_limit_bytes=limit)).startswith(message)


@pytest.mark.parametrize(
    ("ports", "message"),
    [
        ([4], "port 4: the switch has no such port; it has 1, 2, 3"),
        ([-1], "port -1: use a number from 0 to 63"),
        ([64], "port 64: use a number from 0 to 63"),
        ([1, 2, 1], "port 1: given twice; give it once"),
    ],
)
def test_ports_are_refused(ports: list[int], message: str) -> None:
    assert refusal(*map(PortSettings, ports)) == f"s1: ports: {message}"


def test_a_switch_has_legal_ports() -> None:
    assert checked_ports("s1", ("ports",), [63, 0]) == [0, 63]
    with pytest.raises(SettingsError, match=r"^s1: ports: port 64: use a number from 0 to 63$"):
        checked_ports("s1", ("ports",), [1, 64])


def test_addresses_become_numbers() -> None:
    given = {"02:00:00:00:00:01": 1, "02-00-00-00-00-FF": 3}
    assert checked_addresses("s1", KNOWN, given) == {0x020000000001: 1, 0x0200000000FF: 3}


@pytest.mark.parametrize(
    ("addresses", "message"),
    [
        ({"10.0.0.1": 1}, "[10.0.0.1]: not an Ethernet address; write it like 02:00:00:00:00:01"),
        ({"02:00:00:00:00": 1}, "[02:00:00:00:00]: not an Ethernet address"),
        ({"ff:ff:ff:ff:ff:ff": 1}, "[ff:ff:ff:ff:ff:ff]: a group address goes to all ports; leave it out"),
        ({"02:00:00:00:00:01": 9}, "[02:00:00:00:00:01]: port 9: the switch has no such port"),
        (
            {"02:00:00:00:00:0a": 1, "02:00:00:00:00:0A": 2},
            "[02:00:00:00:00:0A]: given twice; give each address once",
        ),
    ],
)
def test_addresses_are_refused(addresses: dict[str, int], message: str) -> None:
    with pytest.raises(SettingsError, match=re.escape(f"s1: l2_forward{message}")):
        checked_addresses("s1", KNOWN, addresses)
