# SPDX-License-Identifier: Apache-2.0
"""Numbers that appear in two languages are the same in both, and in the documents."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from clarion_nic.driver.entries import OFF
from conformance import reference
from conformance.harness import BUCKETS, PORTS, SHOWN_BUCKETS, SLOTS, Driver, DriverError
from conformance.reference import ACK, DATA, FIELDS, HEADER_BYTES, TAG, Config

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "core"
WIRE_FORMAT = (ROOT / "docs" / "wire-format.md").read_text()


@pytest.fixture(scope="module")
def constants(driver_binary: Path) -> dict[str, Any]:
    out = subprocess.run([driver_binary, "--constants"], capture_output=True, text=True, check=True).stdout
    return dict(json.loads(out))


def table(form: str) -> str:
    command = [sys.executable, str(CORE / "tables.py"), form]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_committed_table_is_the_generated_one() -> None:
    assert (CORE / "reciprocal_table.hpp").read_text() == table("cpp")


def test_every_form_of_the_table_has_the_same_entries(constants: dict[str, Any]) -> None:
    entries = json.loads(table("json"))
    assert constants["reciprocal_table"] == entries
    assert [int(cell, 16) for cell in re.findall(r"reciprocal\((0x[0-9a-f]{4})\)", table("p4"))] == entries
    # 2^47 / (2^31 + 2^22) = 65408.25 and 2^47 / (2^32 - 2^22) = 32800.03
    assert (len(entries), entries[0], entries[255]) == (256, 65408, 32800)


def test_the_core_does_not_divide() -> None:
    # These run on hosts only; everything else is synthesised or copied to P4.
    software = {"host_units.hpp", "xcp_settings.hpp"}
    for path in sorted(CORE.glob("*.hpp")):
        code = re.sub(r"//.*|#include.*|/\*.*?\*/", "", path.read_text())
        assert path.name in software or not re.search(r"[/%]", code), path.name


def test_only_platform_knows_what_it_is_compiled_for() -> None:
    asks = {path.name for path in CORE.glob("*.hpp") if re.search(r"#(ifdef|if )", path.read_text())}
    assert asks == {"platform.hpp"}


def test_a_card_without_entries_has_the_defaults_of_the_core(constants: dict[str, Any]) -> None:
    defaults = {name: value for name, value in constants["defaults"].items() if name != "initial_rtt"}
    assert {name: OFF["egress"][name] for name in defaults} == defaults


def test_harness_and_driver_have_the_same_sizes(constants: dict[str, Any]) -> None:
    sizes = [constants[name] for name in ("ports", "buckets", "shown_buckets", "slots")]
    assert sizes == [PORTS, BUCKETS, SHOWN_BUCKETS, SLOTS]


def test_header_offsets(constants: dict[str, Any]) -> None:
    assert constants["bytes"] == {"data": 32, "ack": 12, "tag": 16}
    assert HEADER_BYTES == {DATA: 32, ACK: 12, TAG: 16}
    for name, fmt in (("data", DATA), ("tag", TAG)):
        offsets = {field: FIELDS[fmt][field][0] for field in constants[name]}
        assert offsets == constants[name]
    assert constants["version"] == 1


def test_header_offsets_are_those_of_the_document() -> None:
    for fmt, column in ((DATA, 1), (ACK, 2), (TAG, 3)):
        for field, (offset, size) in FIELDS[fmt].items():
            row_offset, at = documented(field, column)
            assert (field, row_offset + at) == (field, offset)
            assert size in (2, 4)


def documented(field: str, column: int) -> tuple[int, int]:
    """Return the offset of the field's row in the table, and of the field within the row, bytes."""
    for line in WIRE_FORMAT.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and cells[0].isdigit() and f"`{field}`" in cells[column]:
            return int(cells[0]), 2 * [part.split("`")[1] for part in cells[column].split(",")].index(field)
    raise AssertionError(f"{field} is in no row of column {column}")


def test_defaults(constants: dict[str, Any]) -> None:
    default = Config()
    assert constants["defaults"] == {
        "alpha": default.alpha,
        "beta": default.beta,
        "gamma": default.gamma,
        "min_interval": default.min_interval,
        "max_interval": default.max_interval,
        "initial_rtt": reference.INITIAL_RTT,
    }
    # 0.4, 0.226 and 0.1 times 65536 are 26214.4, 14811.1 and 6553.6; 1 ms is 268435.456 ticks
    assert (default.alpha, default.beta, default.gamma) == (26214, 14811, 6554)
    assert (default.min_interval, reference.INITIAL_RTT) == (268435, 26843546)


def test_driver_refuses_what_it_does_not_know(driver_binary: Path) -> None:
    driver = Driver(driver_binary)
    assert driver.process.stdin is not None
    driver.process.stdin.write(b"\x01\x00\x00\x00Z")
    driver.process.stdin.flush()
    with pytest.raises(DriverError, match="conformance-driver: unknown event"):
        driver.receive()
