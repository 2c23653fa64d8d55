# SPDX-License-Identifier: Apache-2.0
"""What the switches saw (see ha_agent.py): whether only primaries wrote, and never an older state."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Trace:
    """Counts over the trace, read on with each `read`."""

    writes: int = 0
    strangers: int = 0  # writes of others than the primary, or after another was elected: must be 0
    older: int = 0  # ports that were given an older state than they had: must be 0
    take_overs: int = 0
    alone_s: float = 0.0  # longest time without a primary while the switch ran, of the last `read`
    writers: set[int] = field(default_factory=set)  # the controllers' own ids
    _position: int = 0
    _primary: dict[int, int | None] = field(default_factory=dict)
    _since_s: dict[int, float] = field(default_factory=dict)  # without a primary
    _capacity: dict[tuple[int, str], int] = field(default_factory=dict)

    def read(self, path: Path) -> None:
        """Takes the lines that have been written since the last call."""
        self.alone_s = 0.0
        with path.open() as lines:
            lines.seek(self._position)
            text = lines.read()
        whole = text[: text.rfind("\n") + 1]  # a killed agent may leave half a line
        self._position += len(whole.encode())
        for line in whole.splitlines():
            record = json.loads(line)
            if "writer" in record:
                self._wrote(record["device"], record["writer"], record["of"], record["capacities"])
            else:
                self._elected(record["device"], record["primary"], record["time_s"])

    def _elected(self, device: int, primary: int | None, time_s: float) -> None:
        before = self._primary.get(device)
        self._primary[device] = primary
        if primary is None:
            self._since_s.setdefault(device, time_s)
            return
        since_s = self._since_s.pop(device, None)
        if since_s is not None:
            self.alone_s = max(self.alone_s, time_s - since_s)
        self.take_overs += before != primary

    def _wrote(self, device: int, writer: int, of: int | None, capacities: dict[str, int]) -> None:
        self.writes += 1
        self.strangers += writer != of or self._primary.get(device) not in (writer, None)
        self.writers.add(writer % 2**64)
        for port, capacity in capacities.items():
            self.older += capacity < self._capacity.get((device, port), 0)
            self._capacity[device, port] = capacity
