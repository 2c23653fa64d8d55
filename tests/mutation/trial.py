# SPDX-License-Identifier: Apache-2.0
"""Runs the tests with a fault planted, and gives the verdict."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from mutation.catalogue import Fault
from mutation.tree import TIMED_OUT, Tree

BUILD_LIMIT_S = 1200.0
TEST_LIMIT_S = 600.0

# The test tools' lines that name a failed test.
FAILURES = (
    re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE),  # pytest
    re.compile(r"^\[  FAILED  \] ([\w/.]+)(?:,| \()", re.MULTILINE),  # GoogleTest
    re.compile(r"^test (\S+) \.\.\. FAILED", re.MULTILINE),  # cargo
    re.compile(r"^\s*\d+ - (\S+) \((?:Failed|SEGFAULT|Timeout|Subprocess aborted)\)", re.MULTILINE),  # ctest
)
ALL_SKIPPED = re.compile(r"^\d+ skipped", re.MULTILINE)  # pytest's last line names what passed first
NOT_COLLECTED = re.compile(r"errors? during collection|^ERROR: ", re.MULTILINE)


class Verdict(Enum):
    """The result of trying a fault."""

    KILLED = "killed"
    SURVIVED = "SURVIVED"
    STALE = "STALE"  # its text does not occur exactly once in the file
    BROKEN = "BROKEN"  # no verdict: it does not build, or its tests fail without it
    NOT_RUN = "not run"  # this machine lacks a requirement of the tests


@dataclass(frozen=True)
class Result:
    """A verdict and its reason."""

    fault: Fault
    verdict: Verdict
    reason: str


class Judge:
    """Tries faults in a tree. Tests must pass without a fault before they can detect one."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._sound: dict[tuple[str, str], str] = {}  # (build, tests): why they fail without a fault

    def judge(self, fault: Fault) -> Result:
        """Plant one fault and run its tests."""
        if stale := fault.stale(self.tree.path):
            return Result(fault, Verdict.STALE, stale)
        if lacks := fault.lacks():
            return Result(fault, Verdict.NOT_RUN, f"needs {', '.join(lacks)}")
        if unsound := self._without_a_fault(fault):
            return Result(fault, Verdict.BROKEN, unsound)
        with self.tree.planted(fault):
            result = self._with_the_fault(fault)
        restored = self.tree.run(fault.restore, BUILD_LIMIT_S)
        if restored.status:
            return Result(fault, Verdict.BROKEN, f"afterwards this fails: {fault.restore}\n{restored.output}")
        return result

    def _without_a_fault(self, fault: Fault) -> str:
        key = fault.build, fault.tests
        if key not in self._sound:
            self._sound[key] = self._why_unsound(fault)
        return self._sound[key]

    def _why_unsound(self, fault: Fault) -> str:
        for command, limit_s in ((fault.build, BUILD_LIMIT_S), (fault.tests, TEST_LIMIT_S)):
            done = self.tree.run(command, limit_s)
            if done.status:
                return f"without the fault this fails: {command}\n{_end_of(done.output)}"
            if ALL_SKIPPED.search(done.output):
                return f"all its tests are skipped: {command}\n{_end_of(done.output)}"
        return ""

    def _with_the_fault(self, fault: Fault) -> Result:
        built = self.tree.run(fault.build, BUILD_LIMIT_S)
        if built.status:
            return Result(fault, Verdict.BROKEN, f"it does not build:\n{_end_of(built.output)}")
        tested = self.tree.run(fault.tests, TEST_LIMIT_S)
        if tested.status == 0:
            return Result(fault, Verdict.SURVIVED, f"{fault.tests}: {fault.why}")
        if tested.status == TIMED_OUT:
            return Result(fault, Verdict.KILLED, f"no end within {TEST_LIMIT_S:.0f} s")
        if NOT_COLLECTED.search(tested.output):
            return Result(fault, Verdict.BROKEN, f"no test ran:\n{_end_of(tested.output)}")
        return Result(fault, Verdict.KILLED, _first_failure(tested.output) or fault.tests)


def _first_failure(output: str) -> str:
    """The name of the first test that failed."""
    found = (pattern.search(output) for pattern in FAILURES)
    return next((match[1] for match in found if match), "")


def _end_of(output: str, lines: int = 15) -> str:
    return "\n".join(f"    {line}" for line in output.splitlines()[-lines:])
