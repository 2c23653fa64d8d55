# SPDX-License-Identifier: Apache-2.0
"""Figures and frames of the benchmarks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bench import __main__ as runner
from bench import bench_p4, packet_source
from bench.figures import parser, summary, text, write
from conformance import reference
from conformance.frames import PROTOCOL


def test_summary_has_median_and_spread() -> None:
    runs = [{"rate": 3.0}, {"rate": 1.0}, {"rate": 2.0}]
    assert summary(runs) == {"rate": {"median": 2.0, "min": 1.0, "max": 3.0}}


def test_a_line_says_how_far_the_goal_is() -> None:
    line = text("share", {"median": 0.5, "min": 0.4, "max": 0.6}, 100, "%", ("at least", 25.0))
    assert " ".join(line.split()) == "share 50.0 % (40.0 .. 60.0), 2.00 of the goal of at least 25"


def test_figures_are_written_where_the_options_say(tmp_path: Path) -> None:
    options = parser("about", 3)
    given = options.parse_args(["--json", str(tmp_path / "figures.json")])
    assert given.runs == 3
    write(given.json, {"rate": 1.0})
    assert json.loads((tmp_path / "figures.json").read_text()) == {"rate": 1.0}
    write(options.parse_args([]).json, {"rate": 2.0})
    assert len(list(tmp_path.iterdir())) == 1


def test_ratios_are_those_of_the_same_repeat() -> None:
    rates = {
        "bmv2": [10.0, 20.0],
        "bmv2_2": [5.0, 10.0],
        "l2": [30.0, 40.0],
        "embedded": [50.0, 60.0],
        "source": [1.0, 1.0],
    }
    runs = {name: [{"packets_per_s": rate} for rate in values] for name, values in rates.items()}
    assert bench_p4.ratios(runs) == [
        {"bmv2_2_to_bmv2": 0.5, "l2_to_bmv2": 3.0, "embedded_to_bmv2": 5.0},
        {"bmv2_2_to_bmv2": 0.5, "l2_to_bmv2": 2.0, "embedded_to_bmv2": 3.0},
    ]


def test_processor_time_is_compared_within_a_repeat() -> None:
    times = {"bmv2": [30.0, 20.0], "bmv2_2": [35.0, 25.0], "l2": [10.0, 10.0], "embedded": [1.0, 1.0]}
    runs = {name: [{"us_per_packet": time} for time in values] for name, values in times.items()}
    assert bench_p4.time_ratios(runs) == [
        {"bmv2_to_l2": 3.0, "bmv2_2_to_l2": 3.5},
        {"bmv2_to_l2": 2.0, "bmv2_2_to_l2": 2.5},
    ]
    assert bench_p4.time_ratios({"bmv2": []}) == [{}]


@pytest.mark.parametrize("bucket", [0, 63])
def test_frames_carry_a_data_header(bucket: int) -> None:
    frame = packet_source.data_frame(bucket)
    packet, malformed = reference.classify(frame, PROTOCOL)
    assert len(frame) == packet_source.FRAME_BYTES == 14 + 1500
    assert not malformed
    assert packet.format == reference.DATA
    assert packet.fields["bucket"] == bucket
    assert packet.fields["rtt"] == packet_source.RTT_TICKS
    assert packet.at + reference.FIELDS[reference.DATA]["link_seq"][0] == packet_source.LINK_SEQ_AT


def test_every_bucket_is_numbered_on_its_own() -> None:
    frames = packet_source.Frames()

    def numbers() -> list[int]:
        at = packet_source.LINK_SEQ_AT
        return [int.from_bytes(bytes(frame[at : at + 2]), "big") for frame in frames.bytes]

    frames.number_next(0, 3)
    frames.number_next(2, 1)
    assert numbers()[:4] == [1, 1, 2, 0]
    for _ in range(0xFFFE):
        frames.number_next(2, 1)
    assert numbers()[2] == 0


def quick(name: str, script: str) -> runner.Benchmark:
    return runner.Benchmark(f"what {name} measures", 90, (sys.executable, "-c", script))


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    write = "import pathlib, sys; pathlib.Path(sys.argv[2]).write_text('{}')"
    made = {"a": quick("a", write), "bad": quick("bad", "raise SystemExit(3)"), "c": quick("c", write)}
    monkeypatch.setattr(runner, "BENCHMARKS", made)


@pytest.mark.usefixtures("benchmarks")
def test_a_part_of_the_benchmarks_can_be_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "--out", str(tmp_path), "--only", "c,a"])
    assert runner.main() == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "c.json"]
    said = [line for line in capsys.readouterr().out.splitlines() if "took" not in line]
    assert said == ["bench: c, 1 of 2; 3 min left", "bench: a, 2 of 2; 90 s left"]


@pytest.mark.usefixtures("benchmarks")
def test_a_benchmark_that_fails_is_named_and_the_others_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "--out", str(tmp_path), "--only", ""])
    assert runner.main() == 1
    assert capsys.readouterr().err == "bench: failed: bad\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "c.json"]


@pytest.mark.usefixtures("benchmarks")
def test_the_list_has_what_each_measures_and_how_long_it_takes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "--list"])
    assert runner.main() == 0
    assert capsys.readouterr().out.splitlines()[0].split(maxsplit=3) == ["a", "90", "s", "what a measures"]


@pytest.mark.usefixtures("benchmarks")
def test_an_unknown_benchmark_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "--only", "a,x"])
    with pytest.raises(SystemExit):
        runner.main()
    assert "argument --only: x: no such benchmark; there are a, bad, c" in capsys.readouterr().err
