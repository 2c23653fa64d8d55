# SPDX-License-Identifier: Apache-2.0
"""Epochs: a new one restarts a port's controllers, or its sequence checks, from their initial state.

The switch compares an entry's epoch with the one that its state is of. So the epoch must change whenever XCP
or `check` goes from off to on, and at no other time.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping

from clarion_contract.entries import Entry, port_entries
from clarion_contract.settings import LAST_EPOCH, TABLES, PortSettings

Key = tuple[str, int]  # table and port


def next_epoch(epoch: int) -> int:
    """The epoch after this one."""
    return epoch % LAST_EPOCH + 1


class Epochs:
    """The epochs that the ports of one switch had last."""

    def __init__(self, *, fresh: bool) -> None:
        """`fresh`: the switch's state is all new, so that the first epoch of a port may be any."""
        self._fresh = fresh
        self._last: dict[Key, int] = {}

    def entries(self, present: Iterable[Entry], wanted: Mapping[int, PortSettings]) -> list[Entry]:
        """The entries of the wanted settings, with epochs that continue the present entries'."""
        on = set()
        for entry in present:
            if TABLES[entry.table].has_epoch:
                key = (entry.table, entry.key)
                self._last[key] = entry.arguments["epoch"]
                if entry.arguments.get("check", 1):
                    on.add(key)
        made: list[Entry] = []
        for port, settings in wanted.items():
            xcp = self._epoch(("xcp_port", port), on, settings.xcp is not None)
            tag = self._epoch(("tag_port", port), on, settings.check)
            made.extend(port_entries(settings, xcp, tag))
        return made

    def _epoch(self, key: Key, on: set[Key], wanted: bool) -> int:
        if key not in self._last:
            self._last[key] = LAST_EPOCH if self._fresh else random.randint(1, LAST_EPOCH)
        if wanted and key not in on:
            self._last[key] = next_epoch(self._last[key])
        return self._last[key]
