# SPDX-License-Identifier: Apache-2.0
"""What the shell in SystemVerilog needs of the functions, and its own types."""

from __future__ import annotations

from collections.abc import Iterator

from clarion_contract.generate import keywords
from clarion_contract.generate.function_model import Field, Function, Functions, Type, width


def as_package(functions: Functions) -> str:
    """Return hls/rtl/clarion_block_pkg.sv."""
    types = (_type(type_) for type_ in functions.types)
    body = "\n\n".join([*types, *(_function(function) for function in functions.functions)])
    return f"""\
// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from functions.yaml; do not edit.
// The first member of a struct is the highest. A member whose name is a keyword ends with _.
package clarion_block_pkg;
  // verilator lint_off UNUSEDPARAM
  // Words of C++ mean nothing here:
  // verilator lint_off SYMRSVDWORD

{body}

endpackage
"""


def member_name(name: str) -> str:
    """Return the name of a member: that of the field, unless it is a keyword."""
    return f"{name}_" if name in keywords.SV else name


def _type(type_: Type) -> str:
    about = f"  // {type_.about}\n" if type_.about else ""
    return about + _struct(type_.name, type_.fields)


def _function(function: Function) -> str:
    name = function.name.upper()
    return "\n".join(
        [
            f"  // {function.about}",
            _struct(f"{function.name}_arguments", function.arguments),
            _struct(f"{function.name}_results", function.results),
            f"  localparam logic [31:0] {name}_LATENCY = 32'd{function.latency};",
            f"  localparam logic [31:0] {name}_INTERVAL = 32'd{function.interval};",
        ]
    )


def _struct(name: str, fields: tuple[Field, ...]) -> str:
    members = "\n".join(f"    {each}" for each in _members(fields))
    return f"  typedef struct packed {{  // {width(fields)} bits\n{members}\n  }} {name}_t;"


def _members(fields: tuple[Field, ...]) -> Iterator[str]:
    for field in reversed(fields):
        if field.type is not None:
            kind = f"{field.type.name}_t"
        else:
            sign = " signed" if field.signed else ""
            elements = "" if field.count is None else f"[{field.count - 1}:0]"
            bits = f"[{field.bits - 1}:0]" if field.bits > 1 or elements else ""
            kind = f"logic{sign} {elements}{bits}".rstrip()
        about = f"  // {field.about}" if field.about else ""
        yield f"{kind} {member_name(field.name)};{about}"
