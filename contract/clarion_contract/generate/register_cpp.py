# SPDX-License-Identifier: Apache-2.0
"""The map as C++17 and its names, which SystemVerilog shares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from clarion_contract.generate.document import DocumentError
from clarion_contract.generate.register_model import BEAT_WORDS, Register, RegisterMap


@dataclass(frozen=True)
class Constant:
    """A number with a name; wide ones need 64 bits."""

    name: str
    value: int
    is_hex: bool = False

    @property
    def is_wide(self) -> bool:
        """Does it need more than 32 bits?"""
        return self.value > 0xFFFFFFFF


@dataclass(frozen=True)
class Section:
    """Constants under one comment."""

    about: str
    constants: list[Constant]


def sections(regmap: RegisterMap) -> list[Section]:
    """Return every constant of the map; two of the same name are an error."""
    found = [*_layout(regmap), *_messages(regmap)]
    names: set[str] = set()
    for section in found:
        for constant in section.constants:
            if constant.name in names:
                raise DocumentError(f"registers.yaml: two things would both be called {constant.name}")
            names.add(constant.name)
    return found


def _layout(regmap: RegisterMap) -> Iterator[Section]:
    yield Section(
        "The window, and the distance of its blocks, bytes.",
        [
            Constant("WINDOW_BYTES", regmap.window_bytes, True),
            Constant("STRIDE_BYTES", regmap.stride_bytes, True),
        ],
    )
    yield Section("Every block: offsets of its registers, bytes.", _offsets("HEADER", regmap.header))
    yield Section("What TYPE and VERSION hold.", _identities(regmap))
    for block in regmap.blocks:
        if block.registers:
            yield Section(
                f"Block `{block.name}`: offsets, values after a reset, bits that can be written.",
                _offsets(block.name, block.registers) + _resets(block.name, block.registers),
            )
    yield Section(
        "Blocks with a mailbox: offsets, values after a reset, bits that can be written, sizes.",
        [*_offsets("MAILBOX", regmap.mailbox), *_resets("MAILBOX", regmap.mailbox), *_areas(regmap)],
    )


def _areas(regmap: RegisterMap) -> list[Constant]:
    return [
        Constant("AT_MAILBOX_COMMAND", regmap.command_offset, True),
        Constant("AT_MAILBOX_REPLY", regmap.reply_offset, True),
        Constant("COMMAND_WORDS", regmap.command_words),
        Constant("REPLY_WORDS", regmap.reply_words),
        Constant("BEAT_WORDS", BEAT_WORDS),
    ]


def _offsets(block: str, registers: tuple[Register, ...]) -> list[Constant]:
    return [Constant(f"AT_{block}_{r.name}".upper(), r.offset, True) for r in registers]


def _resets(block: str, registers: tuple[Register, ...]) -> list[Constant]:
    constants = []
    for register in registers:
        if register.writable:
            constants.append(Constant(f"RESET_{block}_{register.name}".upper(), register.reset))
            constants.append(Constant(f"MASK_{block}_{register.name}".upper(), register.mask, True))
    return constants


def _identities(regmap: RegisterMap) -> list[Constant]:
    types = [Constant(f"TYPE_{block.name}".upper(), block.type, True) for block in regmap.blocks]
    versions = [
        Constant(f"VERSION_{block.name}".upper(), block.version[0] << 16 | block.version[1], True)
        for block in regmap.blocks
    ]
    return types + versions


def _messages(regmap: RegisterMap) -> Iterator[Section]:
    codes = [Constant(f"OP_{code.name}".upper(), code.code) for code in regmap.operations]
    yield Section("Word 0 of a command.", codes)
    codes = [Constant(f"STATUS_{code.name}".upper(), code.code) for code in regmap.status]
    yield Section("How a request ended.", codes)
    for block in regmap.blocks:
        for operation, fields in block.commands.items():
            constants = []
            for field in fields:
                name = f"{block.name}_{operation}_{field.name}".upper()
                constants.append(Constant(name, field.word))
                constants.append(Constant(f"{name}_BITS", field.bits))
                constants.append(Constant(f"{name}_LIMIT", field.limit, True))
            yield Section(
                f"Command `{operation}` of `{block.name}`: word (the low one of two), bits, limit.", constants
            )
        for operation, beats in block.replies.items():
            constants = [Constant(f"{block.name}_{operation}_beats".upper(), len(beats))]
            for beat in beats:
                for field in beat:
                    constants.append(Constant(f"{block.name}_{operation}_{field.name}".upper(), field.word))
            yield Section(
                f"Reply to `{operation}` of `{block.name}`: beats, and place as beat * {BEAT_WORDS} + word.",
                constants,
            )


def _cpp_line(constant: Constant) -> str:
    value = f"{constant.value:#x}" if constant.is_hex else str(constant.value)
    if constant.is_wide:
        return f"constexpr unsigned long long {constant.name} = {value}u;"
    return f"constexpr unsigned {constant.name} = {value}{'u' if constant.value >> 31 else ''};"


def as_cpp(regmap: RegisterMap) -> str:
    """Return the C++ header."""
    body = "\n\n".join(
        "\n".join([f"// {section.about}", *map(_cpp_line, section.constants)]) for section in sections(regmap)
    )
    return f"""\
// SPDX-License-Identifier: Apache-2.0
// Made by `python -m clarion_contract.generate` from registers.yaml; do not edit.
#pragma once

namespace clarion {{
namespace registers {{

{body}

}}  // namespace registers
}}  // namespace clarion
"""
