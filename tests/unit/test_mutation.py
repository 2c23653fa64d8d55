# SPDX-License-Identifier: Apache-2.0
"""The faults of `make mutate` still fit the sources, and its runner distinguishes killed from survived."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from mutation.__main__ import is_enough, score, summary
from mutation.catalogue import CatalogueError, Fault, chosen, load
from mutation.tree import Tree, TreeError
from mutation.trial import Judge, Result, Verdict

ROOT = Path(__file__).resolve().parents[2]
FAULTS = load()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.id)
def test_a_fault_fits_its_file(fault: Fault) -> None:
    assert fault.stale(ROOT) == ""


def test_faults_are_many_and_everywhere() -> None:
    assert len(FAULTS) >= 40
    assert {fault.part for fault in FAULTS} >= {
        "contract", "controller", "core", "hls", "hosts", "mininet", "nic", "p4", "switch"
    }  # fmt: skip


def fault(find: str = "return 4", tests: str = "python3 test.py", build: str = "", needs: str = "") -> Fault:
    return Fault("it", "part/file.py", find, "return 5", "why", tests, build, (needs,) if needs else ())


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Judge]:
    """A judge of a small repository whose one test takes the file's number."""
    monkeypatch.setattr("mutation.tree.CMAKE", "true")
    files = {
        "part/file.py": "def four():\n    return 4\n\n\ndef five():\n    return 5\n",
        "test.py": "import sys\nsys.path.insert(0, 'part')\nimport file\nassert file.four() == 4\n",
        "tools/source-roots.py": "#!/bin/sh\necho part\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "tools/source-roots.py").chmod(0o755)
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=n@example.org"]
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "--quiet", "--no-verify", "-m", "all"], check=True)
    tree = Tree(tmp_path)
    yield Judge(tree)
    tree.close()


@pytest.mark.parametrize(
    ("planted", "verdict", "reason"),
    [
        (fault(), Verdict.KILLED, "python3 test.py"),
        (
            fault(tests="echo 'FAILED test.py::a - AssertionError'; python3 test.py"),
            Verdict.KILLED,
            "test.py::a",
        ),
        (fault(tests="true"), Verdict.SURVIVED, "true: why"),
        (fault(find="return 6"), Verdict.STALE, "part/file.py has its text 0 times"),
        (fault(find="return"), Verdict.STALE, "part/file.py has its text 2 times"),
        (fault(tests="false"), Verdict.BROKEN, "without the fault this fails: false"),
        (fault(tests="echo '2 skipped in 0.1s'"), Verdict.BROKEN, "all its tests are skipped"),
        (fault(tests="echo '1 passed, 2 skipped in 0.1s'"), Verdict.SURVIVED, "echo"),
        (fault(build="grep -q 'return 4' part/file.py"), Verdict.BROKEN, "it does not build"),
        (fault(needs="no-such-program"), Verdict.NOT_RUN, "needs no-such-program"),
    ],
)
def test_verdicts(judge: Judge, planted: Fault, verdict: Verdict, reason: str) -> None:
    result = judge.judge(planted)
    assert result.verdict is verdict
    assert result.reason.startswith(reason)
    assert "return 4" in (judge.tree.path / "part/file.py").read_text()


def test_the_user_s_tree_is_left_alone(judge: Judge) -> None:
    root = judge.tree.root
    (root / "test.py").write_text("assert False\n")  # not committed, so not part of it
    assert judge.tree.uncommitted() == ["test.py"]
    assert judge.judge(fault()).verdict is Verdict.KILLED
    assert (root / "test.py").read_text() == "assert False\n"
    with pytest.raises(TreeError, match="in use by another run"):
        Tree(root)


def test_what_a_fault_leaves_behind_is_cleaned_up_without_it(judge: Judge) -> None:
    left = judge.tree.path / "left"
    planted = replace(fault(), restore=f"grep -q 'return 4' part/file.py && echo clean > {left}")
    assert judge.judge(planted).verdict is Verdict.KILLED
    assert left.read_text() == "clean\n"
    fails = replace(fault(), restore="false")
    assert judge.judge(fails).reason.startswith("afterwards this fails: false")


def test_the_next_run_uses_the_same_tree(judge: Judge) -> None:
    root, first = judge.tree.root, judge.tree.path
    judge.tree.close()
    with closing(Tree(root)) as tree:
        assert tree.path == first
        assert Judge(tree).judge(fault()).verdict is Verdict.KILLED


def test_a_test_without_end_is_ended(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mutation.trial.TEST_LIMIT_S", 1.0)
    endless = fault(tests="grep -q 'return 4' part/file.py || sleep 100")
    assert judge.judge(endless).reason == "no end within 1 s"


def results(**counts: int) -> list[Result]:
    return [Result(fault(), Verdict[name], "") for name, count in counts.items() for _ in range(count)]


@pytest.mark.parametrize(
    ("given", "share", "enough"),
    [
        (results(KILLED=19, SURVIVED=1), 0.95, True),
        (results(KILLED=18, SURVIVED=1), 18 / 19, False),
        (results(KILLED=19, SURVIVED=1, NOT_RUN=5), 0.95, True),
        (results(KILLED=20, STALE=1), 1.0, False),
        (results(KILLED=20, BROKEN=1), 1.0, False),
        (results(NOT_RUN=1), 0.0, False),
    ],
)
def test_the_score(given: list[Result], share: float, enough: bool) -> None:
    assert score(given) == pytest.approx(share)
    assert is_enough(given) is enough
    assert f"{100 * share:.1f} %" in summary(given)


def test_faults_are_chosen_by_id_and_part() -> None:
    first = FAULTS[0]
    assert first in chosen(FAULTS, first.part)
    assert chosen(FAULTS, f"{first.id}, ") == [first]
    assert chosen(FAULTS, "") == FAULTS
    with pytest.raises(CatalogueError, match="no-such: neither a fault nor a part"):
        chosen(FAULTS, "core,no-such")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("- {id: a}", r"missing \['file', 'find', 'replace', 'why', 'tests'\]"),
        ("- {id: a, file: f, find: x, replace: x, why: w, tests: t}", "a: replace is the same as find"),
        ("- {id: a, file: f, find: x, replace: y, why: w, test: t}", r"unknown \['test'\]"),
        ("- 7", "entry 0: not a mapping"),
        (2 * "- {id: a, file: f, find: x, replace: y, why: w, tests: t}\n", "a: two faults have this id"),
    ],
)
def test_a_wrong_list_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    (tmp_path / "list.yaml").write_text(text)
    with pytest.raises(CatalogueError, match=reason):
        load(tmp_path)
