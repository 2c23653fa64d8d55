# SPDX-License-Identifier: Apache-2.0
"""Frames between controller and switch, and what their headers say."""

from __future__ import annotations

from collections.abc import Collection

from finsy.proto import p4r

from clarion_agent import values
from clarion_agent.program import Program
from clarion_agent.status import invalid
from clarion_contract.settings import AS_RECEIVED


def egress_port(packet: p4r.PacketOut, program: Program, ports: Collection[int]) -> int | None:
    """The port that a frame is for; None: to be forwarded by its address. Refused unless each metadata of the
    P4Info is there precisely once (section 16.1).
    """
    known = {field.id: field for field in program.packet_out}
    given: dict[str, int] = {}
    for each in packet.metadata:
        field = known.get(each.metadata_id)
        if field is None or field.name in given:
            raise invalid(f"packet_out: metadata {each.metadata_id}: is unknown, or there twice")
        given[field.name] = values.decode(each.value, field.bits, f"packet_out.{field.name}")
    for field in program.packet_out:
        if field.name not in given:
            raise invalid(f"packet_out.{field.name}: is missing; give each metadata of the P4Info once")
    port = given["egress_port"]
    if port == AS_RECEIVED:
        return None
    if port not in ports:
        has = ", ".join(map(str, sorted(ports)))
        raise invalid(
            f"packet_out.egress_port: the switch has no port {port}; it has {has}, and {AS_RECEIVED}"
        )
    return port


def packet_in(program: Program, frame: bytes, port: int, time_us: int) -> p4r.StreamMessageResponse:
    """A frame for controllers."""
    packet = p4r.PacketIn(payload=frame)
    said = {"ingress_port": port, "timestamp_us": time_us}
    for field in program.packet_in:
        value = said.get(field.name, 0) & ((1 << field.bits) - 1)
        packet.metadata.add(metadata_id=field.id, value=values.encode(value))
    return p4r.StreamMessageResponse(packet=packet)
