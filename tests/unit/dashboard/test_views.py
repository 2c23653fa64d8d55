# SPDX-License-Identifier: Apache-2.0
"""Texts of the pages: flags of a port, lines of the audit, states of a switch, results of a run."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import pytest

from clarion import scenario_library
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_control.dashboard import parts
from clarion_control.dashboard.audit_table import differences
from clarion_control.dashboard.experiment_results import address
from clarion_control.dashboard.port_row import capacity_bps, flags, port_address
from clarion_control.dashboard.series import Capacities
from clarion_control.dashboard.switch_admin import port_list
from clarion_control.errors import FieldError
from clarion_control.fleet.standing import Me, Standing
from clarion_control.model import (
    ControllerRecord,
    DesiredPort,
    LinkState,
    Policy,
    PolicyState,
    PortState,
    SwitchStatus,
)
from clarion_control.topology import LinkEnd
from clarion_p4rt.switch import Switch

SWITCH = Switch(1, "s1", "127.0.0.1:9559", 1, (1, 2))
ON = PortSettings(1, XcpSettings(100_000_000))


def test_a_port_is_shown_with_its_name_beside_its_number() -> None:
    switch = replace(SWITCH, port_names={2: "h1"})
    assert [switch.port_title(port) for port in switch.ports] == ["Port 1", "Port 2 (h1)"]
    assert LinkEnd("s1", 2, "s1", "2", name="h1").place == "s1 port 2 (h1)"


def policy(name: str, state: PolicyState) -> Policy:
    return Policy("s1", 1, name, state, {}, 0, "olga")


def test_flags_put_trouble_first() -> None:
    state = PortState(SWITCH, 1, DesiredPort(ON, 3, 0), PortSettings(1), applied=False)
    shown = flags(state, [policy("capacity", PolicyState.HELD), policy("noise", PolicyState.ACTIVE)], True)
    assert [word for word, _ in shown] == [
        "link degrading",
        "change not applied",
        "capacity held",
        "XCP off",  # on the switch, whatever the desired setting
        "tuned: noise",
    ]


def test_a_port_of_which_nothing_is_known_says_so() -> None:
    state = PortState(SWITCH, 1, None, None, applied=False)
    assert flags(state, [], False) == (("not known", ""),)
    assert capacity_bps(state, None) is None
    assert capacity_bps(PortState(SWITCH, 1, DesiredPort(ON, 1, 0), None, False), None) == 100_000_000


@pytest.mark.parametrize("effective", [PortSettings(1, XcpSettings(0)), None])
def test_a_port_that_measures_has_no_capacity_in_the_past(effective: PortSettings | None) -> None:
    adopted = DesiredPort(PortSettings(1, XcpSettings(0)), 1, 0)
    state = PortState(SWITCH, 1, adopted, effective, True)
    assert capacity_bps(state, 40_000_000) == 40_000_000
    before = Capacities([], 1, capacity_bps(state, None))
    assert [before.at(time_us) for time_us in (0, 1, 2**50)] == [None, None, None]


def test_addresses_are_quoted() -> None:
    assert port_address("a/b", 3) == "/switches/a%2Fb/ports/3"
    assert address(4, "xcp 1/plot.png") == "/experiments/4/files/xcp%201/plot.png"


def test_every_state_has_a_word_and_trouble_a_sentence() -> None:
    for state in LinkState:
        status = SwitchStatus(state, 0, "no answer")
        assert parts.state_words(status)[0]
        said = parts.state_sentence("s1", status)
        wanted = {LinkState.UNREACHABLE, LinkState.REFUSED, LinkState.BACKUP}
        assert (said is not None) is (state in wanted)


def test_the_leader_of_a_switch_is_named() -> None:
    east, west = (
        ControllerRecord("east", 1, "http://east/", 0),
        ControllerRecord("west", 2, "http://west/", 0),
    )
    standing = cast(
        Standing,
        SimpleNamespace(
            me=Me("east", 1),
            known=lambda: [(east, True), (west, True)],
            name_of={1: "east", 2: "west", 3: "election id 3"}.get,
        ),
    )

    def led_by(primary: int | None) -> tuple[str, str]:
        return parts.leader(standing, SwitchStatus(LinkState.BACKUP, 0, primary=primary))

    assert led_by(1) == ("east", "this controller")
    assert led_by(2) == ("west", "http://west/")
    assert led_by(3) == ("election id 3", "")
    assert led_by(None)[0] == "no primary"


def test_the_audit_shows_what_differs() -> None:
    before = {"xcp": {"alpha": 0.4, "gamma": 0.1}, "stamp": False}
    after = {"xcp": {"alpha": 0.3, "gamma": 0.1}, "stamp": True}
    assert differences(before, after) == ["alpha: 0.4 → 0.3", "stamp: off → on"]
    assert differences(None, {"name": "vera", "role": "viewer"}) == ["name: vera", "role: viewer"]
    assert differences({"name": "s1"}, None) == ["name: s1 → none"]


def test_results_that_are_no_summary_make_no_table() -> None:
    assert scenario_library.rows({}) == []
    assert scenario_library.rows({"format": "clarion-batch"}) == []
    assert scenario_library.rows({"format": "clarion-batch", "rows": [["smoke", 1]]}) == [["smoke", "1"]]


def test_ports_are_written_as_numbers_and_ranges() -> None:
    assert port_list("1, 2,5-8") == [1, 2, 5, 6, 7, 8]
    assert port_list("") == []
    for wrong in ("one", "1;2", "5-2", "0-9999", "-1"):
        with pytest.raises(FieldError, match="ports"):
            port_list(wrong)
