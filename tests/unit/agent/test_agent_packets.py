# SPDX-License-Identifier: Apache-2.0
"""Frames to and from the controller with their metadata, and what the switch judges by itself."""

from __future__ import annotations

from typing import Any, cast

import pytest
from finsy.proto import p4r

from clarion_agent.device import Device, RefusedBatch
from clarion_agent.program import Program
from clarion_agent.service import Context, P4RuntimeService
from clarion_agent.status import Refused
from clarion_contract.settings import AS_RECEIVED
from clarion_contract.target import Judged
from clarion_p4rt.capabilities import measures_capacity, own_lldp
from clarion_p4rt.device import OwnLldp
from fakes.p4runtime_messages import IDS, delete, insert, modify, packet_out, table_entry
from fakes.target import FakeTarget
from unit.agent.conftest import Primary

FRAME = bytes(range(60))


async def test_a_frame_goes_to_its_port_or_by_its_address(primary: Primary, target: FakeTarget) -> None:
    for port in (1, 3, AS_RECEIVED):
        await primary.device.packet_out(packet_out(FRAME, port).packet)
    assert target.frames == [(FRAME, 1), (FRAME, 3), (FRAME, None)]


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ([], "packet_out.egress_port: is missing; give each metadata of the P4Info once"),
        ([(2, 0)], "packet_out.egress_port: is missing"),
        ([(1, 1)], "packet_out.pad: is missing"),
        ([(1, 9), (2, 0)], "packet_out.egress_port: the switch has no port 9; it has 1, 2, 3, and 511"),
        ([(1, 63), (2, 0)], "packet_out.egress_port: the switch has no port 63"),
        ([(1, 512)], "packet_out.egress_port: 0x0200: has more than 9 bits"),
        ([(1, 1), (1, 2)], "packet_out: metadata 1: is unknown, or there twice"),
        ([(1, 1), (7, 0)], "packet_out: metadata 7: is unknown"),
    ],
)
async def test_a_frame_without_a_legal_port_is_refused(
    primary: Primary, target: FakeTarget, metadata: list[tuple[int, int]], message: str
) -> None:
    packet = p4r.PacketOut(payload=FRAME)
    for number, value in metadata:
        packet.metadata.add(metadata_id=number, value=value.to_bytes(2, "big"))
    with pytest.raises(Refused) as refused:
        await primary.device.packet_out(packet)
    assert refused.value.message.startswith(message)
    assert not target.frames


async def test_a_frame_comes_in_with_its_port_and_time(primary: Primary) -> None:
    primary.device.on_packet(FRAME, 2, 0x123456789A)
    packet = primary.sent[-1].packet
    assert packet.payload == FRAME
    assert [(each.metadata_id, int.from_bytes(each.value, "big")) for each in packet.metadata] == [
        (1, 2),
        (2, 0),
        (3, 0x123456789A),
    ]


@pytest.mark.parametrize("update", [insert, modify, delete])
async def test_the_switch_judges_by_itself(primary: Primary, update: Any) -> None:
    with pytest.raises(RefusedBatch) as refused:
        await primary.write(update(table_entry("wire_judged", 1, "prove", (10**9,))))
    (error,) = refused.value.plan.errors
    assert error is not None
    assert error.code.name == "UNIMPLEMENTED"
    assert error.message == "wire_judged[1]: this switch judges its wires itself, by LLDP; read it only"


async def test_judgements_are_read_as_they_are(primary: Primary, target: FakeTarget) -> None:
    await primary.write(insert(table_entry("stamp_port", 1, "stamp")))
    target.wires = {1: Judged(True, 5_000_000), 3: Judged(False, 9)}
    found = [each.table_entry for each in await primary.read(table_entry("wire_judged", None))]
    said = [(int.from_bytes(each.match[0].exact.value, "big"), each.action.action) for each in found]
    assert [
        (port, action.action_id, int.from_bytes(action.params[0].value, "big")) for port, action in said
    ] == [
        (1, IDS["prove"], 5_000_000),
        (3, IDS["disprove"], 9),
    ]
    every = await primary.read(table_entry("", None))
    assert [each.table_entry.table_id for each in every].count(IDS["wire_judged"]) == 2
    target.wires = {}
    assert await primary.read(table_entry("wire_judged", None)) == []
    assert len(await primary.read(table_entry("stamp_port", None))) == 1


async def capabilities(service: P4RuntimeService, device_id: int) -> p4r.CapabilitiesResponse:
    return await service.Capabilities(p4r.CapabilitiesRequest(device_id=device_id), cast("Context", None))


async def test_capabilities_of_a_device_have_its_lldp(target: FakeTarget, program: Program) -> None:
    service = P4RuntimeService([Device(1, target, program), Device(2, FakeTarget("s2"), program)])
    for device_id, name in ((1, "test/s1"), (2, "test/s2")):
        lldp = own_lldp(await capabilities(service, device_id), device_id)
        assert lldp == OwnLldp(name, {1: "p1", 2: "p2", 3: "p3"})
    target.chassis_id = None
    assert own_lldp(await capabilities(service, 1), 1) is None


async def test_capabilities_of_a_device_say_whether_it_measures(target: FakeTarget, program: Program) -> None:
    other = FakeTarget("s2")
    other.measures_capacity = False
    service = P4RuntimeService([Device(1, target, program), Device(2, other, program)])
    said = [await capabilities(service, device_id) for device_id in (1, 2)]
    assert [measures_capacity(each, number) for number, each in enumerate(said, 1)] == [True, False]
    of_all = await capabilities(service, 0)
    assert (of_all.p4runtime_api_version, of_all.HasField("experimental")) == ("1.5.0", False)
