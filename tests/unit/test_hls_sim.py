# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from clarion_base.errors import UserError
from clarion_base.faults import ScenarioError
from clarion_lab.engines.bmv2.engine import Bmv2Engine
from clarion_lab.engines.hls_sim import MAX_PORTS, HlsSimEngine
from clarion_lab.engines.host_engine import HostEngine
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.scenario.topology import plan


def scenario(*settings: tuple[str, object], name: str = "smoke-fpga") -> Scenario:
    document = documents.read(documents.locate(name))
    return build(name, documents.points(name, document, settings)[0].document)


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "clarion-hls-sim"
    made.write_text("#!/bin/sh\n")
    made.chmod(0o755)
    monkeypatch.setenv("CLARION_HLS_SIM_BIN", str(made))
    return made


def check(wanted: Scenario) -> None:
    HlsSimEngine().check_switches(wanted, plan(wanted))


@pytest.mark.parametrize("name", ["smoke", "smoke-fpga"])
def test_small_scenarios_pass_whatever_their_access_links(name: str) -> None:
    check(scenario(name=name))
    check(scenario(("links.access.rate", "1 Gbit/s"), ("links.access.queue", "100 kB"), name=name))


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        (
            "links.bottleneck.rate",
            "26 Mbit/s",
            "links.bottleneck.rate: 26 Mbit/s: beyond the 25 Mbit/s of engine",
        ),
        (
            "links.bottleneck",
            [{"rate": "20 Mbit/s"}, {"rate": "6 Mbit/s"}],
            "links.bottleneck: 26 Mbit/s in sum: beyond the 25 Mbit/s of engine hls-sim's one process",
        ),
        (
            "links.bottleneck.rate-steps",
            [{"at": "1 s", "rate": "26 Mbit/s"}],
            "links.bottleneck.rate-steps[0].rate: 26 Mbit/s: beyond",
        ),
        (
            "links.bottleneck.queue",
            "1012631 B",
            "links.bottleneck.queue: 1012631 bytes: the block's packet memory",
        ),
        (
            "links.access.queue",
            "2 MB",
            "links.access.queue: 2000000 bytes: the block's packet memory has room for",
        ),
        (
            "flows.0.count",
            MAX_PORTS,
            f"flows: {MAX_PORTS + 1} ports at s1: engine hls-sim has {MAX_PORTS}; use",
        ),
    ],
)
def test_what_the_simulation_does_not_carry_is_refused(key: str, value: object, line: str) -> None:
    settings = [(key, value)]
    if isinstance(value, list) and key == "links.bottleneck":
        settings.insert(0, ("topology", "parking-lot"))
    with pytest.raises(ScenarioError) as caught:
        check(scenario(*settings))
    assert str(caught.value).startswith(f"scenario smoke-fpga: {line}")


@pytest.mark.parametrize("field", ["xcp.generation", "switches.s2.generation"])
@pytest.mark.parametrize("generation", [1, 2])
def test_both_generations_pass(field: str, generation: int) -> None:
    check(scenario((field, generation)))


@pytest.mark.parametrize("engine", [HlsSimEngine(), Bmv2Engine()])
def test_measuring_is_refused(engine: HostEngine) -> None:
    with pytest.raises(ScenarioError) as caught:
        engine.check(scenario(("xcp.capacity", "measured")))
    reason = f"measured: engine {engine.name} measures none; use start or told, or --engine emu or sim"
    assert str(caught.value) == f"scenario smoke-fpga: xcp.capacity: {reason}"


def test_a_queue_that_just_fits_passes() -> None:
    check(scenario(("links.bottleneck.queue", "1012630 B")))


def test_a_program_that_is_not_built_is_named(program: Path) -> None:
    program.unlink()
    with pytest.raises(UserError, match="clarion-hls-sim: not found; run `make build`"):
        check(scenario())
