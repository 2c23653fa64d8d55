# SPDX-License-Identifier: Apache-2.0
"""Block RAM and UltraRAM of the block's memories."""

from __future__ import annotations

import pytest

from clarion_base.errors import UserError
from clarion_synth.declared import Declarations
from clarion_synth.memory import Memory, of_buckets, of_packets

DECLARED = Declarations()


@pytest.mark.parametrize(
    ("words", "bits", "bram36", "uram"),
    [
        (512, 72, 1, 1),
        (512, 73, 2, 2),
        (513, 72, 2, 1),
        (1024, 36, 1, 1),
        (4096, 9, 1, 1),
        (4096, 33, 4, 1),
        (4096, 41, 5, 1),
        (4097, 41, 9, 2),
        (65536, 41, 80, 16),
        (4096, 625, 70, 9),
        (128, 309, 5, 5),
    ],
)
def test_blocks(words: int, bits: int, bram36: int, uram: int) -> None:
    memory = Memory("a", words, bits)
    assert (memory.bram36, memory.uram) == (bram36, uram)


def test_bits_that_are_declared() -> None:
    assert {name: DECLARED.bits(name) for name in ("WireSlot", "SequenceSlot", "StoredBeat", "Release")} == {
        "WireSlot": 16 + 16 + 8 + 8 + 1,
        "SequenceSlot": 16 + 16 + 1 + 8,
        "StoredBeat": 512 + 64 + 48 + 1,
        "Release": 8 + 1 + 16 + (8 + 32 + 256),
    }
    meta = 8 + 1 + 1 + 1 + 6 * 16 + 8 + 3 * 32
    assert DECLARED.bits("Waiting") == meta + 16 + 8 + 1
    assert DECLARED.bits("Packet") == meta + 1 + 16 + 8 + 1 + 1 + 16 + 64


def test_memories_of_buckets_and_of_packets() -> None:
    assert sum(memory.bram36 for memory in of_buckets(DECLARED, 4096)) == 15
    assert sum(memory.bram36 for memory in of_buckets(DECLARED, 65536)) == 16 * 15
    assert sum(memory.uram for memory in of_packets(DECLARED, 4096)) == 9 + 5 + 9 + 4 + 5


def test_unknown_names_are_refused() -> None:
    with pytest.raises(UserError, match="Slots: no type"):
        DECLARED.bits("Slots")
    with pytest.raises(UserError, match="DEEP: no constant"):
        DECLARED.constant("2 * DEEP")
