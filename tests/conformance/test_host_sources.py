# SPDX-License-Identifier: Apache-2.0
"""The header of the hosts, in C and Rust, is that of the switches: offsets, sizes, protocol number."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conformance.reference import ACK, DATA, FIELDS, HEADER_BYTES, TAG

ROOT = Path(__file__).resolve().parents[2]
STRUCTS = {DATA: "clarion_data", ACK: "clarion_ack", TAG: "clarion_tag"}
CONSTANTS = ("CLARION_VERSION", "CLARION_PROTOCOL_DEFAULT", "CLARION_MIN_BYTES", "CLARION_MAX_BYTES")


def printing_program() -> str:
    """C that prints one line per number: its name and its value, of a field offset and size."""
    lines = ["#include <stddef.h>", "#include <stdio.h>", '#include "header.h"', "int main(void)", "{"]
    for name in CONSTANTS:
        lines.append(f'printf("{name} %d\\n", {name});')
    for member in ("next_protocol", "length", "version_format", "flags"):
        lines.append(f'printf("{member} %zu\\n", offsetof(struct clarion_prefix, {member}));')
    for fmt, struct in STRUCTS.items():
        lines.append(f'printf("{struct} %zu\\n", sizeof(struct {struct}));')
        for field in FIELDS[fmt]:
            size = f"sizeof(((struct {struct} *)0)->{field})"
            lines.append(f'printf("{struct}.{field} %zu\\n", offsetof(struct {struct}, {field}));')
            lines.append(f'printf("{struct}.{field}.size %zu\\n", {size});')
    return "\n".join([*lines, "return 0;", "}", ""])


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Numbers of hosts/bpf/header.h, as the C compiler sees them."""
    folder = tmp_path_factory.mktemp("header")
    source, program = folder / "header.c", folder / "header"
    source.write_text(printing_program())
    flags = ["-Wall", "-Wextra", "-Werror", f"-I{ROOT / 'hosts' / 'bpf'}"]
    subprocess.run(["cc", *flags, "-o", str(program), str(source)], check=True)
    shown = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    return {name: int(value) for name, value in (line.split() for line in shown.splitlines())}


@pytest.fixture(scope="module")
def core(driver_binary: Path) -> dict[str, Any]:
    """Numbers of core/header.hpp and config.hpp."""
    out = subprocess.run([driver_binary, "--constants"], capture_output=True, text=True, check=True).stdout
    return dict(json.loads(out))


def number(path: str, pattern: str) -> int:
    """The number in the only place of a source file that matches."""
    found = re.findall(pattern, (ROOT / path).read_text())
    assert len(found) == 1, (path, pattern, found)
    return int(found[0])


def test_fields_of_the_hosts_are_where_the_switches_look(host: dict[str, int], core: dict[str, Any]) -> None:
    for name, struct in (("data", "clarion_data"), ("tag", "clarion_tag")):
        assert {field: host[f"{struct}.{field}"] for field in core[name]} == core[name]
    assert {name: host[f"clarion_{name}"] for name in ("data", "ack", "tag")} == core["bytes"]
    for field in ("length", "version_format"):
        assert host[field] == number("core/header.hpp", rf"OFFSET_{field.upper()} = (\d+);")
    assert host["CLARION_VERSION"] == core["version"]


def test_every_field_of_the_hosts_is_that_of_the_model(host: dict[str, int]) -> None:
    for fmt, struct in STRUCTS.items():
        fields = {name: (host[f"{struct}.{name}"], host[f"{struct}.{name}.size"]) for name in FIELDS[fmt]}
        assert fields == FIELDS[fmt]
        assert host[struct] == HEADER_BYTES[fmt]
    assert [host[name] for name in ("next_protocol", "length", "version_format", "flags")] == [0, 1, 2, 3]


def test_room_for_the_longest_header(host: dict[str, int]) -> None:
    assert (host["CLARION_MIN_BYTES"], host["CLARION_MAX_BYTES"]) == (12, 32)
    assert number("hosts/agent/src/model/attachment.rs", r"HEADER_BYTES: u32 = (\d+);") == 32


def test_one_default_protocol_number(host: dict[str, int], core: dict[str, Any]) -> None:
    assert host["CLARION_PROTOCOL_DEFAULT"] == 253
    assert core["protocol"] == 253  # core/config.hpp
    assert number("switch/options.hpp", r"uint8_t protocol = (\d+);") == 253
    agent = r"default_value_t = (\d+), value_parser[^\n]*\n\s*protocol: u8"
    assert number("hosts/agent/src/cli.rs", agent) == 253


def test_programs_declare_the_licence_of_their_spdx_line() -> None:
    """Declared to the kernel as "GPL", its name for GPL-2.0 (Documentation/process/license-rules.rst)."""
    sources = [path for path in (ROOT / "hosts" / "bpf").rglob("*") if path.suffix in (".c", ".h", ".def")]
    programs = [path for path in sources if path.name.endswith(".bpf.c")]
    assert len(programs) == 7
    for path in sources:
        assert "SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only" in path.read_text().splitlines()[0], path
    for path in programs:
        declared = re.findall(r'SEC\("license"\) = "(.*)";', path.read_text())
        assert declared == ["GPL"], path
