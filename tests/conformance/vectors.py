# SPDX-License-Identifier: Apache-2.0
"""Event vectors: one JSON object per line, written by hand in cases.py, kept in vectors/ for every target.

README.md describes the format. `python -m conformance.vectors` (from tests/) writes the files again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from conformance.harness import Configure, Copy, Dequeue, Enqueue, Event, Ingress, State
from conformance.reference import Config

FOLDER = Path(__file__).parent / "vectors"
Line = dict[str, Any]


class Case:
    """One rule as events and expected results; the methods append lines."""

    def __init__(self, about: str) -> None:
        self.lines: list[Line] = [{"about": about}]

    def configure(self, port: int, **values: int) -> None:
        """Set a port's parameters; those not named have their defaults."""
        self.lines.append({"op": "configure", "port": port, "config": values})

    def ingress(self, port: int, frame: bytes, time: int = 0, slot: int = 0, **expect: int) -> None:
        """A frame comes in."""
        self._add("ingress", expect, time=time, port=port, slot=slot, **{"in": frame.hex()})

    def copy(self, slot: int, to: int) -> None:
        """A packet is copied."""
        self.lines.append({"op": "copy", "slot": slot, "to": to})

    def enqueue(self, port: int, time: int = 0, slot: int = 0, queue: int = 0, **expect: int) -> None:
        """A packet arrives for a port."""
        self._add("enqueue", expect, time=time, port=port, slot=slot, queue=queue)

    def dequeue(
        self, port: int, out: bytes, time: int = 0, slot: int = 0, queue: int = 0, **expect: int
    ) -> None:
        """A packet leaves with these bytes."""
        self._add("dequeue", expect, time=time, port=port, slot=slot, queue=queue, out=out.hex())

    def state(self, port: int, **expect: int) -> None:
        """Some state of a port, by the names in README.md."""
        self._add("state", expect, port=port)

    def forward(self, frame: bytes, out: bytes, time: int = 0, queue: int = 0) -> None:
        """A frame comes in by port 0 and leaves by port 1 at once."""
        self.ingress(0, frame, time)
        self.enqueue(1, time, queue=queue)
        self.dequeue(1, out, time, queue=queue)

    def _add(self, op: str, expect: dict[str, int], **line: Any) -> None:
        self.lines.append({"op": op, **line, **({"expect": expect} if expect else {})})


def event_of(line: Line) -> Event:
    """Return the event of one line."""
    op = line["op"]
    if op == "configure":
        return Configure(line["port"], Config(**line["config"]))
    if op == "ingress":
        return Ingress(line["port"], line["slot"], line["time"], bytes.fromhex(line["in"]))
    if op == "copy":
        return Copy(line["slot"], line["to"])
    if op == "enqueue":
        return Enqueue(line["port"], line["slot"], line["time"], line["queue"])
    if op == "dequeue":
        return Dequeue(line["port"], line["slot"], line["time"], line["queue"])
    if op == "state":
        return State(line["port"])
    raise ValueError(f"op: {op!r} is none of configure, ingress, copy, enqueue, dequeue, state")


def expected_of(line: Line) -> dict[str, Any]:
    """Return the values expected in the answer to one line."""
    expect = dict(line.get("expect", {}))
    if "out" in line:
        expect["frame"] = line["out"]
    return expect


def load(path: Path) -> list[Line]:
    """Return the events of a vector file, without the first line, its description."""
    lines = [json.loads(text) for text in path.read_text().splitlines()]
    known = set(asdict(Config()))
    for number, line in enumerate(lines[1:], 2):
        unknown = set(line.get("config", {})) - known
        if unknown:
            raise ValueError(f"{path.name}:{number}: config: unknown {sorted(unknown)}")
    return lines[1:]


def texts() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every vector file."""
    from conformance.cases import CASES

    for make in CASES:
        assert make.__doc__ is not None
        case = Case(" ".join(make.__doc__.split()))
        make(case)
        name = make.__name__.replace("_", "-") + ".jsonl"
        yield name, "".join(json.dumps(line) + "\n" for line in case.lines)


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.glob("*.jsonl"):
        old.unlink()
    for name, text in texts():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
