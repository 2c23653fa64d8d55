# SPDX-License-Identifier: Apache-2.0
"""A comparison as a picture, and as a page of its own."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl

from clarion_lab.results import comparison, report
from clarion_lab.results.comparison import Comparison

mpl.use("Agg")
from matplotlib import pyplot as plt

_HEIGHT_IN = 4.2
_WIDTH_IN = 7.0
_BOX_IN = 0.34  # of width for each box
_DPI = 110


def draw(path: Path, compared: Comparison) -> None:
    """Draws it into an image of the kind that the name of the file says, such as PNG, SVG or PDF."""
    path.write_bytes(_image(compared, path.suffix.removeprefix(".")))


def write_page(path: Path, compared: Comparison) -> None:
    """Writes it as one HTML file with the picture inside."""
    title = compared["metric"] + (f" over {compared['over']}" if compared["over"] else "")
    picture = report.inline(_image(compared, "png"))
    path.write_text(
        report.page(
            "comparison.html.j2",
            title=title,
            picture=picture,
            columns=comparison.COLUMNS,
            rows=comparison.rows(compared),
            left_out=compared["left_out"],
        )
    )


def _image(compared: Comparison, kind: str) -> bytes:
    figure = _curves(compared) if compared["axis"] in ("linear", "log") else _boxes(compared)
    figure.tight_layout()
    image = io.BytesIO()
    figure.savefig(image, format=kind)
    plt.close(figure)
    return image.getvalue()


def _boxes(compared: Comparison) -> Any:
    """A box for each group and value: quartiles, with whiskers to the least and the most."""
    boxes = [
        {
            "label": ", ".join(filter(None, (group["label"], point["at"]))),
            **{name: point[name] for name in ("q1", "q3", "mean")},
            **{"med": point["median"], "whislo": point["min"], "whishi": point["max"], "fliers": []},
        }
        for group in compared["groups"]
        for point in group["points"]
    ]
    width = max(_WIDTH_IN, 1.2 + _BOX_IN * len(boxes))
    figure, axes = plt.subplots(figsize=(width, _HEIGHT_IN), dpi=_DPI)
    axes.bxp(boxes, showfliers=False, showmeans=True)
    axes.set_xticks(axes.get_xticks(), [box["label"] for box in boxes], rotation=20, ha="right")
    axes.set_ylabel(compared["metric"])
    axes.grid(axis="y", alpha=0.3)
    return figure


def _curves(compared: Comparison) -> Any:
    """A line of means for each group, with the 95 % interval around it."""
    figure, axes = plt.subplots(figsize=(_WIDTH_IN, _HEIGHT_IN), dpi=_DPI)
    for group in compared["groups"]:
        points = group["points"]
        at = [point["value"] for point in points]
        (line,) = axes.plot(at, [point["mean"] for point in points], marker="o", label=group["label"])
        known = [point for point in points if point["low"] is not None]
        axes.fill_between(
            [point["value"] for point in known],
            [point["low"] for point in known],
            [point["high"] for point in known],
            color=line.get_color(),
            alpha=0.15,
        )
    unit = f" ({compared['unit']})" if compared["unit"] else ""
    axes.set_xscale(compared["axis"])
    axes.set_xlabel(f"{compared['over']}{unit}")
    axes.set_ylabel(f"{compared['metric']}, mean and 95 % interval")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, framealpha=0.6)
    return figure
