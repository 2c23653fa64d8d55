# SPDX-License-Identifier: Apache-2.0
"""What the block's memories cost in block RAM (BRAM36) and UltraRAM, from their declared sizes.

A BRAM36 of UltraScale+ has one of seven shapes when one port reads and one writes, an UltraRAM has one. Of
the shapes, the one that takes the fewest counts, as with synthesis tools.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from clarion_synth.declared import Declarations

BRAM36_SHAPES = ((512, 72), (1024, 36), (2048, 18), (4096, 9), (8192, 4), (16384, 2), (32768, 1))
URAM_SHAPE = (4096, 72)


@dataclass(frozen=True)
class Memory:
    """One array or stream of one port."""

    name: str
    words: int
    bits: int

    @property
    def kibibits(self) -> float:
        """What it holds."""
        return self.words * self.bits / 1024

    @property
    def bram36(self) -> int:
        """Blocks of RAM that it takes there."""
        return min(_ceil(self.words, deep) * _ceil(self.bits, wide) for deep, wide in BRAM36_SHAPES)

    @property
    def uram(self) -> int:
        """Blocks of UltraRAM that it takes there."""
        deep, wide = URAM_SHAPE
        return _ceil(self.words, deep) * _ceil(self.bits, wide)


def of_buckets(declared: Declarations, buckets: int) -> list[Memory]:
    """Return what grows with the buckets, of one port."""
    return [
        Memory("wire check", buckets, declared.bits("WireSlot")),
        Memory("queue check", buckets, declared.bits("SequenceSlot")),
        Memory("queue numbers", buckets, declared.bits("std::uint16_t")),
        Memory("link numbers", buckets, declared.bits("std::uint16_t")),
    ]


def of_packets(declared: Declarations, queue_beats: int) -> list[Memory]:
    """Return what holds frames and what is known of them, of one port."""
    receive_beats = declared.constant("RECEIVE_BEATS")
    return [
        Memory("received frames", receive_beats, declared.bits("StoredBeat")),
        Memory("received frames: releases", receive_beats, declared.bits("Release")),
        Memory("queued frames", queue_beats, declared.bits("StoredBeat")),
        Memory("queued frames: entries", queue_beats, declared.bits("Waiting")),
        Memory("packets to be decided on", declared.constant("DECISION_DEPTH"), declared.bits("Packet")),
    ]


def _ceil(a: int, b: int) -> int:
    return -(-a // b)


def main() -> None:
    """Print the table for a number of buckets and beats."""
    parser = argparse.ArgumentParser(description="block RAM of the FPGA block")
    parser.add_argument("--ports", type=int, default=2)
    parser.add_argument("--buckets", type=int, default=4096)
    parser.add_argument("--queue-beats", type=int, default=4096)
    options = parser.parse_args()
    declared = Declarations()
    print(f"{'memory of one port':<26} {'words':>6} {'bits':>5} {'Kibit':>8} {'BRAM36':>7} {'URAM':>5}")
    for title, memories in (
        ("all buckets", of_buckets(declared, options.buckets)),
        ("all packets", of_packets(declared, options.queue_beats)),
    ):
        for m in memories:
            print(f"{m.name:<26} {m.words:>6} {m.bits:>5} {m.kibibits:>8.0f} {m.bram36:>7} {m.uram:>5}")
        brams, urams = sum(m.bram36 for m in memories), sum(m.uram for m in memories)
        kibibits = sum(m.kibibits for m in memories)
        sums = f"{kibibits * options.ports:>8.0f} {brams * options.ports:>7} {urams * options.ports:>5}"
        print(f"{title}, {options.ports} ports{'':<{29 - len(title)}} {sums}")


if __name__ == "__main__":
    main()
