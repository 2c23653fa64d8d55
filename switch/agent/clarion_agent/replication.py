# SPDX-License-Identifier: Apache-2.0
"""Multicast group 1, the ports that unknown addresses are flooded to: 256 + port each, as in p4/."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from finsy.proto import p4r
from grpc import StatusCode

from clarion_agent import values
from clarion_agent.state import Backup, Replica, State
from clarion_agent.status import Refused, invalid
from clarion_contract.settings import CPU_PORT, FLOOD_BASE, FLOOD_GROUP
from clarion_contract.target import Change, SetFlood, Target

PORT_BITS = 9
NAME = f"multicast group {FLOOD_GROUP}"


class Replication:
    """The packet replication engine of one switch."""

    def __init__(self, target: Target) -> None:
        self._target = target

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
        replicas = tuple(self._replica(replica) for replica in group.replicas)
        _refuse_twice(replicas)
        state.group, state.group_metadata = replicas, group.metadata
        return [flood_change(state.group, self._target.down())]

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
                made = found.replicas.add(port=values.encode(replica.port), instance=replica.instance)
            else:
                made = found.replicas.add(egress_port=replica.port, instance=replica.instance)
            for backup in replica.backups:
                made.backup_replicas.add(port=values.encode(backup.port), instance=backup.instance)
        entity = p4r.Entity()
        entity.packet_replication_engine_entry.multicast_group_entry.CopyFrom(found)
        yield entity

    def _replica(self, replica: p4r.Replica) -> Replica:
        as_bytes = replica.WhichOneof("port_kind") == "port"
        number = values.decode(replica.port, PORT_BITS, f"{NAME}: port") if as_bytes else replica.egress_port
        self._check(number)
        backups = []
        for backup in replica.backup_replicas:
            port = values.decode(backup.port, PORT_BITS, f"{NAME}: backup_replicas: port")
            self._check(port)
            backups.append(Backup(port, backup.instance))
        return Replica(number, replica.instance, as_bytes, tuple(backups))

    def _check(self, number: int) -> None:
        ports = self._target.ports
        if number - FLOOD_BASE not in ports and number - FLOOD_BASE != CPU_PORT:
            has = ", ".join(str(FLOOD_BASE + each) for each in sorted(ports))
            raise invalid(f"{NAME}: port {number}: a copy goes to 256 + port; the switch has {has}")


def flood_change(group: tuple[Replica, ...] | None, down: Collection[int]) -> SetFlood:
    """The change of the switch for the group while the links of these ports are down."""
    return SetFlood(None if group is None else tuple(_port(each, down) for each in group))


def _port(replica: Replica, down: Collection[int]) -> int:
    """The most preferred port that is not down; if all are, the first: what goes there is lost."""
    ports = [port - FLOOD_BASE for port, _ in _places(replica)]
    return next((port for port in ports if port not in down), ports[0])


def _places(replica: Replica) -> list[tuple[int, int]]:
    """Port and instance of the replica and its backups, the preferred one first."""
    return [(replica.port, replica.instance), *((each.port, each.instance) for each in replica.backups)]


def _refuse_twice(group: tuple[Replica, ...]) -> None:
    """A replica's port is none of its backups', and port and instance are unique in the group."""
    pairs = [place for replica in group for place in _places(replica)]
    if len(set(pairs)) != len(pairs):
        raise invalid(f"{NAME}: replicas: a port and instance is there twice")
    for replica in group:
        if any(backup.port == replica.port for backup in replica.backups):
            raise invalid(f"{NAME}: backup_replicas: port {replica.port}: is the replica's own")


def _group(message: p4r.PacketReplicationEngineEntry) -> p4r.MulticastGroupEntry:
    kind = message.WhichOneof("type")
    if kind == "clone_session_entry":
        if not message.clone_session_entry.session_id:
            raise invalid("clone session 0: stands for all of them, in a Read only")
        raise Refused(StatusCode.UNIMPLEMENTED, "clone session: the program clones nothing")
    if kind != "multicast_group_entry":
        raise invalid("packet_replication_engine_entry: is empty")
    return message.multicast_group_entry
