# SPDX-License-Identifier: Apache-2.0
"""A switch in memory: it records its settings, and reports and refuses on request of a test."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping

from clarion_contract.checks import checked_addresses
from clarion_contract.settings import PortSettings
from clarion_contract.telemetry import IntervalReport, QueueDrop
from clarion_p4rt.device import Cells, Device, Lease, Mastership, OwnLldp, PacketIn, Reports
from clarion_p4rt.errors import SESSION, Entity, SwitchError
from clarion_p4rt.switch import Forwarding, Switch

REPORT = IntervalReport(
    port=1,
    intervals=1,
    elapsed_us=100_000.0,
    avg_rtt_us=50_000.0,
    input_bytes=1_000_000,
    sum_x_s=0.1,
    sum_x_rtt_s2=0.005,
    queue_bytes=3000,
    input_bps=80e6,
    phi_bps=4e6,
    positive_bps=12e6,
    negative_bps=8e6,
    cp_bps_per_s=120e6,
    cn_bps_per_byte=8.0,
    lost_on_wire=0,
    dropped_by_queue=0,
)
DROP = QueueDrop(
    time_us=1_000_000,
    port=1,
    frame_bytes=1514,
    source="10.0.0.1",
    destination="10.0.0.2",
    protocol=6,
    source_port=40000,
    destination_port=5201,
    format=1,
    bucket=7,
    drops=1,
)


class FakeSwitch:
    """The switch itself; it outlives sessions, as a real one does."""

    def __init__(self, name: str = "s1", ports: Iterable[int] = (1, 2)) -> None:
        self.name = name
        self.ports = {port: PortSettings(port) for port in ports}
        self.port_names: dict[int, str] = {}  # at the controller
        self.forwarding: Forwarding | None = None
        self.counters: dict[int, Cells] = {}
        self.writes: list[dict[int, PortSettings]] = []  # only ports that a write changed
        self.sessions = 0  # opened so far
        self.refuse: Callable[[PortSettings], str | None] = _nothing  # the reason to refuse these settings
        self.refuse_address: Callable[[int], str | None] = lambda _: None  # by the address, as a number
        self.reachable = True
        self.answering = asyncio.Event()  # cleared: writes hang
        self.answering.set()
        self.own_lldp: OwnLldp | None = None
        self.clock_us = 0  # what it stamps frames with
        self.sent: list[tuple[int, bytes]] = []  # frames that left, by their ports
        self.leases: dict[int, Lease] = {}
        self.refuse_leases = ""  # the code of the refusal
        self.wired: dict[int, tuple[FakeSwitch, int]] = {}  # the far ends of ports
        self.primary: int | None = 1  # election id of the controller that leads
        self._mastership = Mastership.PRIMARY
        self._intervals: dict[int, int] = {}
        self._inbox: asyncio.Queue[Mastership | Reports | PacketIn | None] | None = None

    def report(self, port: int, **fields: float | None) -> None:
        """Reports a control interval; fields not given are those of REPORT."""
        self._intervals[port] = self._intervals.get(port, 0) + 1
        values = {"intervals": self._intervals[port], **fields}
        self._send([REPORT._replace(port=port, **values)])  # type: ignore[arg-type]

    def drop(self, port: int, **fields: object) -> None:
        """Reports a dropped packet; fields not given are those of DROP."""
        self._send([DROP._replace(port=port, **fields)])  # type: ignore[arg-type]

    def wire(self, port: int, other: FakeSwitch, other_port: int) -> None:
        """Links two ports; frames that leave by one come in by the other."""
        self.wired[port] = other, other_port
        other.wired[other_port] = self, port

    def receive_frame(self, port: int, frame: bytes) -> None:
        """A frame comes in by a port, and goes to the controller."""
        self._send(PacketIn(port, self.clock_us, frame))

    def send_frame(self, port: int, frame: bytes) -> None:
        self._check()
        self.sent.append((port, frame))
        if port in self.wired:
            other, other_port = self.wired[port]
            other.receive_frame(other_port, frame)

    def lease(self, leases: Mapping[int, Lease | None]) -> None:
        self._check()
        if self.refuse_leases:
            raise SwitchError(self.name, Entity("wire_judged"), self.refuse_leases, "no")
        self.leases.update({port: lease for port, lease in leases.items() if lease is not None})
        for port in [port for port, lease in leases.items() if lease is None]:
            self.leases.pop(port, None)

    def become(self, mastership: Mastership) -> None:
        """Makes the controller primary or backup, now and in later sessions."""
        self._mastership = mastership
        self.primary = 1 if mastership is Mastership.PRIMARY else 2
        self._send(mastership)

    def go(self) -> None:
        """Stops answering, which ends a session."""
        self.reachable = False
        self._send(None)

    def come_back(self, *, empty: bool = False) -> None:
        """Answers again; with `empty`, like a restarted switch."""
        self.reachable = True
        if empty:
            self.clock_us, self.leases = 0, {}
            self.ports = {port: PortSettings(port) for port in self.ports}
            self.forwarding = None

    def open(self) -> Mastership:
        self._check()
        self.sessions += 1
        self._inbox = asyncio.Queue()
        return self._mastership

    async def receive(self) -> Mastership | Reports | PacketIn:
        assert self._inbox is not None
        message = await self._inbox.get()
        if message is None:
            raise self._gone()
        return message

    async def write(self, ports: Mapping[int, PortSettings], forwarding: Forwarding | None) -> None:
        await self.answering.wait()
        self._check()
        if self._mastership is not Mastership.PRIMARY:
            raise SwitchError(self.name, Entity("write"), "PERMISSION_DENIED", "not primary")
        changed = {port: new for port, new in ports.items() if self.ports[port] != new}
        for port, settings in changed.items():
            if reason := self.refuse(settings):
                raise SwitchError(self.name, Entity("xcp_port", port), "INVALID_ARGUMENT", reason)
        if forwarding is not None:
            for address in checked_addresses(self.name, self.ports, forwarding.addresses):
                if reason := self.refuse_address(address):
                    raise SwitchError(self.name, Entity("l2_forward", address), "INVALID_ARGUMENT", reason)
        if changed:
            self.writes.append(changed)
        self.ports.update(changed)
        if forwarding is not None:
            self.forwarding = forwarding

    def read(self) -> dict[int, PortSettings]:
        self._check()
        return dict(self.ports)

    def read_counters(self) -> dict[int, Cells]:
        self._check()
        return dict(self.counters)

    def _send(self, message: Mastership | Reports | PacketIn | None) -> None:
        if self._inbox is not None:
            self._inbox.put_nowait(message)

    def _check(self) -> None:
        if not self.reachable:
            raise self._gone()

    def _gone(self) -> SwitchError:
        return SwitchError(self.name, SESSION, "UNAVAILABLE", "no switch answers")


class FakeDevice:
    """A session with a fake switch."""

    def __init__(self, switch: FakeSwitch) -> None:
        self._switch = switch

    @property
    def primary(self) -> int | None:
        return self._switch.primary

    async def open(self) -> Mastership:
        return self._switch.open()

    async def receive(self) -> Mastership | Reports | PacketIn:
        return await self._switch.receive()

    async def prepare(self) -> None:
        pass

    async def subscribe(self, every_s: float) -> None:
        pass

    async def read(self) -> Mapping[int, PortSettings]:
        return self._switch.read()

    async def write(self, ports: Mapping[int, PortSettings], forwarding: Forwarding | None) -> None:
        await self._switch.write(ports, forwarding)

    async def counters(self) -> Mapping[int, Cells]:
        return self._switch.read_counters()

    async def own_lldp(self) -> OwnLldp | None:
        return self._switch.own_lldp

    async def send(self, port: int, frame: bytes) -> None:
        self._switch.send_frame(port, frame)

    async def lease(self, leases: Mapping[int, Lease | None]) -> None:
        self._switch.lease(leases)

    async def close(self) -> None:
        pass


class FakeFleet:
    """Makes sessions with fake switches, by name; a switch that is not among them does not answer."""

    def __init__(self, *switches: FakeSwitch) -> None:
        self.switches = {switch.name: switch for switch in switches}

    def __call__(self, switch: Switch) -> Device:
        if switch.name not in self.switches:
            absent = FakeSwitch(switch.name, switch.ports)
            absent.reachable = False
            return FakeDevice(absent)
        return FakeDevice(self.switches[switch.name])


def _nothing(_: PortSettings) -> str | None:
    return None
