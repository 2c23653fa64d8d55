# SPDX-License-Identifier: Apache-2.0
"""What a switch's server says of its own LLDP, in all shapes that a server may answer in."""

from __future__ import annotations

from typing import Any

import pytest
from finsy.proto import p4r
from google.protobuf.any_pb2 import Any as Packed
from google.protobuf.struct_pb2 import Struct

from clarion_p4rt.capabilities import measures_capacity, own_lldp
from clarion_p4rt.device import OwnLldp


def answer(document: Any) -> p4r.CapabilitiesResponse:
    made = p4r.CapabilitiesResponse(p4runtime_api_version="1.4.0")
    extra = Struct()
    extra.update(document)
    made.experimental.Pack(extra)
    return made


def test_each_device_of_a_server_has_its_name_and_ports() -> None:
    said = answer(
        {"lldp": {"chassis_id": "a", "chassis_ids": {"1": "a", "2": "b"}, "port_ids": {"2": {"1": "left"}}}}
    )
    assert own_lldp(said, 1) == OwnLldp("a", {})
    assert own_lldp(said, 2) == OwnLldp("b", {1: "left"})
    assert own_lldp(said, 3) is None


def test_the_only_device_may_have_its_name_without_a_number() -> None:
    assert own_lldp(answer({"lldp": {"chassis_id": "a"}}), 7) == OwnLldp("a", {})


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"lldp": True},
        {"lldp": {}},
        {"lldp": {"chassis_id": 7}},
        {"lldp": {"chassis_ids": "a"}},
        {"lldp": {"chassis_ids": {"1": 7}}},
        {"other": {"chassis_id": "a"}},
    ],
)
def test_what_says_nothing_readable_is_nothing(document: Any) -> None:
    assert own_lldp(answer(document), 1) is None


def test_ports_without_numbers_or_names_are_left_out() -> None:
    ports = {"1": "a", "x": "b", "2": 3, "": "c"}
    said = answer({"lldp": {"chassis_id": "a", "port_ids": {"1": ports}}})
    assert own_lldp(said, 1) == OwnLldp("a", {1: "a"})


def test_a_server_that_adds_nothing_or_something_else() -> None:
    assert own_lldp(p4r.CapabilitiesResponse(p4runtime_api_version="1.3.0"), 1) is None
    other = p4r.CapabilitiesResponse()
    other.experimental.CopyFrom(Packed(type_url="type.googleapis.com/google.protobuf.Struct", value=b"\xff"))
    assert own_lldp(other, 1) is None


def test_which_devices_can_measure() -> None:
    said = answer({"measured_capacity": {"devices": [1, 3]}, "lldp": {"chassis_ids": {"2": "b"}}})
    assert [measures_capacity(said, device_id) for device_id in (1, 2, 3)] == [True, False, True]
    assert own_lldp(said, 2) == OwnLldp("b", {})
    for nothing in ({}, {"measured_capacity": True}, {"measured_capacity": {"devices": 1}}):
        assert not measures_capacity(answer(nothing), 1)
    assert not measures_capacity(p4r.CapabilitiesResponse(p4runtime_api_version="1.3.0"), 1)
