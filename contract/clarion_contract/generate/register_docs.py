# SPDX-License-Identifier: Apache-2.0
"""The map as tables for people."""

from __future__ import annotations

from clarion_contract.generate.register_model import (
    BEAT_WORDS,
    WORD_BYTES,
    Block,
    Field,
    Register,
    RegisterMap,
)

PROLOGUE = """\
# Registers of the FPGA block

Made by `python -m clarion_contract.generate` from `contract/registers.yaml`, like the same map in C++,
SystemVerilog and Python; do not edit.
"""

WALK = """\
The window has {window} KiB. Blocks of registers begin every {stride} KiB, the first at 0, but no
address beyond 0 needs to be known: each block states its type, its port, and where the next one
begins. Registers are 32 bits wide and are read and written as a whole; a field of 64 bits is two of
them, the low one first. An access to an address without a register, a write to one that is not writable
and a write of less than 32 bits are answered by SLVERR and change nothing. Nothing has a side effect
when it is read.
"""

MAILBOX = """\
Write the command, then another number than before to `request`; when `done` is that number, `status`
and `reply` hold the answer. The command is carried out between two packets, so that what a reply says
belongs together. It is copied as it is taken up: what is written to `command` afterwards belongs to the
next request. `status` and `reply` are 0 from then until the answer is there.
"""


def as_docs(regmap: RegisterMap) -> str:
    """Return the document."""
    parts = [PROLOGUE, _walk(regmap)]
    parts += [_own(block) for block in regmap.blocks if block.registers]
    parts.append(_mailbox(regmap))
    parts += [_messages(block, regmap) for block in regmap.blocks if block.has_mailbox]
    return "\n".join(parts)


def _walk(regmap: RegisterMap) -> str:
    blocks = [
        f"| `{block.name}` | `0x{block.type:08x}` | {block.version[0]}.{block.version[1]} | {block.about} |"
        for block in regmap.blocks
    ]
    return "\n".join(
        [
            WALK.format(window=regmap.window_bytes // 1024, stride=regmap.stride_bytes // 1024),
            "| block | type | version | what |",
            "| --- | --- | --- | --- |",
            *blocks,
            "",
            "## Every block",
            "",
            *_register_table(regmap.header),
            "",
        ]
    )


def _own(block: Block) -> str:
    return "\n".join([f"## Block `{block.name}`: {block.about}", "", *_register_table(block.registers), ""])


def _register_table(registers: tuple[Register, ...]) -> list[str]:
    rows = ["| offset | register | access | after reset | what |", "| --- | --- | --- | --- | --- |"]
    for register in sorted(registers, key=lambda r: r.offset):
        access = "read, write" if register.writable else "read"
        if register.mask != 0xFFFFFFFF:
            access += f" bits {register.mask:#x}"
        reset = str(register.reset) if register.writable else ""
        rows.append(
            f"| `0x{register.offset:03x}` | `{register.name}` | {access} | {reset} | {register.about} |"
        )
    return rows


def _mailbox(regmap: RegisterMap) -> str:
    command_end = regmap.command_offset + (regmap.command_words - 1) * WORD_BYTES
    reply_end = regmap.reply_offset + (regmap.reply_words - 1) * WORD_BYTES
    names = " and ".join(f"`{block.name}`" for block in regmap.blocks if block.has_mailbox)
    return "\n".join(
        [
            f"## Blocks {names}: the mailbox",
            "",
            MAILBOX,
            *_register_table(regmap.mailbox),
            f"| `0x{regmap.command_offset:03x}` to `0x{command_end:03x}` | `command` | read, write | 0 | "
            f"{regmap.command_words} words: operation, then its fields in order |",
            f"| `0x{regmap.reply_offset:03x}` to `0x{reply_end:03x}` | `reply` | read | | "
            f"{regmap.reply_words // BEAT_WORDS} beats of {BEAT_WORDS} words |",
            "",
            "| operation | code | what |",
            "| --- | --- | --- |",
            *(f"| `{code.name}` | {code.code} | {code.about} |" for code in regmap.operations),
            "",
            "| status | code | what |",
            "| --- | --- | --- |",
            *(f"| `{code.name}` | {code.code} | {code.about} |" for code in regmap.status),
            "",
        ]
    )


def _messages(block: Block, regmap: RegisterMap) -> str:
    lines = [f"## Commands and replies of `{block.name}`", ""]
    for code in regmap.operations:
        if code.name in block.commands:
            lines += [f"Command `{code.name}`:", "", *_command(block.commands[code.name], regmap), ""]
        if code.name in block.replies:
            lines += [f"Reply to `{code.name}`:", "", *_reply(block.replies[code.name], regmap), ""]
    silent = [
        f"`{c.name}`"
        for c in regmap.operations
        if c.name not in block.commands and c.name not in block.replies
    ]
    if silent:
        lines += [f"No fields, neither in the command nor in the reply: {', '.join(silent)}.", ""]
    return "\n".join(lines)


def _command(fields: tuple[Field, ...], regmap: RegisterMap) -> list[str]:
    rows = ["| offset | field | bits | largest | what |", "| --- | --- | --- | --- | --- |"]
    for field in fields:
        offset = regmap.command_offset + field.word * WORD_BYTES
        limit = f"{field.limit:#x}" if field.limit > 0xFFFF else str(field.limit)
        rows.append(f"| `0x{offset:03x}` | `{field.name}` | {field.bits} | {limit} | {field.about} |")
    return rows


def _reply(beats: tuple[tuple[Field, ...], ...], regmap: RegisterMap) -> list[str]:
    rows = ["| offset | beat | field | bits | what |", "| --- | --- | --- | --- | --- |"]
    for number, beat in enumerate(beats):
        for field in beat:
            offset = regmap.reply_offset + field.word * WORD_BYTES
            bits = f"{field.bits}, signed" if field.signed else str(field.bits)
            rows.append(f"| `0x{offset:03x}` | {number} | `{field.name}` | {bits} | {field.about} |")
    return rows
