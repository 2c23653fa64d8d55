# SPDX-License-Identifier: Apache-2.0
"""The output of `clarion nic`, as text and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from clarion_base.text_table import MISSING, plain
from clarion_base.units import format_rate, format_size, format_time
from clarion_contract.setting import Setting
from clarion_contract.settings import PORT, XCP, PortSettings, XcpSettings
from clarion_nic.driver.card import BEAT_BYTES, TICKS_PER_S, Card
from clarion_nic.driver.walk import ALL_PORTS, FIRST

# Rows of `counters`: the unit, and the fields of its state.
COUNTERS: Mapping[str, Sequence[str]] = {
    "ingress": (
        "rx_packets", "rx_bytes", "malformed", "errored", "overflow", "lost", "late", "rebased",
    ),
    "egress": (
        "tx_packets", "tx_bytes", "drop_packets", "drop_bytes", "overflow", "errored",
        "queue_bytes", "queue_lost", "queue_late", "queue_rebased", "intervals",
    ),
}  # fmt: skip
SHOWN = tuple(field for field in XCP.values() if field.argument is not None)
PORT_COLUMNS = ("port", "XCP", *(field.key(" ") for field in (*SHOWN, *PORT.values())))
FORMATS: Mapping[str, Callable[[Any], str]] = {
    "": "{:.4g}".format, "bit/s": format_rate, "us": format_time, "B": format_size,
}  # fmt: skip
RATE_COLUMNS = (
    "port", "rx", "rx packet/s", "tx", "tx packet/s", "dropped/s", "lost/s", "queue", "intervals/s",
)  # fmt: skip

States = Mapping[tuple[str, int], Mapping[str, int]]  # of units by kind and port


def info(card: Card) -> dict[str, Any]:
    """The card as a JSON object."""
    return {
        "card": card.name,
        "bitstream": next(block.version for block in card.blocks if block.kind == FIRST),
        "build": f"{card.constant('build'):#010x}",
        "ports": len(card.ports),
        **{name: card.constant(name) for name in ("buckets", "queue_beats", "clock_hz", "protocol")},
        "uptime_s": round(card.now() / TICKS_PER_S, 3),
        "refused": card.constant("refused"),
        "blocks": [
            {
                "type": block.kind or f"{block.type:#010x}",
                "version": block.version,
                "offset": block.offset,
                "port": None if block.port == ALL_PORTS else block.port,
            }
            for block in card.blocks
        ],
    }


def info_text(known: Mapping[str, Any]) -> str:
    """The card as lines of text."""
    memory = f"{known['queue_beats'] * BEAT_BYTES / 1024:.4g} KiB"
    lines = [
        ("card", known["card"]),
        ("bitstream", f"{known['bitstream']}, source {known['build'][2:]}"),
        ("ports", f"{known['ports']}, each with {known['buckets']} buckets and {memory} of packet memory"),
        ("clock", f"{known['clock_hz'] / 1e6:.4g} MHz, running for {known['uptime_s']:.1f} s"),
        ("protocol", str(known["protocol"])),
        ("refused", f"{known['refused']} accesses"),
    ]
    blocks = [
        [
            block["type"],
            MISSING if block["port"] is None else str(block["port"]),
            block["version"],
            f"{block['offset']:#06x}",
        ]
        for block in known["blocks"]
    ]
    described = "\n".join(f"{name:10}{text}" for name, text in lines)
    return f"{described}\n\n{plain(blocks, ('block', 'port', 'version', 'offset'))}"


def ports_text(ports: Sequence[PortSettings]) -> str:
    """The settings of ports, one a line."""
    return plain([_port_row(each) for each in ports], PORT_COLUMNS)


def counters_text(states: States) -> str:
    """Counters by port; a dash where the card has no such unit."""
    ports = sorted({port for _, port in states})
    rows = []
    for kind, names in COUNTERS.items():
        for name in names:
            values = (states.get((kind, port), {}).get(name) for port in ports)
            rows.append([f"{kind} {name}", *(MISSING if value is None else str(value) for value in values)])
    return plain(rows, ("counter", *(f"port {port}" for port in ports)))


@dataclass(frozen=True)
class Sample:
    """All units at a time of the card's clock."""

    ticks: int
    states: States


def rates(before: Sample, after: Sample) -> list[dict[str, Any]]:
    """Rates per second between two samples, by port; None where the card has no such unit."""
    seconds = (after.ticks - before.ticks) / TICKS_PER_S
    found = []
    for port in sorted({port for _, port in after.states}):

        def per_second(kind: str, name: str, port: int = port) -> float | None:
            now = after.states.get((kind, port))
            if now is None or seconds <= 0:
                return None
            earlier = before.states.get((kind, port), now)
            delta = now[name] - earlier[name]
            return max(0, delta if delta >= 0 else now[name]) / seconds  # a decrease: reset meanwhile

        egress = after.states.get(("egress", port))
        found.append(
            {
                "port": port,
                "rx_bits_per_s": _times(8, per_second("ingress", "rx_bytes")),
                "rx_packets_per_s": per_second("ingress", "rx_packets"),
                "tx_bits_per_s": _times(8, per_second("egress", "tx_bytes")),
                "tx_packets_per_s": per_second("egress", "tx_packets"),
                "dropped_per_s": per_second("egress", "drop_packets"),
                "lost_per_s": per_second("ingress", "lost"),
                "queue_bytes": None if egress is None else egress["queue_bytes"],
                "intervals_per_s": per_second("egress", "intervals"),
            }
        )
    return found


def rates_text(found: Sequence[Mapping[str, Any]]) -> str:
    """Rates as a table."""
    rows = []
    for each in found:
        cells = [str(each["port"])]
        for name in list(each)[1:]:
            value = each[name]
            if value is None:
                cells.append(MISSING)
            elif name.endswith("bits_per_s"):
                cells.append(format_rate(value))
            else:
                cells.append(format_size(value) if name == "queue_bytes" else f"{value:.0f}")
        rows.append(cells)
    return plain(rows, RATE_COLUMNS)


def _port_row(port: PortSettings) -> list[str]:
    controllers = [MISSING if port.xcp is None else _cell(port.xcp, field) for field in SHOWN]
    state = "off" if port.xcp is None else "on"
    return [str(port.port), state, *controllers, *(_cell(port, field) for field in PORT.values())]


def _cell(settings: PortSettings | XcpSettings, field: Setting) -> str:
    """The value of a setting, with its unit."""
    value = getattr(settings, field.name)
    if value is None:
        return "none"
    if field.kind == "flag":
        return "on" if value else "off"
    return FORMATS[field.unit](value)


def _times(factor: int, value: float | None) -> float | None:
    return None if value is None else factor * value
