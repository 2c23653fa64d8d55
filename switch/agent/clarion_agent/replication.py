# SPDX-License-Identifier: Apache-2.0
"""Multicast group 1, the ports that unknown addresses are flooded to: 256 + port each, as in p4/."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from finsy.proto import p4r
from grpc import StatusCode

from clarion_agent import values
from clarion_agent.state import Replica, State
from clarion_agent.status import Refused, invalid
from clarion_contract.settings import CPU_PORT, FLOOD_BASE, FLOOD_GROUP
from clarion_contract.target import Change, SetFlood

PORT_BITS = 9
NAME = f"multicast group {FLOOD_GROUP}"


class Replication:
    """The packet replication engine of one switch."""

    def __init__(self, ports: Mapping[int, str]) -> None:
        self._ports = ports

    def write(self, kind: int, message: p4r.PacketReplicationEngineEntry, state: State) -> list[Change]:
        """Carries out an update on the state; returns the changes for the switch."""
        group = _group(message)
        if group.multicast_group_id != FLOOD_GROUP:
            raise invalid(f"multicast group {group.multicast_group_id}: the program floods to group 1 only")
        if kind == p4r.Update.INSERT and state.group is not None:
            raise Refused(StatusCode.ALREADY_EXISTS, f"{NAME}: exists; use MODIFY")
        if kind != p4r.Update.INSERT and state.group is None:
            raise Refused(StatusCode.NOT_FOUND, f"{NAME}: does not exist")
        if kind == p4r.Update.DELETE:
            state.group, state.group_metadata = None, b""
            return [SetFlood(None)]
        state.group = tuple(self._replica(replica) for replica in group.replicas)
        state.group_metadata = group.metadata
        if len({(replica.port, replica.instance) for replica in state.group}) != len(state.group):
            raise invalid(f"{NAME}: replicas: a port and instance is there twice")
        return [flood_change(state.group)]

    def read(self, message: p4r.PacketReplicationEngineEntry, state: State) -> Iterator[p4r.Entity]:
        """The group, if there is one."""
        if message.WhichOneof("type") == "clone_session_entry" and not message.clone_session_entry.session_id:
            return  # all clone sessions, of which there are none
        group = _group(message)
        if group.multicast_group_id not in (0, FLOOD_GROUP):
            raise Refused(StatusCode.NOT_FOUND, f"multicast group {group.multicast_group_id}: does not exist")
        if state.group is None:
            if group.multicast_group_id:
                raise Refused(StatusCode.NOT_FOUND, f"{NAME}: does not exist")
            return
        found = p4r.MulticastGroupEntry(multicast_group_id=FLOOD_GROUP, metadata=state.group_metadata)
        for replica in state.group:
            if replica.as_bytes:
                found.replicas.add(port=values.encode(replica.port), instance=replica.instance)
            else:
                found.replicas.add(egress_port=replica.port, instance=replica.instance)
        entity = p4r.Entity()
        entity.packet_replication_engine_entry.multicast_group_entry.CopyFrom(found)
        yield entity

    def _replica(self, replica: p4r.Replica) -> Replica:
        if replica.backup_replicas:
            raise Refused(StatusCode.UNIMPLEMENTED, f"{NAME}: backup_replicas: there are none")
        as_bytes = replica.WhichOneof("port_kind") == "port"
        number = values.decode(replica.port, PORT_BITS, f"{NAME}: port") if as_bytes else replica.egress_port
        port = number - FLOOD_BASE
        if port not in self._ports and port != CPU_PORT:
            has = ", ".join(str(FLOOD_BASE + each) for each in sorted(self._ports))
            raise invalid(f"{NAME}: port {number}: a copy goes to 256 + port; the switch has {has}")
        return Replica(number, replica.instance, as_bytes)


def flood_change(group: tuple[Replica, ...] | None) -> SetFlood:
    """The change of the switch for the group."""
    return SetFlood(None if group is None else tuple(each.port - FLOOD_BASE for each in group))


def _group(message: p4r.PacketReplicationEngineEntry) -> p4r.MulticastGroupEntry:
    kind = message.WhichOneof("type")
    if kind == "clone_session_entry":
        raise Refused(StatusCode.UNIMPLEMENTED, "clone session: the program clones nothing")
    if kind != "multicast_group_entry":
        raise invalid("packet_replication_engine_entry: is empty")
    return message.multicast_group_entry
