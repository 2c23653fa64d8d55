# SPDX-License-Identifier: Apache-2.0
"""`clarion` with a P4Runtime agent that writes down, in the order in which they happen, who is primary and
what is written by whom: a line of JSON each, appended to the file CLARION_TRACE.

    {"time_s": 1.5, "device": 1, "primary": 5}                                           null: no primary
    {"time_s": 1.6, "device": 1, "writer": 5, "of": 5, "capacities": {"1": 125000}}      in bytes/s, by port

`of` is who was primary when the write began to be applied; its stream may end before the write does.
"""

from __future__ import annotations

import contextvars
import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from finsy.proto import U128

from clarion.cli import main
from clarion_agent.arbitration import Arbiter
from clarion_agent.device import Device
from clarion_agent.embedded import EmbeddedSwitch
from clarion_contract.target import Change, SetEntry

_trace = open(os.environ["CLARION_TRACE"], "a", buffering=1)  # noqa: SIM115 - for as long as the agent lives
_writer: contextvars.ContextVar[tuple[Device, int] | None] = contextvars.ContextVar("writer", default=None)


def _tell(device: int, **what: Any) -> None:
    _trace.write(json.dumps({"time_s": time.time(), "device": device, **what}) + "\n")


def _primary(arbiter: Arbiter) -> int | None:
    found = [controller.election_id for controller, _ in arbiter.primaries()]
    return found[0] if found else None


def _traced(method: Any) -> Any:
    def traced(self: Arbiter, *arguments: Any, **named: Any) -> None:
        before = _primary(self)
        method(self, *arguments, **named)
        after = _primary(self)
        if after != before:
            _tell(self._device_id, primary=after)

    return traced


def _trace_writes() -> None:
    write, apply = Device.write, EmbeddedSwitch.apply

    async def traced_write(self: Device, request: Any) -> None:
        _writer.set((self, U128.decode(request.election_id)))
        await write(self, request)

    async def traced_apply(self: EmbeddedSwitch, changes: Sequence[Change]) -> None:
        by = _writer.get()
        of = None if by is None else _primary(by[0].arbiter)
        await apply(self, changes)
        if by is not None:
            capacities = {
                each.key: each.arguments["capacity"]
                for each in changes
                if isinstance(each, SetEntry) and each.table == "xcp_port" and each.arguments is not None
            }
            _tell(by[0].id, writer=by[1], of=of, capacities=capacities)

    Device.write = traced_write  # type: ignore[method-assign]
    EmbeddedSwitch.apply = traced_apply  # type: ignore[method-assign]


if __name__ == "__main__":
    Arbiter.arbitrate = _traced(Arbiter.arbitrate)  # type: ignore[method-assign]
    Arbiter.leave = _traced(Arbiter.leave)  # type: ignore[method-assign]
    _trace_writes()
    for number in (1, 2):
        _tell(number, primary=None)
    sys.exit(main())
