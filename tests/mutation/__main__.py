# SPDX-License-Identifier: Apache-2.0
"""Plants the faults of the list one by one and reports which of them the tests detect: `make mutate`.

The faults are planted in a worktree of their own, at the commit of this one. Ends with status 1 if fewer
than 95 % are detected, or if a fault no longer fits the sources.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from mutation.catalogue import CatalogueError, Fault, chosen, load
from mutation.tree import Tree, TreeError
from mutation.trial import Judge, Result, Verdict

ROOT = Path(__file__).resolve().parents[2]
LEAST_SCORE = 0.95


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the status of the command."""
    parser = argparse.ArgumentParser(prog="make mutate", description=__doc__)
    parser.add_argument("--list", action="store_true", help="show the faults and plant none")
    parser.add_argument("--only", default="", metavar="ID,PART", help="these faults, or those in these parts")
    options = parser.parse_args(arguments)
    try:
        faults = chosen(load(), options.only)
        if options.list:
            print("\n".join(f"{fault.part:<11} {fault.id:<36} {fault.why}" for fault in faults))
            return 0
        with closing(Tree(ROOT)) as tree:
            return run(tree, faults)
    except (CatalogueError, TreeError, OSError) as error:
        print(f"mutate: {error}", file=sys.stderr)
        return 1


def run(tree: Tree, faults: Sequence[Fault]) -> int:
    """Try every fault, print a line for each and the score."""
    if changed := tree.uncommitted():
        print(f"mutate: without the uncommitted changes in {', '.join(changed)}", file=sys.stderr)
    judge, results, began = Judge(tree), list[Result](), time.monotonic()
    for fault in faults:
        start = time.monotonic()
        results.append(judge.judge(fault))
        result = results[-1]
        took_s = time.monotonic() - start
        print(f"{result.verdict.value:<9} {fault.id:<36} {took_s:5.0f} s  {result.reason}", flush=True)
    print(f"{summary(results)}; {(time.monotonic() - began) / 60:.0f} minutes")
    return 0 if is_enough(results) else 1


def score(results: Sequence[Result]) -> float:
    """The share of detected faults among those whose tests ran."""
    ran = [result for result in results if result.verdict in (Verdict.KILLED, Verdict.SURVIVED)]
    return sum(result.verdict is Verdict.KILLED for result in ran) / len(ran) if ran else 0.0


def is_enough(results: Sequence[Result]) -> bool:
    """Whether the score is high enough and every fault could be tried."""
    unjudged = {Verdict.STALE, Verdict.BROKEN} & {result.verdict for result in results}
    return not unjudged and score(results) >= LEAST_SCORE


def summary(results: Sequence[Result]) -> str:
    """The score in words."""
    counts = Counter(result.verdict for result in results)
    told = ", ".join(f"{counts[verdict]} {verdict.value.lower()}" for verdict in Verdict if counts[verdict])
    return f"mutate: {100 * score(results):.1f} % of the faults noticed ({told})"


if __name__ == "__main__":
    sys.exit(main())
