# SPDX-License-Identifier: Apache-2.0
"""report.html: one self-contained page per run and per batch, with the plots inside."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jinja2

from clarion_base import text_table
from clarion_base.units import format_rate, format_size
from clarion_lab.recording import files
from clarion_lab.results import plots, slowness, tables

REPORT = "report.html"
INLINED_RUNS = 500  # of a batch whose page has the plots of all runs inside
_FLOW_COLUMNS = (
    "flow",
    "goodput",
    "cwnd",
    "srtt ms",
    "idle RTT ms",
    "retransmits",
    "lost on wire",
    "lost in queue",
    "tagged corrupt",
    "tagged congest",
    "right/wrong/missed",
)
_PERIOD_COLUMNS = (
    "seconds",
    "right/wrong/missed",
    "decisions: precision",
    "recall",
    "tags: precision",
    "recall",
)
_PORT_COLUMNS = ("port", "rate", "utilisation", "queue mean", "queue p99", "dropped", "lost on wire")
_APPLICATION_COLUMNS = (
    "flow",
    "application",
    "client to server",
    "received",
    "first byte s",
    "completed s",
    "mean rate",
    "checksum",
)
_PROXY_COLUMNS = ("host", "role", "law", "CPU s", "of one CPU", "CPU s per GB", "peak memory")
_environment = jinja2.Environment(
    loader=jinja2.PackageLoader("clarion_lab.results"),
    autoescape=True,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
)
_environment.filters["rate"] = format_rate
_environment.filters["size"] = format_size
_environment.filters["number"] = text_table.number
_environment.filters["percent"] = text_table.percent


def write(directory: Path) -> Path:
    """Writes the page of a run or of a batch from its files."""
    summary = files.read_summary(directory)
    template, content = (
        ("batch.html.j2", _batch) if summary["format"] == files.BATCH_FORMAT else ("run.html.j2", _run)
    )
    path = directory / REPORT
    path.write_text(page(template, title=summary["scenario"], summary=summary, **content(directory, summary)))
    return path


def page(template: str, **content: Any) -> str:
    """A page of one of our templates."""
    return _environment.get_template(template).render(**content)


def inline(image: bytes) -> str:
    """A PNG as an address that holds it."""
    return "data:image/png;base64," + base64.b64encode(image).decode()


def _run(directory: Path, summary: dict[str, Any]) -> dict[str, Any]:
    return {
        "columns": tables.COLUMNS,
        "rows": [tables.row(summary["scenario"], summary)],
        "slowness": slowness.signs(summary),
        "images": [(name, _inline(directory / name)) for name in plots.PLOTS],
        "period_columns": _PERIOD_COLUMNS,
        "period_rows": _period_rows(summary["totals"]),
        "flow_columns": _FLOW_COLUMNS,
        "flow_rows": [
            _flow_row(flow, way) for flow, way in zip(summary["flows"], _ways(summary), strict=True)
        ],
        "application_columns": _APPLICATION_COLUMNS,
        "application_rows": [_application_row(flow) for flow in summary["flows"] if flow.get("application")],
        "proxy_columns": _PROXY_COLUMNS,
        "proxy_rows": [_proxy_row(proxy) for proxy in summary.get("proxies", ())],
        "port_columns": _PORT_COLUMNS,
        "port_rows": [_port_row(port) for port in summary["ports"]],
    }


def _period_rows(totals: dict[str, Any]) -> list[list[str]]:
    """Decisions and tags over time; empty where neither was recorded."""
    decisions = totals["decisions"].get("over_time", [])
    tags = (totals["tags"] or {}).get("over_time", [])
    rows = []
    for index, period in enumerate(decisions or tags):
        judged = decisions[index] if decisions else {}
        tagged = tags[index]["all"] if tags else {}
        rows.append(
            [
                f"{period['from_s']:.1f} to {period['to_s']:.1f}",
                tables.verdicts(judged),
                text_table.number(judged.get("precision"), 3),
                text_table.number(judged.get("recall"), 3),
                text_table.number(tagged.get("precision"), 3),
                text_table.number(tagged.get("recall"), 3),
            ]
        )
    return rows


def _ways(summary: dict[str, Any]) -> list[str]:
    """What each flow's name needs where flows take different ways."""
    ways = [" - ".join(flow.get("switches", ())) for flow in summary["flows"]]
    return [f" ({way})" for way in ways] if len(set(ways)) > 1 else [""] * len(ways)


def _flow_row(flow: dict[str, Any], way: str) -> list[str]:
    tagged = flow["tagged"] or {}
    return [
        f"{flow['flow']} {flow['algorithm']}{way}",
        format_rate(flow["goodput_bits_per_s"]),
        text_table.number(flow["cwnd_packets_mean"], 0),
        text_table.number(flow["srtt_ms_mean"], 1),
        text_table.number(flow["idle_rtt_ms"], 1),
        str(flow["retransmits"]),
        str(flow["losses"]["data_wire"]),
        str(flow["losses"]["data_queue"]),
        text_table.number(tagged.get("corrupt"), 0),
        text_table.number(tagged.get("congest"), 0),
        tables.verdicts(flow["decisions"]),
    ]


def _application_row(flow: dict[str, Any]) -> list[str]:
    moved = flow["application"]
    checksums = {True: "equal", False: "differs", None: text_table.MISSING}
    rate = moved["mean_bits_per_s"]
    return [
        str(flow["flow"]),
        f"{moved['name']} {moved['transfer']}",
        f"{moved['client']} to {moved['server']}",
        format_size(moved["received_bytes"]),
        text_table.number(moved["first_byte_s"], 2),
        text_table.number(moved["completed_s"], 2),
        text_table.MISSING if rate is None else format_rate(rate),
        checksums[moved["checksum_equal"]],
    ]


def _proxy_row(proxy: dict[str, Any]) -> list[str]:
    return [
        proxy["host"],
        proxy["role"],
        proxy["law"],
        text_table.number(proxy["cpu_s"], 2),
        text_table.percent(proxy["cpu_share"]),
        text_table.number(proxy["cpu_s_per_gbyte"], 2),
        format_size(proxy["peak_rss_bytes"]),
    ]


def _port_row(port: dict[str, Any]) -> list[str]:
    return [
        f"{port['port']} ({port['role']})",
        format_rate(port["rate_bits_per_s"]) if port["rate_bits_per_s"] else "unshaped",
        text_table.percent(port["utilisation"]),
        format_size(port["queue_mean_bytes"]),
        format_size(port["queue_p99_bytes"] or 0),
        str(port["drop_packets"]),
        str(port["wire_lost_packets"]),
    ]


def _batch(directory: Path, summary: dict[str, Any]) -> dict[str, Any]:
    picture = _inline_below if len(summary["runs"]) <= INLINED_RUNS else _link_below
    return {
        "columns": tables.COLUMNS,
        "rows": summary["rows"],
        "overview": _inline(directory / "overview.png"),
        "runs": [
            {
                **run,
                "images": [(name, picture(directory, f"{run['directory']}/{name}")) for name in plots.PLOTS],
            }
            for run in summary["runs"]
        ],
    }


def _inline_below(directory: Path, name: str) -> str | None:
    return _inline(directory / name)


def _link_below(directory: Path, name: str) -> str | None:
    """The plot's place beside the page, for a page that would be too large with it."""
    return quote(name) if (directory / name).exists() else None


def _inline(path: Path) -> str | None:
    if not path.exists():
        return None
    return inline(path.read_bytes())
