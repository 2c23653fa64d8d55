# SPDX-License-Identifier: Apache-2.0
"""The sequence check of the shim, compiled natively: literal cases with their arithmetic."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from random import Random

import pytest

from conformance.reference import Check
from conformance.traffic import STEPS

BPF = Path(__file__).resolve().parents[2] / "hosts" / "bpf"

SOURCE = """
#include "sequence.h"
int check(struct clarion_sequence *sequence, unsigned short seq, int counts);
int check(struct clarion_sequence *sequence, unsigned short seq, int counts)
{
	return clarion_sequence_check(sequence, seq, counts);
}
"""


class Sequence(ctypes.Structure):
    _fields_ = (
        ("expected", ctypes.c_uint16),
        ("total", ctypes.c_uint16),
        ("far", ctypes.c_uint16),
        ("based", ctypes.c_uint8),
        ("pad", ctypes.c_uint8),
    )


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("sequence")
    source, shared = folder / "sequence.c", folder / "sequence.so"
    source.write_text(SOURCE)
    flags = ["-Wall", "-Wextra", "-Werror", "-fsanitize=undefined", "-fno-sanitize-recover"]
    command = ["cc", "-shared", "-fPIC", *flags, f"-I{BPF}", "-o", str(shared), str(source)]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(shared))


CASES = [
    # numbers in order of arrival, change of the total at each, total at the end
    ("in order", [0, 1, 2], [0, 0, 0], 0),
    ("the first sets the base", [5000, 5001], [0, 0], 0),
    ("gap of three", [10, 14, 15], [0, 3, 0], 3),
    ("wrap", [65534, 65535, 0, 1], [0, 0, 0, 0], 0),
    ("gap across the wrap", [65534, 1], [0, 2], 2),  # 65535 and 0 are missing
    ("late one takes back", [10, 12, 11, 13], [0, 1, -1, 0], 0),
    ("largest gap", [0, 16384], [0, 16383], 16383),  # expected 1, step 16383 < 16384
    ("one more is a jump", [0, 16385, 16386], [0, 0, 0], 0),
    ("latest late one", [1000, 745], [0, -1], 65535),  # expected 1001, step -256
    ("one further behind is late too", [1000, 744, 1001], [0, -1, 0], 65535),  # step -257
    ("overtaken by 300", [0, 301, 1, 302], [0, 300, -1, 0], 299),
    ("restart from far ahead", [40000, 0, 1, 3], [0, 0, 0, 1], 1),  # step -40001 is 25535 modulo 2^16: a jump
    (
        "restart from a little ahead",  # 63 packets far behind may be late, the next one is a new base
        [1000, *range(64), 64, 66],
        [0, *[-1] * 63, 0, 0, 1],
        65536 - 63 + 1,
    ),
    (
        "packets in order in between are no restart",
        [1000, *[n for k in range(100) for n in (k, 1001 + k)]],
        [0, *[-1, 0] * 100],
        65536 - 100,
    ),
    (
        "a packet late by 256 ends the row of those far behind",
        [1000, *range(63), 745, *range(63, 126), 1001],
        [0, *[-1] * 127, 0],
        65536 - 127,
    ),
    ("farthest late one", [20000, 3618, 20001], [0, -1, 0], 65535),  # expected 20001, step -16383
    ("one further behind is a jump", [20000, 3617, 3619], [0, 0, 1], 1),  # step -16384
    ("half the circle is a jump", [0, 32769, 32770], [0, 0, 0], 0),  # step -32768
]


@pytest.mark.parametrize(("numbers", "changes", "total"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_sequences(library: ctypes.CDLL, numbers: list[int], changes: list[int], total: int) -> None:
    sequence = Sequence()
    found = [library.check(ctypes.byref(sequence), ctypes.c_uint16(number), 1) for number in numbers]
    assert found == changes
    assert sequence.total == total
    assert sequence.expected == (numbers[-1] + 1) % 65536 or changes[-1] == -1


def test_the_check_is_that_of_the_switches(library: ctypes.CDLL) -> None:
    random, sequence, switch = Random(1), Sequence(), Check()
    seq = 0
    for _ in range(200_000):
        step = 1 if random.random() < 0.99 else random.choice((*STEPS, random.getrandbits(16)))
        seq = (seq + step) % 65536
        is_wire = random.random() < 0.999
        library.check(ctypes.byref(sequence), seq, int(is_wire))
        (switch.packet if is_wire else switch.follow)(0, seq)
        assert (sequence.expected, sequence.total, sequence.far) == (
            switch.expected[0],
            switch.total[0],
            switch.far[0],
        )
    assert switch.rebased > 100
    assert switch.late > 1000


def test_totals_wrap(library: ctypes.CDLL) -> None:
    """Five gaps of 16383 make 81915, which is 16379 modulo 65536."""
    sequence = Sequence()
    library.check(ctypes.byref(sequence), 0, 1)
    for step in range(1, 6):
        library.check(ctypes.byref(sequence), ctypes.c_uint16(step * 16384), 1)
    assert sequence.total == 16379


def test_a_wire_that_is_not_known_to_be_bare_is_followed_without_counting(library: ctypes.CDLL) -> None:
    sequence = Sequence()
    assert [library.check(ctypes.byref(sequence), n, counts) for n, counts in [(0, 1), (3, 1)]] == [0, 2]
    assert [library.check(ctypes.byref(sequence), n, 0) for n in (10, 5, 20)] == [0, 0, 0]
    assert library.check(ctypes.byref(sequence), 22, 1) == 1  # 21, and nothing from before the proof
    assert sequence.total == 3
