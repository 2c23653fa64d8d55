# SPDX-License-Identifier: Apache-2.0
"""What a switch's server adds to its capabilities: whether it speaks LLDP and judges its wires by itself, and
whether its ports can measure what their links carry.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Struct

from clarion_p4rt.device import OwnLldp


def own_lldp(answer: Any, device_id: int) -> OwnLldp | None:
    """The LLDP of a device by its server's answer: a google.protobuf.Struct
    `{"lldp": {"chassis_ids": {DEVICE: NAME}, "port_ids": {DEVICE: {PORT: NAME}}}}`, or with `chassis_id` for
    the only device. None if it says nothing of the device, or nothing that can be read.
    """
    said = _object(_said(answer).get("lldp"))
    only = {str(device_id): said.get("chassis_id")}
    chassis_id = _object(said.get("chassis_ids", only)).get(str(device_id))
    if not isinstance(chassis_id, str):
        return None
    ports = _object(_object(said.get("port_ids")).get(str(device_id)))
    return OwnLldp(
        chassis_id,
        {int(port): name for port, name in ports.items() if port.isdecimal() and isinstance(name, str)},
    )


def measures_capacity(answer: Any, device_id: int) -> bool:
    """Whether the server says `{"measured_capacity": {"devices": [DEVICE, ...]}}` with this device."""
    devices = _object(_said(answer).get("measured_capacity")).get("devices")
    return isinstance(devices, list) and device_id in devices


def _said(answer: Any) -> Mapping[str, Any]:
    """What the server adds, a google.protobuf.Struct; empty if it is nothing that can be read."""
    document = Struct()
    try:
        if not answer.experimental.Unpack(document):
            return {}
    except DecodeError:
        return {}
    return _object(json_format.MessageToDict(document))


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
