# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from pathlib import Path

import pytest

from clarion import cli
from clarion_base.commands import EXIT_FAILED, EXIT_USAGE
from clarion_base.errors import UserError
from clarion_lab.controller.rest_client import RestClient
from clarion_lab.engines.emulation import EmulationEngine
from clarion_lab.machine import doctor
from clarion_lab.run import batch
from clarion_lab.scenario.documents import Point


def test_list_names_scenarios_and_algorithms(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["list"]) == 0
    text = capsys.readouterr().out
    assert "  geo " in text
    assert "    boost-judged " in text
    assert cli.main(["list", "senders"]) == 0
    text = capsys.readouterr().out
    assert "  geo " not in text
    assert "    stcp " in text
    assert "(Kelly 2003; Linux)" in text
    assert cli.main(["list", "scenarios"]) == 0
    assert "boost-judged" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["run", "goe"], "clarion: scenario goe: unknown name; use geo,"),
        (
            ["run", "geo", "--set", "links.bottleneck.rate=5 Mbitt"],
            "clarion: scenario geo: links.bottleneck.rate: ",
        ),
        (
            ["run", "geo", "--set", "links.bottleneck.rate=10 Gbit/s"],
            "clarion: scenario geo: links.bottleneck.rate: 10 Gbit/s: beyond the 1.2 Gbit/s of engine emu",
        ),
        (
            ["run", "geo", "--set", "flows.0.count=500"],
            "clarion: scenario geo: flows: 1000 hosts: engine emu makes 400",
        ),
        (["run", "geo", "--engine", "ns4"], "clarion: --engine ns4: unknown engine; use emu"),
        (
            ["run", "geo", "--sweep", "algorithm=xcp,vegs"],
            'clarion: scenario geo: algorithm: "vegs": unknown',
        ),
        (["report", "/nowhere"], "clarion: /nowhere: no summary.json there"),
        (["compare", "/nowhere", "/nowhere"], "clarion: /nowhere: no summary.json there"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(arguments) == 2
    said = capsys.readouterr().err
    assert said.startswith(line)
    assert said.count("\n") == 1


def test_a_sweep_of_one_value_is_a_batch() -> None:
    def single(name: str, repeats: int) -> bool:
        return batch.Batch("x", [Point(name, {}, {})], repeats, None, Path(), EmulationEngine()).single

    assert single("", 1)
    assert not single("", 2)
    assert not single("xcp", 1)


def older_batch(out: Path) -> None:
    """The files of a finished batch of two runs."""
    for directory in ("xcp/run-1", "xcp/run-2"):
        (out / directory / "iperf3").mkdir(parents=True)
        (out / directory / "iperf3" / "flow-1.json").write_text("{}")
        (out / directory / "flows.parquet").write_text("old")
    runs = [{"directory": "xcp/run-1"}, {"directory": "xcp/run-2"}]
    (out / "summary.json").write_text(json.dumps({"format": "clarion-batch", "version": 2, "runs": runs}))
    (out / "overview.png").write_text("old")


def test_older_results_are_replaced(tmp_path: Path) -> None:
    older_batch(tmp_path)
    batch.prepare(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "foreign", ["mine", "xcp/notes.txt", "xcp/run-1/thesis.tex", "xcp/run-2/iperf3/mine"]
)
def test_a_foreign_directory_is_not_overwritten(foreign: str, tmp_path: Path) -> None:
    older_batch(tmp_path)
    (tmp_path / foreign).write_text("keep")
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(UserError, match="is not a result of clarion; move it") as caught:
        batch.prepare(tmp_path)
    assert "\n" not in str(caught.value)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_directory_without_a_summary_of_clarion_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("keep")
    with pytest.raises(UserError, match="holds files that are not results of clarion"):
        batch.prepare(tmp_path)
    (tmp_path / "summary.json").write_text('{"format": "something else"}')
    with pytest.raises(UserError, match="not a summary of clarion"):
        batch.prepare(tmp_path)
    assert (tmp_path / "report.html").read_text() == "keep"


def test_a_summary_cannot_name_a_directory_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    out = tmp_path / "out"
    out.mkdir()
    summary = {"format": "clarion-batch", "version": 2, "runs": [{"directory": "../elsewhere"}]}
    (out / "summary.json").write_text(json.dumps(summary))
    with pytest.raises(UserError, match=r"names \.\./elsewhere, outside of it"):
        batch.prepare(out)


def test_doctor_says_how_to_get_what_is_missing() -> None:
    found = doctor.Finding("iperf3", True, "iperf 3.12", "apt install iperf3")
    missing = doctor.Finding("iperf3", True, None, "apt install iperf3")
    optional = doctor.Finding("netem", False, None, "modprobe sch_netem")
    assert found.line == "ok       iperf3: iperf 3.12"
    assert missing.line == "missing  iperf3: apt install iperf3"
    assert optional.line == "optional netem: modprobe sch_netem"
    assert doctor.ready([found, optional])
    assert not doctor.ready([found, missing])


def test_the_doctor_answers_every_check() -> None:
    findings = doctor.examine()
    assert {"root", "BTF", "struct_ops", "Mininet", "p4c", "simple_switch_grpc", "netem"} <= {
        f.name for f in findings
    }
    assert all(finding.remedy for finding in findings)


LINKS = """{"items": [
  {"ends": [
    {"switch": "s1", "port": 2, "wire": {"conflict": true, "reason": "declared a wire, but no; LLDP counts"}},
    {"switch": null, "port": null, "wire": null}]},
  {"ends": [
    {"switch": "s1", "port": 2, "wire": {"conflict": true, "reason": "declared a wire, but no; LLDP counts"}},
    {"switch": "s2", "port": 1, "wire": {"conflict": false, "reason": "fine"}}]}
]}"""


@pytest.mark.parametrize(
    ("answer", "said", "status"),
    [
        (LINKS, "conflict s1 port 2: declared a wire, but no; LLDP counts", EXIT_FAILED),
        (
            '{"items": []}',
            "ok       wires: no port at http://controller:1 is declared one that LLDP denies",
            0,
        ),
    ],
)
def test_doctor_asks_a_controller_for_conflicts(
    answer: str,
    said: str,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked: list[tuple[str, str]] = []

    def call(self: RestClient, method: str, path: str) -> object:
        asked.append((method, path))
        return json.loads(answer)

    monkeypatch.setattr(RestClient, "call", call)
    monkeypatch.setattr(doctor, "examine", list)
    token = tmp_path / "token"
    token.write_text("clarion_1\n")
    options = ["doctor", "--controller", "http://controller:1", "--token-file", str(token)]
    assert cli.main(options) == status
    assert asked == [("GET", "/v1/links?conflicts=true")]
    assert capsys.readouterr().out.splitlines() == [said]


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (["--controller", "http://c:1"], "--controller: give a token with --token-file"),
        (["--token-file", "token"], "--token-file: only together with --controller"),
        (["--controller", "c:1", "--token-file", "/dev/null"], "--token-file /dev/null: must hold one token"),
    ],
)
def test_what_doctor_needs_for_a_controller(
    options: list[str], fault: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["doctor", *options]) == EXIT_USAGE
    error = capsys.readouterr().err
    assert fault in error
    assert error.count("\n") == 1


def test_doctor_takes_no_other_answer_for_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(RestClient, "call", lambda *_: [])
    token = tmp_path / "token"
    token.write_text("clarion_1")
    assert cli.main(["doctor", "--controller", "http://c:1", "--token-file", str(token)]) == EXIT_USAGE
    assert "is this a controller?" in capsys.readouterr().err
