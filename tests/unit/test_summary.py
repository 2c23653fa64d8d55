# SPDX-License-Identifier: Apache-2.0
"""A recording with round numbers, for mental arithmetic."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from clarion_base import text_table
from clarion_lab.engines import truth
from clarion_lab.hosts import tuning
from clarion_lab.recording import files
from clarion_lab.recording.recording import FlowSample, LossRecord, PortSample, QueueHistogram, Recording
from clarion_lab.results import compare
from clarion_lab.results.summary import summarise
from clarion_lab.run import batch
from clarion_lab.scenario.documents import points
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.scenario.topology import plan, switch_config
from clarion_lab.scenario.validation import first_fault

DOCUMENT: dict[str, Any] = {
    "description": "two flows",
    "topology": "dumbbell",
    "links": {
        "access": {"rtt": "2 ms"},
        "bottleneck": {
            "rate": "8 Mbit/s",
            "rtt": "96 ms",
            "queue": "100 kB",
            "loss": {"forward": {"model": "packet", "rate": 0.5}},
        },
    },
    "flows": [{"count": 2}],
    "duration": "4 s",
    "measure-from": "2 s",
}
STATUS: dict[str, Any] = {
    "state": "complete",
    "reason": None,
    "engine": "emu",
    "point": "",
    "settings": {},
    "repeat": 1,
}


def scenario() -> Scenario:
    return build("two", points("two", DOCUMENT)[0].document)


def recording() -> Recording:
    """Flow 0 delivers 25 kB/s, flow 1 75 kB/s; the queue holds 10 kB all the time; one drop per 100 ms."""
    made = Recording(
        ended_us=4_000_000, environment={"kernel": "6", "processors": 2, "versions": {}, "git": None}
    )
    made.environment["sysctls"] = {}
    for tick in range(41):
        time_us = tick * 100_000
        for flow, step in ((0, 2500), (1, 7500)):
            made.flow_samples.append(
                FlowSample(
                    time_us,
                    flow,
                    tick * step,
                    tick * step,
                    10,
                    98_000,
                    98_000,
                    5,
                    0,
                    tick,
                    0,
                    0,
                    0,
                    0,
                    0,
                    tick * step,
                )
            )
        made.port_samples.append(
            PortSample(
                time_us, "s1-right", tick * 50_000, tick, 10_000, 10_000 * time_us, tick, 2 * tick, 0, 0
            )
        )
    made.histograms["s1-right"] = QueueHistogram([0, 1, 2, 4], [70_000, 0, 0], [70_000, 99, 1])
    made.agent = {
        0: {"rev_corrupt": 3, "rev_congest": 1, "aware": True},
        1: {"rev_corrupt": 0, "rev_congest": 0, "aware": True},
    }
    for flow, forward, cause, header in (
        *[(0, True, "wire", 1)] * 4,
        (0, True, "queue", 1),
        (0, False, "wire", 2),
        (1, True, "wire", 0),
        (-1, True, "wire", 0),
    ):
        made.losses.append(LossRecord(1, flow, forward, cause, "s1-right", 1546, 1448, header))
    return made


def summary() -> dict[str, Any]:
    made = summarise(scenario(), plan(scenario()), recording(), STATUS, [])
    made["expectations"] = []
    return made


def test_the_summary_fits_its_schema() -> None:
    assert first_fault("summary", summary()) is None


@pytest.mark.parametrize("cpu", [None, 1])
def test_the_summary_says_what_cpu_the_switch_was_bound_to(cpu: int | None) -> None:
    made = summary()
    hosts = made["environment"]["hosts"] = tuning.described(scenario(), cpu)
    assert hosts["switch_cpu"] == cpu
    assert first_fault("summary", made) is None
    hosts["switch_cpu"] = "1"
    assert first_fault("summary", made) is not None


def test_goodput_and_fairness() -> None:
    totals = summary()["totals"]
    assert totals["goodput_bits_per_s"] == pytest.approx(800_000)  # (25 + 75) kB/s
    assert totals["jain"] == pytest.approx(0.8)  # shares 1 and 3
    # 8 Mbit/s * 1448 / 1546 = 7,492,885; half of the packets are lost
    assert totals["payload_ceiling_bits_per_s"] == pytest.approx(7_492_885, abs=1)
    assert totals["physical_limit_bits_per_s"] == pytest.approx(3_746_442, abs=1)
    assert totals["convergence"] is None


@pytest.mark.parametrize(
    ("flow", "goodput_bps"),
    [
        ({}, 8 * (25_000 * 1 + 75_000 * 1) / 2),  # from 2 s to 4 s
        ({"start": "3 s"}, 8 * 75_000),  # the one second in which the flow exists
        ({"start": "1 s"}, 8 * (25_000 * 1 + 75_000 * 1) / 2),
        ({"stop": "3 s"}, 8 * 25_000),
        ({"start": "2.5 s", "stop": "3.5 s"}, 8 * (25_000 * 0.5 + 75_000 * 0.5)),
    ],
)
def test_goodput_counts_the_time_in_which_a_flow_is_there(flow: dict[str, str], goodput_bps: float) -> None:
    """A flow with 25 kB/s until 3 s and 75 kB/s from then on, measured from 2 s."""
    parted = build("two", points("two", {**DOCUMENT, "flows": [flow, {}]})[0].document)
    made = recording()
    made.flow_samples = [
        sample._replace(
            delivered_bytes=min(sample.time_us, 3_000_000) // 40
            + max(sample.time_us - 3_000_000, 0) * 3 // 40
        )
        for sample in made.flow_samples
    ]
    first = summarise(parted, plan(parted), made, STATUS, [])["flows"][0]
    assert first["goodput_bits_per_s"] == pytest.approx(goodput_bps)


def test_losses_and_tags_per_flow() -> None:
    made = summary()
    losses = made["flows"][0]["losses"]
    found = {key: losses[key] for key in losses if losses[key]}
    assert found == {"data_wire": 4, "data_queue": 1, "ack_wire": 1}
    tags = made["totals"]["tags"]
    # flow 1 lost a packet without a header, which no tag could report: the truth counts it all the same
    assert (tags["wire"]["tagged"], tags["wire"]["truth"], tags["wire"]["recall"]) == (3, 5, 0.6)
    assert (tags["all"]["precision"], tags["all"]["recall"]) == (1.0, pytest.approx(4 / 6))


def test_negative_totals_are_reported_not_hidden() -> None:
    made = recording()
    made.agent[1]["rev_corrupt"] = -2
    tags = summarise(scenario(), plan(scenario()), made, STATUS, [])["totals"]["tags"]
    assert (tags["wire"]["tagged"], tags["wire"]["negative"]) == (1, 1)
    assert tags["queue"]["negative"] == 0


def test_tags_over_time_follow_their_echo() -> None:
    """3 of 4 losses tagged, all at 1 us; echoed within the first round trip of 98 ms."""
    made = recording()
    made.flow_samples = [
        sample._replace(tagged_corrupt=3 if sample.flow == 0 and sample.time_us >= 100_000 else 0)
        for sample in made.flow_samples
    ]
    first, *rest = summarise(scenario(), plan(scenario()), made, STATUS, [])["totals"]["tags"]["over_time"]
    assert (first["from_s"], first["to_s"]) == (0, pytest.approx(4 / 4))
    assert (first["wire"]["tagged"], first["wire"]["truth"]) == (3, 5)
    assert [period["wire"]["tagged"] for period in rest] == [0, 0, 0]


def test_the_bottleneck_port() -> None:
    port = next(port for port in summary()["ports"] if port["port"] == "s1-right")
    assert port["utilisation"] == pytest.approx(0.5)  # 500 kB/s of 1 MB/s
    assert port["queue_mean_bytes"] == pytest.approx(10_000)
    # 1 MB/s * 100 ms = 100 kB
    assert port["queue_mean_bdp"] == pytest.approx(0.1)
    assert port["queue_p99_bytes"] == 1  # 99 of 100 us at one byte; the 70 ms before the window do not count
    assert (port["drop_packets"], port["drop_packets_measured"], port["wire_lost_packets"]) == (40, 20, 80)


def test_convergence_counts_round_trips() -> None:
    """Both flows near limit / 2 = 1.873 Mbit/s = 234.2 kB/s from 1 s on, with 100 ms round trips."""
    made = recording()
    made.flow_samples = [
        sample._replace(
            delivered_bytes=sum(23_400 if tick >= 10 else 5_000 for tick in range(sample.time_us // 100_000))
        )
        for sample in made.flow_samples
    ]
    found = summarise(scenario(), plan(scenario()), made, STATUS, [])["totals"]["convergence"]
    assert found == {"time_s": 1.0, "round_trips": pytest.approx(10.0)}


def test_settling_is_judged_by_each_flows_own_level() -> None:
    """Both flows at a tenth of their fair share, level from 1 s on: settled then, converged never."""
    made = recording()
    made.flow_samples = [
        sample._replace(
            delivered_bytes=sum(2_000 if tick >= 10 else 500 for tick in range(sample.time_us // 100_000))
        )
        for sample in made.flow_samples
    ]
    made_summary = summarise(scenario(), plan(scenario()), made, STATUS, [])
    assert made_summary["totals"]["convergence"] is None
    assert made_summary["totals"]["settling"] == {"time_s": 1.0, "round_trips": pytest.approx(10.0)}
    assert made_summary["flows"][1]["settling"]["time_s"] == 1.0


def test_newcomer_counts_round_trips_from_its_start() -> None:
    """The second flow starts at 1 s; 95 % of its share of 234.2 kB/s from 1.5 s on: 5 trips of 100 ms."""
    flows = [{}, {"start": "1 s"}]
    late = build("two", points("two", {**DOCUMENT, "flows": flows})[0].document)
    made = recording()
    made.flow_samples = [
        sample._replace(
            delivered_bytes=sum(
                22_300 if tick >= 15 else 15_000 for tick in range(10, sample.time_us // 100_000)
            )
        )
        for sample in made.flow_samples
    ]
    totals = summarise(late, plan(late), made, STATUS, [])["totals"]
    assert totals["newcomer"] == {"time_s": 0.5, "round_trips": pytest.approx(5.0)}
    assert summary()["totals"]["newcomer"] is None  # two flows that start together: no newcomer


def test_of_newcomers_the_slowest_counts() -> None:
    """Each sends more than its share of 156.1 kB/s, from 0.2 s and from 0.4 s on; never: no time."""
    flows = [{}, {"count": 2, "start": "1 s"}]
    late = build("three", points("three", {**DOCUMENT, "flows": flows})[0].document)
    made = recording()
    first = [sample for sample in made.flow_samples if sample.flow == 0]

    def join(flow: int, tick: int) -> list[FlowSample]:
        since_us = tick * 100_000
        return [
            sample._replace(flow=flow, delivered_bytes=max(0, sample.time_us - since_us) * 160 // 1000)
            for sample in first
        ]

    made.flow_samples = [*first, *join(1, 12), *join(2, 14)]
    totals = summarise(late, plan(late), made, STATUS, [])["totals"]
    assert totals["newcomer"]["time_s"] == 0.4
    made.flow_samples = [*first, *join(1, 12), *join(2, 99)]
    assert summarise(late, plan(late), made, STATUS, [])["totals"]["newcomer"] is None


@pytest.mark.parametrize(
    ("measure_from", "late_s"),
    [("2 s", 0.6), ("8 s", 0.45), ("11 s", 0.0)],
    ids=["in", "shortly before", "before"],
)
def test_a_machine_that_stood_still_is_late_where_senders_suffer(measure_from: str, late_s: float) -> None:
    """For 0.6 s from 2 s to 6 s."""
    settings = {"duration": "12 s", "measure-from": measure_from}
    waits = build("two", points("two", {**DOCUMENT, **settings})[0].document)
    made = recording()
    made.ended_us = 12_000_000
    made.switch_late_us = [(0, 0), (2_000_000, 0), (6_000_000, 600_000), (12_000_000, 600_000)]
    assert summarise(waits, plan(waits), made, STATUS, [])["sampler"]["late_s"] == pytest.approx(late_s)


def test_a_run_that_died_at_once_still_has_a_summary() -> None:
    empty = Recording(environment=recording().environment)
    made = summarise(scenario(), plan(scenario()), empty, {**STATUS, "state": "failed", "reason": "x"}, [])
    made["expectations"] = []
    assert first_fault("summary", made) is None
    assert made["totals"]["goodput_bits_per_s"] == 0


def test_results_are_read_back(tmp_path: Path) -> None:
    files.write(tmp_path, summary(), recording(), [])
    assert files.read_summary(tmp_path)["totals"] == summary()["totals"]
    flows = files.read_table(tmp_path / files.FLOWS)
    assert flows["delivered_bytes"][-1] == 300_000  # 40 steps of 7500
    assert list(files.read_table(tmp_path / files.LOSSES)["header"]) == [1, 1, 1, 1, 1, 2, 0, 0]


def test_the_truth_log_is_assigned_to_flows(tmp_path: Path) -> None:
    log = tmp_path / "truth.csv"
    log.write_text(
        "time_us,switch,port,direction,cause,bytes,proto,src,sport,dst,dport,tcp_seq,payload_bytes,format,bucket\n"
        "5000100,s1,s1-right,out,wire,1546,6,10.1.0.1,40001,10.2.0.1,5201,7,1448,1,9\n"
        "5000200,s2,s2-left,out,queue,98,6,10.2.0.2,5202,10.1.0.2,40002,7,0,2,9\n"
        "5000300,s1,s1-right,out,wire,98,1,10.1.0.1,0,10.2.0.1,0,0,64,0,0\n"
        "5000400,s1,s1-ri"
    )
    read = truth.read(log, plan(scenario()), 5_000_000)
    assert [(loss.time_us, loss.flow, loss.forward, loss.cause) for loss in read] == [
        (100, 0, True, "wire"),
        (200, 1, False, "queue"),
        (300, -1, True, "wire"),
    ]


def test_the_switch_is_told_the_plan() -> None:
    config = switch_config(scenario(), plan(scenario()), "/t")
    ports = {port["name"]: port for switch in config["switches"] for port in switch["ports"]}
    assert set(ports) == {"s1-right", "s1-h1", "s1-h2", "s2-left", "s2-r1", "s2-r2"}
    forward = ports["s1-right"]
    assert (forward["peer"], forward["rate_bps"], forward["delay_us"]) == ("s2:s2-left", 8_000_000, 48_000)
    assert forward["loss"] == {"model": "packet", "rate": 0.5}
    assert ports["s2-left"]["loss"] == {"model": "none"}
    assert (forward["queue_bytes"], forward["xcp"]["capacity_bps"]) == (100_000, 8_000_000)
    assert forward["tag"] == {"stamp": True, "check": True, "edge": False}
    host = ports["s1-h1"]
    # the access link's 2 ms round trip: 1 ms toward the host and 1 ms from it
    assert (host["netdev"], host["delay_us"], host["ingress_delay_us"]) == ("s1-h1", 1_000, 1_000)
    assert host["tag"]["edge"] is True
    assert "xcp" not in host


def test_a_batch_averages_repeats_and_compares(tmp_path: Path) -> None:
    runs = []
    for repeat, goodput in enumerate((1e6, 3e6)):
        made = summary() | {"repeat": repeat + 1}
        made["totals"]["goodput_bits_per_s"] = goodput
        runs.append((tmp_path / f"run-{repeat + 1}", made))
    whole = batch.aggregate("two", "two flows", runs, tmp_path)
    assert whole["points"][0]["metrics"]["goodput_bits_per_s"]["mean"] == 2e6
    assert whole["rows"][0][:2] == ["two x2", "2.0 ± 12.7"]  # t(1 df) 12.706 * sd 1.414 / sqrt(2)
    whole |= {"state": "complete", "reason": None}
    files.write_json(tmp_path / files.SUMMARY, whole)
    entry = compare.compare(tmp_path, tmp_path)[0]
    assert (entry["metric"], entry["n_a"], entry["ratio"]) == ("goodput_bits_per_s", 2, 1.0)
    assert "goodput_bits_per_s" in compare.table(compare.compare(tmp_path, tmp_path))


def test_a_table_lines_up() -> None:
    text = text_table.plain([["a", "1.0"], ["bcd", "10.0"]], ("run", "rate"))
    assert text.splitlines() == ["run  rate", "---  ----", "a     1.0", "bcd  10.0"]


def test_a_table_for_documents() -> None:
    assert (
        text_table.markdown([["geo", "1"]], ("run", "Jain")) == "| run | Jain |\n| --- | --: |\n| geo | 1 |"
    )
