# SPDX-License-Identifier: Apache-2.0
"""What a link needs of the controller that it belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from clarion_contract.settings import PortSettings
from clarion_control.fleet.goal import Wanted
from clarion_control.model import PortCounters, SwitchStatus
from clarion_control.store.ports import Desired
from clarion_p4rt.device import Reports
from clarion_p4rt.errors import SwitchError
from clarion_p4rt.switch import Switch


@dataclass
class Pace:
    """How often a link does what it does unasked; a large fleet makes it slower."""

    compare_s: float = 10.0
    counters_s: float = 2.0
    reports_s: float = 0.1  # for which a switch may collect reports


class Owner(Protocol):
    """What a link needs of the controller."""

    async def desired(self, switch: Switch) -> Desired:
        """What the store says."""

    async def adopt(self, switch: Switch, found: Mapping[int, PortSettings]) -> Desired:
        """Makes desired what was found, where nothing is; all that is desired then."""

    async def refused(
        self, switch: Switch, port: int, tried: Wanted, good: Wanted, error: SwitchError
    ) -> Desired:
        """The switch refused: desires again what it took last, unless something newer is desired."""

    def received(self, switch: Switch, reports: Reports) -> None:
        """Reports came in."""

    def counted(self, counters: PortCounters) -> None:
        """Counters were read."""

    def changed(self, switch: Switch, status: SwitchStatus) -> None:
        """The link's state is another."""
