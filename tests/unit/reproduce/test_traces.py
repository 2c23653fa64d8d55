# SPDX-License-Identifier: Apache-2.0
"""Curves over time: what they show of a run, which runs they are of, their tables, and wrong files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from clarion_base.errors import UserError
from clarion_base.faults import FaultError
from clarion_lab.recording import files
from clarion_lab.reproduce import plots, runs, traces
from clarion_lab.reproduce.experiment import Experiment, places
from clarion_lab.reproduce.traces import Curve, curves
from unit.reproduce.test_pages import DOCUMENT, experiment

AT_10_MS = {"rtt_ms": 10}
OF_ALL_KINDS = [{"of": of, "at": AT_10_MS} for of in traces.UNITS]
BYTES_OF_A_MBIT = 125_000


def _run(directory: Path) -> Path:
    """Two flows for 4 s, sampled twice a second: one has 1 Mbit/s, the other 3, its window is as long as the
    time; the queue has half a bandwidth-delay product, from 2 s on a whole one.
    """
    port = {"role": "bottleneck forward", "switch": "s1", "port": 2, "queue_mean_bytes": 1, "bdp_bytes": 1000}
    summary = {
        "format": files.RUN_FORMAT,
        "version": 2,
        "measured_s": [2, 4],
        "duration_s": 4.0,
        "flows": [{"algorithm": "boost"}, {"algorithm": "reno"}],
        "ports": [port],
    }
    (directory / files.SUMMARY).write_text(json.dumps(summary))
    instants = np.arange(0, 4.5, 0.5)
    flows = {
        "time_us": np.tile(instants * 1e6, 2).astype(int),
        "flow": np.repeat([0, 1], len(instants)),
        "delivered_bytes": np.concatenate([instants * BYTES_OF_A_MBIT, 3 * instants * BYTES_OF_A_MBIT]),
        "cwnd_packets": np.tile(instants, 2),
    }
    pq.write_table(pa.table(flows), directory / files.FLOWS)
    ports = {
        "time_us": (instants * 1e6).astype(int),
        "port": ["s1-2"] * len(instants),
        "queue_bytes": np.where(instants > 2, 1000, 500),
    }
    pq.write_table(pa.table(ports), directory / files.PORTS)
    return directory


def _curves(directory: Path, made: Experiment, sender: str = "fast", rtt_ms: float = 10) -> list[Curve]:
    (place,) = (
        each for each in places(made.series[0]) if (each.sender, each.values) == (sender, {"rtt_ms": rtt_ms})
    )
    return list(curves(made, place, directory))


def test_curves_are_means_of_intervals(tmp_path: Path) -> None:
    made = experiment(tmp_path, traces=OF_ALL_KINDS)
    found = {(each.of, each.flow): each for each in _curves(_run(tmp_path), made)}
    expected: dict[tuple[str, str], list[float]] = {
        ("rate", "boost 1"): [1, 1, 1, 1],
        ("rate", "reno 2"): [3, 3, 3, 3],
        ("rate of all", "all"): [4, 4, 4, 4],
        ("window", "boost 1"): [0.75, 1.75, 2.75, 3.75],  # of the samples after the begin, up to the end
        ("window", "reno 2"): [0.75, 1.75, 2.75, 3.75],
        ("queue", "all"): [0.5, 0.5, 1, 1],
    }
    assert set(found) == set(expected)
    for key, numbers in expected.items():
        np.testing.assert_allclose(found[key].numbers, numbers, err_msg=str(key))
        np.testing.assert_allclose(found[key].times_s, [1, 2, 3, 4])


def test_an_interval_without_a_sample_is_not_known(tmp_path: Path) -> None:
    made = experiment(tmp_path, traces=[{"of": "window", "at": AT_10_MS, "every_s": 0.25}])
    (window, _) = _curves(_run(tmp_path), made)
    assert np.isnan(window.numbers[::2]).all()
    np.testing.assert_allclose(window.numbers[1::2], np.arange(0.5, 4.5, 0.5))


def test_an_interval_longer_than_the_run_is_refused(tmp_path: Path) -> None:
    made = experiment(tmp_path, traces=[{"of": "rate", "at": AT_10_MS, "every_s": 5}])
    with pytest.raises(UserError, match="every_s: use less than the 4 s of the run"):
        _curves(_run(tmp_path), made)


def test_other_senders_and_places_have_none(tmp_path: Path) -> None:
    made = experiment(tmp_path, traces=[{"of": "rate", "senders": ["fast"], "at": AT_10_MS}])
    directory = _run(tmp_path)
    assert len(_curves(directory, made)) == 2
    assert not _curves(directory, made, sender="slow")
    assert not _curves(directory, made, rtt_ms=20)


def test_they_are_of_the_first_repeat_on_the_engine_that_is_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = experiment(tmp_path, traces=[{"of": "rate", "at": AT_10_MS}], measures={})
    directory = _run(tmp_path)

    def finish(tasks: Any, _store: Any, *, on_done: Any, **_options: Any) -> list[Any]:
        for task in tasks:
            on_done(task, directory)
        return []

    monkeypatch.setattr(runs, "execute", finish)
    found, broken = runs.run(list(runs.plan(made, "auto")), None)  # type: ignore[arg-type]
    assert not broken
    assert len(found[made.id].rows) == 21  # 2 senders, 2 places, 5 repeats, and a sample on the other engine
    assert sorted((each.sender, each.flow) for each in found[made.id].curves) == [
        ("fast", "boost 1"),
        ("fast", "reno 2"),
        ("slow", "boost 1"),
        ("slow", "reno 2"),
    ]


def test_tables_come_back_whichever_run_was_first(tmp_path: Path) -> None:
    made = experiment(tmp_path, traces=OF_ALL_KINDS)
    directory, path = _run(tmp_path), tmp_path / "t.parquet"
    fast, slow = (_curves(directory, made, sender) for sender in ("fast", "slow"))
    traces.write(path, [*fast, *slow])
    first = path.read_bytes()
    found = traces.read(path)
    assert {(each.of, each.sender, each.flow) for each in found} == {
        (each.of, each.sender, each.flow) for each in [*fast, *slow]
    }
    for each in fast:
        (same,) = (
            one for one in found if (one.of, one.sender, one.flow) == (each.of, each.sender, each.flow)
        )
        assert same.values == each.values
        np.testing.assert_allclose(same.numbers, each.numbers)
    traces.write(path, [*slow, *fast])
    assert path.read_bytes() == first


def test_without_curves_no_file_is_left(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    traces.write(path, _curves(_run(tmp_path), experiment(tmp_path, traces=OF_ALL_KINDS)))
    assert path.is_file()
    traces.write(path, [])
    assert not path.exists()
    assert traces.read(path) == []


def test_another_file_is_no_table_of_curves(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1 but not really")
    with pytest.raises(UserError, match=r"t\.parquet: not a table of curves"):
        traces.read(path)
    pq.write_table(pa.table({"of": ["rate"]}), path)
    with pytest.raises(UserError, match=r"t\.parquet: not a table of curves of clarion reproduce"):
        traces.read(path)


def test_a_picture_has_the_curves_that_belong_to_it(tmp_path: Path) -> None:
    made = experiment(tmp_path, traces=[{"of": "rate", "at": AT_10_MS, "reported": [2]}], plots=[])
    found = _curves(_run(tmp_path), made)
    picture = tmp_path / "x.png"
    elsewhere = [replace(each, values={"rtt_ms": 20}) for each in found]
    assert not plots.draw(made, [], elsewhere, picture)
    assert plots.draw(made, [], found, picture)
    assert picture.is_file()


@pytest.mark.parametrize(
    ("trace", "message"),
    [
        ({"of": "colour", "at": AT_10_MS}, r"traces\[0\]\.of"),
        ({"of": "rate", "at": AT_10_MS, "series": "walks"}, r"traces\[0\]\.series: use runs"),
        ({"of": "rate"}, r"traces\[0\]\.at: give one value of each column: rtt_ms"),
        ({"of": "rate", "at": {"rtt_ms": 10, "loss": 0}}, r"traces\[0\]\.at: give one value"),
        (
            {"of": "rate", "at": AT_10_MS, "senders": ["fast", "quick"]},
            r"traces\[0\]\.senders: use fast, slow",
        ),
        ({"of": "rate", "at": AT_10_MS, "every_s": 0}, r"traces\[0\]\.every_s"),
    ],
)
def test_a_wrong_trace_names_the_field(tmp_path: Path, trace: dict[str, Any], message: str) -> None:
    with pytest.raises(FaultError, match=message):
        experiment(tmp_path, traces=[trace])


def test_a_quick_form_may_have_fewer_senders(tmp_path: Path) -> None:
    quick = {**DOCUMENT["runs"][0]["quick"], "senders": {"fast": {"algorithm": "boost"}}}
    document = [{**DOCUMENT["runs"][0], "quick": quick}]
    made = experiment(
        tmp_path, quick=True, runs=document, traces=[{"of": "rate", "senders": ["slow"], "at": AT_10_MS}]
    )
    assert made.traces[0].senders == ("slow",)
