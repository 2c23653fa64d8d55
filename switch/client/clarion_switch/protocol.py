# SPDX-License-Identifier: Apache-2.0
"""The control socket's lines: commands, replies and events, each one JSON object."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clarion_base.faults import Code, Fault, FaultError

Json = dict[str, Any]

COMMAND_LIMIT_BYTES = 1 << 20  # of clarion-switch, which hangs up on more
LINE_LIMIT_BYTES = 4 << 20  # of ours, for a reply or an event
EVENTS = ("interval", "drop", "packet", "lost")


def encode(command: Mapping[str, Any]) -> bytes:
    """A command as a line; FaultError if it is too long for clarion-switch."""
    line = json.dumps(command).encode() + b"\n"
    if len(line) > COMMAND_LIMIT_BYTES:
        reason = f"more than {COMMAND_LIMIT_BYTES} bytes at once; write less at a time"
        raise FaultError(Fault((), reason, Code.OUT_OF_RANGE))
    return line


def event(message: Json) -> str | None:
    """The kind of an event, None for a reply."""
    kind = next(iter(message), None)
    return kind if len(message) == 1 and kind in EVENTS else None


def checked(reply: Json, where: str = "") -> Json:
    """A reply as it is; FaultError if it is a refusal."""
    if "fault" in reply:
        raise FaultError(Fault.from_json(reply["fault"]), where)
    return reply
