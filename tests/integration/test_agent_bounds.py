# SPDX-License-Identifier: Apache-2.0
"""What clients cannot take from others: memory, streams, and mastership for good."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from finsy.proto import p4r, p4r_grpc

from clarion_agent.roles import P4RoleConfig
from clarion_agent.service import MAX_STREAMS
from fakes.p4runtime_messages import IDS, counter, digest, insert, packet_out, register, table_entry
from integration.agent_net import (
    DEADLINE_S,
    MAC,
    SWITCH,
    AgentProcess,
    Client,
    SwitchProcess,
    details,
    ethernet,
    switch_and_agent,
    until,
)

pytestmark = pytest.mark.skipif(not SWITCH.exists(), reason=f"{SWITCH}: not built")

Served = tuple[SwitchProcess, AgentProcess]
HIGHEST = 2**128 - 1


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with switch_and_agent(tmp_path) as both:
        yield both


def rss_mib(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def test_the_operator_takes_an_election_id_back(served: Served) -> None:
    agent = served[1]
    with Client(agent.address) as thief:
        thief.primary(HIGHEST)
        with Client(agent.address) as backup:
            assert backup.arbitrate(1).status.code == grpc.StatusCode.ALREADY_EXISTS.value[0]
            os.kill(agent.process.pid, signal.SIGUSR1)
            for client in (thief, backup):
                end = client.next("end")
                assert (end.code().name, end.details()) == (
                    "UNAVAILABLE",
                    "the operator has reset the arbitration; open another stream",
                )
    with Client(agent.address) as again:
        again.primary(1).write(insert(table_entry("stamp_port", 1, "stamp")))


def test_a_stream_that_asks_for_nothing_ends(served: Served) -> None:
    with Client(served[1].address) as idle:
        end = idle.next("end")
        assert end.code().name == "DEADLINE_EXCEEDED"
        assert end.details() == "no arbitration came within 10 s"


def test_streams_are_numbered(served: Served) -> None:
    """Those above the bound are refused; the others, and Reads, are served on."""
    address = served[1].address
    with Client(address) as first:
        first.primary()
        held = threading.Event()
        channels = [
            grpc.insecure_channel(address, options=(("grpc.use_local_subchannel_pool", 1),)) for _ in range(4)
        ]

        def requests() -> Iterator[p4r.StreamMessageRequest]:
            held.wait()
            yield from ()

        calls = [
            p4r_grpc.P4RuntimeStub(channels[number % 4]).StreamChannel(requests())
            for number in range(MAX_STREAMS)
        ]
        refused = until(
            lambda: [each for each in calls if each.done() and each.code().name == "RESOURCE_EXHAUSTED"],
            "one is refused",
        )
        assert refused[0].details() == f"there are {MAX_STREAMS} streams already"
        first.write(insert(table_entry("stamp_port", 1, "stamp")))
        assert len(first.read(table_entry("", None))) == 1
        held.set()
        for call in calls:
            call.cancel()
        for channel in channels:
            channel.close()


def test_clients_that_do_not_read_cost_little(served: Served) -> None:
    """Eight Reads of all registers and counters whose replies nobody takes, while others are served."""
    agent = served[1]
    with Client(agent.address) as client:
        client.primary().write(insert(table_entry("l2_forward", MAC, "forward", (63,))))
        before = rss_mib(agent.process.pid)
        channel = grpc.insecure_channel(agent.address)
        stub = p4r_grpc.P4RuntimeStub(channel)
        request = p4r.ReadRequest(device_id=1, entities=[register(""), counter("")])
        calls = [stub.Read(request) for _ in range(8)]
        for call in calls:
            next(call)
        for _ in range(2000):
            client.send(packet_out(ethernet(MAC, 1400)))
        client.write(insert(digest("queue_drop_t")))
        assert len(client.read(counter("tx", 1))) == 1
        assert rss_mib(agent.process.pid) < before + 64
        for call in calls:
            call.cancel()
        channel.close()


def test_a_role_has_what_its_configuration_lists(served: Served) -> None:
    with Client(served[1].address) as default, Client(served[1].address) as tuner:
        default.primary()
        default.write(insert(table_entry("queue_port", 2, "set_queue_port", (5000,))))
        update = p4r.MasterArbitrationUpdate(device_id=1, role=p4r.Role(name="tuner"))
        update.election_id.low = tuner.election_id = 1
        update.role.config.Pack(P4RoleConfig(exclusive_p4_ids=[IDS["stamp_port"]]))
        tuner.role = "tuner"
        tuner.send(p4r.StreamMessageRequest(arbitration=update))
        notice = tuner.next("arbitration")
        assert (notice.status.code, notice.role) == (0, update.role)
        with pytest.raises(grpc.RpcError) as error:
            tuner.write(
                insert(table_entry("queue_port", 3, "set_queue_port", (1,))),
                insert(table_entry("stamp_port", 1, "stamp")),
            )
        assert [code for code, _ in details(error.value)] == ["PERMISSION_DENIED", "OK"]
        request = p4r.ReadRequest(device_id=1, role="tuner", entities=[table_entry("", None)])
        (reply,) = tuner.stub.Read(request, timeout=DEADLINE_S)
        assert [each.table_entry.table_id for each in reply.entities] == [IDS["stamp_port"]]
        tuner.send(packet_out(ethernet(MAC), 1))
        assert tuner.next("error").canonical_code == grpc.StatusCode.PERMISSION_DENIED.value[0]
