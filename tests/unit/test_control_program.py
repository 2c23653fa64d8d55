# SPDX-License-Identifier: Apache-2.0
"""The client's tables, actions and digests are those of the checked-in P4 program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from clarion_contract import entries, pipeline, settings
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_contract.telemetry import DIGESTS
from clarion_p4rt import table_entries

ROOT = Path(__file__).resolve().parents[2]


def constant(name: str, file: str = "p4/clarion.p4") -> int:
    match = re.search(rf"\b{name} = (\d+);", (ROOT / file).read_text())
    assert match, name
    return int(match[1])


def test_sizes_are_those_of_the_program() -> None:
    assert constant("PORTS") == settings.PORTS
    assert constant("FLOOD_GROUP") == settings.FLOOD_GROUP
    assert constant("FLOOD_BASE") == settings.FLOOD_BASE


@pytest.mark.parametrize("name", ["alpha", "beta", "gamma"])
def test_defaults_are_those_of_the_core(name: str) -> None:
    default = entries.xcp_arguments(XcpSettings(8))[name]
    assert default == constant(f"DEFAULT_{name.upper()}_Q16", "core/xcp_config.hpp")


def test_every_entry_can_be_written() -> None:
    schema = pipeline.load()
    most = {field.name: field.most for field in settings.XCP.values() if field.kind != "flag"}
    largest = XcpSettings(**most, allow_unstable=True)
    port = PortSettings(63, largest, True, True, True, True, settings.PORT["queue_limit_bytes"].most)
    made = [*entries.port_entries(port, 255, 255), *entries.forward_entries({2**48 - 1: 63})]
    updates = table_entries.changes([], made)
    assert [entry.encode_update(schema).entity.table_entry.table_id > 0 for entry in updates] == [True] * 5
    assert {entry.table for entry in made} == {*settings.PORT_TABLES, "l2_forward"}


@pytest.mark.parametrize("digest", DIGESTS)
def test_every_member_of_a_digest_is_read(digest: str) -> None:
    schema = pipeline.load()
    assert {each.alias for each in schema.digests} == set(DIGESTS)
    assert list(schema.type_info.structs[digest].members) == list(DIGESTS[digest].members)
