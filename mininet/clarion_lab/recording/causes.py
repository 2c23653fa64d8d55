# SPDX-License-Identifier: Apache-2.0
"""What can happen to a packet, as the truth log names it, and what a sender should make of it."""

from __future__ import annotations

LOSSES = {
    "wire": "corrupted on a link",
    "queue": "a queue was full",
    "policer": "faster than a policer lets pass",
    "outage": "the link was away, or its switch started again",
    "blocked": "refused: too long for a link, or its header by a middlebox",
}
INCIDENTS = {
    "mark": "marked CE",
    "local": "dropped by the sender's own device",
    "duplicate": "arrived twice",
    "displaced": "arrived late, behind packets sent after it",
    "stripped": "lost its Clarion header",
    "flipped": "had a bit of its Clarion header changed",
}
CONGESTION = frozenset({"queue", "policer", "mark", "local"})  # the sender is too fast: it has to reduce
REASONS_TO_REDUCE = CONGESTION | {"outage", "blocked"}  # and nobody can blame it if it does
TAGS = {"wire": ("wire", "outage"), "queue": ("queue", "policer")}  # what each total of the header counts
