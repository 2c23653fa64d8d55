# SPDX-License-Identifier: Apache-2.0
"""The runner of `make test`: order, output in one piece, status, skipped tests, interrupts."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools/side-by-side.py"


def side_by_side(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, TOOL, *words], capture_output=True, text=True, check=False)


def test_lanes_run_beside_each_other_and_their_parts_in_turn(tmp_path: Path) -> None:
    # The first part of each lane waits for a file of the other; the second needs one of the first.
    done = side_by_side(
        f"a=touch {tmp_path}/a; until [ -e {tmp_path}/b ]; do sleep 0.01; done; touch {tmp_path}/first",
        f"then=test -e {tmp_path}/first",
        "--",
        f"b=touch {tmp_path}/b; until [ -e {tmp_path}/a ]; do sleep 0.01; done",
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"^  (\w+) +\d+ s  (.*)$", done.stdout, re.MULTILINE) == [
        ("a", "passed"),
        ("then", "passed"),
        ("b", "passed"),
    ]


def test_output_comes_in_one_piece() -> None:
    script = "for i in 1 2 3 4 5; do echo {0}$i; sleep 0.02; done"
    done = side_by_side(f"a={script.format('a')}", "--", f"b={script.format('b')} >&2")
    for name in "ab":
        assert "".join(f"{name}{i}\n" for i in range(1, 6)) in done.stdout
    assert done.stderr == ""


def test_a_part_that_fails_stops_no_other_and_fails_the_run() -> None:
    done = side_by_side("bad=echo why; exit 7", "good=echo fine", "--", "other=true")
    assert done.returncode == 1
    assert "why\n" in done.stdout
    assert "fine\n" in done.stdout
    results = re.findall(r"^  (\w+) +\d+ s  (.*)$", done.stdout, re.MULTILINE)
    assert results == [("bad", "FAILED, status 7"), ("good", "passed"), ("other", "passed")]


def test_what_was_skipped_is_counted_and_printed_with_its_reason() -> None:
    reasons = (
        "SKIPPED [3] tests/unit/test_a.py:7: no such program",
        "lint: verilator skipped: it is not installed",
        "SKIPPED [1] tests/unit/test_b.py:9: needs root",
    )
    done = side_by_side(
        f"a=echo '{reasons[0]}'; echo 'not skipped'; echo '{reasons[1]}'", f"b=echo '{reasons[2]}'"
    )
    summary = done.stdout[done.stdout.index("test: summary") :].splitlines()
    assert summary[-4:] == ["test: skipped: 5", *(f"  {reason}" for reason in reasons)]


def test_other_parts_leave_the_processors_to_the_first_lane() -> None:
    done = side_by_side("first=nice", "--", "second=nice")
    niceness = dict(re.findall(r"^test: (\w+): passed, \d+ s\n(-?\d+)$", done.stdout, re.MULTILINE))
    assert int(niceness["second"]) == min(int(niceness["first"]) + 10, 19)


def interrupted(times: int, files: list[Path], *words: str) -> subprocess.CompletedProcess[str]:
    """The runner after a number of interrupts, the first when its parts have created the files."""
    command = [sys.executable, str(TOOL), *words]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    for _ in range(times):
        while not all(file.exists() for file in files):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        files = [Path(f"{file}.interrupted") for file in files]
    out, error = run.communicate(timeout=60)
    return subprocess.CompletedProcess(command, run.returncode, out, error)


PART = "trap 'touch {0}.interrupted; {1}' INT; echo $$ > {0}.id; touch {0}; while true; do sleep 0.05; done"


def test_an_interrupt_ends_all_parts_after_their_clean_up(tmp_path: Path) -> None:
    a, b = files = [tmp_path / name for name in "ab"]
    words = (f"a={PART.format(a, 'exit 1')}", "never=echo never", "--", f"b={PART.format(b, 'exit 1')}")
    done = interrupted(1, files, *words)
    assert (done.returncode, done.stderr) == (130, "test: interrupted\n")
    assert all(Path(f"{file}.interrupted").exists() for file in files)
    assert "never" not in done.stdout


def test_a_part_that_cleans_up_for_longer_is_not_killed_with_the_first_to_end(tmp_path: Path) -> None:
    quick, slow = files = [tmp_path / name for name in ("quick", "slow")]
    done = tmp_path / "done"
    words = (
        f"quick={PART.format(quick, 'exit 1')}",
        "--",
        f"slow={PART.format(slow, f'sleep 1; touch {done}; exit 1')}",
    )
    assert interrupted(1, files, *words).returncode == 130
    assert done.exists()


def test_a_second_interrupt_kills(tmp_path: Path) -> None:
    stubborn = tmp_path / "stubborn"
    done = interrupted(2, [stubborn], f"stubborn={PART.format(stubborn, ':')}")
    assert done.returncode == 130
    assert not Path(f"/proc/{Path(f'{stubborn}.id').read_text().strip()}").exists()


def test_a_word_that_is_no_part_is_refused() -> None:
    done = side_by_side("nonsense")
    assert (done.returncode, done.stderr) == (1, "side-by-side: nonsense: use NAME=COMMAND\n")
