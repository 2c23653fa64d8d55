# SPDX-License-Identifier: Apache-2.0
"""Reads registers.yaml and refuses a map that does not hold together, naming the place in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from clarion_contract.generate.contract_model import Contract
from clarion_contract.generate.document import DocumentError, Node, read_document

WORD_BYTES = 4
WORD_BITS = 32
BEAT_WORDS = 16  # one beat of 512 bits
REPLY_BEATS_MAX = 8  # the index of a beat has 3 bits
HEADER = ("type", "version", "next", "port")
MAILBOX = ("request", "done", "status")


@dataclass(frozen=True)
class Register:
    """32 bits at an offset in bytes from the start of its block."""

    name: str
    offset: int
    writable: bool
    reset: int
    mask: int  # bits that a write changes; the others stay 0
    about: str


@dataclass(frozen=True)
class Code:
    """An operation or a status."""

    name: str
    code: int
    about: str


@dataclass(frozen=True)
class Field:
    """A number in a command or reply; `word` is the place of its low half."""

    name: str
    bits: int
    limit: int  # largest legal value
    signed: bool
    about: str
    word: int

    @property
    def words(self) -> int:
        """32-bit words that it takes."""
        return words_of(self.bits)


@dataclass(frozen=True)
class Block:
    """A kind of block: registers of its own, or a mailbox with commands and replies."""

    name: str
    type: int
    version: tuple[int, int]
    about: str
    registers: tuple[Register, ...]
    has_mailbox: bool
    commands: dict[str, tuple[Field, ...]]
    replies: dict[str, tuple[tuple[Field, ...], ...]]


@dataclass(frozen=True)
class RegisterMap:
    """The whole of registers.yaml."""

    window_bytes: int
    stride_bytes: int
    header: tuple[Register, ...]
    blocks: tuple[Block, ...]
    mailbox: tuple[Register, ...]
    command_offset: int
    command_words: int
    reply_offset: int
    reply_words: int
    operations: tuple[Code, ...]
    status: tuple[Code, ...]


def words_of(bits: int) -> int:
    """32-bit words that a number of so many bits takes."""
    return 1 if bits <= 32 else 2


def read(path: Path, contract: Contract) -> RegisterMap:
    """Return the map of a file; settings of ports are as the contract has them."""
    return read_document(path, lambda root: _map_of(root, contract))


def _map_of(root: Node, contract: Contract) -> RegisterMap:
    parts = root.keys(
        ("window", "header", "blocks", "mailbox", "operations", "status", "commands", "replies")
    )
    window = parts["window"].keys(("bytes", "stride"))
    window_bytes, stride = (window[name].integer(64, 1 << 24) for name in ("bytes", "stride"))
    for node in window.values():
        if node.value & (node.value - 1):
            raise node.fail("a power of two is needed")
    header = _registers(parts["header"], stride, HEADER)
    mailbox = parts["mailbox"].keys(("registers", "command", "reply"))
    mailbox_registers = _registers(mailbox["registers"], stride, MAILBOX)
    command_offset, command_words = _area(mailbox["command"], stride, BEAT_WORDS)
    reply_offset, reply_words = _area(mailbox["reply"], stride, BEAT_WORDS * REPLY_BEATS_MAX)
    if command_words != BEAT_WORDS:
        raise mailbox["command"].fail(f"a command is one beat of {BEAT_WORDS} words, not {command_words}")
    if reply_words % BEAT_WORDS:
        raise mailbox["reply"].fail(f"a reply is whole beats of {BEAT_WORDS} words, not {reply_words} words")
    operations = _codes(parts["operations"], 1, 0xFFFFFFFF)
    result = RegisterMap(
        window_bytes=window_bytes,
        stride_bytes=stride,
        header=header,
        blocks=_blocks(
            parts, stride, [code.name for code in operations], reply_words // BEAT_WORDS, contract
        ),
        mailbox=mailbox_registers,
        command_offset=command_offset,
        command_words=command_words,
        reply_offset=reply_offset,
        reply_words=reply_words,
        operations=operations,
        status=_codes(parts["status"], 0, 0xFF),
    )
    _refuse_overlaps(result)
    return result


def _codes(node: Node, low: int, high: int) -> tuple[Code, ...]:
    codes = []
    for name, child in node.entries().items():
        keys = child.keys(("code", "about"))
        codes.append(Code(name, keys["code"].integer(low, high), keys["about"].text()))
    _differ(node, {code.name: code.code for code in codes})
    return tuple(codes)


def _registers(node: Node, stride: int, needed: Iterable[str] = ()) -> tuple[Register, ...]:
    registers = tuple(_register(item, stride) for item in node.items())
    _names_differ(node, [register.name for register in registers])
    for name in needed:
        if name not in [register.name for register in registers]:
            raise node.fail(f"register {name!r} is missing")
    return registers


def _register(node: Node, stride: int) -> Register:
    keys = node.keys(("name", "offset", "access", "about"), ("reset", "mask"))
    writable = {"ro": False, "rw": True}.get(str(keys["access"].value))
    if writable is None:
        raise keys["access"].fail(f"ro or rw is needed, not {keys['access'].value!r}")
    if not writable and ("reset" in keys or "mask" in keys):
        raise node.fail("reset and mask are of registers that can be written")
    mask = keys["mask"].integer(1, 0xFFFFFFFF) if "mask" in keys else 0xFFFFFFFF
    reset = keys["reset"].integer(0, 0xFFFFFFFF) if "reset" in keys else 0
    if reset & ~mask:
        raise keys["reset"].fail(f"{reset:#x} has bits that the mask {mask:#x} has not")
    return Register(
        keys["name"].name(), _offset(keys["offset"], stride), writable, reset, mask, keys["about"].text()
    )


def _offset(node: Node, stride: int) -> int:
    offset = node.integer(0, stride - WORD_BYTES)
    if offset % WORD_BYTES:
        raise node.fail(f"{offset:#x} is no multiple of {WORD_BYTES}")
    return offset


def _area(node: Node, stride: int, words_max: int) -> tuple[int, int]:
    keys = node.keys(("offset", "words"))
    offset = _offset(keys["offset"], stride)
    words = keys["words"].integer(1, words_max)
    if offset + words * WORD_BYTES > stride:
        raise node.fail(f"it ends beyond the block's {stride:#x} bytes")
    if offset % (BEAT_WORDS * WORD_BYTES):
        raise keys["offset"].fail(f"{offset:#x} is no multiple of a beat's 64 bytes")
    return offset, words


def _blocks(
    parts: dict[str, Node], stride: int, operations: list[str], beats: int, contract: Contract
) -> tuple[Block, ...]:
    entries = parts["blocks"].entries()
    commands, replies = parts["commands"].entries(), parts["replies"].entries()
    if next(iter(entries), None) != "clarion":
        raise parts["blocks"].fail("`clarion` is needed as the first")
    blocks = []
    for name, node in entries.items():
        keys = node.keys(("type", "version", "about"), ("registers", "mailbox"))
        version = keys["version"].keys(("major", "minor"))
        has_mailbox = "mailbox" in keys and keys["mailbox"].flag()
        blocks.append(
            Block(
                name=name,
                type=keys["type"].integer(1, 0xFFFFFFFF),
                version=(version["major"].integer(1, 0xFFFF), version["minor"].integer(0, 0xFFFF)),
                about=keys["about"].text(),
                registers=_registers(keys["registers"], stride) if "registers" in keys else (),
                has_mailbox=has_mailbox,
                commands=_commands(commands.pop(name), operations, contract)
                if name in commands and has_mailbox
                else {},
                replies=_replies(replies.pop(name), operations, beats, contract)
                if name in replies and has_mailbox
                else {},
            )
        )
    for left in (*commands.values(), *replies.values()):
        raise left.fail("no block with a mailbox has this name")
    _differ(parts["blocks"], {block.name: block.type for block in blocks})
    return tuple(blocks)


def _commands(node: Node, operations: list[str], contract: Contract) -> dict[str, tuple[Field, ...]]:
    return {name: tuple(_fields(fields, 1, contract)) for name, fields in _by_operation(node, operations)}


def _replies(
    node: Node, operations: list[str], beats_max: int, contract: Contract
) -> dict[str, tuple[tuple[Field, ...], ...]]:
    replies = {}
    for name, beats in _by_operation(node, operations):
        items = beats.items()
        if not 1 <= len(items) <= beats_max:
            raise beats.fail(f"{len(items)} beats; 1 to {beats_max} have room in `reply`")
        replies[name] = tuple(
            tuple(_fields(beat, 0, contract, i * BEAT_WORDS)) for i, beat in enumerate(items)
        )
        _names_differ(beats, [field.name for beat in replies[name] for field in beat])
    return replies


def _by_operation(node: Node, operations: list[str]) -> Iterator[tuple[str, Node]]:
    for name, child in node.entries().items():
        if name not in operations:
            raise child.fail(f"unknown operation; known are {', '.join(operations)}")
        yield name, child


def _fields(node: Node, first_word: int, contract: Contract, base: int = 0) -> Iterator[Field]:
    """Yield the fields of one beat, one after the other from a word on."""
    word = first_word
    items = [row for item in node.items() for row in _rows(item, contract)]
    _names_differ(node, [str(item.value.get("name")) for item in items if isinstance(item.value, dict)])
    for item in items:
        keys = item.keys(("name", "bits", "about"), ("limit", "signed"))
        bits = keys["bits"].integer(1, 64)
        largest = (1 << bits) - 1
        limit = keys["limit"].integer(1, largest) if "limit" in keys else largest
        signed = "signed" in keys and keys["signed"].flag()
        if signed and "limit" in keys:
            raise item.fail("limit is of fields without sign")
        if signed:
            limit = largest >> 1
        if word + words_of(bits) > BEAT_WORDS:
            raise item.fail(f"it ends beyond the beat's {BEAT_WORDS} words")
        yield Field(keys["name"].name(), bits, limit, signed, keys["about"].text(), base + word)
        word += words_of(bits)


def _rows(node: Node, contract: Contract) -> Iterator[Node]:
    """Yield the node itself, or a row for each argument of the table that it names."""
    if not isinstance(node.value, dict) or "arguments" not in node.value:
        yield node
        return
    keys = node.keys(("arguments",), ("name", "about"))
    arguments = list(contract.encoded(keys["arguments"].name()))
    if not arguments or ("name" in keys and len(arguments) > 1):
        raise node.fail("a table with arguments is needed, with one only for another name")
    for setting, argument in arguments:
        row = {"name": argument.name, "bits": argument.bits, "about": argument.about, **node.value}
        del row["arguments"]
        if argument.bits > WORD_BITS:
            row["bits"] = 2 * WORD_BITS
        if (most := argument.encode(setting.most)) < (1 << int(row["bits"])) - 1:
            row["limit"] = most
        yield node.at(str(row["name"]), row)


def _names_differ(node: Node, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise node.fail(f"{name!r} stands twice")


def _differ(node: Node, numbers: dict[str, int]) -> None:
    by_number: dict[int, str] = {}
    for name, number in numbers.items():
        if number in by_number:
            raise node.fail(f"{by_number[number]} and {name} are both {number:#x}")
        by_number[number] = name


def _refuse_overlaps(regmap: RegisterMap) -> None:
    """No two things of a block share a byte; errors name the block and both."""
    for block in regmap.blocks:
        areas = [(r.offset, 1, r.name) for r in (*regmap.header, *block.registers)]
        if block.has_mailbox:
            areas += [(r.offset, 1, r.name) for r in regmap.mailbox]
            areas.append((regmap.command_offset, regmap.command_words, "command"))
            areas.append((regmap.reply_offset, regmap.reply_words, "reply"))
        areas.sort()
        for (offset, words, name), (next_offset, _, next_name) in pairwise(areas):
            if offset + words * WORD_BYTES > next_offset:
                both = f"{name} and {next_name}"
                raise DocumentError(f"blocks.{block.name}: {both} overlap at {next_offset:#x}")
