# SPDX-License-Identifier: Apache-2.0
"""Reads contract.yaml and refuses a contract that does not hold together, naming the place in it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

from clarion_base.paths import ROOT
from clarion_contract.generate.document import Node, read_document
from clarion_contract.header import Format, HeaderField, Part
from clarion_contract.setting import Argument, Setting, Stable, Table

SOURCE = ROOT / "contract" / "contract.yaml"
PARTS = (
    *("ports", "cpu_port", "flood", "epoch", "tables", "forwarding", "xcp", "port"),
    *("judging", "header", "packets", "digests", "counters"),
)
UNITS = ("", "bit/s", "us", "B")


@dataclass(frozen=True)
class Forwarding:
    """The table of Ethernet addresses."""

    table: str
    key: str
    action: str


@dataclass(frozen=True)
class Judging:
    """The table of what a controller found out about the wires, and the argument of its actions."""

    table: str
    key: str
    proven: str
    disproved: str
    until: str
    until_bits: int


@dataclass(frozen=True)
class Packets:
    """The headers in front of frames between controller and switch: members and their bits."""

    packet_in: Mapping[str, int]
    packet_out: Mapping[str, int]
    as_received: int


@dataclass(frozen=True)
class Contract:
    """The whole of contract.yaml."""

    ports: int
    cpu_port: int
    flood_group: int
    flood_base: int
    epoch_bits: int
    last_epoch: int
    tables: tuple[Table, ...]
    judging: Judging
    forwarding: Forwarding
    xcp: tuple[Setting, ...]
    port: tuple[Setting, ...]
    protocol: int
    version: int
    prefix: tuple[HeaderField, ...]
    formats: tuple[Format, ...]
    packets: Packets
    digests: Mapping[str, Mapping[str, int]]
    counters: Mapping[str, str]

    def arguments(self, table: str) -> tuple[Argument, ...]:
        """The arguments of a table's action in order, without the epoch."""
        return tuple(argument for _, argument in self.encoded(table))

    def encoded(self, table: str) -> Iterator[tuple[Setting, Argument]]:
        """The settings of a table that are arguments of its action, each with its argument."""
        for setting in (*self.xcp, *self.port):
            if setting.table == table and setting.argument is not None:
                yield setting, setting.argument


def read(path: Path = SOURCE) -> Contract:
    """Return the contract of a file."""
    return read_document(path, _contract)


def _contract(root: Node) -> Contract:
    parts = root.keys(PARTS)
    flood, epoch = parts["flood"].keys(("group", "base")), parts["epoch"].keys(("bits", "last"))
    forwarding = parts["forwarding"].keys(("table", "key", "action"))
    header = parts["header"].keys(("protocol", "version", "prefix", "formats"))
    prefix = _layout(header["prefix"], 0)
    ports = parts["ports"].integer(1, 256)
    bits = epoch["bits"].integer(1, 32)
    tables = tuple(_table(name, node) for name, node in parts["tables"].entries().items())
    names = [table.name for table in tables]
    return Contract(
        ports=ports,
        cpu_port=parts["cpu_port"].integer(0, ports - 1),
        flood_group=flood["group"].integer(1, 0xFFFF),
        flood_base=flood["base"].integer(ports, 511 - ports),
        epoch_bits=bits,
        last_epoch=epoch["last"].integer(1, (1 << bits) - 1),
        tables=tables,
        judging=_judging(parts["judging"]),
        forwarding=Forwarding(*(forwarding[name].name() for name in ("table", "key", "action"))),
        xcp=_fields(parts["xcp"], names, "xcp_port"),
        port=_fields(parts["port"], names, ""),
        protocol=header["protocol"].integer(0, 255),
        version=header["version"].integer(0, 15),
        prefix=prefix,
        formats=tuple(_format(name, node, prefix) for name, node in header["formats"].entries().items()),
        packets=_packets(parts["packets"]),
        digests={name: _members(node) for name, node in parts["digests"].entries().items()},
        counters={name: node.text() for name, node in parts["counters"].entries().items()},
    )


def _judging(node: Node) -> Judging:
    keys = node.keys(("table", "key", "proven", "disproved", "until"))
    until = keys["until"].keys(("name", "bits"))
    return Judging(
        table=keys["table"].name(),
        key=keys["key"].name(),
        proven=keys["proven"].name(),
        disproved=keys["disproved"].name(),
        until=until["name"].name(),
        until_bits=until["bits"].integer(1, 64),
    )


def _packets(node: Node) -> Packets:
    keys = node.keys(("packet_in", "packet_out", "as_received"))
    headers = {name: _members(keys[name]) for name in ("packet_in", "packet_out")}
    for name, members in headers.items():
        if sum(members.values()) % 8:
            raise keys[name].fail(f"its members have {sum(members.values())} bits, not whole bytes")
    return Packets(headers["packet_in"], headers["packet_out"], keys["as_received"].integer(0, 511))


def _members(node: Node) -> dict[str, int]:
    return {member: bits.integer(1, 128) for member, bits in node.entries().items()}


def _table(name: str, node: Node) -> Table:
    keys = node.keys(("action", "unit"), ("epoch",))
    has_epoch = "epoch" in keys and keys["epoch"].flag()
    return Table(name, keys["action"].name(), keys["unit"].name(), has_epoch)


def _fields(node: Node, tables: list[str], table: str) -> tuple[Setting, ...]:
    fields = tuple(_field(item, tables, table) for item in node.items())
    names = [field.name for field in fields]
    for item, field in zip(node.items(), fields, strict=True):
        if names.count(field.name) > 1:
            raise item.fail("stands twice")
        follows = "" if field.stable is None else field.stable.follows
        for other in (field.at_most, follows):
            if other and other not in names:
                raise item.fail(f"{other!r} is no field of this group")
    return fields


def _field(node: Node, tables: list[str], table: str) -> Setting:
    keys = node.keys(
        ("name", "label", "kind", "about"),
        ("unit", "default", "holds", "stable", "zero", "at_most", "table", "argument"),
    )
    kind = keys["kind"].text()
    if kind not in ("flag", "whole", "real"):
        raise keys["kind"].fail(f"flag, whole or real is needed, not {kind!r}")
    unit = keys["unit"].text() if "unit" in keys else ""
    if unit not in UNITS:
        raise keys["unit"].fail(f"{unit!r} is no unit; {', '.join(UNITS[1:])} are")
    if (kind == "flag") == ("holds" in keys):
        raise node.fail("`holds` is needed, except of a flag")
    least, most = _range(keys["holds"]) if "holds" in keys else (0, 1)
    table = keys["table"].name() if "table" in keys else table
    if table and table not in tables:
        raise node.fail(f"there is no table {table!r}")
    argument = _argument(keys["argument"], most) if "argument" in keys else None
    return Setting(
        name=keys["name"].name(),
        label=keys["label"].text(),
        kind=kind,
        about=keys["about"].text(),
        unit=unit,
        default=keys["default"].value if "default" in keys else None,
        least=least,
        most=most,
        stable=_stable(keys["stable"]) if "stable" in keys else None,
        zero=keys["zero"].name() if "zero" in keys else "",
        at_most=keys["at_most"].name() if "at_most" in keys else "",
        table=table if argument is not None or "table" in keys else "",
        argument=argument,
    )


def _range(node: Node) -> tuple[float, float]:
    items = node.items()
    if len(items) != 2 or not _number(items[0]) < _number(items[1]):
        raise node.fail("two numbers are needed, from and to")
    return _number(items[0]), _number(items[1])


def _number(node: Node) -> float:
    if not isinstance(node.value, (int, float)) or isinstance(node.value, bool):
        raise node.fail(f"a number is needed, not {node.value!r}")
    return node.value


def _stable(node: Node) -> Stable:
    if "follows" in node.entries():
        keys = node.keys(("range", "reason", "follows", "rule", "within"))
        follows, rule = keys["follows"].name(), keys["rule"].text()
        made = Stable("", "", follows=follows, rule=rule, within=float(_number(keys["within"])))
    else:
        keys = node.keys(("range", "reason", "above", "below"))
        made = Stable("", "", above=float(_number(keys["above"])), below=float(_number(keys["below"])))
    return replace(made, range=keys["range"].text(), reason=keys["reason"].text())


def _argument(node: Node, most: float) -> Argument:
    keys = node.keys(("name", "bits", "about"), ("scale", "round", "least", "core"))
    scale = str(keys["scale"].value) if "scale" in keys else "1"
    if not re.fullmatch(r"[1-9][0-9]*(/[1-9][0-9]*)?", scale):
        raise keys["scale"].fail(f"a fraction such as 1/8 is needed, not {scale!r}")
    rounding = keys["round"].text() if "round" in keys else "down"
    if rounding not in ("nearest", "down"):
        raise keys["round"].fail(f"nearest or down is needed, not {rounding!r}")
    per_unit = Fraction(scale)
    argument = Argument(
        keys["name"].name(),
        keys["bits"].integer(1, 64),
        keys["about"].text(),
        per_unit.numerator,
        per_unit.denominator,
        rounding == "nearest",
        keys["least"].integer(0, 1) if "least" in keys else 0,
        keys["core"].name() if "core" in keys else "",
    )
    if Fraction(most) * per_unit > argument.most + 1:
        raise node.fail(f"{argument.bits} bits do not hold {most}")
    return argument


def _layout(node: Node, start: int) -> tuple[HeaderField, ...]:
    """Return fields that follow each other without a gap from a byte on."""
    bit = 8 * start
    fields = []
    for item in node.items():
        keys = item.keys(("name", "at", "bits"), ("parts",))
        field = HeaderField(keys["name"].name(), keys["at"].integer(0, 255), keys["bits"].integer(1, 32))
        if "parts" in keys:
            field = replace(field, parts=_parts(keys["parts"], field.bits))
        if field.at != bit // 8:
            raise item.fail(f"stands at byte {field.at}; the one before it ends at {bit // 8}")
        bit += field.bits
        fields.append(field)
    return tuple(fields)


def _parts(node: Node, width: int) -> tuple[Part, ...]:
    """Return parts that together are a field of so many bits."""
    shift = width
    parts = []
    for item in node.items():
        keys = item.keys(("name", "bits"))
        bits = keys["bits"].integer(1, width)
        shift -= bits
        parts.append(Part(keys["name"].name(), bits, shift))
    if shift != 0:
        raise node.fail(f"its parts have {width - shift} bits, not {width}")
    return tuple(parts)


def _format(name: str, node: Node, prefix: tuple[HeaderField, ...]) -> Format:
    keys = node.keys(("code", "bytes", "fields"))
    start = sum(field.bits for field in prefix) // 8
    made = Format(
        name, keys["code"].integer(1, 15), keys["bytes"].integer(4, 255), _layout(keys["fields"], start)
    )
    held = start + sum(field.bits for field in made.fields) // 8
    if held != made.size:
        raise node.fail(f"its fields have {held} bytes, not {made.size}")
    return made
