# SPDX-License-Identifier: Apache-2.0
"""`clarion compare`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from clarion_base.errors import UserError
from clarion_lab.engines.registry import SIDE_BY_SIDE
from clarion_lab.results import compare, comparison, comparison_plot, samples
from clarion_lab.results.samples import Sample
from clarion_lab.results.selection import METRIC, Choice
from clarion_lab.scenario.documents import Document
from clarion_lab.tasks.task import canonical

IMAGES = (".png", ".svg", ".pdf")
SELECTING = ("metric", "sender", "engine", "where", "over", "pool", "plot", "html")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The results, what of them is compared, and the form."""
    parser.description = (
        "With two results alone: the ratios of what both measured. With more results, or with any option "
        "that chooses: the spread over repeats, or curves over a parameter."
    )
    parser.add_argument("results", type=Path, nargs="+", metavar="DIR", help="a run, its repeats, or a sweep")
    parser.add_argument("--metric", metavar="NAME", help=f"what is compared (default: {METRIC})")
    parser.add_argument("--sender", metavar="A,B,...", help="only runs with one of these senders")
    parser.add_argument("--engine", metavar="A,B,...", help="only runs on one of these engines")
    parser.add_argument(
        "--where",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help='only runs whose scenario has it, such as links.bottleneck.rate="1 Gbit/s"; '
        "several of one field: any of the values",
    )
    parser.add_argument("--over", metavar="KEY", help="the field along the axis, such as one that was swept")
    parser.add_argument("--pool", action="store_true", help="take all results as repeats of each other")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it: FILE.png, .svg or .pdf")
    parser.add_argument("--html", type=Path, metavar="FILE", help="write plot and table as one page")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=_compare)


def _compare(options: argparse.Namespace) -> int:
    chooses = any(getattr(options, name) for name in SELECTING)
    if len(options.results) == 2 and not chooses:
        entries = compare.compare(*options.results)
        print(json.dumps(entries, indent=1) if options.json else compare.table(entries))
        return 0
    if options.plot is not None and options.plot.suffix not in IMAGES:
        raise UserError(f"--plot {options.plot}: use a name that ends in {', '.join(IMAGES)}")
    _check_once(options.results)
    runs = [sample for directory in options.results for sample in samples.of_directory(directory)]
    found = comparison.compared(
        _distinct(runs) if options.pool else runs,
        Choice.parse(
            options.metric or METRIC,
            _words(options.sender),
            _words(options.engine),
            options.where,
            options.over,
            options.pool,
        ),
    )
    print(json.dumps(found, indent=1) if options.json else comparison.table(found))
    if options.plot is not None:
        comparison_plot.draw(options.plot, found)
    if options.html is not None:
        comparison_plot.write_page(options.html, found)
    return 0


def _check_once(results: Sequence[Path]) -> None:
    """A result that counts twice would make intervals narrower than what was measured."""
    given: dict[Path, Path] = {}
    for directory in results:
        first = given.setdefault(directory.resolve(), directory)
        if first is not directory:
            also = "" if str(first) == str(directory) else f" (as {first}, too)"
            raise UserError(f"compare: {directory}: is given twice{also}; give each result once")


def _distinct(runs: Sequence[Sample]) -> list[Sample]:
    """The runs without those that are others over again: in virtual time, equal scenarios with equal seeds
    give the same, which is no repeat.
    """
    seen: set[tuple[str, str]] = set()
    left = []
    for run in runs:
        document = _document(run) if run.complete and run.engine in SIDE_BY_SIDE else {}
        which = (run.engine, canonical(document))
        if "seed" not in document or which not in seen:
            left.append(run)
            seen.add(which)
    if len(left) < len(runs):
        again = len(runs) - len(left)
        print(f"clarion: counted once, of equal scenario and seed: {again} runs left out", file=sys.stderr)
    return left


def _document(run: Sample) -> Document:
    """Its scenario; nothing where only the summary of its sweep is left, which does not say."""
    try:
        return dict(run.scenario())
    except UserError:
        return {}


def _words(text: str | None) -> list[str]:
    return [word.strip() for word in (text or "").split(",") if word.strip()]
