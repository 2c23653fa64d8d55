# SPDX-License-Identifier: Apache-2.0
"""Emulation beside simulation (docs/results/agreement.md); what is compared, and how, is in series.py.

    .venv/bin/python tests/bench/agreement.py --engines emu,sim --seeds 5 --out out/agreement

Engine emu as root, on a quiet machine. A run that is complete in --out is not made again, so that a series
can be interrupted; --table only reads.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import series
from bench.series import ACCESS, APART, AT_ONCE, path


def many(count: int) -> str:
    """Flows that start one after the other."""
    return f"flows=[{{count: {count}, {APART}}}]"


def lasts(seconds: int, settles: int) -> tuple[str, str]:
    """Duration and start of the measured window."""
    return f"duration={seconds} s", f"measure-from={settles} s"


SHORT = (path("100 Mbit/s", "18 ms"), "flows=[{count: 1}]", *lasts(25, 5))
MEDIUM = (path("100 Mbit/s", "98 ms"), "flows=[{count: 1}]", *lasts(30, 5))
LOSSY = (path("50 Mbit/s", "96 ms", 0.001), many(4), *lasts(30, 8))
CLEAN = (path("50 Mbit/s", "96 ms"), many(4), *lasts(40, 10))
GEO = (path("100 Mbit/s", "566 ms", 0.001), many(10), *lasts(40, 20))
PARKED = tuple(f"flows.{flow}.{AT_ONCE}" for flow in range(4))
CROWD = (path("100 Mbit/s", "48 ms"), many(24), *lasts(30, 10))
STEPS = (
    f"links={{{ACCESS}, bottleneck: {{rate: 50 Mbit/s, rtt: 48 ms, queue: 1 bdp, "
    "rate-steps: [{at: 10 s, rate: 20 Mbit/s}, {at: 20 s, rate: 50 Mbit/s}]}}",
    many(3),
    *lasts(30, 5),
)
MOVES = (
    f"links={{{ACCESS}, bottleneck: {{rate: 50 Mbit/s, rtt: 18 ms, queue: 1 bdp, "
    "delay-steps: [{at: 10 s, rtt: 58 ms}, {at: 20 s, rtt: 33 ms}]}}",
    many(2),
    *lasts(30, 5),
)


def _cases() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for sender in ("xcp", "boost", "fast", "cubic", "reno", "newreno", "bbr"):
        yield f"{sender}, 100 Mbit/s, 20 ms, 1 flow", "geo", (f"algorithm={sender}", *SHORT)
    yield "bbr, 100 Mbit/s, 100 ms, 1 flow", "geo", ("algorithm=bbr", *MEDIUM)
    for sender in (
        "xcp",
        "xcp-notags",
        "boost",
        "boost-literal",
        "boost-judged",
        "fast",
        "cubic",
        "reno",
        "bbr",
    ):
        yield f"{sender}, 50 Mbit/s, 98 ms, 0.1 % errors, 4 flows", "geo", (f"algorithm={sender}", *LOSSY)
    for sender in ("cubic", "bbr"):
        yield f"{sender}, 50 Mbit/s, 98 ms, 4 flows", "geo", (f"algorithm={sender}", *CLEAN)
    for sender in ("xcp", "boost", "bbr"):
        yield f"{sender}, 100 Mbit/s, 568 ms, 0.1 % errors, 10 flows", "geo", (f"algorithm={sender}", *GEO)
    for sender in ("xcp", "cubic"):
        yield f"{sender}, 100 Mbit/s, 50 ms, 24 flows", "geo", (f"algorithm={sender}", *CROWD)
    for sender in ("xcp", "cubic"):
        yield f"{sender}, parking lot", "parking-lot", (f"algorithm={sender}", *PARKED)
    for sender in ("xcp", "boost"):
        yield (
            f"{sender}, rate steps 50, 20, 50 Mbit/s, 50 ms, 3 flows",
            "geo",
            (f"algorithm={sender}", *STEPS),
        )
    for sender in ("xcp", "cubic"):
        yield f"{sender}, delay steps 20, 60, 35 ms, 2 flows", "geo", (f"algorithm={sender}", *MOVES)


CASES = {name: (scenario, settings) for name, scenario, settings in _cases()}


def main() -> int:
    """Makes what is missing, then prints."""
    given = series.parser(__doc__, "out/agreement").parse_args()
    chosen = series.chosen(given, CASES)
    is_whole = given.table or series.make_missing(chosen, chosen.runs())
    print(series.table(chosen, chosen.cases))
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
