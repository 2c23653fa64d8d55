# SPDX-License-Identifier: Apache-2.0
"""What a link needs of a switch, whatever it speaks."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from clarion_contract.settings import PortSettings
from clarion_contract.telemetry import IntervalReport, QueueDrop
from clarion_p4rt.switch import Forwarding, Switch


class Standing(enum.Enum):
    """What we are to a switch."""

    PRIMARY = "primary"  # we may write
    BACKUP = "backup"  # another controller may


@dataclass(frozen=True)
class Cells:
    """The cells of all counter arrays at one port, by the array's name."""

    packets: Mapping[str, int]
    bytes: Mapping[str, int]


Reports = Sequence[IntervalReport | QueueDrop]


class Device(Protocol):
    """One session with a switch. All raise SwitchError; UNAVAILABLE and the like mean that the session is
    over.
    """

    async def open(self) -> Standing:
        """Connects and asks for charge of the switch."""

    async def receive(self) -> Standing | Reports:
        """Waits for what the switch sends unasked: reports, or that our standing has changed."""

    async def prepare(self) -> None:
        """As primary: loads the program unless it runs already."""

    async def subscribe(self, every_s: float) -> None:
        """As primary: asks for reports; the switch may collect them for so long, and send them together."""

    async def read(self) -> Mapping[int, PortSettings]:
        """What the ports of the switch are set to, read anew."""

    async def write(self, ports: Mapping[int, PortSettings], forwarding: Forwarding | None) -> None:
        """As primary: gives the switch exactly these settings, starting from what was read last. Forwarding
        None is left as it is.
        """

    async def counters(self) -> Mapping[int, Cells]:
        """The counters by port."""

    async def close(self) -> None:
        """Ends the session; the switch forwards on."""


DeviceFactory = Callable[[Switch], Device]
