# SPDX-License-Identifier: Apache-2.0
"""When a transfer ends."""

from __future__ import annotations

from clarion_lab.engines.sampling import estimated_end_us
from clarion_lab.hosts.traffic import BLOCK_BYTES, block_bytes


def test_the_end_between_two_samples_is_taken_from_the_rate_before_it() -> None:
    # 1000 bytes in 100 us, 500 to go: 50 us
    assert estimated_end_us([(0, 1000), (100, 2000)], 2500, 200) == 150
    assert estimated_end_us([(0, 1000), (100, 2000)], 9000, 200) == 200
    assert estimated_end_us([(100, 2000)], 2500, 200) == 200
    assert estimated_end_us([(0, 2000), (100, 2000)], 2500, 200) == 200


def test_the_blocks_of_a_transfer_fit_its_size() -> None:
    for size in (1, 1448, BLOCK_BYTES, BLOCK_BYTES + 1, 1_000_000, 12_345_678):
        block = block_bytes(size)
        assert block <= BLOCK_BYTES
        blocks = -(-size // block)
        assert 0 <= blocks * block - size < blocks  # less than a byte a block too much
