# SPDX-License-Identifier: Apache-2.0
"""role.config: what a role that has one may write, read, send and receive."""

from __future__ import annotations

from typing import Any

import pytest
from finsy.proto import U128, p4r

from clarion_agent.arbitration import Controller
from clarion_agent.device import Device, RefusedBatch
from clarion_agent.program import Program
from clarion_agent.roles import P4RoleConfig
from clarion_agent.status import Refused
from fakes.p4runtime_messages import IDS, counter, delete, digest, group, insert, packet_out, table_entry
from fakes.target import FakeTarget
from unit.agent.conftest import Primary

STAMP = insert(table_entry("stamp_port", 1, "stamp"))


def packed(message: Any) -> Any:
    update = p4r.MasterArbitrationUpdate()
    update.role.config.Pack(message)
    return update.role.config


class Member(Primary):
    """The primary of a role with a configuration."""

    def __init__(self, device: Device, role: str, config: Any = None, election_id: int = 1) -> None:
        self.device = device
        self.role = role
        self.sent = []
        self.controller = Controller(self.sent.append)
        self.election_id = U128.encode(election_id)
        self.ask(config, first=True)

    def ask(self, config: Any = None, *, first: bool = False) -> None:
        update = p4r.MasterArbitrationUpdate(device_id=1, election_id=self.election_id)
        update.role.name = self.role
        if config is not None:
            update.role.config.CopyFrom(config)
        self.device.arbiter.arbitrate(self.controller, update, first=first)

    def kinds(self) -> list[str | None]:
        return [message.WhichOneof("update") for message in self.sent]


def config(*names: str, shared: tuple[str, ...] = (), **more: Any) -> Any:
    ids = {"exclusive_p4_ids": [IDS[name] for name in names], "shared_p4_ids": [IDS[each] for each in shared]}
    return packed(P4RoleConfig(**ids, **more))


async def test_a_role_writes_what_it_has(primary: Primary, target: FakeTarget) -> None:
    tuner = Member(primary.device, "tuner", config("stamp_port", shared=("queue_port",)))
    with pytest.raises(RefusedBatch) as refused:
        await tuner.write(
            STAMP,
            insert(table_entry("queue_port", 2, "set_queue_port", (5000,))),
            insert(table_entry("tag_port", 1, "set_tag_port", (1, 0, 1, 1))),
            insert(group(1)),
            insert(digest("queue_drop_t")),
            atomicity=p4r.WriteRequest.CONTINUE_ON_ERROR,
            role="tuner",
        )
    errors = refused.value.plan.errors
    assert [error and (error.code.name, error.message) for error in errors] == [
        None,
        None,
        ("PERMISSION_DENIED", "table_entry: is not in the role's configuration"),
        ("PERMISSION_DENIED", "packet_replication_engine_entry: is not in the role's configuration"),
        ("PERMISSION_DENIED", "digest_entry: is not in the role's configuration"),
    ]
    assert sorted(target.entries) == [("queue_port", 2), ("stamp_port", 1)]
    await primary.write(delete(table_entry("stamp_port", 1)))  # the default role may do everything


async def test_a_role_reads_what_it_has(primary: Primary) -> None:
    await primary.write(
        STAMP, insert(table_entry("queue_port", 2, "set_queue_port", (5000,))), insert(group(1))
    )
    tuner = Member(primary.device, "tuner", config("stamp_port", "tx"))
    found = await tuner.read(table_entry("", None), group(), role="tuner")
    assert [each.table_entry.table_id for each in found] == [IDS["stamp_port"]]
    assert {each.counter_entry.counter_id for each in await tuner.read(counter(""), role="tuner")} == {
        IDS["tx"]
    }
    with pytest.raises(Exception, match="read") as refused:
        await tuner.read(table_entry("queue_port", None), table_entry("stamp_port", None), role="tuner")
    errors = refused.value.errors  # type: ignore[attr-defined]
    assert [error and error.code.name for error in errors] == ["PERMISSION_DENIED", None]
    assert len(await tuner.read(table_entry("", None))) == 2  # as the default role
    with pytest.raises(Refused, match="role 'none': no controller has it") as unknown:
        await tuner.read(table_entry("", None), role="none")
    assert unknown.value.code.name == "NOT_FOUND"


async def test_a_role_pushes_a_pipeline_only_if_it_may(primary: Primary, program: Program) -> None:
    tuner = Member(primary.device, "tuner", config("stamp_port"))
    request = p4r.SetForwardingPipelineConfigRequest(
        role="tuner", election_id=tuner.election_id, action=p4r.SetForwardingPipelineConfigRequest.VERIFY
    )
    request.config.p4info.CopyFrom(program.p4info)
    with pytest.raises(Refused) as refused:
        await primary.device.set_pipeline(request)
    assert refused.value.code.name == "PERMISSION_DENIED"
    tuner.ask(config("stamp_port", can_push_pipeline=True))
    await primary.device.set_pipeline(request)


async def test_frames_and_digests_go_to_the_roles_that_take_them(
    primary: Primary, program: Program, target: FakeTarget
) -> None:
    await primary.write(insert(digest("queue_drop_t")))
    ingress = next(field.id for field in program.packet_in if field.name == "ingress_port")
    filtered: Any = {
        "receives_packet_ins": True,
        "packet_in_filter": {"metadata_id": ingress, "value": b"\0\2"},
    }
    members = [
        Member(primary.device, "none", config("stamp_port")),
        Member(primary.device, "drops", config("queue_drop_t")),
        Member(primary.device, "frames", config("tag_port", receives_packet_ins=True)),
        Member(primary.device, "port 2", config("xcp_port", **filtered)),
        Member(primary.device, "all"),
    ]
    for port in (1, 2):
        primary.device.on_packet(b"frame", port, 1)
    primary.device.on_digest("queue_drop_t", tuple(range(1, 12)))
    assert [member.kinds()[1:] for member in members] == [
        [],
        ["digest"],
        ["packet", "packet"],
        ["packet"],
        ["packet", "packet", "digest"],
    ]
    access = primary.device.arbiter.access("drops")
    with pytest.raises(Refused, match="packet_out: is not in the role's configuration") as refused:
        await primary.device.packet_out(packet_out(bytes(60), 1).packet, access)
    assert refused.value.code.name == "PERMISSION_DENIED"
    ack = p4r.DigestListAck(digest_id=IDS["queue_drop_t"], list_id=1)
    with pytest.raises(Refused, match="digest queue_drop_t: is not"):
        primary.device.acknowledge(ack, primary.device.arbiter.access("none"))
    members[0].ask(packed(P4RoleConfig(shared_p4_ids=[program.packet_out_id])))
    access = primary.device.arbiter.access("none")
    await primary.device.packet_out(packet_out(bytes(60), 1).packet, access)
    assert len(target.frames) == 1


async def test_all_of_the_role_hear_of_a_new_configuration(primary: Primary) -> None:
    first = config("stamp_port")
    tuner = Member(primary.device, "tuner", first, 5)
    backup = Member(primary.device, "tuner", config("tag_port"), 3)
    assert backup.sent[-1].arbitration.role.config == first  # that of the primary
    other = config("queue_port")
    tuner.ask(other)
    assert [each.sent[-1].arbitration.role.config for each in (tuner, backup)] == [other, other]
    assert not primary.device.arbiter.access("tuner").allows(IDS["stamp_port"])
    tuner.ask()
    assert not tuner.sent[-1].arbitration.role.HasField("config")
    assert primary.device.arbiter.access("tuner").allows(IDS["stamp_port"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (packed(p4r.PacketOut()), "'type.googleapis.com/p4.v1.PacketOut': use a stratum.P4RoleConfig"),
        (packed(P4RoleConfig(shared_p4_ids=[5])), "id 5: the program has nothing of that id"),
        (config(packet_in_filter={"metadata_id": 1, "value": b"1"}), "packet_in_filter: needs a value, and"),
        (config("tag_port"), "role 'first' has it, too"),
        (config(shared=("tag_port",)), "role 'first' has it, too"),
        (config("queue_port"), "role 'first' has it, too"),
    ],
)
async def test_configurations_that_are_refused(primary: Primary, given: Any, message: str) -> None:
    Member(primary.device, "first", config("tag_port", shared=("queue_port",)))
    Member(primary.device, "second", config("stamp_port", shared=("queue_port",)))
    with pytest.raises(Refused, match=message) as refused:
        Member(primary.device, "new", given)
    assert refused.value.code.name == "INVALID_ARGUMENT"


async def test_the_default_role_and_noise(primary: Primary) -> None:
    update = p4r.MasterArbitrationUpdate(device_id=1, election_id=primary.election_id)
    update.role.config.CopyFrom(config("tag_port"))
    with pytest.raises(Refused, match="the default role may do everything"):
        primary.device.arbiter.arbitrate(primary.controller, update, first=False)
    noise = config("tag_port")
    noise.value = b"\xff"
    with pytest.raises(Refused, match=r"not a stratum\.P4RoleConfig"):
        Member(primary.device, "new", noise)


async def test_what_a_role_had_for_itself_is_free_when_its_controllers_are_gone(primary: Primary) -> None:
    gone = Member(primary.device, "gone", config("tag_port"))
    primary.device.arbiter.leave(gone.controller)
    Member(primary.device, "new", config("tag_port"))
    with pytest.raises(Refused, match="role 'new' has it, too"):
        Member(primary.device, "gone", config("tag_port"), 2)
