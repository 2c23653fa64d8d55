# SPDX-License-Identifier: Apache-2.0
"""The short run of `make fuzz`: frames right and wrong through every part that reads them."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from builds import plain, sanitised
from conformance import frames
from conformance.p4_player import P4Player
from fuzz import p4
from fuzz.stream import MALFORMED, ORDINARY, VALID, Judged
from fuzz.stream import frames as fuzzed

PROGRAM = "tests/fuzz/frame-fuzz"
SEED = 10
KINDS = {"ordinary", "malformed", "data", "ack", "tag"}
DONE = {  # what each target must really have done, beside taking frames of every kind
    "core": {"changed"},
    "edits": {"stripped", "marked", "answered", "hellos"},
    "shim": {"put_on", "put_on_udp", "taken_off", "marked"},
    "switch": {"copies", "changed", "dropped", "marked"},
}


def run(program: Path, *words: object) -> subprocess.CompletedProcess[str]:
    command = [str(word) for word in (program, *words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
@pytest.mark.parametrize("target", DONE)
def test_a_million_frames(target: str) -> None:
    done = run(sanitised(PROGRAM), target, "--count", 1_000_000, "--seed", SEED)
    assert done.returncode == 0, done.stderr
    counts = json.loads(done.stdout)
    assert counts["frames"] == 1_000_000
    assert sum(counts[kind] for kind in KINDS) == 1_000_000
    assert min(counts[name] for name in KINDS | DONE[target]) > 300


def test_ten_thousand_frames_through_p4() -> None:
    counts = p4.play(plain(PROGRAM), 10_000, SEED)
    assert counts["frames"] == 10_000
    assert counts.keys() >= KINDS | {"changed"}


def test_the_p4_comparison_can_fail() -> None:
    header = frames.data(rtt=8000, x=10, delta=5, bucket=3, link_seq=7)
    right, cut = frames.ipv4(header + bytes(20)), frames.ipv4(header + bytes(20))[:60]
    p4.require_same_judgement(Judged(VALID, 1, right))
    p4.require_same_judgement(Judged(MALFORMED, 0, cut))
    for wrong in (Judged(MALFORMED, 0, right), Judged(VALID, 3, right), Judged(ORDINARY, 0, cut)):
        with pytest.raises(p4.PropertyError, match="judges disagree"):
            p4.require_same_judgement(wrong)
    p4.require_rewritten(Judged(VALID, 1, right), right[:-1] + b"\1")
    for wrong in (Judged(MALFORMED, 0, cut), Judged(VALID, 2, cut)):
        with pytest.raises(p4.PropertyError, match="changed otherwise"):
            p4.require_rewritten(wrong, cut[:-1] + b"\1")


def test_a_difference_in_p4_names_the_event() -> None:
    player = P4Player()
    frame = frames.ipv4(frames.tag(bucket=3, link_seq=7) + bytes(20))
    player.switch.table("stamp_port").add(1, "stamp")
    player._restart = lambda: None  # type: ignore[method-assign]
    batch = [Judged(VALID, 3, frame)] * 20
    player.switch.registers["link_numbers"][4096 + 3] = 9
    with pytest.raises(p4.PropertyError, match=f"not as the reference: event(.|\n)*frame: {frame.hex()}$"):
        p4.play_batch(player, batch, Random(1), Counter())


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ([], "which target"),
        (["hub"], "no such target"),
        (["core", "--count"], "a value is needed"),
        (["core", "--count", "-1"], "a whole number is needed"),
        (["core", "--frame", "0g"], "no hexadecimal digits: 0g"),
        (["core", "--frame", "012"], "two digits per byte"),
        (["core", "--speed", "9"], "no such option"),
    ],
)
def test_wrong_words_are_refused(words: list[str], reason: str) -> None:
    done = run(plain(PROGRAM), *words)
    assert done.returncode == 2
    assert done.stderr.startswith("frame-fuzz: ")
    assert reason in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("target", DONE)
def test_one_frame_can_be_played_again(target: str) -> None:
    frame = frames.ipv4(frames.ack() + bytes(20))
    assert run(plain(PROGRAM), target, "--frame", frame.hex()).returncode == 0


def test_the_same_seed_makes_the_same_frames() -> None:
    program = plain(PROGRAM)
    first, again = list(fuzzed(program, 1000, SEED, 2)), list(fuzzed(program, 1000, SEED, 2))
    assert first == again
    assert first != list(fuzzed(program, 1000, SEED, 3))
    assert first != list(fuzzed(program, 1000, SEED + 1, 2))
