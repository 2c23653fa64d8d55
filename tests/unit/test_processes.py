# SPDX-License-Identifier: Apache-2.0
"""Children and their first lines: found in time, quoted when they die, read to the end."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from clarion_base import processes
from clarion_base.errors import RunFailedError

READY = re.compile(r"^ready at (\S+)$", re.MULTILINE)
SLEEP = "; import time; time.sleep(600)"
Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts Python programs that are stopped after the test."""
    children = []

    def made(program: str, stderr: int = subprocess.DEVNULL) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-S", "-u", "-c", program]
        children.append(processes.background(command, stdout=subprocess.PIPE, stderr=stderr))
        return children[-1]

    yield made
    processes.stop(children)
    for child in children:
        if child.stderr is not None:
            child.stderr.close()
    for thread in threading.enumerate():
        if thread.name == "child":
            thread.join(30)
            assert not thread.is_alive()
    for child in children:
        assert child.stdout is None or child.stdout.closed


def test_the_line_may_come_after_others(start: Start) -> None:
    child = start("print('hello'); print('ready at noon')" + SLEEP)
    assert processes.await_output(child, "child", READY, 30)[1] == "noon"
    assert child.poll() is None


def test_a_pattern_may_span_lines(start: Start) -> None:
    child = start("print('at 1'); print('and'); print('by 2')" + SLEEP)
    pattern = re.compile(r"at (\d).*by (\d)", re.DOTALL)
    assert processes.await_output(child, "child", pattern, 30).groups() == ("1", "2")


def test_a_child_that_goes_on_printing_does_not_wait_for_a_reader(start: Start, tmp_path: Path) -> None:
    done = tmp_path / "done"
    child = start(
        "print('ready at noon')\n"
        "for _ in range(1000): print(1000 * 'x')\n"  # more than a pipe's capacity
        f"open({str(done)!r}, 'w').close()"
    )
    processes.await_output(child, "child", READY, 30)
    child.wait(30)
    assert done.exists()


def test_a_child_that_dies_is_quoted_from_its_log(start: Start, tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("first\n  the reason  \n\n")
    child = start("print('hello'); raise SystemExit(3)")
    with pytest.raises(RunFailedError, match=r"^the reason$"):
        processes.await_output(child, "child", READY, 30, log)


def test_a_child_that_dies_is_quoted_from_its_pipe(start: Start) -> None:
    child = start("import sys; sys.exit('the reason')", stderr=subprocess.PIPE)
    with pytest.raises(RunFailedError, match=r"^the reason$"):
        processes.await_output(child, "child", READY, 30)


def test_a_child_that_dies_without_a_word_has_a_status(start: Start) -> None:
    with pytest.raises(RunFailedError, match=r"^child: stopped with status 3$"):
        processes.await_output(start("raise SystemExit(3)"), "child", READY, 30)


@pytest.mark.parametrize("program", ["pass", "print('hello')", "import os; os.close(1)"])
def test_a_child_that_says_nothing_has_a_deadline(start: Start, program: str) -> None:
    child = start(program + SLEEP)
    since = time.monotonic()
    with pytest.raises(RunFailedError, match=r"^child: not ready after 0\.5 s$"):
        processes.await_output(child, "child", READY, 0.5)
    assert 0.5 <= time.monotonic() - since < 5
