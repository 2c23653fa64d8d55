# SPDX-License-Identifier: Apache-2.0
"""The layout of the header as data, for programs that show or make packets: a Lua table, a Python module."""

from __future__ import annotations

from clarion_contract.generate import layout
from clarion_contract.generate.contract_model import Contract
from clarion_contract.header import HeaderField

MODULE = '''\
# SPDX-License-Identifier: Apache-2.0
# Made by `python -m clarion_contract.generate` from contract.yaml; do not edit.
"""The layout of the header between IP and transport, docs/wire-format.md."""

from __future__ import annotations

from clarion_contract.header import Format, HeaderField, Part

PROTOCOL = {protocol}
VERSION = {version}

# Of every format, with the parts of fields from their high bits down.
PREFIX = {prefix}

FORMATS = {formats}
'''


def as_python(contract: Contract) -> str:
    """Return the module."""
    formats = {each.name: each for each in contract.formats}
    return layout.python(
        MODULE.format(
            protocol=contract.protocol,
            version=contract.version,
            prefix=layout.source(contract.prefix),
            formats=layout.source(formats),
        )
    )


def as_lua(contract: Contract) -> str:
    """Return the local variables of a dissector."""
    formats = (
        f'  [{each.code}] = {{ name = "{each.name.upper()}", bytes = {each.size}, fields = {{\n'
        f"{_lua_fields(each.fields, '    ')}  }} }},\n"
        for each in contract.formats
    )
    return (
        f"local PROTOCOL, VERSION = {contract.protocol}, {contract.version}\n"
        f"local PREFIX = {{\n{_lua_fields(contract.prefix, '  ')}}}\n"
        f"local FORMATS = {{\n{''.join(formats)}}}\n"
    )


def _lua_fields(fields: tuple[HeaderField, ...], indent: str) -> str:
    return "".join(f"{indent}{{ {_lua_field(field)} }},\n" for field in fields)


def _lua_field(field: HeaderField) -> str:
    text = f'name = "{field.name}", at = {field.at}, bits = {field.bits}'
    if field.parts:
        digits = field.bits // 4
        parts = ", ".join(
            f'{{ name = "{part.name}", bits = {part.bits}, mask = 0x{part.mask:0{digits}x} }}'
            for part in field.parts
        )
        text += f", parts = {{ {parts} }}"
    return text
