# SPDX-License-Identifier: Apache-2.0
"""The blocks of a window, found by walking from one to the next; only the first has a known address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clarion_nic.driver import register_map as registers
from clarion_nic.driver.bar import WORD_BYTES, Bar
from clarion_nic.driver.errors import CardError

HEADER_BYTES = 0x10
MAILBOX_BYTES = registers.REPLY_OFFSET + WORD_BYTES * registers.REPLY_WORDS
FIRST = "clarion"
ALL_PORTS = 0xFFFF_FFFF
_KINDS = {number: kind for kind, number in registers.BLOCK_TYPES.items()}


@dataclass(frozen=True)
class Block:
    """Registers at an offset. `kind` is None for a type that this software does not know."""

    kind: str | None
    type: int
    offset: int
    major: int
    minor: int
    port: int

    @property
    def version(self) -> str:
        """The version as text: major.minor."""
        return f"{self.major}.{self.minor}"

    @property
    def name(self) -> str:
        """The name of the block in messages."""
        kind = self.kind or f"type {self.type:#010x}"
        return kind if self.port == ALL_PORTS else f"{kind} port {self.port}"


def walk(bar: Bar) -> list[Block]:
    """All blocks. CardError if this is no Clarion card, or one of another major version. Writes nothing."""
    blocks: list[Block] = []
    offset = 0
    while True:
        block = _block_at(bar, offset)
        if not blocks and block.kind != FIRST:
            raise CardError(
                bar.card,
                f"no Clarion block there: the first register reads {block.type:#010x} instead of "
                f"{registers.BLOCK_TYPES[FIRST]:#010x}; flash a Clarion bitstream, or correct --offset",
            )
        _check_version(bar.card, block)
        _check_size(bar, block)
        blocks.append(block)
        following = bar.load(offset + registers.HEADER["next"].offset)
        if following == 0:
            return blocks
        if following % WORD_BYTES or following > bar.size - HEADER_BYTES:
            reason = f"block {block.name} at {offset:#x} leads to {following:#x}, which is no block's place"
            raise CardError(bar.card, f"{reason}; flash the bitstream again")
        if any(following == earlier.offset for earlier in blocks):
            reason = f"block {block.name} at {offset:#x} leads back to {following:#x}"
            raise CardError(bar.card, f"{reason}; flash the bitstream again")
        offset = following


def _block_at(bar: Bar, offset: int) -> Block:
    words: Mapping[str, int] = {
        name: bar.load(offset + register.offset) for name, register in registers.HEADER.items()
    }
    version = words["version"]
    return Block(
        _KINDS.get(words["type"]), words["type"], offset, version >> 16, version & 0xFFFF, words["port"]
    )


def _check_version(card: str, block: Block) -> None:
    if block.kind is None:
        return  # a newer type, which is optional: otherwise the major version would differ
    known = registers.BLOCK_VERSIONS[block.kind][0]
    if block.major == known:
        return
    what = "bitstream" if block.kind == FIRST else f"block {block.name} of the bitstream"
    raise CardError(
        card,
        f"{what} is {block.version}, this software knows {known}.x: flash a bitstream {known}.x "
        f"or {'update this software' if block.major > known else 'use an older release of it'}",
    )


def _check_size(bar: Bar, block: Block) -> None:
    if block.kind is None:
        return
    known = registers.REGISTERS.get(block.kind, {})
    needed = max((register.offset + WORD_BYTES for register in known.values()), default=MAILBOX_BYTES)
    if block.offset + needed > bar.size:
        raise CardError(bar.card, f"block {block.name} at {block.offset:#x} ends outside the window")
