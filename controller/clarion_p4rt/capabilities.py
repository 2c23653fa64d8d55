# SPDX-License-Identifier: Apache-2.0
"""What a switch's server adds to its capabilities: whether it speaks LLDP and judges its wires by itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from google.protobuf import json_format
from google.protobuf.message import DecodeError
from google.protobuf.struct_pb2 import Struct

from clarion_p4rt.device import OwnLldp


def own_lldp(answer: Any) -> OwnLldp | None:
    """The LLDP of a switch by its answer, `{"lldp": {"chassis_id": NAME, "ports": {NUMBER: NAME}}}` as a
    google.protobuf.Struct; None if it says nothing, or nothing that can be read.
    """
    document = Struct()
    try:
        if not answer.experimental.Unpack(document):
            return None
    except DecodeError:
        return None
    said = json_format.MessageToDict(document).get("lldp")
    if not isinstance(said, Mapping) or not isinstance(said.get("chassis_id"), str):
        return None
    ports = said.get("ports")
    named = ports.items() if isinstance(ports, Mapping) else ()
    return OwnLldp(
        said["chassis_id"],
        {int(number): name for number, name in named if number.isdecimal() and isinstance(name, str)},
    )
