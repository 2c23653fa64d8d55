# SPDX-License-Identifier: Apache-2.0
"""`clarion compare` over any number of results: what is chosen, the statistics, and what is drawn."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from clarion import cli, scenario_library
from clarion_base.errors import UserError
from clarion_control.dashboard import comparison_chart
from clarion_lab.recording import files
from clarion_lab.results import comparison, comparison_plot, samples
from clarion_lab.results.samples import Sample, quantity, same
from clarion_lab.results.selection import Choice, chosen, offered

RATE = "links.bottleneck.rate"


def sample(sender: str, rate: Any, goodput: float | None, **more: Any) -> Sample:
    settings = {"algorithm": sender, **({} if rate is None else {RATE: rate})}
    fields: dict[str, Any] = {"result": "A", "engine": "sim", "complete": True, **more}
    scenario = {"duration": "5 s", "flows": [{"count": 3}]}
    return Sample(
        senders=(sender,),
        settings=settings,
        metrics={"goodput_bits_per_s": goodput, "jain": None},
        scenario=lambda: scenario,
        **fields,
    )


GRID = [
    sample(sender, rate, base + repeat)
    for sender in ("xcp", "cubic")
    for rate, base in (("20 Mbit/s", 20.0), ("10 Mbit/s", 10.0))
    for repeat in range(3)
]


@pytest.mark.parametrize(
    ("value", "found"),
    [
        (5, (5.0, "")),
        (1e-3, (1e-3, "")),
        ("0.1 %", (1e-3, "")),
        ("10 Mbit/s", (1e7, "bit/s")),
        ("250 ms", (0.25, "s")),
        ("7 MB", (7e6, "B")),
        ("0.5 bdp", (0.5, "bdp")),
        ("codel", None),
        (True, None),
        (None, None),
        ({"model": "packet"}, None),
        pytest.param(10**400, None, id="400 digits"),
        pytest.param(-(10**400), None, id="400 digits below 0"),
        (float("inf"), None),
        (float("nan"), None),
        (1e300, None),
    ],
)
def test_values_are_numbers_where_they_are(value: object, found: tuple[float, str] | None) -> None:
    read = quantity(value)
    if found is None or read is None:
        assert read is found
    else:
        assert read[0] == pytest.approx(found[0])
        assert read[1] == found[1]


def test_values_are_the_same_however_they_are_written() -> None:
    assert same("1 Gbit/s", "1000 Mbit/s")
    assert same(0.001, "0.1 %")
    assert not same("1 s", "1 B")
    assert same("codel", "codel")
    assert not same("codel", 1)


def test_a_parameter_is_swept_or_in_the_scenario() -> None:
    one = sample("xcp", "10 Mbit/s", 1.0)
    assert one.parameter(RATE) == "10 Mbit/s"
    assert one.parameter("flows.0.count") == 3
    assert one.parameter("duration") == "5 s"
    assert [one.parameter(name) for name in ("flows.7.count", "flows.x", "duration.x", "seed")] == [None] * 4


def test_curves_have_the_mean_and_its_interval_at_each_value() -> None:
    found = comparison.compared(GRID, Choice(over=RATE))
    assert (found["axis"], found["unit"]) == ("linear", "bit/s")
    xcp, cubic = found["groups"]
    assert (xcp["label"], cubic["label"]) == ("xcp", "cubic")
    first, second = xcp["points"]
    assert (first["at"], first["value"], second["value"]) == ("10 Mbit/s", 1e7, 2e7)  # ascending
    assert (first["n"], first["mean"]) == (3, 11.0)
    half = 4.303 / 3**0.5  # t with 2 degrees of freedom; the standard deviation is 1
    assert (first["low"], first["high"]) == (pytest.approx(11 - half), pytest.approx(11 + half))


@pytest.mark.parametrize(
    ("values", "ascending"),
    [
        ((20, 1, 5, 10, 2), ["1", "2", "5", "10", "20"]),
        ((1.5, 10, "0.2 %", 0.5), ["0.2 %", "0.5", "1.5", "10"]),
        (("codel", 10, 9), ["9", "10", "codel"]),
    ],
)
def test_curves_ascend_by_number(values: tuple[Any, ...], ascending: list[str]) -> None:
    runs = [sample("xcp", value, 1.0) for value in values]
    (group,) = comparison.compared(runs, Choice(over=RATE))["groups"]
    assert [point["at"] for point in group["points"]] == ascending


def test_boxes_have_five_numbers_and_a_group_for_what_differs() -> None:
    found = comparison.compared(GRID, Choice(senders=("xcp",)))
    assert found["axis"] is None
    assert [group["label"] for group in found["groups"]] == ["rate=20 Mbit/s", "rate=10 Mbit/s"]
    (point,) = found["groups"][0]["points"]
    assert [point[name] for name in ("min", "q1", "median", "q3", "max")] == [20, 20.5, 21, 21.5, 22]


def test_the_same_senders_in_other_flows_are_another_group() -> None:
    def run(first: str, second: str) -> Sample:
        settings = {"flows.0.algorithm": first, "flows.1.algorithm": second}
        both = tuple(sorted({first, second}))
        return dataclasses.replace(sample(first, None, 1.0), senders=both, settings=settings)

    runs = [run("cubic", "reno"), run("reno", "cubic"), run("xcp", "xcp"), run("cubic", "reno")]
    assert [
        (group["label"], group["points"][0]["n"]) for group in comparison.compared(runs, Choice())["groups"]
    ] == [
        ("cubic+reno, flows.0.algorithm=cubic, flows.1.algorithm=reno", 2),
        ("cubic+reno, flows.0.algorithm=reno, flows.1.algorithm=cubic", 1),
        ("xcp, flows.0.algorithm=xcp, flows.1.algorithm=xcp", 1),
    ]
    labels = [group["label"] for group in comparison.compared([runs[0], runs[2]], Choice())["groups"]]
    assert labels == ["cubic+reno", "xcp"]  # which say it all


def test_a_sender_that_was_swept_in_one_result_only_is_the_same_sender() -> None:
    runs = [sample("xcp", None, 1.0), dataclasses.replace(sample("xcp", None, 3.0, result="B"), settings={})]
    (group,) = comparison.compared(runs, Choice(pool=True))["groups"]
    assert group["points"][0]["n"] == 2


def test_a_single_run_has_no_interval() -> None:
    found = comparison.compared([sample("xcp", None, 7.0)], Choice())
    (group,) = found["groups"]
    (point,) = group["points"]
    assert (group["label"], point["n"], point["mean"], point["low"]) == ("all runs", 1, 7.0, None)


def test_results_and_engines_are_apart_unless_they_are_pooled() -> None:
    runs = [sample("xcp", None, 1.0), sample("xcp", None, 3.0, result="B")]
    assert [each["label"] for each in comparison.compared(runs, Choice())["groups"]] == ["A", "B"]
    (pooled,) = comparison.compared(runs, Choice(pool=True))["groups"]
    assert pooled["points"][0]["n"] == 2
    runs.append(sample("xcp", None, 5.0, engine="emu"))
    labels = [each["label"] for each in comparison.compared(runs, Choice(pool=True))["groups"]]
    assert labels == ["sim", "emu"]


@pytest.mark.parametrize(
    ("values", "axis"),
    [
        (("1 ms", "50 ms"), "linear"),
        (("1 ms", "1 s"), "log"),
        (("1 ms", "codel"), "words"),
        ((0, 1), "linear"),
    ],
)
def test_the_axis_fits_the_values(values: tuple[Any, Any], axis: str) -> None:
    runs = [sample("xcp", value, 1.0) for value in values]
    assert comparison.compared(runs, Choice(over=RATE))["axis"] == axis


def test_conditions_leave_the_runs_that_meet_them() -> None:
    where = Choice.parse(
        "goodput_bits_per_s", [], [], [f"{RATE}=20000 kbit/s", "duration=5000 ms"], None, False
    )
    assert {each.settings[RATE] for each in chosen(GRID, where)} == {"20 Mbit/s"}
    both = Choice.parse("goodput_bits_per_s", [], [], [f"{RATE}=20 Mbit/s", f"{RATE}=10 Mbit/s"], None, False)
    assert len(chosen(GRID, both)) == len(GRID)


def test_a_parameter_that_only_runs_without_the_metric_have_is_no_axis() -> None:
    runs = [sample("xcp", "10 Mbit/s", None), sample("xcp", None, 1.0)]
    with pytest.raises(UserError, match=f"--over {RATE}: no run that is left has it; swept are algorithm$"):
        comparison.compared(runs, Choice(over=RATE))
    (group,) = comparison.compared([*runs, sample("xcp", "20 Mbit/s", 2.0)], Choice(over=RATE))["groups"]
    assert [(point["at"], point["n"]) for point in group["points"]] == [("20 Mbit/s", 1)]


def test_runs_that_are_not_complete_are_left_out_and_counted() -> None:
    found = comparison.compared([*GRID, sample("xcp", "10 Mbit/s", 999.0, complete=False)], Choice())
    assert found["left_out"] == 1
    assert all(point["max"] < 999 for group in found["groups"] for point in group["points"])
    assert "not complete: 1 runs" in comparison.table(found)
    with pytest.raises(UserError, match="no run of these results is complete"):
        chosen([sample("xcp", None, 1.0, complete=False)], Choice())


def test_what_there_is_to_choose_from() -> None:
    assert offered(GRID) == {
        "metrics": ["goodput_bits_per_s"],
        "senders": ["cubic", "xcp"],
        "engines": ["sim"],
        "parameters": {"algorithm": ["cubic", "xcp"], RATE: ["10 Mbit/s", "20 Mbit/s"]},
    }


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """A batch on disk; the scenario is in the summaries of its runs, as `clarion run` leaves them."""
    runs = []
    for number, each in enumerate(GRID):
        entry = {"directory": f"run-{number}", "settings": each.settings, "state": "complete"}
        entry |= {"engine": each.engine, "senders": each.senders, "metrics": each.metrics}
        runs.append(entry)
        (tmp_path / f"run-{number}").mkdir()
        run = {"format": files.RUN_FORMAT, "version": files.VERSIONS[files.RUN_FORMAT]}
        files.write_json(tmp_path / f"run-{number}" / files.SUMMARY, run | {"document": each.scenario()})
    batch = {"format": files.BATCH_FORMAT, "version": files.VERSIONS[files.BATCH_FORMAT]}
    files.write_json(tmp_path / files.SUMMARY, {**batch, "runs": runs})
    return tmp_path


def test_the_command_prints_draws_and_writes_a_page(
    results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plot, page = tmp_path / "out.png", tmp_path / "out.html"
    arguments = ["compare", str(results), "--over", RATE, "--where", "flows.0.count=3"]
    assert cli.main([*arguments, "--plot", str(plot), "--html", str(page)]) == 0
    assert f"goodput_bits_per_s over {RATE}" in capsys.readouterr().out
    assert plot.read_bytes().startswith(b"\x89PNG")
    text = page.read_text()
    assert "data:image/png;base64," in text
    assert "<td>10 Mbit/s</td>" in text
    assert "http" not in text  # it needs nothing else
    assert cli.main([*arguments, "--json"]) == 0
    assert [group["label"] for group in json.loads(capsys.readouterr().out)["groups"]] == ["xcp", "cubic"]


@pytest.mark.parametrize("options", [["--metric", "goodput_bits_per_s"], ["--pool"]])
def test_a_result_that_is_given_twice_is_refused(
    options: list[str], results: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = tmp_path / "link"
    again.symlink_to(results)
    assert cli.main(["compare", str(results), str(again), *options]) == 2
    said = f"clarion: compare: {again}: is given twice (as {results}, too); give each result once\n"
    assert capsys.readouterr().err == said


def result(directory: Path, engine: str, *runs: tuple[int, float]) -> str:
    """A batch on disk of runs with these seeds and goodputs."""
    entries = []
    for seed, goodput in runs:
        name = f"run-{seed}"
        entries.append({"directory": name, "settings": {}, "state": "complete", "engine": engine})
        entries[-1] |= {"senders": ["xcp"], "metrics": {"goodput_bits_per_s": goodput}}
        (directory / name).mkdir(parents=True)
        run = {"format": files.RUN_FORMAT, "version": files.VERSIONS[files.RUN_FORMAT]}
        document = {"description": str(directory), "duration": "5 s", "seed": seed}
        files.write_json(directory / name / files.SUMMARY, {**run, "document": document})
    batch = {"format": files.BATCH_FORMAT, "version": files.VERSIONS[files.BATCH_FORMAT], "runs": entries}
    files.write_json(directory / files.SUMMARY, batch)
    return str(directory)


@pytest.mark.parametrize(("engine", "count", "said"), [("sim", 3, "1 runs left out"), ("emu", 4, "")])
def test_a_run_in_virtual_time_and_its_copy_are_one_repeat(
    engine: str, count: int, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In real time the same seed is another measurement."""
    first = result(tmp_path / "a", engine, (1, 10.0), (2, 11.0))
    second = result(tmp_path / "b", engine, (2, 11.0), (3, 12.0))
    assert cli.main(["compare", first, second, "--pool", "--json"]) == 0
    printed = capsys.readouterr()
    (group,) = json.loads(printed.out)["groups"]
    assert group["points"][0]["n"] == count
    assert said in printed.err


def test_box_plots_are_drawn(tmp_path: Path) -> None:
    comparison_plot.draw(tmp_path / "boxes.svg", comparison.compared(GRID, Choice()))
    assert "<svg" in (tmp_path / "boxes.svg").read_text()


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--sender", "bbr"], "--sender bbr: these results have none; use cubic, xcp"),
        (["--engine", "emu"], "--engine emu: these results have none; use sim"),
        (["--metric", "speed"], "--metric speed: these results have none; use goodput_bits_per_s"),
        (["--over", "colour"], f"--over colour: no run that is left has it; swept are algorithm, {RATE}"),
        (["--where", "colour=red"], f"--where colour: no run has it; swept are algorithm, {RATE}"),
        (
            ["--where", f"{RATE}=1 Gbit/s"],
            f"--where {RATE}=1 Gbit/s: no run that is left has that; use 10 Mbit/s, 20 Mbit/s",
        ),
        (["--where", "colour"], "--where colour: write key=value"),
        (["--plot", "a.gif"], "--plot a.gif: use a name that ends in .png, .svg, .pdf"),
    ],
)
def test_what_cannot_be_compared_is_one_line(
    options: list[str], line: str, results: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["compare", str(results), *options]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"clarion: {line}")
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    "summary", [{}, {"format": "clarion-batch"}, {"format": "clarion-batch", "runs": [{"engine": "emu"}]}, []]
)
def test_a_document_of_another_kind_is_refused(summary: Any) -> None:
    with pytest.raises(UserError, match="#3: not a summary of clarion that can be compared"):
        samples.of_summary("#3", summary)


def test_the_dashboard_compares_as_the_command_line_does(results: Path) -> None:
    summary = json.loads((results / files.SUMMARY).read_text())
    assert scenario_library.to_compare({"#1": summary}) == offered(samples.of_directory(results))
    found = scenario_library.compared(
        {"#1": summary},
        metric=None,
        senders=["xcp"],
        engines=[],
        where={RATE: ["10 Mbit/s", "20 Mbit/s"]},
        over=RATE,
        pool=False,
    )
    choice = Choice(senders=("xcp",), over=RATE)
    assert found == comparison.compared(samples.of_directory(results), choice)


@pytest.mark.parametrize("value", ["1" + "0" * 400, "1e999", "NaN", "-1e200"])
def test_a_number_beyond_all_measure_is_none(value: str, results: Path) -> None:
    """Whatever a run reports, the others can be compared."""
    text = (results / files.SUMMARY).read_text().replace(": 20.0", f": {value}").replace('"20 Mbit/s"', value)
    summary = json.loads(text)
    assert RATE in scenario_library.to_compare({"#1": summary})["parameters"]
    found = comparison.compared(samples.of_summary("#1", summary), Choice())
    assert [each["points"][0]["n"] for each in found["groups"]] == [2, 3, 2, 3]
    json.dumps(comparison.compared(samples.of_summary("#1", summary), Choice(over=RATE)), allow_nan=False)


def test_the_chart_draws_curves_with_their_interval_or_boxes() -> None:
    curves = comparison_chart.options(comparison.compared(GRID, Choice(over=RATE)))
    low, interval, mean = curves["series"][:3]
    assert mean["data"] == [[1e7, 11.0], [2e7, 21.0]]
    assert low["stack"] == interval["stack"]
    for (_, bottom), (_, height), (_, middle) in zip(
        low["data"], interval["data"], mean["data"], strict=True
    ):
        assert bottom + height / 2 == pytest.approx(middle)
    assert curves["legend"]["data"] == ["xcp", "cubic"]
    boxes = comparison_chart.options(comparison.compared(GRID, Choice(senders=("xcp",))))
    (series,) = boxes["series"]
    assert (series["type"], series["data"][0]) == ("boxplot", [20, 20.5, 21, 21.5, 22])
    assert len(boxes["xAxis"]["data"]) == 2


def test_units_come_from_the_names_of_metrics() -> None:
    names = ("goodput_bits_per_s", "convergence_s", "queue_bytes", "jain")
    assert [comparison_chart.unit_of(name) for name in names] == ["bit/s", "s", "B", ""]
