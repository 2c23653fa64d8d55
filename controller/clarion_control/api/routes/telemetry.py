# SPDX-License-Identifier: Apache-2.0
"""Telemetry of switches: latest reports, spans of time, and a live stream."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Literal

from fastapi import Header, Query, Request
from sse_starlette import EventSourceResponse, ServerSentEvent

from clarion_control.api import sse
from clarion_control.api.auth import BearerToken
from clarion_control.api.context import Api
from clarion_control.api.operations import operation, router
from clarion_control.api.pages import SPAN_ITEMS, FromUs, SpanLimit, ToUs, span
from clarion_control.api.schemas.base import MAX_TIME_US, OfPort, OfSwitch, PortNumber, SwitchName
from clarion_control.api.schemas.telemetry import (
    CountersView,
    Drops,
    DropView,
    Intervals,
    IntervalView,
    Latest,
    Lost,
    StatusView,
    Summaries,
    SummaryView,
)
from clarion_control.api.schemas.tuner import PolicyView
from clarion_control.fleet.live import Subscription
from clarion_control.model import Drop, Event, Interval, PolicyChange, PortCounters, Role

routes = router("telemetry")

Kind = Literal["interval", "drop", "counters", "status", "policy"]
Kinds = Annotated[
    list[Kind] | None, Query(description="Only these kinds of events; may be given several times.")
]
StepUs = Annotated[
    int, Query(description="Length of a step in us.", ge=1000, le=MAX_TIME_US, examples=[1_000_000])
]
LastEventId = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID", description="Id of the last event received; browsers send it by themselves."
    ),
]
_STREAM = """\
`interval`, `drop`, `counters`, `status` and `policy` events from now on, each with a JSON object as data; its
id is the time in us. Comments serve as heartbeats. Events are not replayed: after a reconnection, and when
the reader is too slow, a `lost` event reports the gap, which `/telemetry` can fill. The stream ends when its
token expires or is revoked.
"""
_STREAM_EXAMPLE = """\
id: 1764000000000000
event: interval
data: {"time_us": 1764000000000000, "switch": "s1", "port": 1, "input_bps": 80000000.0, "queue_bytes": 3000}

"""


@routes.get(
    "/v1/switches/{switch}/ports/{port}/telemetry/latest",
    **operation(
        Role.VIEWER,
        "get_latest",
        "Latest report of a port",
        "unknown-switch",
        "unknown-port",
        description="From memory: the last report since the controller started, and its counters.",
    ),
)
async def get_latest(api: Api, switch: SwitchName, port: PortNumber) -> Latest:
    """The newest report of a port, from memory."""
    interval = api.controller.telemetry.latest(switch, port)
    counters = api.controller.telemetry.latest_counters(switch, port)
    return Latest(
        interval=None if interval is None else IntervalView.of(interval),
        counters=None if counters is None else CountersView.of(counters),
    )


@routes.get(
    "/v1/switches/{switch}/ports/{port}/telemetry",
    **operation(
        Role.VIEWER,
        "list_intervals",
        "Control intervals of a port",
        "unknown-switch",
        "unknown-port",
        description="One item per report, over a span of time.",
    ),
)
async def list_intervals(
    api: Api,
    switch: SwitchName,
    port: PortNumber,
    from_us: FromUs = None,
    to_us: ToUs = None,
    limit: SpanLimit = SPAN_ITEMS,
) -> Intervals:
    """A page of interval reports from the store."""
    start_us, end_us = span(from_us, to_us)
    found = await api.controller.telemetry.intervals(
        switch, port, from_us=start_us, to_us=end_us, limit=limit
    )
    return Intervals(
        items=[IntervalView.of(each) for each in found],
        from_us=start_us,
        to_us=end_us,
        complete=len(found) < limit,
    )


@routes.get(
    "/v1/switches/{switch}/ports/{port}/telemetry/summary",
    **operation(
        Role.VIEWER,
        "summarise_intervals",
        "Means of a port's control intervals",
        "unknown-switch",
        "unknown-port",
        description="One item per step of time.",
    ),
)
async def summarise_intervals(
    api: Api,
    switch: SwitchName,
    port: PortNumber,
    step_us: StepUs = 1_000_000,
    from_us: FromUs = None,
    to_us: ToUs = None,
    limit: SpanLimit = SPAN_ITEMS,
) -> Summaries:
    """Interval reports as means over equal spans of time."""
    start_us, end_us = span(from_us, to_us)
    found = await api.controller.telemetry.interval_summaries(
        switch, port, from_us=start_us, to_us=end_us, step_us=step_us, limit=limit
    )
    return Summaries(
        items=[SummaryView.of(each) for each in found],
        from_us=start_us,
        to_us=end_us,
        step_us=step_us,
        complete=len(found) < limit,
    )


@routes.get(
    "/v1/switches/{switch}/drops",
    **operation(
        Role.VIEWER,
        "list_drops",
        "Packets that queues dropped",
        "unknown-switch",
        "unknown-port",
        description="One item per packet, over a span of time.",
    ),
)
async def list_drops(
    api: Api,
    switch: SwitchName,
    port: OfPort = None,
    from_us: FromUs = None,
    to_us: ToUs = None,
    limit: SpanLimit = SPAN_ITEMS,
) -> Drops:
    """A page of reported drops from the store."""
    start_us, end_us = span(from_us, to_us)
    found = await api.controller.telemetry.drops(switch, port, from_us=start_us, to_us=end_us, limit=limit)
    return Drops(
        items=[DropView.of(each) for each in found],
        from_us=start_us,
        to_us=end_us,
        complete=len(found) < limit,
    )


@routes.get(
    "/v1/telemetry/stream",
    response_class=EventSourceResponse,
    **operation(
        Role.VIEWER,
        "stream_telemetry",
        "Live stream of telemetry",
        "unknown-switch",
        "unknown-port",
        description=_STREAM,
        responses={
            200: {
                "description": "Server-sent events, until one side ends them.",
                "content": {"text/event-stream": {"schema": {"type": "string"}, "example": _STREAM_EXAMPLE}},
            }
        },
    ),
)
async def stream_telemetry(
    request: Request,
    api: Api,
    token: BearerToken,
    switch: OfSwitch = None,
    port: OfPort = None,
    kind: Kinds = None,
    last_event_id: LastEventId = None,
) -> EventSourceResponse:
    """Stream events that happen from now on."""
    if switch is not None:
        api.controller.switches.get(switch)
        if port is not None:
            await api.controller.ports.get(switch, port)
    api.streams.check(token.id)
    events = api.controller.telemetry.subscribe(
        switch=switch, port=port, kinds=kind, maxsize=api.options.stream_events
    )
    return sse.stream(request, token, _with_gaps(events, last_event_id), events.close)


async def _with_gaps(events: Subscription, last_event_id: str | None) -> AsyncIterator[ServerSentEvent]:
    """The events, with a `lost` event wherever some are missing."""
    if last_event_id is not None:
        since_us = _time(last_event_id)
        yield sse.sent("lost", Lost(reason="reconnected", events=None, since_us=since_us))
    lost = 0
    async for event in events:
        if events.lost > lost:
            missing, lost = events.lost - lost, events.lost
            yield sse.sent("lost", Lost(reason="slow-reader", events=missing, since_us=None))
        yield _sent(event)


def _time(last_event_id: str) -> int | None:
    digits = last_event_id.isascii() and last_event_id.isdigit() and len(last_event_id) <= 16
    return min(int(last_event_id), MAX_TIME_US) if digits else None


def _sent(event: Event) -> ServerSentEvent:
    event_id = str(event.time_us)
    if isinstance(event, Interval):
        return sse.sent("interval", IntervalView.of(event), event_id)
    if isinstance(event, Drop):
        return sse.sent("drop", DropView.of(event), event_id)
    if isinstance(event, PortCounters):
        return sse.sent("counters", CountersView.of(event), event_id)
    if isinstance(event, PolicyChange):
        return sse.sent("policy", PolicyView.of(event.policy), event_id)
    return sse.sent("status", StatusView.of(event), event_id)
