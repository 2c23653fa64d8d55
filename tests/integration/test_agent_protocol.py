# SPDX-License-Identifier: Apache-2.0
"""P4Runtime of the embedded switch, message by message, against a real clarion-switch without devices."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from finsy.proto import U128, p4i, p4r

from clarion_contract.words import taken_apart
from fakes.p4runtime_messages import (
    IDS,
    XCP,
    counter,
    delete,
    digest,
    group,
    insert,
    modify,
    p4info,
    packet_out,
    register,
    table_entry,
)
from integration.agent_net import (
    DEADLINE_S,
    DOCUMENT,
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


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with switch_and_agent(tmp_path_factory.mktemp("agent")) as both:
        yield both


@pytest.fixture
def client(served: Served) -> Iterator[Client]:
    """A primary with the highest election id so far, and no entries."""
    with Client(served[1].address) as made:
        highest = U128.decode(made.arbitrate(None).election_id)
        yield made.primary(highest + 1)


def refused(error: pytest.ExceptionInfo[grpc.RpcError]) -> tuple[str, str]:
    return error.value.code().name, error.value.details() or ""


def test_entries_are_read_as_they_were_written(served: Served, client: Client) -> None:
    entries = [
        table_entry("xcp_port", 2, "set_xcp_port", XCP),
        table_entry("tag_port", 1, "set_tag_port", (1, 0, 9, 0)),
        table_entry("stamp_port", 2, "stamp"),
        table_entry("queue_port", 3, "set_queue_port", (5000,)),
        table_entry("l2_forward", MAC, "forward", (2,)),
    ]
    entries[0].table_entry.metadata = b"mine"
    client.write(*(insert(entry) for entry in entries), insert(group(1, 2)))
    found = {entity.table_entry.table_id: entity.table_entry for entity in client.read(table_entry("", None))}
    assert len(found) == 5
    xcp = found[IDS["xcp_port"]]
    assert xcp.metadata == b"mine"
    assert [int.from_bytes(each.value, "big") for each in xcp.action.action.params] == list(XCP)
    assert xcp.match[0].exact.value == b"\x02"  # the shortest form of a value written in two bytes
    assert client.read(table_entry("xcp_port", None)) == client.read(table_entry("xcp_port", 2))
    replicas = client.read(group())[0].packet_replication_engine_entry.multicast_group_entry.replicas
    assert [replica.egress_port for replica in replicas] == [257, 258]
    state = served[0].entries()
    assert state["ports"][1]["xcp"]["capacity"] == XCP[0]
    assert state["ports"][0]["tag"] == {"check": True, "edge": False, "wire": False, "epoch": 9}
    assert state["ports"][1]["stamp"] is True
    assert state["ports"][2]["queue_limit"] == 5000
    assert (state["addresses"], state["flood"]) == ([[MAC, 2]], [1, 2])


def test_default_entries(client: Client) -> None:
    wanted = p4r.Entity(table_entry=p4r.TableEntry(is_default_action=True))
    defaults = [entity.table_entry for entity in client.read(wanted)]
    assert {entry.table_id for entry in defaults} == {each.preamble.id for each in p4info().tables}
    clock = next(entry for entry in defaults if entry.table_id == IDS["clock"])
    client.write(modify(p4r.Entity(table_entry=clock)))  # unchanged
    clock.action.action.params[1].value = b"\x01"
    with pytest.raises(grpc.RpcError) as error:
        client.write(modify(p4r.Entity(table_entry=clock)))
    assert details(error.value)[0][0] == "UNIMPLEMENTED"
    constant = p4r.TableEntry(table_id=IDS["xcp_port"], is_default_action=True)
    with pytest.raises(grpc.RpcError) as error:
        client.write(modify(p4r.Entity(table_entry=constant)))
    assert details(error.value) == [("PERMISSION_DENIED", "xcp_port default: is constant")]


def test_a_batch_is_written_whole_or_not_at_all(served: Served, client: Client) -> None:
    client.write(insert(table_entry("stamp_port", 1, "stamp")))
    before = served[0].entries()
    for atomicity in (1, 2):
        with pytest.raises(grpc.RpcError) as error:
            client.write(
                insert(table_entry("stamp_port", 2, "stamp")),
                insert(table_entry("xcp_port", 9, "set_xcp_port", XCP)),
                insert(table_entry("stamp_port", 1, "stamp")),
                modify(table_entry("queue_port", 1, "set_queue_port", (1,))),
                insert(table_entry("xcp_port", 3, "set_xcp_port", (1, 1 << 18, 1, 1, 1, 1, 1, 1))),
                insert(table_entry("xcp_port", 3, "set_xcp_port", (1, 1, 1, 1, 0, 1, 1, 1))),
                delete(table_entry("stamp_port", 1)),
                atomicity=atomicity,
            )
        assert error.value.code() == grpc.StatusCode.UNKNOWN
        aborted = ("ABORTED", "not written: another update of this batch was refused")
        assert details(error.value) == [
            aborted,
            ("INVALID_ARGUMENT", "xcp_port[9]: the switch has no port 9; it has 1, 2, 3"),
            ("ALREADY_EXISTS", "stamp_port[1]: exists; use MODIFY"),
            ("NOT_FOUND", "queue_port[1]: does not exist"),
            ("OUT_OF_RANGE", "xcp_port[3].alpha: 0x000000000000040000: has more than 18 bits"),
            ("INVALID_ARGUMENT", "xcp_port[3].min_interval: 0: use at least 1"),
            aborted,
        ]
        assert served[0].entries() == before
        assert len(client.read(table_entry("", None))) == 1


def test_by_default_each_update_stands_for_itself(served: Served, client: Client) -> None:
    with pytest.raises(grpc.RpcError) as error:
        client.write(
            insert(table_entry("stamp_port", 2, "stamp")),
            insert(table_entry("xcp_port", 9, "set_xcp_port", XCP)),
            delete(table_entry("stamp_port", 2)),
            insert(table_entry("stamp_port", 3, "stamp")),
        )
    assert error.value.code() == grpc.StatusCode.UNKNOWN
    assert error.value.details() == (
        "1 of 4 updates refused, the others written: xcp_port[9]: the switch has no port 9; it has 1, 2, 3"
    )
    assert details(error.value) == [
        ("OK", ""),
        ("INVALID_ARGUMENT", "xcp_port[9]: the switch has no port 9; it has 1, 2, 3"),
        ("OK", ""),
        ("OK", ""),
    ]
    assert [port["stamp"] for port in served[0].entries()["ports"]] == [False, False, True]
    with pytest.raises(grpc.RpcError) as error:
        client.write(insert(table_entry("stamp_port", 1, "stamp")), atomicity=7)
    assert error.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_updates_build_on_each_other(served: Served, client: Client) -> None:
    entry = table_entry("queue_port", 2, "set_queue_port", (5000,))
    client.write(insert(entry), modify(table_entry("queue_port", 2, "set_queue_port", (6000,))))
    assert served[0].entries()["ports"][1]["queue_limit"] == 6000
    client.write(delete(entry), insert(entry))
    assert served[0].entries()["ports"][1]["queue_limit"] == 5000
    client.write(modify(table_entry("queue_port", 2)))  # without an action: kept
    client.write(delete(table_entry("queue_port", 2)))
    assert served[0].entries()["ports"][1]["queue_limit"] is None


def refusals(client: Client, *updates: p4r.Update) -> list[tuple[str, str]]:
    """Code and message of each update of a batch that must be refused."""
    with pytest.raises(grpc.RpcError) as error:
        client.write(*updates, atomicity=p4r.WriteRequest.ROLLBACK_ON_ERROR)
    return details(error.value)


def test_registers_are_read_and_not_written(client: Client) -> None:
    def left() -> int:
        return int.from_bytes(client.read(register("left_bytes", 2))[0].register_entry.data.bitstring, "big")

    before = left()
    client.write(insert(table_entry("l2_forward", MAC, "forward", (2,))))
    client.send(packet_out(ethernet(MAC, 100)))
    until(lambda: left() == before + 100, "the frame has left")
    assert len(client.read(register("left_bytes"))) == 64
    clock = client.read(register("interval_clock", 2))[0]
    word = int.from_bytes(clock.register_entry.data.bitstring, "big")
    assert taken_apart("interval_clock", word)["avg_rtt"] == round(2**28 / 10)  # 100 ms
    assert len(client.read(register("link_numbers"))) == 64 * 4096
    clock.register_entry.data.bitstring = b"\1"
    stamp = insert(table_entry("stamp_port", 2, "stamp"))
    for update in (modify(clock), insert(clock), delete(clock)):
        assert refusals(client, stamp, update)[1:] == [
            (
                "UNIMPLEMENTED",
                "interval_clock: registers can be read only; an entry with another epoch starts anew",
            ),
        ]
    assert client.read(table_entry("stamp_port", None)) == []
    with pytest.raises(grpc.RpcError) as error:
        client.read(register("interval_clock", 64))
    assert details(error.value)[0][0] == "OUT_OF_RANGE"


def test_counters_are_read_and_reset(served: Served, client: Client) -> None:
    client.write(insert(table_entry("l2_forward", MAC, "forward", (1,))))
    client.send(packet_out(ethernet(MAC, 100)))

    def sent() -> tuple[int, int]:
        data = client.read(counter("tx", 1))[0].counter_entry.data
        return (data.packet_count, data.byte_count)

    until(lambda: sent() == (1, 100), "the frame is counted")
    everything = client.read(counter(""))
    assert len(everything) == 64 * len(p4info().counters)
    tx = counter("tx", 1)
    tx.counter_entry.data.packet_count = 5
    read_only = ("UNIMPLEMENTED", "tx: counters can be read only; VERIFY_AND_COMMIT sets them to zero")
    assert refusals(client, modify(tx)) == [read_only]
    assert refusals(client, insert(tx)) == [("INVALID_ARGUMENT", "counter_entry: can be modified only")]
    client.write(modify(counter("tx", 1)))  # without data
    assert sent() == (1, 100)
    client.set_pipeline(p4r.SetForwardingPipelineConfigRequest.VERIFY_AND_COMMIT)
    assert sent() == (0, 0)
    assert served[0].ask(cmd="stats")["switches"][0]["ports"][0]["tx_packets"] == 1


def test_packets_go_out_and_come_in(client: Client) -> None:
    client.write(insert(table_entry("l2_forward", MAC, "forward", (63,))), insert(group(1, 63)))
    client.send(packet_out(ethernet(MAC)))  # from the controller's port to itself: dropped
    client.send(packet_out(ethernet(0xFFFFFFFFFFFF)))
    until(lambda: client.read(counter("tx", 1))[0].counter_entry.data.packet_count == 1, "flooded")
    client.send(packet_out(b"short"))
    error = client.next("error")
    assert error.canonical_code == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert error.message == "packet_out: payload: frame: must have from 14 to 1940 bytes"
    assert error.packet_out.packet_out.payload == b"short"
    request = packet_out(ethernet(MAC))
    request.packet.metadata.add(metadata_id=1, value=b"\1")
    client.send(request)
    assert client.next("error").message == "packet_out: metadata 1: is unknown, or there twice"
    client.send(packet_out(ethernet(MAC), 2))
    until(lambda: client.read(counter("tx", 2))[0].counter_entry.data.packet_count == 1, "sent")


def test_frames_for_the_controllers_port_come_in(served: Served, client: Client) -> None:
    """A frame that s2 sends reaches s1 by port 1 and goes to the controller."""
    client.write(insert(table_entry("l2_forward", MAC, "forward", (63,))))
    frame = ethernet(MAC, 60)
    assert served[0].ask(cmd="inject", switch="s2", frame=frame.hex()) == {"ok": True}
    assert client.next("packet").payload == frame


def test_digests_come_in_lists_and_are_acknowledged(client: Client) -> None:
    client.write(
        insert(table_entry("l2_forward", MAC, "forward", (2,))),
        insert(table_entry("queue_port", 2, "set_queue_port", (0,))),
        insert(digest("queue_drop_t", size=3, timeout_ns=10**15, ack_ns=10**15)),
    )
    assert [entity.digest_entry.config.max_list_size for entity in client.read(digest(""))] == [3]
    for _ in range(7):
        client.send(packet_out(ethernet(MAC, 100)))
    lists = [client.next("digest") for _ in range(2)]
    assert [len(each.data) for each in lists] == [3, 3]
    assert [each.list_id for each in lists] == [1, 2]
    assert lists[0].digest_id == IDS["queue_drop_t"]
    members = [[member.bitstring for member in each.struct.members] for each in lists[0].data]
    assert [len(each) for each in members] == [11, 11, 11]
    assert [each[10] for each in members] == [b"\1", b"\2", b"\3"]  # drops so far
    assert (members[0][1], members[0][2]) == (b"\2", b"\x64")  # port, length
    ack = p4r.DigestListAck(digest_id=IDS["queue_drop_t"], list_id=1)
    client.send(p4r.StreamMessageRequest(digest_ack=ack))
    ack.list_id = 99
    client.send(p4r.StreamMessageRequest(digest_ack=ack))
    assert client.next("error").message == "digest queue_drop_t: list 99: was never sent"
    client.write(delete(digest("queue_drop_t")))
    assert client.next("digest").list_id == 3  # the digests collected
    assert client.read(digest("")) == []


def test_interval_reports_have_the_members_of_the_program(client: Client) -> None:
    client.write(
        insert(table_entry("l2_forward", MAC, "forward", (2,))),
        insert(table_entry("xcp_port", 2, "set_xcp_port", (*XCP[:5], 268_435, 1, 1))),  # 1 ms
        insert(digest("interval_report_t")),
    )
    for _ in range(3):
        client.send(packet_out(ethernet(MAC, 100)))
        until(lambda: client.read(register("interval_clock", 2)), "answers")
    wanted = p4info().type_info.structs["interval_report_t"].members

    def more() -> bool:
        client.send(packet_out(ethernet(MAC, 100)))
        return not client.received.empty()

    until(more, "a report")
    report = client.next("digest").data[0].struct.members
    values = {each.name: int.from_bytes(m.bitstring, "big") for each, m in zip(wanted, report, strict=True)}
    assert values["port"] == 2
    assert values["intervals"] >= 1
    assert values["input"] >= 100
    assert values["elapsed"] >= 268_435


def test_pipeline_configs(served: Served, client: Client) -> None:
    get = p4r.GetForwardingPipelineConfigRequest
    client.write(insert(table_entry("stamp_port", 1, "stamp")))

    def ask(kind: int) -> p4r.ForwardingPipelineConfig:
        request = get(device_id=1, response_type=kind)  # type: ignore[arg-type]
        reply: p4r.GetForwardingPipelineConfigResponse = client.stub.GetForwardingPipelineConfig(
            request, timeout=DEADLINE_S
        )
        return reply.config

    assert ask(get.ALL).p4info == p4info()
    assert (ask(get.ALL).cookie.cookie, ask(get.ALL).p4_device_config) == (7, b"device")
    assert not ask(get.COOKIE_ONLY).HasField("p4info")
    assert ask(get.P4INFO_AND_COOKIE).p4_device_config == b""
    assert ask(get.DEVICE_CONFIG_AND_COOKIE).p4_device_config == b"device"
    action = p4r.SetForwardingPipelineConfigRequest
    client.set_pipeline(action.VERIFY, cookie=8)
    client.set_pipeline(action.RECONCILE_AND_COMMIT, cookie=9)
    assert ask(get.COOKIE_ONLY).cookie.cookie == 9
    client.set_pipeline(action.VERIFY_AND_SAVE, cookie=10)
    assert ask(get.COOKIE_ONLY).cookie.cookie == 9
    commit = action(device_id=1, election_id=U128.encode(client.election_id), action=action.COMMIT)
    client.stub.SetForwardingPipelineConfig(commit, timeout=DEADLINE_S)
    assert ask(get.COOKIE_ONLY).cookie.cookie == 10
    assert len(client.read(table_entry("", None))) == 1
    with pytest.raises(grpc.RpcError) as error:
        client.stub.SetForwardingPipelineConfig(commit, timeout=DEADLINE_S)
    assert refused(error)[0] == "NOT_FOUND"
    other = p4info()
    missing = other.tables[0].preamble.alias
    del other.tables[0]
    message = f"config: p4info: table {missing}: is missing; this switch runs p4/clarion.p4info.txtpb"
    for wrong in (other, p4i.P4Info()):
        with pytest.raises(grpc.RpcError) as error:
            client.set_pipeline(action.VERIFY_AND_COMMIT, p4info=wrong)
        assert refused(error) == ("INVALID_ARGUMENT", message)
    with pytest.raises(grpc.RpcError) as error:
        client.set_pipeline(action.UNSPECIFIED)
    assert refused(error)[0] == "INVALID_ARGUMENT"
    client.set_pipeline(action.VERIFY_AND_COMMIT)
    assert client.read(table_entry("", None)) == []
    assert served[0].entries()["ports"][0]["stamp"] is False


def test_nothing_is_read_or_written_before_a_pipeline_is_set(served: Served) -> None:
    with Client(served[1].address, device_id=4) as other:
        other.arbitrate(1)
        request = p4r.GetForwardingPipelineConfigRequest(device_id=4)
        reply = other.stub.GetForwardingPipelineConfig(request, timeout=DEADLINE_S)
        assert not reply.HasField("config")
        stamp = table_entry("stamp_port", 1, "stamp")
        for call in (lambda: other.write(insert(stamp)), lambda: other.read(table_entry("", None))):
            with pytest.raises(grpc.RpcError) as error:
                call()
            assert refused(error) == (
                "FAILED_PRECONDITION",
                "device 4: no forwarding pipeline config is set; use SetForwardingPipelineConfig",
            )
        other.send(packet_out(ethernet(MAC)))
        assert other.next("error").canonical_code == grpc.StatusCode.FAILED_PRECONDITION.value[0]
        other.set_pipeline(p4r.SetForwardingPipelineConfigRequest.RECONCILE_AND_COMMIT, cookie=None)
        config = other.stub.GetForwardingPipelineConfig(request, timeout=DEADLINE_S).config
        assert (config.p4info, config.HasField("cookie")) == (p4info(), False)
        other.write(insert(stamp))
        assert len(other.read(table_entry("", None))) == 1


def test_what_lldp_says_of_a_wire_is_read_as_an_entry(tmp_path: Path) -> None:
    """A neighbour that numbers nothing disproves it, as a lease does on BMv2."""
    document = {**DOCUMENT, "lldp": True}
    with (
        switch_and_agent(tmp_path, document=document) as (_, agent),
        Client(agent.address, device_id=1) as s1,
        Client(agent.address, device_id=2) as s2,
    ):
        s1.primary()
        s2.primary()

        def is_judged(action: str) -> bool:
            read = (each.table_entry for each in s1.read(table_entry("wire_judged", None)))
            actions = {each.match[0].exact.value: each.action.action.action_id for each in read}
            return actions.get(b"\x01") == IDS[action]

        until(lambda: is_judged("disprove"), "s2 says that it numbers nothing")
        s2.write(insert(table_entry("stamp_port", 1, "stamp")))
        until(lambda: is_judged("prove"), "s2 says that it numbers its packets")


def test_an_unknown_device(served: Served) -> None:
    with Client(served[1].address, device_id=77) as other:
        with pytest.raises(grpc.RpcError) as error:
            other.read(table_entry("", None))
        assert refused(error) == ("NOT_FOUND", "device 77: is not here; there is 1, 2, 3, 4")
        update = p4r.MasterArbitrationUpdate(device_id=77)
        other.send(p4r.StreamMessageRequest(arbitration=update))
        assert other.next("end").code() == grpc.StatusCode.NOT_FOUND


def test_a_backup_takes_over(served: Served) -> None:
    """Two controllers of device 2: the second is notified that the first is gone and asks again."""
    with Client(served[1].address, device_id=2) as second:
        first = Client(served[1].address, device_id=2)
        try:
            first.primary(10)
            reply = second.arbitrate(9)
            assert (reply.status.code, reply.election_id.low) == (6, 10)  # ALREADY_EXISTS
            with pytest.raises(grpc.RpcError) as error:
                second.write(insert(table_entry("stamp_port", 1, "stamp")))
            assert refused(error) == (
                "PERMISSION_DENIED",
                "device 2: not the primary of role '': its election id is 10",
            )
            second.send(packet_out(ethernet(MAC)))
            assert second.next("error").canonical_code == 7  # PERMISSION_DENIED
            first.write(insert(table_entry("stamp_port", 1, "stamp")))
        finally:
            first.close()
        assert second.next("arbitration").status.code == 5  # NOT_FOUND: no primary
        assert second.arbitrate(9).status.code == 5  # below the last primary's election id
        assert second.arbitrate(11).status.code == 0
        assert len(second.read(table_entry("", None))) == 1  # entries outlive the controller
        second.write(delete(table_entry("stamp_port", 1)))
        with Client(served[1].address, device_id=2) as third:
            assert third.arbitrate(12).status.code == 0
            demoted = second.next("arbitration")
            assert (demoted.status.code, demoted.election_id.low) == (6, 12)


def test_roles_have_primaries_of_their_own(served: Served) -> None:
    with Client(served[1].address, device_id=3) as default, Client(served[1].address, device_id=3) as tuner:
        default.primary(5)
        reply = tuner.arbitrate(5, role="tuner")
        assert (reply.status.code, reply.role.name) == (0, "tuner")
        tuner.write(insert(table_entry("stamp_port", 1, "stamp")))
        default.write(delete(table_entry("stamp_port", 1)))
        update = p4r.MasterArbitrationUpdate(device_id=3)
        update.role.name = "tuner"
        update.role.config.type_url = "type.googleapis.com/some"
        tuner.send(p4r.StreamMessageRequest(arbitration=update))
        assert tuner.next("end").code() == grpc.StatusCode.INVALID_ARGUMENT


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda: packet_out(b"x"), "FAILED_PRECONDITION"),  # not an arbitration
        (lambda: p4r.StreamMessageRequest(), "FAILED_PRECONDITION"),
    ],
)
def test_streams_begin_with_an_arbitration(served: Served, make: object, code: str) -> None:
    with Client(served[1].address) as other:
        other.send(make())  # type: ignore[operator]
        assert other.next("end").code().name == code


def test_a_stream_keeps_its_device_and_role_and_ids_are_used_once(served: Served, client: Client) -> None:
    with Client(served[1].address) as other:
        other.send(
            p4r.StreamMessageRequest(
                arbitration=p4r.MasterArbitrationUpdate(
                    device_id=1, election_id=U128.encode(client.election_id)
                )
            )
        )
        ended = other.next("end")
        assert (ended.code().name, ended.details()) == (
            "INVALID_ARGUMENT",
            f"election id {client.election_id} is used by another controller of role ''",
        )
    for device_id, role in ((2, ""), (1, "else")):
        with Client(served[1].address) as other:
            other.arbitrate(None)
            update = p4r.MasterArbitrationUpdate(device_id=device_id)
            if role:
                update.role.name = role
            other.send(p4r.StreamMessageRequest(arbitration=update))
            assert other.next("end").code().name == "FAILED_PRECONDITION"


def test_capabilities(client: Client) -> None:
    reply = client.stub.Capabilities(p4r.CapabilitiesRequest(), timeout=DEADLINE_S)
    assert reply.p4runtime_api_version == "1.5.0"


def test_entities_that_the_program_has_none_of(client: Client) -> None:
    meter = p4r.Entity(meter_entry=p4r.MeterEntry(meter_id=1))
    with pytest.raises(grpc.RpcError) as error:
        client.write(modify(meter), insert(p4r.Entity()))
    assert details(error.value) == [
        ("UNIMPLEMENTED", "meter_entry: the program has none"),
        ("INVALID_ARGUMENT", "entity: is empty"),
    ]
    with pytest.raises(grpc.RpcError) as error:
        client.read(p4r.Entity(meter_entry=p4r.MeterEntry()), meter, counter("tx", 1))
    assert refused(error)[0] == "UNKNOWN"
    assert details(error.value) == [
        ("OK", ""),
        ("NOT_FOUND", "meter_entry: the program has none"),
        ("OK", ""),
    ]
    assert client.read(p4r.Entity(meter_entry=p4r.MeterEntry())) == []
