# SPDX-License-Identifier: Apache-2.0
"""Reads registers.yaml and refuses a map that does not hold together, naming the place in it."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

WORD_BYTES = 4
BEAT_WORDS = 16  # one beat of 512 bits
REPLY_BEATS_MAX = 8  # the index of a beat has 3 bits
HEADER = ("type", "version", "next", "port")
MAILBOX = ("request", "done", "status")


class MapError(Exception):
    """A map that cannot be; the text is the whole message."""


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


class Node:
    """A value of the YAML and where it stands."""

    def __init__(self, value: Any, path: str) -> None:
        self.value = value
        self.path = path

    def fail(self, reason: str) -> MapError:
        """Return the error that names this place."""
        return MapError(f"{self.path}: {reason}" if self.path else reason)

    def at(self, name: str, value: Any) -> Node:
        """Return what stands below this one."""
        return Node(value, f"{self.path}.{name}" if self.path else name)

    def entries(self) -> dict[str, Node]:
        """Return the entries of a mapping, whose keys are names."""
        if not isinstance(self.value, dict):
            raise self.fail("a mapping is needed")
        for name in self.value:
            if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
                raise self.fail(f"{name!r} is no name; lower case letters, digits and _ are")
        return {name: self.at(name, value) for name, value in self.value.items()}

    def keys(self, needed: Iterable[str], optional: Iterable[str] = ()) -> dict[str, Node]:
        """Return the entries of a mapping that has these and no others."""
        entries = self.entries()
        needed, known = list(needed), [*needed, *optional]
        for name in entries:
            if name not in known:
                raise self.fail(f"unknown key {name!r}; known are {', '.join(known)}")
        for name in needed:
            if name not in entries:
                raise self.fail(f"{name!r} is missing")
        return entries

    def items(self) -> list[Node]:
        """Return the entries of a list; those that have a name go by it."""
        if not isinstance(self.value, list):
            raise self.fail("a list is needed")
        names = [v.get("name", str(i)) if isinstance(v, dict) else str(i) for i, v in enumerate(self.value)]
        return [self.at(str(name), value) for name, value in zip(names, self.value, strict=True)]

    def integer(self, low: int, high: int) -> int:
        """Return a whole number in a range."""
        if type(self.value) is not int or not low <= self.value <= high:
            raise self.fail(f"a whole number from {low} to {high:#x} is needed, not {self.value!r}")
        return self.value

    def text(self) -> str:
        """Return a line of text."""
        if not isinstance(self.value, str) or not self.value.strip() or "\n" in self.value:
            raise self.fail(f"a line of text is needed, not {self.value!r}")
        if re.search(r'["\\|]', self.value):
            raise self.fail('" \\ and | have a meaning in what is generated')
        return self.value

    def name(self) -> str:
        """Return a name."""
        if not isinstance(self.value, str) or not re.fullmatch(r"[a-z][a-z0-9_]*", self.value):
            raise self.fail(f"{self.value!r} is no name; lower case letters, digits and _ are")
        return self.value

    def flag(self) -> bool:
        """Return true or false."""
        if not isinstance(self.value, bool):
            raise self.fail(f"true or false is needed, not {self.value!r}")
        return self.value


class _Loader(yaml.SafeLoader):
    """YAML in which a key stands once."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        seen: set[Any] = set()
        for key, _ in node.value:
            name = self.construct_object(key, deep=True)
            if name in seen:
                raise MapError(f"line {key.start_mark.line + 1}: {name!r} stands twice")
            seen.add(name)
        return super().construct_mapping(node, deep)


def read(path: Path) -> RegisterMap:
    """Return the map of a file."""
    try:
        return _map_of(Node(yaml.load(path.read_text(encoding="utf-8"), _Loader), ""))
    except MapError as error:
        raise MapError(f"{path.name}: {error}") from None
    except OSError as error:
        raise MapError(f"{path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise MapError(f"{path.name}: not YAML: {' '.join(str(error).split())}") from None


def _map_of(root: Node) -> RegisterMap:
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
        blocks=_blocks(parts, stride, [code.name for code in operations], reply_words // BEAT_WORDS),
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


def _blocks(parts: dict[str, Node], stride: int, operations: list[str], beats: int) -> tuple[Block, ...]:
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
                commands=_commands(commands.pop(name), operations)
                if name in commands and has_mailbox
                else {},
                replies=_replies(replies.pop(name), operations, beats)
                if name in replies and has_mailbox
                else {},
            )
        )
    for left in (*commands.values(), *replies.values()):
        raise left.fail("no block with a mailbox has this name")
    _differ(parts["blocks"], {block.name: block.type for block in blocks})
    return tuple(blocks)


def _commands(node: Node, operations: list[str]) -> dict[str, tuple[Field, ...]]:
    return {name: tuple(_fields(fields, 1)) for name, fields in _by_operation(node, operations)}


def _replies(node: Node, operations: list[str], beats_max: int) -> dict[str, tuple[tuple[Field, ...], ...]]:
    replies = {}
    for name, beats in _by_operation(node, operations):
        items = beats.items()
        if not 1 <= len(items) <= beats_max:
            raise beats.fail(f"{len(items)} beats; 1 to {beats_max} have room in `reply`")
        replies[name] = tuple(tuple(_fields(beat, 0, i * BEAT_WORDS)) for i, beat in enumerate(items))
        _names_differ(beats, [field.name for beat in replies[name] for field in beat])
    return replies


def _by_operation(node: Node, operations: list[str]) -> Iterator[tuple[str, Node]]:
    for name, child in node.entries().items():
        if name not in operations:
            raise child.fail(f"unknown operation; known are {', '.join(operations)}")
        yield name, child


def _fields(node: Node, first_word: int, base: int = 0) -> Iterator[Field]:
    """Yield the fields of one beat, one after the other from a word on."""
    word = first_word
    items = node.items()
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
                raise MapError(f"blocks.{block.name}: {name} and {next_name} overlap at {next_offset:#x}")
