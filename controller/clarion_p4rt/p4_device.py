# SPDX-License-Identifier: Apache-2.0
"""A switch that speaks P4Runtime, BMv2 and the embedded one alike."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from finsy import (
    GRPCStatusCode,
    P4CounterUnit,
    P4DigestEntry,
    P4MulticastGroupEntry,
    P4PacketOut,
    P4Schema,
)
from finsy.p4schema import P4StructType
from finsy.proto import p4r

from clarion_contract import entries, pipeline
from clarion_contract.checks import checked_addresses
from clarion_contract.entries import Entry
from clarion_contract.epochs import Epochs
from clarion_contract.settings import FLOOD_GROUP, JUDGING, PORT_TABLES, PortSettings
from clarion_contract.telemetry import DIGESTS, Digest
from clarion_p4rt import capabilities, refusals, table_entries, tls_failures, wire_leases
from clarion_p4rt.device import (
    Cells,
    Device,
    DeviceFactory,
    Lease,
    Mastership,
    OwnLldp,
    PacketIn,
    Reports,
)
from clarion_p4rt.digest_lists import DigestList
from clarion_p4rt.errors import SESSION, Entity, SwitchError
from clarion_p4rt.session import Session
from clarion_p4rt.switch import Forwarding, Switch

OPEN_TIMEOUT_S = 5.0
# Reports per list. No acknowledgements are sent (time 0): a switch would use them to leave out reports that
# repeat one, and none of ours does.
LIST_SIZE = 256
TERM = 1 << 64  # an election id's upper half counts take-overs, its lower half is the controller's own


def factory(election_id: int, schema: P4Schema | None = None, *, insecure: bool = False) -> DeviceFactory:
    """Sessions of the controller with this election id. `insecure`: without TLS to other machines, too."""
    program = pipeline.load() if schema is None else schema

    def connect(switch: Switch) -> Device:
        return P4Device(switch, program, election_id, insecure=insecure)

    return connect


class P4Device:
    """One session. The controller with the highest election id is primary; when it leaves, a backup takes
    mastership with an id above all that were used, and keeps it when the old primary comes back.
    """

    def __init__(self, switch: Switch, schema: P4Schema, election_id: int, *, insecure: bool = False) -> None:
        self._switch = switch
        self._schema = schema
        self._election_id = election_id
        self._session = Session(
            switch.name, switch.address, switch.device_id, schema, switch.tls, insecure=insecure
        )
        self._epochs = Epochs(fresh=False)
        self._present: list[Entry] | None = None
        self._addresses: list[Entry] | None = None
        self._flood: list[P4MulticastGroupEntry] = []
        self._written: tuple[Mapping[int, PortSettings], Forwarding | None] | None = None
        self._leased: dict[int, Lease] | None = None  # None: to be read
        self._measures: bool | None = None  # whether the switch can measure capacities; None: not asked yet
        self._was_backup = False
        self.primary: int | None = None
        self._counters = {
            counter.id: (counter.alias, counter.unit is not P4CounterUnit.PACKETS)
            for counter in schema.counters
        }
        self._cells = [
            p4r.Entity(counter_entry=p4r.CounterEntry(counter_id=counter, index=p4r.Index(index=port)))
            for counter in self._counters
            for port in switch.ports
        ]
        self._packet_ids = {
            field.name: field.id for field in schema.controller_packet_metadata["packet_in"].metadata
        }
        self._digests: dict[int, Digest] = {}
        for digest in schema.digests:
            assert isinstance(digest.type_spec, P4StructType)
            known = self._digests[digest.id] = DIGESTS[digest.alias]
            assert list(known.members) == list(digest.type_spec.members), digest.alias

    async def open(self) -> Mastership:
        """Connects and requests mastership."""
        try:
            return await asyncio.wait_for(self._join(), OPEN_TIMEOUT_S)
        except asyncio.TimeoutError:
            raise refusals.no_answer(self._switch.name, self._switch.address) from None
        except SwitchError as error:
            if error.code != "UNAVAILABLE" or self._switch.tls is None:
                raise
            reason = await tls_failures.reason(self._switch.address, self._switch.tls)
            if reason is None:
                raise
            raise SwitchError(self._switch.name, SESSION, "UNAUTHENTICATED", reason) from None

    async def receive(self) -> Mastership | Reports | PacketIn:
        """The next reports, a frame, or a change of mastership."""
        while True:
            message = await self._session.receive()
            if isinstance(message, DigestList):
                return self._reports(message)
            kind = message.WhichOneof("update")
            if kind == "packet":
                packet = self._packet(message)
                if packet is not None:
                    return packet
            if kind == "arbitration":
                mastership = await self._mastership(message.arbitration)
                if mastership is not None:
                    return mastership

    async def prepare(self) -> None:
        """Loads the program unless the switch runs it."""
        self._epochs = Epochs(fresh=await self._session.load_program())
        self._present = self._addresses = self._written = self._leased = None

    async def subscribe(self, every_s: float) -> None:
        """Subscribes to all reports, in lists of those that come within this time."""
        for name in DIGESTS:
            wanted = P4DigestEntry(
                name, max_list_size=LIST_SIZE, max_timeout_ns=int(every_s * 1e9), ack_timeout_ns=0
            )
            present = await self._session.read(f"digest {name}", [P4DigestEntry(name)])
            if present != [wanted]:
                await self._session.write([~wanted if present else +wanted])

    async def read(self) -> Mapping[int, PortSettings]:
        """The settings of the ports, read anew; forwarding is read anew with the next write."""
        self._written = self._addresses = None
        read = await self._session.read("port tables", table_entries.all_of(PORT_TABLES))
        self._present = table_entries.decoded(read)
        return entries.port_settings(self._switch.ports, self._present)

    async def write(self, ports: Mapping[int, PortSettings], forwarding: Forwarding | None) -> None:
        """Gives the switch exactly these settings, all or none."""
        if self._written == (ports, forwarding):
            return
        try:
            await self._write(ports, forwarding)
        except SwitchError:
            if self._present is None:
                raise
            # Another controller may have changed entries since the last read.
            self._present = None
            await self._write(ports, forwarding)
        self._written = (ports, forwarding)

    async def counters(self) -> Mapping[int, Cells]:
        """The counters by port."""
        packets: dict[int, dict[str, int]] = {port: {} for port in self._switch.ports}
        octets: dict[int, dict[str, int]] = {port: {} for port in self._switch.ports}
        for entity in await self._session.read_messages("counters", self._cells):
            found = entity.counter_entry
            port = found.index.index
            if found.counter_id not in self._counters or port not in packets:
                continue
            name, counts_bytes = self._counters[found.counter_id]
            packets[port][name] = found.data.packet_count
            if counts_bytes:
                octets[port][name] = found.data.byte_count
        return {port: Cells(packets[port], octets[port]) for port in self._switch.ports}

    async def own_lldp(self) -> OwnLldp | None:
        """What the switch says of its own LLDP; None if it leaves LLDP to its controller."""
        answer = await self._session.capabilities()
        return None if answer is None else capabilities.own_lldp(answer, self._switch.device_id)

    async def send(self, port: int, frame: bytes) -> None:
        """Sends a frame out of a port."""
        await self._session.send_packet(P4PacketOut(frame, egress_port=port, pad=0))

    async def lease(self, leases: Mapping[int, Lease | None]) -> None:
        """Gives these ports these verdicts on their wires; None takes one away."""
        leased, self._leased = self._leased, None  # read anew after a failure
        if leased is None:
            leased = wire_leases.decoded(await self._session.read(JUDGING, wire_leases.ALL))
        await self._session.write(wire_leases.changes(leased, leases))
        after = {**leased, **leases}
        self._leased = {port: lease for port, lease in after.items() if lease is not None}

    async def hang_up(self) -> None:
        """Ends our half of the stream; `receive` fails once the switch has given up the session, too."""
        await self._session.hang_up()

    async def close(self) -> None:
        """Ends the session; the switch forwards on."""
        await self._session.close()

    async def _join(self) -> Mastership:
        await self._session.connect()
        await self._session.request_mastership(self._election_id)
        while True:
            mastership = await self.receive()
            if isinstance(mastership, Mastership):
                return mastership

    async def _mastership(self, arbitration: Any) -> Mastership | None:
        """Our mastership by an arbitration message; None if it has made us request a free one."""
        code = arbitration.status.code
        self.primary = None if code == GRPCStatusCode.NOT_FOUND else arbitration.election_id.low
        if code == GRPCStatusCode.ALREADY_EXISTS:
            self._was_backup = True
            return Mastership.BACKUP
        # Free mastership (NOT_FOUND) is requested. BMv2 gives it to a backup by itself (OK), under the old id
        # of the backup: that is replaced by a higher one, too.
        if code != GRPCStatusCode.OK or self._was_backup:
            self._was_backup = False
            term = arbitration.election_id.high + 1
            await self._session.request_mastership(term * TERM + self._election_id)
            return None
        return Mastership.PRIMARY

    def _packet(self, message: Any) -> PacketIn | None:
        """A frame with what the program says of it; None if the switch says nothing."""
        said = {each.metadata_id: int.from_bytes(each.value, "big") for each in message.packet.metadata}
        try:
            port, time_us = said[self._packet_ids["ingress_port"]], said[self._packet_ids["timestamp_us"]]
        except KeyError:
            return None
        return PacketIn(port, time_us, message.packet.payload)

    def _reports(self, received: DigestList) -> Reports:
        digest = self._digests.get(received.digest_id)
        return [] if digest is None else [digest.read(values) for values in received.values()]

    async def _write(self, ports: Mapping[int, PortSettings], forwarding: Forwarding | None) -> None:
        if self._present is None:
            await self.read()
        await self._check_measured(ports)
        present = self._present or []
        wanted = self._epochs.entries(present, ports)
        updates: list[Any] = table_entries.changes(present, wanted)
        addresses: Sequence[Entry] | None = None
        flood = self._flood
        if forwarding is not None:
            if self._addresses is None:
                await self._read_forwarding()
            checked = checked_addresses(self._switch.name, self._switch.ports, forwarding.addresses)
            addresses = list(entries.forward_entries(checked))
            updates += table_entries.changes(self._addresses or [], addresses)
            flood = [table_entries.flood_group(sorted(forwarding.flood_ports))]
            if self._flood != flood:
                updates.append(~copy(flood[0]) if self._flood else +copy(flood[0]))
        await self._session.write(updates)
        self._present = wanted
        if addresses is not None:
            self._addresses, self._flood = list(addresses), flood

    async def _check_measured(self, ports: Mapping[int, PortSettings]) -> None:
        """Refuses for a switch that cannot measure: to BMv2, a capacity of 0 is one."""
        for port, settings in ports.items():
            if settings.xcp is None or not settings.xcp.is_measured:
                continue
            if self._measures is None:
                answer = await self._session.capabilities()
                device_id = self._switch.device_id
                self._measures = answer is not None and capabilities.measures_capacity(answer, device_id)
            if not self._measures:
                reason = 'capacity_bps: "measured": this switch does not measure; give it in bit/s'
                raise SwitchError(self._switch.name, Entity("xcp_port", port), "UNIMPLEMENTED", reason)

    async def _read_forwarding(self) -> None:
        read = await self._session.read("l2_forward", table_entries.all_of(["l2_forward"]))
        self._addresses = table_entries.decoded(read)
        group = P4MulticastGroupEntry(FLOOD_GROUP)
        self._flood = await self._session.read("multicast group", [group])
