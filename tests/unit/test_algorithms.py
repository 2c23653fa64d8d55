# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from clarion_lab.scenario import algorithms


def test_payload_ceilings() -> None:
    # plain: 14 + 20 + 32 + 1448 = 1514; DATA adds 32, TAG 16
    assert algorithms.frame_bytes("none") == 1514
    assert algorithms.frame_bytes("DATA") == 1546
    assert algorithms.frame_bytes("TAG") == 1530
    assert 100 * algorithms.payload_share("DATA") == pytest.approx(93.661, abs=1e-3)  # Mbit/s of 100 Mbit/s
    assert 100 * algorithms.payload_share("none") == pytest.approx(95.641, abs=1e-3)


def test_an_unknown_algorithm_is_answered_with_the_legal_ones() -> None:
    with pytest.raises(
        ValueError, match=r'"vegas": unknown algorithm; use xcp, xcp-notags, boost, .*, reno, boost-tagged'
    ):
        algorithms.lookup("vegas")


def test_the_alias_is_the_same_sender() -> None:
    assert algorithms.lookup("boost-tagged") is algorithms.lookup("boost")


def test_only_clarions_own_laws_need_the_agent() -> None:
    own = {name for name, algorithm in algorithms.ALGORITHMS.items() if algorithm.needs_agent}
    assert own == {"xcp", "xcp-notags", "boost", "boost-literal", "boost-judged", "fast"}
