# SPDX-License-Identifier: Apache-2.0
"""Handwritten code has the numbers of contract.yaml: P4, P4Info, eBPF, the core, docs/p4.md."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from finsy import P4Schema
from finsy.p4schema import P4BitsType

from clarion_base.paths import ROOT
from clarion_contract.generate import contract_model
from clarion_contract.generate.document import DocumentError
from clarion_contract.header import HeaderField

CONTRACT = contract_model.read()
HEADERS = {
    "data": ("clarion_t", "xcp_t", "tags_t"),
    "ack": ("clarion_t", "ack_t"),
    "tag": ("clarion_t", "tags_t"),
}
CORE_OFFSETS = {"rtt", "x", "delta_throughput", "reverse_feedback"}
TAGS = {"BUCKET": "bucket", "LINK_SEQ": "link_seq", "CORRUPT": "corrupt", "CONGEST": "congest"}
FILES = (
    *("p4/*.p4", "p4/clarion.p4info.txtpb", "docs/p4.md"),
    *("hosts/bpf/header.h", "hosts/bpf/flow.h", "core/header.hpp", "core/config.hpp", "core/types.hpp"),
    *("switch/programmed_forwarding.hpp", "switch/port_entries.hpp"),
)

Fields = list[tuple[str, int]]  # names and bits
Difference = tuple[str, object, object]  # name, actual value, value in the contract


def header_fields(name: str) -> list[HeaderField]:
    (format_,) = (each for each in CONTRACT.formats if each.name == name)
    return [*CONTRACT.prefix, *format_.fields]


def layout(name: str) -> Fields:
    return [(field.name, field.bits) for field in header_fields(name)]


def layout_of_parts(name: str) -> Fields:
    return [(part.name, part.bits) for field in header_fields(name) for part in field.parts or (field,)]


def mask(field: str, part: str) -> int:
    (parts,) = (each.parts for each in header_fields("data") if each.name == field)
    (found,) = (each.mask for each in parts if each.name == part)
    return found


def differences(root: Path) -> list[Difference]:
    found = (*of_p4(root), *of_p4info(root), *of_bpf(root), *of_core(root), *of_docs(root))
    return [each for each in found if each[1] != each[2]]


def number(text: str, pattern: str) -> int | None:
    match = re.search(pattern, text)
    return None if match is None else int(match[1], 0)


# --- P4


def of_p4(root: Path) -> Iterator[Difference]:
    text = "\n".join(file.read_text() for file in sorted((root / "p4").glob("*.p4")))
    widths = {name: int(bits) for bits, name in re.findall(r"typedef bit<(\d+)> (\w+);", text)}

    def fields(body: str) -> Fields:
        members = re.findall(r"(?:@id\(\d+\) )?(?:bit<(\d+)>|(\w+_t)) (\w+)[;,)]?", re.sub(r"//.*", "", body))
        return [(name, int(bits) if bits else widths[alias]) for bits, alias, name in members]

    def struct(kind: str, name: str) -> Fields:
        match = re.search(rf"{kind} {name} {{(.*?)\n}}", text, re.DOTALL)
        return fields(match[1]) if match else []

    for name, parts in HEADERS.items():
        whole = [field for part in parts for field in struct("header", part)]
        yield (
            f"p4 {name}",
            [("next_protocol" if n == "following" else n, bits) for n, bits in whole],
            layout_of_parts(name),
        )
    for name, members in CONTRACT.digests.items():
        yield f"p4 {name}", struct("struct", name), list(members.items())
    for table in CONTRACT.tables:
        match = re.search(rf"action {table.action}\((.*?)\) {{", text, re.DOTALL)
        yield f"p4 {table.action}", fields(match[1]) if match else None, arguments(table.name)
    for name, members in packet_headers().items():
        yield f"p4 {name}", struct("header", f"{name}_t"), list(members.items())
    judging = CONTRACT.judging
    for verdict in (judging.proven, judging.disproved):
        match = re.search(rf"action {verdict}\((.*?)\) {{", text)
        yield f"p4 {verdict}", fields(match[1]) if match else None, [(judging.until, judging.until_bits)]
    counters = re.findall(r"counter\(PORTS, CounterType\.(\w+)\) (\w+);", text)
    yield "p4 counters", {name: kind.replace("_", " ") for kind, name in counters}, dict(CONTRACT.counters)
    constants = {
        "PORTS": CONTRACT.ports, "CLARION_PROTOCOL": CONTRACT.protocol, "CLARION_VERSION": CONTRACT.version,
        "CPU_PORT": CONTRACT.cpu_port, "AS_RECEIVED": CONTRACT.packets.as_received,
        "FLOOD_GROUP": CONTRACT.flood_group, "FLOOD_BASE": CONTRACT.flood_base,
        **{f"FORMAT_{each.name.upper()}": each.code for each in CONTRACT.formats},
        **{f"{each.name.upper()}_BYTES": each.size for each in CONTRACT.formats},
    }  # fmt: skip
    for name, value in constants.items():
        yield f"p4 {name}", number(text, rf"\b{name} = (\d+);"), value


def packet_headers() -> dict[str, Mapping[str, int]]:
    return {"packet_in": CONTRACT.packets.packet_in, "packet_out": CONTRACT.packets.packet_out}


def arguments(table: str) -> Fields:
    given = [(argument.name, argument.bits) for argument in CONTRACT.arguments(table)]
    has_epoch = next(each.has_epoch for each in CONTRACT.tables if each.name == table)
    return [*given, *([("epoch", CONTRACT.epoch_bits)] if has_epoch else [])]


# --- P4Info


def of_p4info(root: Path) -> Iterator[Difference]:
    schema = P4Schema(root / "p4/clarion.p4info.txtpb")
    for table in CONTRACT.tables:
        action = schema.actions[table.action]
        found = [(parameter.name, parameter.bitwidth) for parameter in action.params]
        yield f"p4info {table.action}", found, arguments(table.name)
        yield f"p4info {table.name}", schema.tables[table.name].size, CONTRACT.ports
        keys = [field.name for field in schema.tables[table.name].match_fields]
        yield f"p4info {table.name} key", keys, ["port"]
    forwarding = schema.tables[CONTRACT.forwarding.table]
    keys = [field.name for field in forwarding.match_fields]
    yield "p4info forwarding", keys, [CONTRACT.forwarding.key]
    judging = schema.tables[CONTRACT.judging.table]
    yield "p4info judging key", [field.name for field in judging.match_fields], [CONTRACT.judging.key]
    yield "p4info judging", judging.size, CONTRACT.ports
    for verdict in (CONTRACT.judging.proven, CONTRACT.judging.disproved):
        found = [(parameter.name, parameter.bitwidth) for parameter in schema.actions[verdict].params]
        yield f"p4info {verdict}", found, [(CONTRACT.judging.until, CONTRACT.judging.until_bits)]
    headers = {each.alias: list(each.metadata) for each in schema.controller_packet_metadata}
    for name, wanted in packet_headers().items():
        found = [(member.name, member.bitwidth) for member in headers[name]]
        yield f"p4info {name}", found, list(wanted.items())
    for name, members in CONTRACT.digests.items():
        each = schema.type_info.structs[name].members.items()
        bits = {n: member.bitwidth for n, member in each if isinstance(member, P4BitsType)}
        yield f"p4info {name}", list(bits.items()), list(members.items())
    counters = {each.alias: each.unit.name.lower() for each in schema.counters}
    yield "p4info counters", counters, {n: UNITS[kind] for n, kind in CONTRACT.counters.items()}


UNITS = {"packets": "packets", "packets and bytes": "both"}


# --- eBPF, the core, the switch


def of_bpf(root: Path) -> Iterator[Difference]:
    text = (root / "hosts/bpf/header.h").read_text() + (root / "hosts/bpf/flow.h").read_text()

    def struct(name: str) -> Fields:
        match = re.search(rf"struct {name} {{(.*?)\n}};", text, re.DOTALL)
        members = re.findall(r"(?:__(?:u|be)(\d+)|struct (\w+)) (\w+);", match[1] if match else "")
        found: Fields = []
        for bits, inner, member in members:
            found += struct(inner) if inner else [(member, int(bits))]
        return found

    for each in CONTRACT.formats:
        wanted = [
            ("version_format", 8) if field[0] == "version" else field
            for field in layout(each.name)
            if field[0] != "format"
        ]
        yield f"bpf {each.name}", struct(f"clarion_{each.name}"), wanted
        upper = each.name.upper()
        yield f"bpf {upper}", number(text, rf"CLARION_{upper} = (\d+),"), each.code
        yield f"bpf {upper}_BYTES", number(text, rf"CLARION_{upper}_BYTES\s+(\d+)"), each.size
    parts = {"echo": "ECHO", "hop": "HOPS", "regulated": "REGULATED", "rev_field": "REV_FIELD"}
    for part, name in parts.items():
        yield f"bpf {name}", number(text, rf"CLARION_FLAG_{name}\s+(0x[0-9a-f]+)"), mask("flags", part)
    yield "bpf field", number(text, r"CLARION_RTT_FIELD\s+(0x[0-9a-f]+)"), mask("rtt", "field")
    yield "bpf version", number(text, r"CLARION_VERSION\s+(\d+)"), CONTRACT.version
    yield "bpf protocol", number(text, r"CLARION_PROTOCOL_DEFAULT (\d+)"), CONTRACT.protocol


def of_core(root: Path) -> Iterator[Difference]:
    header = (root / "core/header.hpp").read_text()
    places = {each.name: {field.name: field.at for field in each.fields} for each in CONTRACT.formats}
    for field in CORE_OFFSETS:
        yield f"core {field}", number(header, rf"OFFSET_{field.upper()} = (\d+);"), places["data"][field]
    tags = {
        "data": number(header, r"OFFSET_DATA_TAGS = (\d+);"),
        "tag": number(header, r"OFFSET_TAG_TAGS = (\d+);"),
    }
    for name, field in TAGS.items():
        offset = number(header, rf"TAGS_{name} = (\d+);")
        for kind, base in tags.items():
            yield f"core {kind} {field}", (base or 0) + (offset or 0), places[kind][field]
    for each in CONTRACT.formats:
        yield f"core {each.name}", number(header, rf"{each.name} = (\d)[,}} ]"), each.code
        yield f"core {each.name}", number(header, rf"{each.name.upper()}_BYTES = (\d+);"), each.size
    hop = mask("flags", "hop")
    yield "core hop", number(header, r"FLAGS_HOP_MASK = (0x[0-9a-f]+);"), hop
    yield "core hop", number(header, r"FLAGS_HOP_ONE = (0x[0-9a-f]+);"), hop & -hop
    yield "core rtt", number(header, r"RTT_MASK = (0x[0-9a-f]+);"), mask("rtt", "rtt")
    yield "core flags", number(header, r"OFFSET_FLAGS = (\d+);"), 3
    yield "core version", number(header, r"HEADER_VERSION = (\d+);"), CONTRACT.version
    config = (root / "core/config.hpp").read_text()
    yield "core protocol", number(config, r"DEFAULT_PROTOCOL = (\d+);"), CONTRACT.protocol
    forwarding = (root / "switch/programmed_forwarding.hpp").read_text()
    yield (
        "switch ports",
        number(forwarding, r"(?:kMaxPortNumber|MAX_PORT_NUMBER) = (\d+);"),
        CONTRACT.ports - 1,
    )
    yield "switch cpu port", number(forwarding, r"(?:kCpuPort|CPU_PORT) = (\d+);"), CONTRACT.cpu_port
    entries = (root / "switch/port_entries.hpp").read_text()
    yield "switch epoch", number(entries, r"(?:kLastEpoch|LAST_EPOCH) = (\d+);"), CONTRACT.last_epoch


def of_docs(root: Path) -> Iterator[Difference]:
    text = (root / "docs/p4.md").read_text()
    for table in CONTRACT.tables:
        call = f"`{table.action}({', '.join(f'{name} {bits}' for name, bits in arguments(table.name))})`"
        yield f"docs {table.name}", call in text, True
    for name, members in CONTRACT.digests.items():
        (row,) = re.findall(rf"\| `{name}` \|.*", text)
        found = [(member, int(bits)) for member, bits in re.findall(r"`(\w+)` (\d+)", row)]
        yield f"docs {name}", found, list(members.items())


def test_what_is_written_by_hand_has_the_numbers_of_the_contract() -> None:
    assert differences(ROOT) == []


FAULTS = [
    ("p4/headers.p4", "bit<32> x;", "bit<16> x;"),
    (
        "p4/headers.p4",
        "    bucket_t bucket;\n    sequence_t link_seq;",
        "    sequence_t link_seq;\n    bucket_t bucket;",
    ),
    ("p4/headers.p4", "typedef bit<16> sequence_t;", "typedef bit<32> sequence_t;"),
    ("p4/headers.p4", "bit<1> echo;", "bit<2> echo;"),
    ("p4/headers.p4", "TAG_BYTES = 16", "TAG_BYTES = 12"),
    ("p4/clarion.p4", "FLOOD_BASE = 256", "FLOOD_BASE = 128"),
    ("p4/headers.p4", "    bit<48> timestamp_us;  // this", "    bit<64> timestamp_us;  // this"),
    ("p4/headers.p4", "bit<9> egress_port;", "bit<16> egress_port;"),
    ("p4/clarion.p4", "AS_RECEIVED = 511", "AS_RECEIVED = 510"),
    ("p4/clarion.p4", "CPU_PORT = 63", "CPU_PORT = 62"),
    ("p4/wire_check.p4", "action prove(@id(1) bit<48> until)", "action prove(@id(1) bit<32> until)"),
    ("p4/xcp_arrival.p4", "@id(3) bit<18> beta", "@id(3) bit<16> beta"),
    ("p4/queue_limit.p4", "bit<40> limit_bytes", "bit<32> limit_bytes"),
    ("p4/telemetry.p4", "bit<46> rate;", "bit<48> rate;"),
    ("p4/queue_occupancy.p4", "packets_and_bytes) tx", "packets) tx"),
    ("p4/clarion.p4info.txtpb", "bitwidth: 38", "bitwidth: 40"),
    ("hosts/bpf/header.h", "__be16 corrupt;\n\t__be16 congest;", "__be16 congest;\n\t__be16 corrupt;"),
    ("hosts/bpf/header.h", "CLARION_ACK_BYTES  12", "CLARION_ACK_BYTES  16"),
    ("hosts/bpf/flow.h", "CLARION_ACK = 2", "CLARION_ACK = 3"),
    ("hosts/bpf/header.h", "CLARION_FLAG_ECHO\t0x01", "CLARION_FLAG_ECHO\t0x02"),
    ("hosts/bpf/header.h", "CLARION_FLAG_HOPS\t0x0e", "CLARION_FLAG_HOPS\t0x1e"),
    ("hosts/bpf/header.h", "CLARION_RTT_FIELD 0x07", "CLARION_RTT_FIELD 0x03"),
    ("core/header.hpp", "OFFSET_X = 8", "OFFSET_X = 4"),
    ("core/header.hpp", "FLAGS_HOP_MASK = 0x0e", "FLAGS_HOP_MASK = 0x1e"),
    ("core/header.hpp", "FLAGS_HOP_ONE = 0x02", "FLAGS_HOP_ONE = 0x04"),
    ("core/header.hpp", "RTT_MASK = 0xfffffff8", "RTT_MASK = 0xfffffffc"),
    ("core/header.hpp", "TAGS_CONGEST = 6", "TAGS_CONGEST = 4"),
    ("core/header.hpp", "ack = 2", "ack = 3"),
    ("core/config.hpp", "DEFAULT_PROTOCOL = 253", "DEFAULT_PROTOCOL = 254"),
    ("docs/p4.md", "alpha 18", "alpha 16"),
    ("docs/p4.md", "`rate` 46", "`rate` 48"),
]


@pytest.mark.parametrize(("file", "right", "wrong"), FAULTS)
def test_a_planted_fault_is_found(file: str, right: str, wrong: str, tmp_path: Path) -> None:
    for each in (path for pattern in FILES for path in ROOT.glob(pattern)):
        copy = tmp_path / each.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(each, copy)
    text = (tmp_path / file).read_text()
    assert right in text
    (tmp_path / file).write_text(text.replace(right, wrong, 1))
    assert differences(tmp_path)


# --- Invalid contracts: the place, the value put there, and the message.

BAD: dict[str, tuple[str, Any, str]] = {
    "part unknown": ("more", 1, "unknown key 'more'"),
    "kind": ("xcp.1.kind", "complex", "xcp.alpha.kind: flag, whole or real is needed"),
    "unit": ("xcp.0.unit", "byte", "xcp.capacity_bps.unit: 'byte' is no unit"),
    "range": ("xcp.1.holds", [4, 0], "xcp.alpha.holds: two numbers are needed, from and to"),
    "bits": ("xcp.1.argument.bits", 16, "xcp.alpha.argument: 16 bits do not hold 3.99998"),
    "scale": ("xcp.1.argument.scale", "much", "xcp.alpha.argument.scale: a fraction such as 1/8 is needed"),
    "rounding": ("xcp.1.argument.round", "up", "xcp.alpha.argument.round: nearest or down is needed"),
    "follows": ("xcp.2.stable.follows", "delta", "xcp.beta: 'delta' is no field of this group"),
    "name twice": ("xcp.1.name", "beta", "xcp.beta: stands twice"),
    "table": ("port.0.table", "stamps", "port.stamp: there is no table 'stamps'"),
    "a gap": ("header.formats.ack.fields.1.at", 9, "header.formats.ack.fields.rev_corrupt: stands at byte 9"),
    "short": ("header.formats.ack.bytes", 16, "header.formats.ack: its fields have 12 bytes, not 16"),
    "parts": (
        "header.formats.data.fields.0.parts.1.bits",
        2,
        "header.formats.data.fields.rtt.parts: its parts have 31 bits, not 32",
    ),
    "packet": ("packets.packet_in.pad", 6, "packets.packet_in: its members have 63 bits, not whole bytes"),
    "epoch": ("epoch.last", 256, "epoch.last: a whole number from 1 to 0xff is needed"),
    "cpu port": ("cpu_port", 64, "cpu_port: a whole number from 0 to 0x3f is needed"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_contract_is_refused_where_it_is_bad(name: str, tmp_path: Path) -> None:
    where, value, message = BAD[name]
    document = yaml.safe_load(contract_model.SOURCE.read_text())
    *path, last = [int(part) if part.isdigit() else part for part in where.split(".")]
    place = document
    for part in path:
        place = place[part]
    place[last] = value
    file = tmp_path / "contract.yaml"
    file.write_text(yaml.safe_dump(document, sort_keys=False))
    with pytest.raises(DocumentError) as caught:
        contract_model.read(file)
    assert str(caught.value).startswith("contract.yaml: ")
    assert message in str(caught.value)
