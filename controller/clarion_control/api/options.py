# SPDX-License-Identifier: Apache-2.0
"""The options of the API."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class ApiOptions:
    """Limits of the API, and how it is served. A limit holds over any minute, not per minute of the clock."""

    requests_per_minute: int = 1200  # of one token
    anonymous_per_minute: int = 120  # of one address, without token
    failures_per_minute: int = 10  # of one address: tokens that are not valid
    body_bytes: int = 512 * 1024  # a full forwarding table fits
    streams: int = 64  # event streams open at a time
    streams_per_token: int = 16
    stream_events: int = 1000  # kept for a slow reader of a stream before events are lost
    heartbeat_s: float = 15.0  # of a stream on which nothing happens
    certificate: Path | None = None  # with which it is served over TLS


DEFAULTS = ApiOptions()
