# SPDX-License-Identifier: Apache-2.0
"""`clarion compare`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from clarion_base.errors import UserError
from clarion_lab.results import compare, comparison, comparison_plot, samples
from clarion_lab.results.selection import METRIC, Choice

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
    found = comparison.compared(
        [sample for directory in options.results for sample in samples.of_directory(directory)],
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


def _words(text: str | None) -> list[str]:
    return [word.strip() for word in (text or "").split(",") if word.strip()]
