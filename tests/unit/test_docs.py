# SPDX-License-Identifier: Apache-2.0
"""The documents name files, functions and make targets that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = sorted(
    [ROOT / "README.md", *ROOT.glob("docs/**/*.md"), *ROOT.glob("*/README.md"), *ROOT.glob("*/*/README.md")]
)
DOCUMENTS = [path for path in DOCUMENTS if not {"build", ".venv"} & set(path.relative_to(ROOT).parts)]


def named_steps() -> list[tuple[str, str]]:
    """Pairs of file and function in the order of the life-of-a-packet page."""
    text = (ROOT / "docs/life-of-a-packet.md").read_text()
    return re.findall(r"`([\w/]+(?:\.\w+)+)`\s+`(\w+)`", text)


def test_life_of_a_packet_names_the_stages() -> None:
    assert len(named_steps()) >= 20


@pytest.mark.parametrize(("file", "function"), sorted(set(named_steps())))
def test_life_of_a_packet_names_functions_that_exist(file: str, function: str) -> None:
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
