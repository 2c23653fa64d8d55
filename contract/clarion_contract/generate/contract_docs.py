# SPDX-License-Identifier: Apache-2.0
"""Tables of the contract in pages that are written by hand, each between two comments that name it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from clarion_base.paths import ROOT
from clarion_base.units import format_time
from clarion_contract.generate.contract_model import Contract
from clarion_contract.generate.document import DocumentError
from clarion_contract.header import Format, HeaderField
from clarion_contract.setting import Setting

MARKDOWN, LUA = ("<!-- ", " -->\n"), ("-- ", "\n")  # what opens and ends a comment

Table = Callable[[Contract], str]
Worded = Callable[[Setting, Any], str]


def page(
    file: str, tables: Mapping[str, Table], comment: tuple[str, str] = MARKDOWN
) -> Callable[[Contract], str]:
    """Return what makes the page with its tables as they are to be."""

    def make(contract: Contract) -> str:
        text = (ROOT / file).read_text(encoding="utf-8")
        for name, table in tables.items():
            text = _replaced(Path(file).name, text, name, table(contract), comment)
        return text

    return make


def settings(contract: Contract) -> str:
    """Return the settings of a port as JSON has them."""
    rows = [
        (f"`{group}{each.name}`", each.unit, _default(each), _range(each), _stable(each), each.about)
        for group, fields in (("xcp.", contract.xcp), ("", contract.port))
        for each in fields
    ]
    return _table(("field", "unit", "default", "range", "stable", "what"), rows)


def scenario(contract: Contract) -> str:
    """Return XCP's settings as a scenario has them."""
    ranges = ((each, _default(each, _with_unit), _range(each, _with_unit)) for each in contract.xcp)
    rows = [
        (f"`xcp.{each.key('-')}`", each.about, default, legal, _stable(each))
        for each, default, legal in ranges
        if each.unit != "bit/s"
    ]
    return _table(("field", "meaning", "default", "range", "stable"), rows)


def tables(contract: Contract) -> str:
    """Return the port tables of the P4 program, with the parameters of their actions."""
    rows = []
    for table in contract.tables:
        parameters = [f"{argument.name} {argument.bits}" for argument in contract.arguments(table.name)]
        parameters += [f"epoch {contract.epoch_bits}"] if table.has_epoch else []
        key = "where the packet came in" if table.unit == "ingress" else "where it leaves"
        rows.append((f"`{table.name}`", f"`port` 9: {key}", f"`{table.action}({', '.join(parameters)})`"))
    return _table(("table", "key", "action and parameters"), rows)


def layout(contract: Contract) -> str:
    """Return the fields of each format of the header, by their offsets."""
    columns = [_lines(contract, each) for each in contract.formats]
    offsets = sorted({offset for column in columns for offset in column})
    rows = [(str(offset), *(column.get(offset, "") for column in columns)) for offset in offsets]
    titles = (f"{each.name.upper()}, format {each.code}, {each.size} bytes" for each in contract.formats)
    return _table(("offset", *titles), rows)


def parts(contract: Contract) -> str:
    """Return the parts of the header's fields, by their bits."""
    fields = [*contract.prefix, *(field for each in contract.formats for field in each.fields)]
    rows = [
        (f"`{field.name}`", f"`{part.name}`", str(part.bits), f"0x{part.mask:0{field.bits // 4}x}")
        for field in fields
        for part in field.parts
    ]
    return _table(("field", "part", "bits", "mask"), rows)


def _lines(contract: Contract, each: Format) -> dict[int, str]:
    """Names and bits of the fields by the offset of their word: those of one word share a line."""
    known = {"length": str(each.size), "version": str(contract.version), "format": str(each.code)}
    lines: dict[int, list[HeaderField]] = {}
    for field in contract.prefix:
        lines.setdefault(field.at, []).append(field)
    for field in each.fields:
        lines.setdefault(field.at // 4 * 4, []).append(field)
    return {
        offset: ", ".join(
            f"`{field.name}` {known.get(field.name, '')}".strip() + f" ({field.bits})" for field in fields
        )
        for offset, fields in lines.items()
    }


def _plain(setting: Setting, value: Any) -> str:
    return str(value).lower() if setting.kind == "flag" else str(value)


def _with_unit(setting: Setting, value: Any) -> str:
    return format_time(value) if setting.unit == "us" else _plain(setting, value)


def _default(setting: Setting, worded: Worded = _plain) -> str:
    if setting.default is not None:
        return worded(setting, setting.default)
    return "needed" if setting.table == "xcp_port" else "none"


def _range(setting: Setting, worded: Worded = _plain) -> str:
    if setting.kind == "flag":
        return ""
    word = f', or `"{setting.zero}"`' if setting.zero else ""
    return f"{worded(setting, setting.least)} to {worded(setting, setting.most)}{word}"


def _stable(setting: Setting) -> str:
    return "" if setting.stable is None else setting.stable.range.format(setting.stable.rule)


def _table(titles: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    titles = list(titles)
    lines = [titles, ["---"] * len(titles), *map(list, rows)]
    return "".join(re.sub(" +", " ", f"| {' | '.join(line)} |") + "\n" for line in lines)


def _replaced(file: str, text: str, name: str, table: str, comment: tuple[str, str]) -> str:
    begin, end = (f"contract: {name}".join(comment), f"end of contract: {name}".join(comment))
    before, found, rest = text.partition(begin)
    _, ended, after = rest.partition(end)
    if not found or not ended:
        raise DocumentError(f"{file}: {begin.strip()} or {end.strip()} is missing")
    return f"{before}{begin}{table}{end}{after}"
