# SPDX-License-Identifier: Apache-2.0
"""A controller's view of a switch, whatever protocol the switch speaks."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from clarion_contract.settings import PortSettings
from clarion_contract.telemetry import Report
from clarion_p4rt.switch import Forwarding, Switch


class Mastership(enum.Enum):
    """The controller's role at a switch, by the switch's arbitration."""

    PRIMARY = "primary"  # may write
    BACKUP = "backup"  # may read; another controller writes


@dataclass(frozen=True)
class Cells:
    """The cells of all counter arrays at one port, by the array's name; arrays of packets have no bytes."""

    packets: Mapping[str, int]
    bytes: Mapping[str, int]


Reports = Sequence[Report]


@dataclass(frozen=True)
class PacketIn:
    """A frame that the switch sent to the controller."""

    port: int  # by which it came
    time_us: int  # of its arrival, by the switch's clock
    frame: bytes


@dataclass(frozen=True)
class OwnLldp:
    """How a switch that speaks LLDP by itself, and judges its wires, names itself and its ports in hellos."""

    chassis_id: str
    ports: Mapping[int, str]


@dataclass(frozen=True)
class Lease:
    """A verdict on the wire at a port, in force while the switch's clock is before `until_us`."""

    proven: bool  # else disproved
    until_us: int


class Device(Protocol):
    """One session with a switch. All methods raise SwitchError; UNAVAILABLE and the like mean that the
    session is over.
    """

    @property
    def primary(self) -> int | None:
        """Own election id of the controller that leads, by the last arbitration; None: there is none."""

    async def open(self) -> Mastership:
        """Connects and requests mastership."""

    async def receive(self) -> Mastership | Reports | PacketIn:
        """The next reports, a frame, or a change of mastership."""

    async def prepare(self) -> None:
        """As primary: loads the program unless it runs already."""

    async def subscribe(self, every_s: float) -> None:
        """As primary: subscribes to reports; the switch may send those of so long a time together."""

    async def read(self) -> Mapping[int, PortSettings]:
        """The present settings of the switch's ports, read anew."""

    async def write(self, ports: Mapping[int, PortSettings], forwarding: Forwarding | None) -> None:
        """As primary: gives the switch exactly these settings, by the difference from the last read.
        Forwarding None is left as it is.
        """

    async def counters(self) -> Mapping[int, Cells]:
        """The counters by port."""

    async def own_lldp(self) -> OwnLldp | None:
        """What the switch says of its own LLDP; None if it leaves LLDP to its controller."""

    async def send(self, port: int, frame: bytes) -> None:
        """As primary: sends a frame out of a port."""

    async def lease(self, leases: Mapping[int, Lease | None]) -> None:
        """As primary: gives these ports these verdicts on their wires; None takes one away."""

    async def close(self) -> None:
        """Ends the session; the switch forwards on."""


DeviceFactory = Callable[[Switch], Device]
