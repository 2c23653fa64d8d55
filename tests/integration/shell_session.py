# SPDX-License-Identifier: Apache-2.0
"""Sessions of a p4runtime-shell user: all that the shell has for our program.

Arguments: address, P4Info, any file as the binary. Device 2 is at the other end of device 1's port 1.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import grpc
import p4runtime_sh.shell as sh  # type: ignore[import-not-found]
from p4runtime_sh.context import P4Type  # type: ignore[import-not-found]
from p4runtime_sh.p4runtime import (  # type: ignore[import-not-found]
    P4RuntimeClient,
    P4RuntimeException,
    P4RuntimeWriteException,
)

ADDRESS, P4INFO, BINARY = sys.argv[1:]
DEADLINE_S = 30.0
MAC = "02:00:00:00:00:02"
FRAME = bytes.fromhex("02000000000202000000000188b5") + bytes(50)
XCP = {
    "capacity": 1_000_000, "alpha": 26214, "beta": 14811, "gamma": 6554,
    "min_interval": 268435, "max_interval": 268435456, "generation": 1, "epoch": 1,
}  # fmt: skip


@contextlib.contextmanager
def session(election_id: int, *, role: str | None = None, config: bool = False) -> Iterator[None]:
    """The shell, connected."""
    sh.setup(
        device_id=1,
        grpc_addr=ADDRESS,
        election_id=(0, election_id),
        role_name=role,
        config=sh.FwdPipeConfig(P4INFO, BINARY) if config else None,
        verbose=False,
    )
    try:
        yield
    finally:
        sh.teardown()


@contextlib.contextmanager
def refused(text: str) -> Iterator[None]:
    """Expects the server to refuse, in these words."""
    said = "nothing"
    try:
        yield
    except (grpc.RpcError, P4RuntimeException, P4RuntimeWriteException) as error:
        said = str(error)
    assert text in said, said


def heard(receiver: Any) -> Any:
    """The next message of a PacketIn or DigestList."""
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        for message in receiver.sniff(timeout=0.2):
            return message
    raise AssertionError(f"{type(receiver).__name__}: nothing came")


def capacity(entry: Any) -> int:
    """The capacity of an entry of XCP."""
    return int.from_bytes(entry.action["capacity"].value, "big")


def address(port: int) -> Any:
    """An entry of the table of addresses."""
    entry = sh.TableEntry("l2_forward")(action="forward")
    entry.match["dst_addr"] = MAC
    entry.action["port"] = str(port)
    return entry


def stamp(port: int) -> Any:
    """An entry without parameters."""
    entry = sh.TableEntry("stamp_port")(action="stamp")
    entry.match.set(port=str(port))
    return entry


def tables() -> None:
    """Entries: all verbs, reads of one, of a table, of all."""
    assert {table.name for table in sh.P4Objects(P4Type.table)} >= {"xcp_port", "l2_forward"}
    entry = sh.TableEntry("xcp_port")(action="set_xcp_port")
    entry.match["port"] = "2"
    for name, value in XCP.items():
        entry.action[name] = str(value)
    entry.metadata = b"mine"
    entry.insert()
    (found,) = entry.read()
    assert found.metadata == b"mine", found
    assert capacity(found) == 1_000_000, found
    entry.action["capacity"] = "2000000"
    entry.modify()
    assert [capacity(each) for each in entry.read()] == [2_000_000]
    with refused("xcp_port[2]: exists; use MODIFY"):
        entry.insert()
    kept = sh.TableEntry("xcp_port")
    kept.match["port"] = "2"
    kept.metadata = b"yours"
    kept.modify()  # without an action
    assert list(entry.read()) == []  # with its metadata, which the entry does not have any more
    entry.metadata = b""
    assert [capacity(each) for each in entry.read()] == [2_000_000]
    address(2).insert()
    stamp(1).insert()
    stamp(3).insert()
    assert len(list(sh.TableEntry("stamp_port").read())) == 2
    assert len(list(stamp(3).read())) == 1
    entry.delete()
    with refused("does not exist"):
        entry.delete()
    sh.TableEntry("stamp_port").read(function=lambda each: each.delete())
    address(2).delete()
    for table in sh.P4Objects(P4Type.table):
        assert list(sh.TableEntry(table.name).read()) == [], table
    with refused("the switch has no port 9"):
        stamp(9).insert()


def default_entries() -> None:
    """They are read and reset; constant ones cannot be modified."""
    entry = sh.TableEntry("clock")
    entry.is_default = True
    before = [str(each) for each in entry.read()]
    assert len(before) == 1, before
    entry.modify()
    assert [str(each) for each in entry.read()] == before
    fixed = sh.TableEntry("stamp_port")
    fixed.is_default = True
    assert "NoAction" in str(next(iter(fixed.read())))
    with refused("stamp_port default: is constant"):
        fixed.modify()


def counters() -> None:
    """A cell, an array; they cannot be written."""
    cell = sh.CounterEntry("tx")
    cell.index = 1
    assert [each.packet_count for each in cell.read()] == [0]
    assert len(list(sh.CounterEntry("tx").read())) == 64
    cell.packet_count = 5
    with refused("tx: counters can be read only"):
        cell.modify()


def replication() -> None:
    """Multicast groups; clone sessions are refused."""
    group = sh.MulticastGroupEntry(1)
    group.add(257, 1).add(258, 2)
    group.insert()
    found = [
        (each.egress_port, each.instance) for each in next(iter(sh.MulticastGroupEntry().read())).replicas
    ]
    assert found == [(257, 1), (258, 2)], found
    group.add(259, 3)
    group.modify()
    assert len(next(iter(sh.MulticastGroupEntry(1).read())).replicas) == 3
    group.delete()
    assert list(sh.MulticastGroupEntry().read()) == []
    session = sh.CloneSessionEntry(100)
    session.add(1, 1)
    with refused("clone session: the program clones nothing"):
        session.insert()
    assert list(sh.CloneSessionEntry().read()) == []


def digests() -> None:
    """They are switched on, come in lists that the shell acknowledges, and are switched off."""
    full = sh.TableEntry("queue_port")(action="set_queue_port")
    full.match["port"] = "2"
    full.action["limit_bytes"] = "0"
    full.insert()
    wanted = sh.DigestEntry("queue_drop_t")
    wanted.max_list_size = 1
    wanted.ack_timeout_ns = 10**9
    wanted.insert()
    wanted.max_list_size = 2
    wanted.modify()
    assert [each.max_list_size for each in wanted.read()] == [2]
    lists = sh.DigestList()
    for _ in range(2):
        sh.PacketOut(payload=FRAME, egress_port="2").send()
    first = heard(lists)
    drops = first.digest.data[0].struct.members[-1].bitstring
    assert drops == b"\1", first
    wanted.delete()
    full.delete()


def packets() -> None:
    """A frame that device 2 sends comes in at device 1."""
    address(63).insert()
    packet_in = sh.PacketIn()
    here, there = sh.client, P4RuntimeClient(2, ADDRESS, (0, 1))
    try:
        there.set_fwd_pipe_config(P4INFO, BINARY)
        sh.client = there
        sh.PacketOut(payload=FRAME, egress_port="1").send()
    finally:
        sh.client = here
    found = heard(packet_in)
    assert found.packet.payload == FRAME, found
    assert [each.value for each in found.packet.metadata][:2] == [b"\1", b"\0"], found
    there.tear_down()
    address(63).delete()
    assert list(sh.IdleTimeoutNotification().sniff(timeout=0.1)) == []


def writes_from_a_file() -> None:
    """A WriteRequest in text."""
    update = {"INSERT": stamp(1), "DELETE": stamp(1)}
    for kind, entry in update.items():
        with tempfile.NamedTemporaryFile("w", suffix=".txtpb") as file:
            file.write(f"updates {{ type: {kind} entity {{ table_entry {{ {entry.msg()} }} }} }}")
            file.flush()
            sh.Write(file.name)
        assert len(list(sh.TableEntry("stamp_port").read())) == (kind == "INSERT")


def a_backup() -> None:
    """It reads the P4Info from the server, and entries, but may not write."""
    address(1).insert()
    primary, sh.client = sh.client, None
    try:
        with session(4):
            assert [each.action["port"].value for each in address(1).read()] == [b"\1"]
            with refused("not the primary of role"):
                address(1).delete()
    finally:
        sh.client = primary
    address(1).delete()


def a_role() -> None:
    """It has a primary of its own."""
    primary, sh.client = sh.client, None
    try:
        with session(1, role="addresses"):
            address(1).insert()
            assert len(list(address(1).read())) == 1
    finally:
        sh.client = primary
    address(1).delete()


PARTS = (
    tables,
    default_entries,
    counters,
    replication,
    digests,
    packets,
    writes_from_a_file,
    a_backup,
    a_role,
)


def main() -> None:
    """Prints "done" at the end."""
    with session(5, config=True):
        assert sh.APIVersion() == "1.5.0", sh.APIVersion()
        for part in PARTS:
            part()
        group = sh.MulticastGroupEntry(1)
        group.add(257).add(258)
        group.insert()
    print("done")


if __name__ == "__main__":
    main()
