# SPDX-License-Identifier: Apache-2.0
"""Telemetry over HTTP; tests/integration/test_rest.py has the streams on a real socket."""

from __future__ import annotations

from pathlib import Path

import pytest

from clarion_control.api.options import ApiOptions
from clarion_control.api.problems import Problem
from clarion_control.api.routes.telemetry import _with_gaps
from clarion_control.api.streams import Streams
from clarion_control.model import Interval, Role
from clarion_control.store.clock import now_us
from fakes.controller import until
from fakes.rest import PORT, Rig, open_rig, problem


async def reported(rig: Rig, count: int) -> None:
    """Makes s1 report intervals, and waits until they are stored."""
    before = rig.controller.switches.status("s1").reports
    for number in range(count):
        rig.switches["s1"].report(1, queue_bytes=1000 * (number + 1))
    await until(lambda: rig.controller.switches.status("s1").reports == before + count)
    await until(lambda: rig.controller.telemetry.reports_waiting == 0)


async def test_the_latest(rig: Rig) -> None:
    assert await rig.read(f"{PORT}/telemetry/latest") == {"interval": None, "counters": None}
    await reported(rig, 2)
    latest = (await rig.read(f"{PORT}/telemetry/latest"))["interval"]
    assert (latest["switch"], latest["port"], latest["queue_bytes"]) == ("s1", 1, 2000)


async def test_a_span_of_time(rig: Rig) -> None:
    started = now_us()
    await reported(rig, 5)
    span = {"from_us": started, "to_us": now_us()}
    page = await rig.read(f"{PORT}/telemetry", params=span)
    assert [item["queue_bytes"] for item in page["items"]] == [1000, 2000, 3000, 4000, 5000]
    assert page["complete"] is True
    assert (page["from_us"], page["to_us"]) == (span["from_us"], span["to_us"])
    short = await rig.read(f"{PORT}/telemetry", params={**span, "limit": 2})
    assert [item["queue_bytes"] for item in short["items"]] == [4000, 5000]
    assert short["complete"] is False
    assert (await rig.read(f"{PORT}/telemetry", params={"from_us": 0, "to_us": started - 1}))["items"] == []


async def test_steps(rig: Rig) -> None:
    """With a step of an hour, which holds all reports unless an hour ends during the test."""
    await reported(rig, 4)
    page = await rig.read(f"{PORT}/telemetry/summary", params={"step_us": 3600 * 10**6})
    assert sum(item["reports"] for item in page["items"]) == 4
    assert max(item["queue_max_bytes"] for item in page["items"]) == 4000


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("path", "params", "parameter"),
    [
        ("telemetry", {"from_us": 5, "to_us": 4}, "from_us"),
        ("telemetry", {"from_us": -1}, "from_us"),
        ("telemetry", {"to_us": 2**60}, "to_us"),
        ("telemetry", {"limit": 0}, "limit"),
        ("telemetry", {"limit": 10_001}, "limit"),
        ("telemetry", {"from_us": "yesterday"}, "from_us"),
        ("telemetry/summary", {"step_us": 0}, "step_us"),
    ],
)
async def test_spans_that_cannot_be(
    shared: Rig, path: str, params: dict[str, object], parameter: str
) -> None:
    answer = await shared.ask(Role.VIEWER, "GET", f"{PORT}/{path}", params=params)
    assert problem(answer, 422, "invalid-request")["errors"][0]["parameter"] == parameter


async def test_drops(rig: Rig) -> None:
    rig.switches["s1"].drop(1, source="10.1.2.3", drops=9)
    rig.switches["s1"].drop(2)
    await until(lambda: rig.controller.switches.status("s1").reports == 2)
    await until(lambda: rig.controller.telemetry.reports_waiting == 0)
    page = await rig.read("/v1/switches/s1/drops")
    assert [(item["port"], item["source"], item["drops"]) for item in page["items"]] == [
        (1, "10.1.2.3", 9),
        (2, "10.0.0.1", 1),
    ]
    assert len((await rig.read("/v1/switches/s1/drops", params={"port": 2}))["items"]) == 1
    answer = await rig.ask(Role.VIEWER, "GET", "/v1/switches/s1/drops", params={"port": 9})
    problem(answer, 404, "unknown-port")


async def test_a_slow_reader_is_told_what_it_lost(tmp_path: Path) -> None:
    """Room for three of five: the two oldest are dropped, and a `lost` event comes before the next one."""
    async with open_rig(tmp_path) as rig:
        with rig.controller.telemetry.subscribe(kinds=["interval"], maxsize=3) as events:
            for number in range(5):
                rig.switches["s1"].report(1, queue_bytes=number)
            await until(lambda: rig.controller.switches.status("s1").reports == 5)
            told = _with_gaps(events, None)
            lost = await anext(told)
            assert (lost.event, lost.data) == (
                "lost",
                '{"reason":"slow-reader","events":2,"since_us":null}',
            )
            first = await anext(told)
            assert (first.event, '"queue_bytes":2,' in str(first.data)) == ("interval", True)
            latest = rig.controller.telemetry.latest("s1", 1)
            assert isinstance(latest, Interval)
            assert str(first.id).isdigit()


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("last", "since"),
    [("1764000000000000", "1764000000000000"), ("x", "null"), ("9" * 30, "null"), ("²", "null")],
)
async def test_who_comes_back_is_told_that_there_is_a_gap(shared: Rig, last: str, since: str) -> None:
    with shared.controller.telemetry.subscribe() as events:
        lost = await anext(_with_gaps(events, last))
    assert lost.data == f'{{"reason":"reconnected","events":null,"since_us":{since}}}'


def test_there_is_an_end_to_streams() -> None:
    streams = Streams(ApiOptions(streams=3, streams_per_token=2))
    with streams.opened(1), streams.opened(1):
        with pytest.raises(Problem, match="2 event streams are open with this token"):
            streams.check(1)
        streams.check(2)
        with streams.opened(2), pytest.raises(Problem, match="3 event streams are open"):
            streams.check(3)
        streams.check(2)
    streams.check(1)
    streams.close()
    with pytest.raises(Problem, match="stopping"):
        streams.check(1)
