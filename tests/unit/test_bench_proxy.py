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
    return proxy.Plan(scenarios, [10], variants, 2, 60, [], tmp_path)


def document(scenario: str, variant: str) -> documents.Document:
    """As `clarion run` makes it of what the plan says."""
    options = plan(Path("out"), variant).command(scenario, 10, variant, 1)
    settings = [value for flag, value in pairwise(options) if flag == "--set"]
    read = documents.read(documents.locate(scenario))
    (point,) = documents.points(scenario, read, map(documents.parse_assignment, settings))
    return point.document


def sample(time_s: float, received_bytes: int) -> FlowSample:
    others = dict.fromkeys(FlowSample._fields, 0)
    return FlowSample(**others | {"time_us": round(time_s * 1e6), "received_bytes": received_bytes})


def leave(
    wanted: proxy.Plan,
    seed: int = 1,
    last_byte_s: float | None = 6.0,
    name: tuple[str, int, str] = NAME,
    proxies: dict[str, Any] | None = None,
    state: str = "complete",
) -> None:
    """A run, as far as it is read: 2.5 MB come within 3 s, then 2.5 MB each second; or its end is cut off."""
    arrived = 10_000_000 if last_byte_s else 7_500_000
    moved = {
        "first_byte_s": 1.0,
        "last_byte_s": last_byte_s,
        "received_bytes": arrived,
        "checksum_equal": True if last_byte_s else None,
    }
    summary = {
        "format": files.RUN_FORMAT,
        "version": 2,
        "state": state,
        "scenario": name[0],
        "document": document(name[0], name[2]),
        "measured_s": [0.0, 6.0],
        "flows": [{"start_s": 0.0, "application": moved}],
        "totals": {"proxy": proxies, "unasked_drop_packets": 0},
        "ports": [{"drop_packets": 3}, {"drop_packets": 4}],
    }
    growth = [(0.5, 0), (2.0, 1_000_000), (3.0, 2_500_000), (4.0, 5_000_000), (5.0, 7_500_000)]
    recording = Recording(flow_samples=[sample(*each) for each in growth])
    files.write(wanted.directory(*name, seed), summary, recording, [])


def only(wanted: proxy.Plan, name: tuple[str, int, str] = NAME) -> proxy.Transfer:
    (transfer,) = proxy.transfers(wanted)[name]
    return transfer


def test_the_whole_transfer_begins_at_its_first_byte_and_the_middle_half_is_steady(tmp_path: Path) -> None:
    wanted = plan(tmp_path, "boost")
    leave(wanted)
    transfer = only(wanted)
    assert transfer.whole_mbps == pytest.approx(80 / 5)
    assert transfer.steady_mbps == pytest.approx(20)
    assert (transfer.first_byte_s, transfer.is_intact, transfer.queue_losses) == (1.0, True, 7)


def test_a_transfer_that_was_cut_off_counts_with_what_arrived(tmp_path: Path) -> None:
    wanted = plan(tmp_path, "tcp")
    name = ("s1-1", 10, "tcp")
    leave(wanted, last_byte_s=None, name=name)
    transfer = only(wanted, name)
    assert transfer.whole_mbps == pytest.approx(60 / 5)
    assert (transfer.arrived_mb, transfer.is_intact) == (7.5, False)


@pytest.mark.parametrize(
    ("variant", "payload_bytes", "frame_bytes"),
    [("boost", 1435, 1530), ("boost-judged", 1435, 1514), ("xcp", 1435, 1546), ("tcp", 1448, 1514)],
)
def test_the_ceiling_is_that_of_the_headers_which_packets_carry(
    variant: str, payload_bytes: int, frame_bytes: int, tmp_path: Path
) -> None:
    wanted = plan(tmp_path, variant)
    leave(wanted, name=("s1-1", 10, variant))
    survives = RATE_MBPS * payload_bytes / frame_bytes * (1 - 0.012)
    assert only(wanted, ("s1-1", 10, variant)).ceiling_mbps == pytest.approx(survives)


def test_a_download_has_the_rate_of_the_other_direction(tmp_path: Path) -> None:
    wanted = plan(tmp_path, "boost", scenarios=("s1-2",))
    leave(wanted, name=("s1-2", 10, "boost"))
    ceiling = 10 * proxy_ceiling.payload_share("TAG") * (1 - 0.012)
    assert only(wanted, ("s1-2", 10, "boost")).ceiling_mbps == pytest.approx(ceiling)


def test_a_row_has_the_means_with_the_least_and_the_most(tmp_path: Path) -> None:
    wanted = plan(tmp_path, "boost")
    for seed, cpu_s in ((1, 10.0), (2, 12.0)):
        sides = {"client": {"cpu_s_per_gbyte": cpu_s}, "server": {"cpu_s_per_gbyte": cpu_s + 1}}
        leave(wanted, seed, proxies=sides)
    cells = dict(zip(proxy.HEADS, proxy.row(NAME, proxy.transfers(wanted)[NAME]), strict=True))
    assert cells["whole, Mbit/s"] == "16.0 (16.0 to 16.0)"
    assert cells["client, CPU s/GB"] == "11.0 (10.0 to 12.0)"
    assert cells["server, CPU s/GB"] == "12.0 (11.0 to 13.0)"
    assert cells["complete, checksum equal"] == "2"


def test_what_was_interrupted_is_made_again_and_has_no_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = plan(tmp_path, "boost")
    leave(wanted, 1)
    leave(wanted, 2, state="interrupted")
    made: list[int] = []

    def make(_: proxy.Plan, __: tuple[str, int, str], seed: int) -> bool:
        made.append(seed)
        return True

    monkeypatch.setattr(proxy, "make", make)
    assert proxy.make_missing(wanted)
    assert made == [2]
    assert len(proxy.transfers(wanted)[NAME]) == 1


def test_a_row_without_transfers_is_dashes(tmp_path: Path) -> None:
    assert proxy.row(NAME, [])[2:] == [text_table.MISSING] * (len(proxy.HEADS) - 2)


def test_only_what_is_far_slower_is_cut_off() -> None:
    assert document("s1-1", "tcp")["duration"] == document("s1-2", "cubic")["duration"] == "60 s"
    assert document("s1-1", "boost")["duration"] == "300 s"


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
