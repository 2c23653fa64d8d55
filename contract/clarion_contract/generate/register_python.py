# SPDX-License-Identifier: Apache-2.0
"""The map as a Python module of typed constants."""

from __future__ import annotations

from collections.abc import Iterable

from clarion_contract.generate import layout
from clarion_contract.generate.register_model import BEAT_WORDS, Field, Register, RegisterMap

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


def as_python(regmap: RegisterMap) -> str:
    """Return the module."""
    return layout.python(PROLOGUE + "".join(f"\n{name} = {value}\n" for name, value in _constants(regmap)))


def _constants(regmap: RegisterMap) -> Iterable[tuple[str, str]]:
    mailboxes = [block for block in regmap.blocks if block.has_mailbox]
    own = [block for block in regmap.blocks if block.registers]
    codes = [code.name for code in regmap.operations]
    yield "WINDOW_BYTES", _hex(regmap.window_bytes)
    yield "STRIDE_BYTES", _hex(regmap.stride_bytes)
    yield "BLOCK_TYPES", _mapping((block.name, _hex(block.type)) for block in regmap.blocks)
    versions = ((block.name, repr(block.version)) for block in regmap.blocks)
    yield "BLOCK_VERSIONS: dict[str, tuple[int, int]]", _mapping(versions)
    yield "BLOCK_ABOUT", repr({block.name: block.about for block in regmap.blocks})
    yield "HEADER", _registers(regmap.header)
    yield "REGISTERS", _mapping((block.name, _registers(block.registers)) for block in own)
    yield "MAILBOX", _registers(regmap.mailbox)
    yield "COMMAND_OFFSET", _hex(regmap.command_offset)
    yield "COMMAND_WORDS", str(regmap.command_words)
    yield "REPLY_OFFSET", _hex(regmap.reply_offset)
    yield "REPLY_WORDS", str(regmap.reply_words)
    yield "BEAT_WORDS", str(BEAT_WORDS)
    yield "OPERATIONS", repr({code.name: code.code for code in regmap.operations})
    yield "STATUS", repr({code.name: code.code for code in regmap.status})
    yield "STATUS_ABOUT", repr({code.name: code.about for code in regmap.status})
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


def _registers(registers: tuple[Register, ...]) -> str:
    return _mapping((register.name, _register(register)) for register in registers)


def _register(register: Register) -> str:
    numbers = f"{_hex(register.offset)}, {register.writable}, {register.reset}, {_hex(register.mask)}"
    return f"Register({numbers}, {register.about!r})"


def _fields(fields: tuple[Field, ...]) -> str:
    return _tuple(_field(field) for field in fields)


def _field(field: Field) -> str:
    numbers = f"{field.bits}, {_hex(field.limit)}, {field.signed}, {field.word}"
    return f"Field({field.name!r}, {numbers}, {field.about!r})"


def _hex(number: int) -> str:
    return f"0x{number:X}"


def _tuple(values: Iterable[str]) -> str:
    return "(" + "".join(f"{value}, " for value in values) + ")"


def _mapping(entries: Iterable[tuple[str, str]]) -> str:
    return "{" + ", ".join(f"{key!r}: {value}" for key, value in entries) + "}"
