# SPDX-License-Identifier: Apache-2.0
"""The documents name files, functions and make targets that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md"), *ROOT.glob("*/*/README.md")]
)
DOCUMENTS = [path for path in DOCUMENTS if not {"build", ".venv"} & set(path.relative_to(ROOT).parts)]


LIVES = ("life-of-a-packet", "life-of-a-setting")


def named_steps(page: str) -> list[tuple[str, str]]:
    """Pairs of file and function in the order of the page."""
    text = (ROOT / f"docs/{page}.md").read_text()
    return re.findall(r"`([\w/]+(?:\.\w+)+)`\s+`(\w+)`", text)


def named_files(page: str) -> list[str]:
    return re.findall(r"`([\w-]+/[\w/-]+\.\w+)`", (ROOT / f"docs/{page}.md").read_text())


@pytest.mark.parametrize("page", LIVES)
def test_a_life_names_the_stages(page: str) -> None:
    assert len(named_steps(page)) >= 20
    assert [file for file in named_files(page) if not (ROOT / file).is_file()] == []


@pytest.mark.parametrize(("file", "function"), sorted({step for page in LIVES for step in named_steps(page)}))
def test_a_life_names_functions_that_exist(file: str, function: str) -> None:
    assert re.search(rf"\b{function}\(", (ROOT / file).read_text())


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files(document: Path) -> None:
    targets = re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text())
    missing = [target for target in targets if not (document.parent / target).exists()]
    assert missing == []


def test_readme_names_make_targets_that_exist() -> None:
    targets = set(re.findall(r"^([a-z0-9-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z0-9-]+)", (ROOT / "README.md").read_text()))
    assert named
    assert named <= targets


def test_the_changelog_begins_with_the_version_of_the_package() -> None:
    package = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert package is not None
    assert newest is not None
    assert newest[1] == package[1]
