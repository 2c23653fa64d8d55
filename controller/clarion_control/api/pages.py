# SPDX-License-Identifier: Apache-2.0
"""Pages of long lists, and spans of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urlencode

from fastapi import Query, Request, Response

from clarion_control.api.problems import Problem, in_query
from clarion_control.api.schemas.base import MAX_PAGE_ITEMS, MAX_TIME_US
from clarion_control.store.clock import now_us

SPAN_ITEMS = 1000
MAX_SPAN_ITEMS = 10_000
DEFAULT_SPAN_US = 60_000_000

FromUs = Annotated[
    int | None,
    Query(
        description="Start of the span, Unix time in us; a minute before its end if left out.",
        ge=0,
        le=MAX_TIME_US,
    ),
]
ToUs = Annotated[
    int | None, Query(description="End of the span, Unix time in us; now if left out.", ge=0, le=MAX_TIME_US)
]
SpanLimit = Annotated[
    int, Query(description="How many at most; the newest are given.", ge=1, le=MAX_SPAN_ITEMS)
]


def next_page(request: Request, response: Response, ids: Sequence[int], limit: int) -> str | None:
    """The address of the page after this one, also put into Link; None if this page is not full."""
    if len(ids) < min(limit, MAX_PAGE_ITEMS):
        return None
    query = {name: value for name, value in request.query_params.items() if name != "before_id"}
    address = f"{request.url.path}?{urlencode({**query, 'before_id': ids[-1]})}"
    response.headers["Link"] = f'<{address}>; rel="next"'
    return address


def span(from_us: int | None, to_us: int | None) -> tuple[int, int]:
    """The requested span of time."""
    end_us = now_us() if to_us is None else to_us
    start_us = max(0, end_us - DEFAULT_SPAN_US) if from_us is None else from_us
    if start_us > end_us:
        detail = f"from_us, {start_us}, lies after to_us, {end_us}"
        raise Problem("invalid-request", detail, errors=[in_query("from_us", f"use at most {end_us}")])
    return start_us, end_us
