# SPDX-License-Identifier: Apache-2.0
"""The table of transfers through proxies, from what runs leave."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from bench import proxy, proxy_ceiling
from clarion_base import text_table
from clarion_base.errors import UserError
from clarion_lab.recording import files
from clarion_lab.recording.recording import FlowSample, Recording
from clarion_lab.scenario import documents

NAME = ("s1-1", 10, "boost")
RATE_MBPS = 150


def plan(tmp_path: Path, *variants: str, scenarios: tuple[str, ...] = ("s1-1",)) -> proxy.Plan:
    return proxy.Plan(scenarios, [10], variants, 2, 60, [], tmp_path)  # two transfers of 10 MB each


def document(scenario: str, variant: str) -> documents.Document:
    """As `clarion run` makes it of what the plan says."""
    options = plan(Path("out"), variant).command((scenario, 10, variant))
    settings = [value for flag, value in pairwise(options) if flag == "--set"]
    read = documents.read(documents.locate(scenario))
    (point,) = documents.points(scenario, read, map(documents.parse_assignment, settings))
    return point.document


def sample(flow: int, time_s: float, received_bytes: int) -> FlowSample:
    others = dict.fromkeys(FlowSample._fields, 0)
    known = {"flow": flow, "time_us": round(time_s * 1e6), "received_bytes": received_bytes}
    return FlowSample(**others | known)


GROWTH = [(0.5, 0), (2.0, 1_000_000), (3.0, 2_500_000), (4.0, 5_000_000), (5.0, 7_500_000)]


def leave(
    wanted: proxy.Plan,
    name: tuple[str, int, str] = NAME,
    last_bytes_s: tuple[float | None, ...] = (6.0,),
    proxies: dict[str, Any] | None = None,
    state: str = "complete",
) -> None:
    """A run, as far as it is read: of each transfer, 20 s apart, 2.5 MB come within 3 s, then 2.5 MB each
    second; or its end is cut off.
    """
    summary = {
        "format": files.RUN_FORMAT,
        "version": 2,
        "state": state,
        "scenario": name[0],
        "document": document(name[0], name[2]),
        "measured_s": [0.0, 6.0],
        "flows": [
            {
                "start_s": 20.0 * number,
                "application": {
                    "first_byte_s": 1.0,
                    "last_byte_s": last_s,
                    "received_bytes": 10_000_000 if last_s else 7_500_000,
                    "checksum_equal": True if last_s else None,
                },
            }
            for number, last_s in enumerate(last_bytes_s)
        ],
        "totals": {"proxy": proxies, "unasked_drop_packets": 0},
        "sampler": {"late_s": 0.0},
        "ports": [{"drop_packets": 3}, {"drop_packets": 4}],
    }
    samples = [
        sample(number, 20.0 * number + time_s, arrived)
        for time_s, arrived in GROWTH
        for number in range(len(last_bytes_s))
    ]
    files.write(wanted.directory(name), summary, Recording(flow_samples=samples), [])


def series(wanted: proxy.Plan, name: tuple[str, int, str] = NAME) -> proxy.Series:
    found = proxy.found_by_row(wanted)[name]
    assert found is not None
    return found


def test_a_transfer_begins_at_its_first_byte_and_the_middle_half_is_steady(tmp_path: Path) -> None:
    wanted = plan(tmp_path, "boost")
    leave(wanted, last_bytes_s=(6.0, 11.0))
    found = series(wanted)
    first, later = found.transfers
    assert [first.whole_mbps, later.whole_mbps] == pytest.approx([80 / 5, 80 / 10])
    assert first.steady_share == pytest.approx(20 / found.ceiling_mbps)
    assert (first.first_byte_s, first.is_intact, found.queue_losses) == (1.0, True, 7)
    assert not list(proxy.doubts(found))


def test_a_transfer_that_was_cut_off_counts_with_what_arrived(tmp_path: Path) -> None:
    wanted = plan(tmp_path, "tcp")
    name = ("s1-1", 10, "tcp")
    leave(wanted, name, (None,))
    (cut_off,) = series(wanted, name).transfers
    assert cut_off.whole_mbps == pytest.approx(60 / 5)
    assert (cut_off.arrived_mb, cut_off.is_intact) == (7.5, False)


def test_a_transfer_that_runs_into_the_next_is_doubted(tmp_path: Path) -> None:
    wanted = plan(tmp_path, "boost")
    leave(wanted, last_bytes_s=(20.5, 6.0))
    assert list(proxy.doubts(series(wanted))) == ["a transfer had not ended when the next began"]


@pytest.mark.parametrize(
    ("variant", "payload_bytes", "frame_bytes"),
    [("boost", 1435, 1530), ("boost-judged", 1435, 1514), ("xcp", 1435, 1546), ("tcp", 1448, 1514)],
)
def test_the_ceiling_is_that_of_the_headers_which_packets_carry(
    variant: str, payload_bytes: int, frame_bytes: int, tmp_path: Path
) -> None:
    wanted = plan(tmp_path, variant)
    leave(wanted, ("s1-1", 10, variant))
    survives = RATE_MBPS * payload_bytes / frame_bytes * (1 - 0.012)
    assert series(wanted, ("s1-1", 10, variant)).ceiling_mbps == pytest.approx(survives)


def test_a_download_has_the_rate_of_the_other_direction(tmp_path: Path) -> None:
    wanted = plan(tmp_path, "boost", scenarios=("s1-2",))
    leave(wanted, ("s1-2", 10, "boost"))
    ceiling = 10 * proxy_ceiling.payload_share("TAG") * (1 - 0.012)
    assert series(wanted, ("s1-2", 10, "boost")).ceiling_mbps == pytest.approx(ceiling)


def test_a_row_has_the_first_and_the_means_of_the_later_with_the_least_and_the_most(tmp_path: Path) -> None:
    wanted = plan(tmp_path, "boost")
    sides = {"client": {"cpu_s_per_gbyte": 10.0}, "server": {"cpu_s_per_gbyte": 11.0}}
    leave(wanted, last_bytes_s=(9.0, 6.0, 5.0), proxies=sides)
    cells = dict(zip(proxy.HEADS, proxy.row(NAME, series(wanted)), strict=True))
    assert cells["first, Mbit/s"] == "10.0"
    assert cells["later, Mbit/s"] == "18.0 (16.0 to 20.0)"
    assert (cells["client, CPU s/GB"], cells["server, CPU s/GB"]) == ("10.0", "11.0")
    assert cells["complete, checksum equal"] == "3 of 3"


def test_what_was_interrupted_is_made_again_and_has_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = plan(tmp_path, "boost", "xcp")
    leave(wanted)
    leave(wanted, ("s1-1", 10, "xcp"), state="interrupted")
    made: list[str] = []

    def make(_: proxy.Plan, name: tuple[str, int, str]) -> bool:
        made.append(name[2])
        return True

    monkeypatch.setattr(proxy, "make", make)
    assert proxy.make_missing(wanted)
    assert made == ["xcp"]
    assert proxy.found_by_row(wanted)["s1-1", 10, "xcp"] is None


def test_a_row_without_transfers_is_dashes() -> None:
    assert proxy.row(NAME, None)[1:] == [text_table.MISSING] * (len(proxy.HEADS) - 1)


def test_only_what_is_far_slower_is_made_once_and_cut_off() -> None:
    assert document("s1-1", "tcp")["duration"] == document("s1-2", "cubic")["duration"] == "60 s"
    assert document("s1-1", "tcp")["flows"][0].get("count", 1) == 1


def test_transfers_follow_each_other_between_the_same_hosts() -> None:
    # 80 Mbit, a third more time than they take, and 20 round trips
    for scenario, apart_s in (("s1-1", 12), ("s1-2", 22), ("s1-4", 27)):
        made = document(scenario, "boost")
        (group,) = made["flows"]
        assert (group["count"], group["host-pairs"], group["stagger"]) == (2, 1, f"{apart_s} s")
        assert made["duration"] == f"{2 * apart_s} s"


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (
            ["--variants", "boost,quick"],
            "--variants quick: unknown; use boost, boost-judged, xcp, cubic, tcp",
        ),
        (["--scenarios", "geo"], "--scenarios geo: unknown; use s1-1, s1-2, s1-3, s1-4"),
        (["--sizes", "512,1 GB"], "--sizes 512,1 GB: not a list of whole numbers of MB; use 512,1024"),
        (["--transfers", "0"], "--transfers 0: must be at least 1"),
    ],
)
def test_bad_options_are_named(arguments: list[str], fault: str) -> None:
    with pytest.raises(UserError, match="^" + fault.replace("(", r"\(")):
        proxy.parse(arguments)
