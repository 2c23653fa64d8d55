# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/p4runtime.md, made of the list and of what servers are known to do instead.

`python -m conformance.p4runtime.differences` (from tests/) writes them anew.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from clarion_base.paths import ROOT
from conformance.p4runtime.checks import SPECIFICATION, TITLES
from conformance.p4runtime.deviations import DEVIATIONS
from conformance.p4runtime.listed import LISTED

DOCUMENT = ROOT / "docs/p4runtime.md"


def tables() -> dict[str, str]:
    """The tables by name."""
    return {"checks": _checks(), "differences": _differences()}


def in_document(name: str, text: str) -> str:
    """What the document has between the marks of a table."""
    found = re.search(rf"<!-- {name}: .*? -->\n(.*?)<!-- end -->", text, re.DOTALL)
    assert found is not None, f"{DOCUMENT}: there is no table {name}"
    return found[1]


def _checks() -> str:
    total = Counter(check.chapter for check in LISTED)
    head = ("section", f"of {SPECIFICATION}", "checks", *DEVIATIONS)
    rows: list[Sequence[object]] = [head, ("---",) * len(head)]
    rows += [(each, title, total[each], *_kept(each)) for each, title in TITLES.items()]
    return _table([*rows, ("", "all", len(LISTED), *_kept(""))])


def _kept(chapter: str) -> list[str]:
    """How many checks of a chapter, or of all, each server passes."""
    of = {each.id for each in LISTED if chapter in ("", each.chapter)}
    return [str(len(of - known.keys())) for known in DEVIATIONS.values()]


def _differences() -> str:
    rows: list[Sequence[object]] = [("section", "the specification", "server", "instead"), ("---",) * 4]
    for check in LISTED:
        for server, known in DEVIATIONS.items():
            if check.id in known:
                rows.append((check.section, check.sentence, server, known[check.id].why))
    return _table(rows)


def _table(rows: Sequence[Sequence[object]]) -> str:
    return "".join(f"| {' | '.join(map(str, row))} |\n" for row in rows)


def main() -> None:
    """Writes the tables into the document."""
    text = DOCUMENT.read_text()
    for name, made in tables().items():
        text = text.replace(in_document(name, text), made)
    DOCUMENT.write_text(text)


if __name__ == "__main__":
    main()
