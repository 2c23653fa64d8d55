# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from clarion_base.errors import UserError
from clarion_base.faults import ScenarioError
from clarion_lab.engines.emulation import EmulationEngine
from clarion_lab.machine import requirements
from clarion_lab.scenario import documents
from clarion_lab.scenario.model import Scenario, build

PARAMS = [
    {"name": "boost_loss", "default": 1, "min": 0, "max": 2, "laws": ["clarion_boost"]},
    {"name": "stcp_decrease_q16", "default": 8192, "min": 1, "max": 65535, "laws": ["clarion_stcp"]},
]


def scenario(*settings: tuple[str, object], name: str = "geo") -> Scenario:
    document = documents.read(documents.locate(name))
    return build(name, documents.points(name, document, settings)[0].document)


@pytest.fixture
def agent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clarion-host with two parameters."""
    program = tmp_path / "clarion-host"
    program.write_text(f"#!/bin/sh\necho '{json.dumps(PARAMS)}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("CLARION_HOST_BIN", str(program))


def test_a_sender_that_counts_marks_needs_a_kernel_that_reports_them(tmp_path: Path) -> None:
    sign = tmp_path / "tcp_ecn_option"
    counting = scenario(("algorithm", "prague"), ("ecn", True))
    told = r"algorithm: prague: needs accurate ECN, which Linux has from 6.18 on; use --engine sim$"
    with pytest.raises(ScenarioError, match=told):
        requirements.check_accurate_ecn(counting, sign)
    requirements.check_accurate_ecn(scenario(("algorithm", "cubic"), ("ecn", True)), sign)
    sign.touch()
    requirements.check_accurate_ecn(counting, sign)


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("params.boost_los", 1, "params.boost_los: unknown; use boost_loss"),
        ("params.boost_loss", 3, "params.boost_loss: 3: use a whole number from 0 to 2"),
        ("params.boost_loss", 1.5, "params.boost_loss: 1.5: use a whole number from 0 to 2"),
        (
            "flows.0.params.boost_loss",
            "tagged",
            "flows[0].params.boost_loss: tagged: use a whole number from",
        ),
    ],
)
def test_parameters_are_checked_against_the_agents(agent: None, key: str, value: object, line: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        requirements.check_params(scenario(("algorithm", "boost"), (key, value)))
    assert str(caught.value).startswith(f"scenario geo: {line}")


def test_legal_parameters_pass(agent: None) -> None:
    requirements.check_params(scenario(("algorithm", "boost"), ("params.boost_loss", 2)))
    requirements.check_params(scenario(("algorithm", "boost"), ("params.boost_loss", "0")))


def test_a_parameter_of_another_law_is_answered_with_the_legal_ones(agent: None) -> None:
    told = r"params.stcp_decrease_q16: boost has no such parameter; use boost_loss$"
    with pytest.raises(ScenarioError, match=told):
        requirements.check_params(scenario(("algorithm", "boost"), ("params.stcp_decrease_q16", 1)))
    requirements.check_params(scenario(("algorithm", "stcp"), ("params.stcp_decrease_q16", 1)))
    with pytest.raises(ScenarioError, match=r"params.stcp_decrease_q16: hstcp takes none$"):
        requirements.check_params(scenario(("algorithm", "hstcp"), ("params.stcp_decrease_q16", 1)))


def test_a_parameter_for_all_flows_must_be_one_of_every_law(agent: None) -> None:
    flows = [{"algorithm": "boost"}, {"algorithm": "stcp"}]
    with pytest.raises(ScenarioError, match=r"params.boost_loss: stcp has no such parameter"):
        requirements.check_params(scenario(("flows", flows), ("params.boost_loss", 1)))


def test_the_machines_own_module_is_asked_for_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = tmp_path / "asked"
    available = tmp_path / "available"
    available.write_text("reno cubic clarion_stcp\n")
    modprobe = tmp_path / "modprobe"
    modprobe.write_text(f"#!/bin/sh\necho \"$@\" >{asked}\necho 'reno cubic vegas' >{available}\n")
    modprobe.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    requirements.check_congestion_controls(scenario(("algorithm", "kernel:vegas")), available)
    assert asked.read_text() == "-q tcp_vegas\n"
    available.write_text("reno cubic clarion_stcp\n")
    modprobe.unlink()
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ScenarioError, match=r'"kernel:vegas": this kernel has no vegas; it has reno, cubic$'):
        requirements.check_congestion_controls(scenario(("algorithm", "kernel:vegas")), available)


def test_a_congestion_control_that_the_kernel_lacks_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))  # no modprobe
    (tmp_path / "available").write_text("reno cubic\n")
    requirements.check_congestion_controls(scenario(("algorithm", "cubic")), tmp_path / "available")
    requirements.check_congestion_controls(scenario(("algorithm", "xcp")), tmp_path / "available")
    with pytest.raises(ScenarioError, match=r'algorithm: "bbr": this kernel has no bbr; it has reno, cubic$'):
        requirements.check_congestion_controls(scenario(("algorithm", "bbr")), tmp_path / "available")


def test_a_missing_program_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UserError, match=r"^engine emu: mnexec: not found; apt install mininet$"):
        requirements.check(scenario(), "emu")


def test_the_sum_of_the_bottlenecks_is_bounded() -> None:
    links = [{"rate": "700 Mbit/s"}, {"rate": "600 Mbit/s"}]
    wide = scenario(("links.bottleneck", links), ("flows", [{"count": 1}]), name="parking-lot")
    with pytest.raises(ScenarioError, match=r"links.bottleneck: 1.3 Gbit/s in sum: beyond the 1.2 Gbit/s of"):
        EmulationEngine().check(wide)
