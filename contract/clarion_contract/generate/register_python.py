# SPDX-License-Identifier: Apache-2.0
"""The map as a Python module of typed constants, laid out as the formatter would."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from clarion_contract.generate.register_model import BEAT_WORDS, Field, Register, RegisterMap

LINE = 110

PROLOGUE = '''\
# SPDX-License-Identifier: Apache-2.0
# Made by `python -m clarion_contract.generate` from registers.yaml; do not edit.
# ruff: noqa: E501
"""Registers of the FPGA block: where they are, what they hold. Offsets are bytes, registers 32 bits wide."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Register:
    """A register at an offset in its block; a write changes the bits of `mask`."""

    offset: int
    writable: bool
    reset: int
    mask: int
    about: str


@dataclass(frozen=True)
class Field:
    """A number in a command or reply. Wider than 32 bits, it takes `word` (low) and the one after.

    In a command `word` counts from its operation, which is word 0; in a reply from its first beat, 16 a beat.
    """

    name: str
    bits: int
    limit: int
    signed: bool
    word: int
    about: str

'''


@dataclass(frozen=True)
class Group:
    """Brackets around items; a call has its name in the opening one."""

    opening: str
    items: list[Item]
    closing: str


@dataclass(frozen=True)
class Item:
    """A value with what stands before it: a key, or nothing."""

    prefix: str
    value: Group | str


def as_python(regmap: RegisterMap) -> str:
    """Return the module."""
    return PROLOGUE + "".join(f"\n{_statement(name, value)}\n" for name, value in _constants(regmap))


def _constants(regmap: RegisterMap) -> Iterable[tuple[str, Group | str]]:
    mailboxes = [block for block in regmap.blocks if block.has_mailbox]
    own = [block for block in regmap.blocks if block.registers]
    codes = [code.name for code in regmap.operations]
    yield "WINDOW_BYTES", _hex(regmap.window_bytes)
    yield "STRIDE_BYTES", _hex(regmap.stride_bytes)
    yield "BLOCK_TYPES", _mapping((block.name, _hex(block.type)) for block in regmap.blocks)
    versions = ((block.name, _tuple(map(str, block.version))) for block in regmap.blocks)
    yield "BLOCK_VERSIONS: dict[str, tuple[int, int]]", _mapping(versions)
    yield "BLOCK_ABOUT", _mapping((block.name, _string(block.about)) for block in regmap.blocks)
    yield "HEADER", _registers(regmap.header)
    yield "REGISTERS", _mapping((block.name, _registers(block.registers)) for block in own)
    yield "MAILBOX", _registers(regmap.mailbox)
    yield "COMMAND_OFFSET", _hex(regmap.command_offset)
    yield "COMMAND_WORDS", str(regmap.command_words)
    yield "REPLY_OFFSET", _hex(regmap.reply_offset)
    yield "REPLY_WORDS", str(regmap.reply_words)
    yield "BEAT_WORDS", str(BEAT_WORDS)
    yield "OPERATIONS", _mapping((code.name, str(code.code)) for code in regmap.operations)
    yield "STATUS", _mapping((code.name, str(code.code)) for code in regmap.status)
    yield "STATUS_ABOUT", _mapping((code.name, _string(code.about)) for code in regmap.status)
    commands = (
        (block.name, _mapping((name, _fields(block.commands.get(name, ()))) for name in codes))
        for block in mailboxes
    )
    yield "COMMANDS: dict[str, dict[str, tuple[Field, ...]]]", _mapping(commands)
    replies = (
        (
            block.name,
            _mapping((name, _tuple(map(_fields, block.replies.get(name, ((),))))) for name in codes),
        )
        for block in mailboxes
    )
    yield "REPLIES: dict[str, dict[str, tuple[tuple[Field, ...], ...]]]", _mapping(replies)


def _registers(registers: tuple[Register, ...]) -> Group:
    return _mapping((r.name, _register(r)) for r in registers)


def _register(register: Register) -> Group:
    numbers = [_hex(register.offset), str(register.writable), str(register.reset), _hex(register.mask)]
    return _call("Register", [*numbers, _string(register.about)])


def _fields(fields: tuple[Field, ...]) -> Group:
    return _tuple(_field(field) for field in fields)


def _field(field: Field) -> Group:
    numbers = [str(field.bits), _hex(field.limit), str(field.signed), str(field.word)]
    return _call("Field", [_string(field.name), *numbers, _string(field.about)])


def _hex(number: int) -> str:
    return f"0x{number:X}"


def _string(text: str) -> str:
    return f'"{text}"'


def _call(name: str, arguments: Iterable[Group | str]) -> Group:
    return Group(f"{name}(", [Item("", argument) for argument in arguments], ")")


def _tuple(values: Iterable[Group | str]) -> Group:
    return _call("", values)


def _mapping(entries: Iterable[tuple[str, Group | str]]) -> Group:
    return Group("{", [Item(f"{_string(key)}: ", value) for key, value in entries], "}")


def _statement(name: str, value: Group | str) -> str:
    return "\n".join(_lines(f"{name} = ", value, "", 0))


def _lines(prefix: str, value: Group | str, suffix: str, indent: int) -> list[str]:
    """Return a value on one line if it fits, else an item per line with a comma after each."""
    line = " " * indent + prefix + _flat(value) + suffix
    if isinstance(value, str) or len(line) <= LINE or not value.items:
        return [line]
    lines = [" " * indent + prefix + value.opening]
    for item in value.items:
        lines += _lines(item.prefix, item.value, ",", indent + 4)
    return [*lines, " " * indent + value.closing + suffix]


def _flat(value: Group | str) -> str:
    if isinstance(value, str):
        return value
    inner = ", ".join(item.prefix + _flat(item.value) for item in value.items)
    comma = "," if value.opening == "(" and len(value.items) == 1 else ""
    return value.opening + inner + comma + value.closing
