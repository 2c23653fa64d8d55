# SPDX-License-Identifier: Apache-2.0
"""Every sender of the papers on three paths, against itself and against CUBIC (docs/results/senders.md).

    .venv/bin/python tests/bench/senders.py --engines emu,sim --seeds 5 --out out/senders [--plots DIR]

Engine emu as root, on a quiet machine; what is compared between the engines, and how, is in series.py. A run
that is complete in --out is not made again; --table only reads. --plots draws the windows of seed 1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from matplotlib.figure import Figure

from bench import series
from bench.series import path
from clarion_base import text_table
from clarion_lab.recording import files
from clarion_lab.scenario.algorithms import ALGORITHMS

OTHERS = ("xcp", "xcp-notags", "boost", "boost-literal", "boost-judged", "newreno")  # agreement.md has these
SENDERS = tuple(
    name for name, each in ALGORITHMS.items() if not (name in OTHERS or each.counts_marks or each.router)
)

SHORT = "100 Mbit/s, 20 ms"
LOSSY = "100 Mbit/s, 150 ms, 0.1 % errors"
FAT = "622 Mbit/s, 64 ms"
PATHS = {
    SHORT: (path("100 Mbit/s", "18 ms"), "flows=[{count: 1}]", "duration=30 s", "measure-from=10 s"),
    LOSSY: (path("100 Mbit/s", "148 ms", 0.001), "flows=[{count: 1}]", "duration=40 s", "measure-from=10 s"),
    FAT: (path("622 Mbit/s", "62 ms"), "flows=[{count: 1}]", "duration=120 s", "measure-from=30 s"),
}
TWO = "two, 100 Mbit/s, 20 ms"
BESIDE = "beside cubic, 100 Mbit/s, 20 ms"
SETTLED = ("duration=120 s", "measure-from=30 s")
ONLY_SIMULATED = (FAT, TWO, BESIDE)


def _cases() -> Iterator[tuple[str, tuple[str, ...]]]:
    for sender in SENDERS:
        for name, settings in PATHS.items():
            yield f"{sender}: {name}", (f"algorithm={sender}", *settings)
        link = path("100 Mbit/s", "18 ms")
        both = f"flows=[{{algorithm: {sender}}}, {{algorithm: %s, start: {series.APART_MS} ms}}]"
        yield f"{sender}: {TWO}", (link, both % sender, *SETTLED)
        yield f"{sender}: {BESIDE}", (link, both % "cubic", *SETTLED)


CASES: series.Cases = {name: ("geo", settings) for name, settings in _cases()}


def is_meant(engine: str, case: str) -> bool:
    """Whether a case is for an engine."""
    sender, _, kind = case.partition(": ")
    return engine == "sim" or not (kind in ONLY_SIMULATED or ALGORITHMS[sender].only_simulated)


def alone(chosen: series.Series, name: str) -> str:
    """Each sender by itself on a path, in Markdown."""
    rows = []
    for sender in SENDERS:
        _, goodput, _, queue, losses = series.row(chosen, f"{sender}: {name}")
        rows.append([sender, goodput, queue, losses])
    return text_table.markdown(
        rows, ("sender", "goodput, Mbit/s, emu / sim", "mean queue, bdp", "lost packets")
    )


def rates(summary: series.Summary) -> list[float]:
    """Goodput of each flow, Mbit/s."""
    return [float(flow["goodput_bits_per_s"]) / 1e6 for flow in summary["flows"]]


def together(chosen: series.Series) -> str:
    """Two flows of a sender, and one beside CUBIC: rates, and Jain's index."""
    rows = []
    for sender in SENDERS:
        row = [sender]
        for kind in (TWO, BESIDE):
            found = chosen.summaries("sim", f"{sender}: {kind}")
            pairs = [rates(summary) for summary in found]
            row += [series.spread([pair[number] for pair in pairs], 1) for number in (0, 1)]
            row.append(series.spread([series.jain(summary) for summary in found], 3))
        rows.append(row)
    heads = ("sender", "first", "second", "Jain", "beside CUBIC", "CUBIC", "Jain")
    return text_table.markdown(rows, heads)


def draw(chosen: series.Series, name: str, directory: Path) -> None:
    """The window of each sender on a path over time, one panel each; seed 1 of every engine there is."""
    columns = 5
    height = -(-len(SENDERS) // columns)
    figure = Figure(figsize=(15, 2.1 * height), layout="constrained")
    panels = figure.subplots(height, columns, sharex=True)
    for sender, panel in zip(SENDERS, panels.flat, strict=False):
        for engine, colour in (("emu", "tab:orange"), ("sim", "tab:blue")):
            table = files.read_table(chosen.directory(engine, f"{sender}: {name}", 1) / files.FLOWS)
            if len(table.get("time_us", ())):
                panel.plot(table["time_us"] / 1e6, table["cwnd_packets"], colour, linewidth=0.8, label=engine)
        panel.set_title(sender, fontsize=9)
        panel.tick_params(labelsize=7)
    for panel in list(panels.flat)[len(SENDERS) :]:
        panel.set_axis_off()
    figure.suptitle(f"cwnd in packets over seconds: {name}")
    panels.flat[0].legend(fontsize=7)
    stem = "-".join("".join(each if each.isalnum() else " " for each in name).split())
    figure.savefig(directory / f"windows-{stem}.png", dpi=80)


def main() -> int:
    """Makes what is missing, then prints and draws."""
    options = series.parser(__doc__, "out/senders")
    options.add_argument("--plots", type=Path, help="draw the windows over time into this directory")
    given = options.parse_args()
    chosen = series.chosen(given, CASES)
    meant = [each for each in chosen.runs() if is_meant(*each[:2])]
    is_whole = given.table or series.make_missing(chosen, meant)
    for name in PATHS:
        print(f"\n## {name}\n\n{alone(chosen, name)}")
    print(f"\n## Together\n\n{together(chosen)}")
    if given.plots is not None:
        for name in PATHS:
            draw(chosen, name, given.plots)
    return 0 if is_whole else 1


if __name__ == "__main__":
    sys.exit(main())
