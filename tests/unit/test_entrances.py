# SPDX-License-Identifier: Apache-2.0
"""Every interface to a data plane accepts the same settings of XCP, with the same messages of refusal."""

from __future__ import annotations

import copy
import json
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from clarion_base.errors import UserError
from clarion_base.faults import FaultError, ScenarioError, pointer
from clarion_base.paths import binary
from clarion_contract.entries import port_entries, port_settings
from clarion_contract.settings import XCP, PortSettings
from clarion_contract.settings_json import checked, from_json
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import build
from clarion_nic.driver import settings as nic_settings
from clarion_nic.driver.card import Card
from clarion_nic.driver.place import Place
from fakes.fake_card import FakeCard
from fakes.rest import PORT, Rig, open_rig

CAPACITY_BPS = 100_000_000
ALPHA = "must be above 0 and below 0.5553 (pi/(4*sqrt 2)), or the control loop is not stable"
BETA = "must be 0.2263 (alpha^2*sqrt 2) within 1 %, or the control loop is not stable"
CAPACITY = 'use a whole number of bit/s from 8 to 2199023255551, or "measured"'
GAMMA = "must be above 0 and below 1: the share of the traffic that is shuffled"
SWITCH = "; with allow_unstable from 0 to 3.99998"
HELD = "use a number from 0 to 3.99998"
ORDER = "must be at most max_interval_us, 1000000"
US = "use a whole number of microseconds from 1 to 16000000"
ANYWAY = {"allow_unstable": True}

Given = Mapping[str, Any]
Refusal = tuple[str, str] | None  # the setting's name and the message

CASES: list[tuple[Given, Refusal]] = [
    ({}, None),
    ({"alpha": 0.3}, None),
    ({"alpha": 0.5553}, None),
    ({"alpha": 0.5554}, ("alpha", f"0.5554: {ALPHA}{SWITCH}")),
    ({"alpha": 0.8}, ("alpha", f"0.8: {ALPHA}{SWITCH}")),
    ({"alpha": 0.8, **ANYWAY}, None),
    ({"alpha": 4.5}, ("alpha", f"4.5: {ALPHA}{SWITCH}")),
    ({"alpha": 4.5, **ANYWAY}, ("alpha", f"4.5: {HELD}")),
    ({"alpha": -0.1, **ANYWAY}, ("alpha", f"-0.1: {HELD}")),
    ({"alpha": 3.99998, "beta": 3.99998, **ANYWAY}, None),
    ({"alpha": 1.9, **ANYWAY}, ("beta", f"{1.9 * 1.9 * 2**0.5}: {HELD}")),
    ({"beta": 0.2239}, ("beta", f"0.2239: {BETA}{SWITCH}")),
    ({"beta": 0.228}, None),
    ({"beta": 0.3}, ("beta", f"0.3: {BETA}{SWITCH}")),
    ({"beta": 0.3, **ANYWAY}, None),
    ({"gamma": 0.99}, None),
    ({"gamma": 1.5}, ("gamma", f"1.5: {GAMMA}{SWITCH}")),
    ({"gamma": 1.5, **ANYWAY}, None),
    ({"gamma": 0.000001}, ("gamma", "1e-06: the switch would round it to 0; use at least 1/65536")),
    ({"gamma": 0.000001, **ANYWAY}, ("gamma", "1e-06: the switch would round it to 0; use at least 1/65536")),
    ({"min_interval_us": 0}, ("min_interval_us", f"0: {US}")),
    ({"max_interval_us": 16_000_000}, None),
    ({"max_interval_us": 16_000_001}, ("max_interval_us", f"16000001: {US}")),
    (
        {"min_interval_us": 2_000_000},
        ("min_interval_us", f"2000000: {ORDER}"),
    ),
]
cases = pytest.mark.parametrize(("given", "refusal"), CASES, ids=lambda each: json.dumps(each)[:60])


def refused(call: Callable[[], object]) -> FaultError | None:
    try:
        call()
    except FaultError as error:
        return error
    return None


@cases
def test_a_client_of_a_switch(given: Given, refusal: Refusal) -> None:
    document = {"xcp": {"capacity_bps": CAPACITY_BPS, **given}}
    error = refused(lambda: checked("s1", [1], from_json("s1", 1, document)))
    said = error and (error.fault.path, error.fault.reason)
    assert said == (refusal and (("xcp", refusal[0]), refusal[1]))


BASE = {
    "description": "d",
    "topology": "dumbbell",
    "links": {"bottleneck": {"rate": "100 Mbit/s"}},
    "flows": [{}],
    "duration": "1 s",
}


@cases
def test_a_scenario(given: Given, refusal: Refusal) -> None:
    """A scenario spells min_interval_us: 2000000 as min-interval: 2 s."""
    keys = {name: setting.key("-") for name, setting in XCP.items()}
    xcp = {keys[name]: f"{value} us" if XCP[name].unit == "us" else value for name, value in given.items()}
    document = {**copy.deepcopy(BASE), "xcp": xcp}
    error = refused(lambda: build("x", documents.points("x", document)[0].document))
    if refusal is None:
        assert error is None
        return
    assert isinstance(error, ScenarioError)
    said = refusal[1]
    for name in ("allow_unstable", "max_interval_us"):
        said = said.replace(name, keys[name])
    assert (error.fault.path, error.fault.reason) == (("xcp", keys[refusal[0]]), said)


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def rig(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Rig]:
    async with open_rig(tmp_path_factory.mktemp("rest")) as made:
        yield made


@cases
@pytest.mark.asyncio(loop_scope="module")
async def test_rest(given: Given, refusal: Refusal, rig: Rig) -> None:
    body = {"xcp": {"capacity_bps": CAPACITY_BPS, **given}}
    answer = await rig.operate("PUT", PORT, json=body, headers={"If-Match": "*"})
    if refusal is None:
        assert answer.status_code == 200
        return
    [error] = answer.json()["errors"]
    assert (error["pointer"], error["detail"]) == (f"#{pointer(('xcp', refusal[0]))}", refusal[1])


@pytest.fixture(scope="module")
def card(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Card]:
    root = tmp_path_factory.mktemp("card")
    with pytest.MonkeyPatch.context() as patch, FakeCard(root / "bar") as fake:
        patch.setenv("CLARION_RUN_ROOT", str(root))
        with Card(Place("nic", fake.path, 0)) as opened:
            yield opened


@cases
def test_nic_set(given: Given, refusal: Refusal, card: Card) -> None:
    """Each time from a port without XCP, so that it then has only the given settings."""
    units = {"bit/s": " bit/s", "us": " us"}
    words = [
        f"{XCP[name].key()}={'on' if value is True else value}{units.get(XCP[name].unit, '')}"
        for name, value in {"capacity_bps": CAPACITY_BPS, **given}.items()
    ]
    nic_settings.change(card, 1, nic_settings.parsed(["xcp=off"]))
    said = None
    try:
        nic_settings.change(card, 1, nic_settings.parsed(words))
    except UserError as error:
        said = str(error)
    assert said == (refusal and f"nic: port 1: {XCP[refusal[0]].key()}: {refusal[1]}")


def start_switch(xcp: Mapping[str, Any], folder: Path) -> tuple[str, str]:
    """What clarion-switch prints with these settings of XCP at a port: whether it started, and its fault."""
    ends: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("s1", "s2:p", {"xcp": {"enabled": True, **xcp}}),
        ("s2", "s1:p", {}),
    )
    switches = [
        {"name": name, "ports": [{"name": "p", "peer": peer, "rate_bps": CAPACITY_BPS, **more}]}
        for name, peer, more in ends
    ]
    config = folder / "switches.json"
    config.write_text(json.dumps({"switches": switches}))
    command = [str(binary("clarion-switch")), "--config", str(config)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    started = process.stdout.readline()
    process.terminate()
    _, said = process.communicate(timeout=10)
    return started, said


@cases
def test_the_configuration_of_clarion_switch(given: Given, refusal: Refusal, tmp_path: Path) -> None:
    started, said = start_switch(given, tmp_path)
    if refusal is None:
        assert started == "ready\n"
    else:
        assert said == f"clarion-switch: config: switches[0].ports[0].xcp.{refusal[0]}: {refusal[1]}\n"


@pytest.mark.parametrize(
    ("capacity", "said"), [("mesured", '"mesured"'), (0, "0"), (7, "7"), (2**41, str(2**41))]
)
@pytest.mark.asyncio(loop_scope="module")
async def test_a_capacity_is_a_rate_or_measured(
    capacity: object, said: str, rig: Rig, tmp_path: Path
) -> None:
    """Where it is a number of bit/s: a client, REST, the configuration of clarion-switch."""
    document = {"xcp": {"capacity_bps": capacity}}
    error = refused(lambda: checked("s1", [1], from_json("s1", 1, document)))
    assert error is not None
    assert (error.fault.path, error.fault.reason) == (("xcp", "capacity_bps"), f"{said}: {CAPACITY}")
    answer = await rig.operate("PUT", PORT, json=document, headers={"If-Match": "*"})
    [fault] = answer.json()["errors"]
    assert (fault["pointer"], fault["detail"]) == ("#/xcp/capacity_bps", f"{said}: {CAPACITY}")
    started, printed = start_switch({"capacity_bps": capacity}, tmp_path)
    assert (started, printed.partition(".xcp.")[2]) == ("", f"capacity_bps: {said}: {CAPACITY}\n")


@pytest.mark.asyncio(loop_scope="module")
async def test_a_measured_capacity_is_taken(rig: Rig, tmp_path: Path) -> None:
    document = {"xcp": {"capacity_bps": "measured"}}
    settings = checked("s1", [1], from_json("s1", 1, document))
    assert settings.xcp is not None
    assert settings.xcp.is_measured
    answer = await rig.operate("PUT", PORT, json=document, headers={"If-Match": "*"})
    assert answer.json()["desired"]["xcp"]["capacity_bps"] == "measured"
    answer = await rig.operate(
        "PATCH", PORT, json={"xcp": {"capacity_bps": 10_000_000}}, headers={"If-Match": "*"}
    )
    assert answer.json()["desired"]["xcp"]["capacity_bps"] == 10_000_000
    assert start_switch({"capacity_bps": "measured"}, tmp_path) == ("ready\n", "")


def test_a_scenario_names_the_capacities_that_there_are() -> None:
    document = {**copy.deepcopy(BASE), "xcp": {"capacity": "100 Mbit/s"}}
    error = refused(lambda: documents.points("x", document))
    assert isinstance(error, ScenarioError)
    assert str(error) == 'scenario x: xcp.capacity: "100 Mbit/s": use start, told, measured'


def test_what_a_switch_has_may_be_set_again() -> None:
    """Settings read back from a switch count as explicitly allowed."""
    document = {"xcp": {"capacity_bps": CAPACITY_BPS, "alpha": 0.8, **ANYWAY}}
    settings = checked("s1", [1], from_json("s1", 1, document))
    adopted = port_settings([1], port_entries(settings, 1, 1))[1]
    assert adopted.xcp is not None
    assert adopted.xcp.allow_unstable
    assert checked("s1", [1], adopted) == adopted
    assert port_settings([1], port_entries(PortSettings(1), 1, 1))[1] == PortSettings(1)
