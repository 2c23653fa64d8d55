# SPDX-License-Identifier: Apache-2.0
"""`clarion run --engine hls-sim` as a user runs it: kernel TCP through the FPGA block's RTL."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from clarion_base import paths
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_contract.telemetry import IntervalReport
from clarion_lab.engines.hls_sim import MAX_PORTS, QUEUE_BEATS
from clarion_lab.scenario.validation import first_fault
from clarion_p4rt.primary import PrimarySession
from clarion_p4rt.switch import Switch
from integration import hls_sim
from integration.agent_net import AgentProcess, end
from integration.test_run import (
    CLARION,
    assert_nothing_is_left,
    assert_tags_tell_the_causes,
    clarion,
    summary,
)

pytestmark = [
    pytest.mark.root,
    pytest.mark.timeout(600),
    pytest.mark.skipif(hls_sim.missing() != "", reason=hls_sim.missing()),
]
RUN = ("run", "smoke-fpga", "--engine", "hls-sim")
DEADLINE_S = 120.0
RIGHT = 0  # on the card s1: the port before the bottleneck, the first of its switch


def port(made: dict[str, Any], name: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in made["ports"] if each["port"] == name)
    return found


def test_xcp_fills_a_path_with_errors_and_the_tags_name_them(tmp_path: Path) -> None:
    out = tmp_path / "out"
    clarion(*RUN, "--out", str(out))
    made = summary(out)
    assert first_fault("summary", made) is None
    assert (made["engine"], made["state"]) == ("hls-sim", "complete")
    totals = made["totals"]
    assert totals["fraction_of_limit"] > 0.9  # 0.985 to 0.993 on a quiet machine, 0.93 on a busy one
    assert totals["jain"] > 0.98
    assert totals["unasked_drop_packets"] == 0
    assert totals["tags"]["wire"]["truth"] > 20
    assert_tags_tell_the_causes(made)
    assert port(made, "s1-right")["utilisation"] > 0.9
    assert 24 <= made["flows"][0]["idle_rtt_ms"] < 27
    assert_nothing_is_left()


def test_drops_of_the_blocks_queue_are_told_from_errors(tmp_path: Path) -> None:
    """Two CUBIC flows overflow a queue of six packets while the wire loses 0.5 %."""
    settings = (
        "algorithm=cubic",
        "tag-plain-tcp=true",
        "links.bottleneck.queue=6 packets",
        "links.bottleneck.loss.forward.rate=0.5 %",
        "duration=10 s",
    )
    arguments = [part for setting in settings for part in ("--set", setting)]
    clarion(*RUN, *arguments, "--out", str(tmp_path / "out"))
    made = summary(tmp_path / "out")
    tags = made["totals"]["tags"]
    assert tags["wire"]["truth"] > 5
    assert tags["queue"]["truth"] > 5
    assert_tags_tell_the_causes(made)
    assert port(made, "s1-right")["drop_packets"] >= tags["queue"]["truth"]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """A long run whose flows deliver data, and the registers of its first switch."""
    run = subprocess.Popen(
        [*CLARION, *RUN, "--set", "duration=60 s", "--out", str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    registers = paths.run_root() / f"run-{run.pid}" / "s1.bar"
    deadline = time.monotonic() + DEADLINE_S
    while not registers.exists() or sent(registers) < 500:
        assert run.poll() is None, run.communicate()
        assert time.monotonic() < deadline
    try:
        yield run, registers
    finally:
        if run.poll() is None:
            run.kill()
            run.communicate()
            clarion("cleanup")


def nic(command: str, registers: Path, *arguments: str) -> Any:
    return json.loads(clarion("nic", command, *arguments, "--bar", str(registers), "--json"))


def sent(registers: Path) -> int:
    """Packets that the block has sent to the bottleneck."""
    count: int = nic("counters", registers)[RIGHT]["egress"]["tx_packets"]
    return count


def test_software_for_cards_works_while_traffic_flows(
    running: tuple[subprocess.Popen[str], Path], tmp_path: Path
) -> None:
    run, registers = running
    info = nic("info", registers)
    assert (info["ports"], info["queue_beats"], info["refused"]) == (3, QUEUE_BEATS, 0)
    before = sent(registers)
    nic("set", registers, str(RIGHT), "alpha=0.3")
    assert nic("ports", registers)[RIGHT]["xcp"]["alpha"] == pytest.approx(0.3, abs=1e-4)
    assert sent(registers) > before
    report = asyncio.run(first_report(registers))
    assert 24_000 <= report.avg_rtt_us < 60_000
    assert report.input_bytes > 0
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=DEADLINE_S)
    assert run.returncode == 130, errors
    assert summary(tmp_path / "out")["state"] == "interrupted"
    assert not registers.exists()
    assert_nothing_is_left()


async def first_report(registers: Path) -> IntervalReport:
    """The report of a control interval with traffic, as the agent of the card publishes it."""
    agent = await asyncio.to_thread(AgentProcess, "--nic", str(registers))
    try:
        async with PrimarySession(Switch(0, "s1", agent.address, 1, (0, 1, 2))) as client:
            await client.configure([PortSettings(RIGHT, xcp=XcpSettings(10_000_000), stamp=True)])
            async for report in client.reports():
                if not isinstance(report, IntervalReport) or report.port != RIGHT:
                    continue
                if report.avg_rtt_us != pytest.approx(100_000):  # the assumed RTT, until a header states one
                    return report
        raise AssertionError
    finally:
        await asyncio.to_thread(end, agent.process)


@pytest.mark.parametrize(
    ("setting", "line"),
    [
        (
            "links.bottleneck.rate=50 Mbit/s",
            "links.bottleneck.rate: 50 Mbit/s: beyond the 25 Mbit/s of engine hls-sim",
        ),
        (
            "links.bottleneck.queue=2 MB",
            "links.bottleneck.queue: 2000000 bytes: the block's packet memory has room for 1012630 bytes in"
            " frames of 1546; set a smaller queue",
        ),
        (
            f"flows.0.count={MAX_PORTS}",
            f"flows: {MAX_PORTS + 1} ports at s1: engine hls-sim has {MAX_PORTS}; use host-pairs",
        ),
    ],
)
def test_what_the_simulation_does_not_carry_is_refused(setting: str, line: str, tmp_path: Path) -> None:
    said = clarion(*RUN, "--set", setting, "--out", str(tmp_path / "out"), status=2)
    assert said == f"clarion: scenario smoke-fpga: {line}\n"
    assert not (tmp_path / "out").exists()


def test_a_controller_has_to_go_through_the_registers(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("x")
    done = subprocess.run(
        [*CLARION, *RUN, "--controller", "http://127.0.0.1:1", "--token-file", str(token)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(
        "clarion: --controller: engine hls-sim has cards in the place of switches; "
    )


def test_a_directory_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    config = tmp_path / "switch.json"
    config.write_text(
        '{"switches":[{"name":"s1","ports":[{"name":"a","peer":"s1:b"},{"name":"b","peer":"s1:a"}]}]}'
    )
    command = [paths.binary("clarion-hls-sim"), "--config", str(config), "--bar", str(tmp_path / "none")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr == f"clarion-hls-sim: config: --bar: {tmp_path}/none is not a directory\n"
