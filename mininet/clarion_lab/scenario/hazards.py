# SPDX-License-Identifier: Apache-2.0
"""What a link does that is not a wire: as scenarios state it, and as the switch is configured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from clarion_base import units
from clarion_base.faults import Code, Fault, FaultError
from clarion_lab.scenario import quantities
from clarion_lab.scenario.fields import parsed

MIN_MTU_BYTES = 68
QueueBytes = Callable[[units.QueueLimit, int], int]  # of a limit and the queue's rate


@dataclass(frozen=True)
class Change:
    """What a port of the switch is told at an instant of the run's clock, as keys of its configuration."""

    at_us: int
    settings: Mapping[str, Any]


@dataclass(frozen=True)
class Hazards:
    """One direction: what is there from the start, and what comes and goes."""

    settings: Mapping[str, Any] = field(default_factory=dict)
    changes: tuple[Change, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.settings or self.changes)


def parse_hazards(document: Mapping[str, Any], queue_bytes: QueueBytes, duration_us: int) -> Hazards:
    """The hazards of one direction from its scenario object; FaultError names the key."""
    settings: dict[str, Any] = {}
    changes = _outages(document.get("outages", ()), duration_us)
    if "mtu" in document:
        settings["mtu"] = _mtu(document["mtu"])
    if "policer" in document:
        settings["policer"] = _policer(document["policer"])
    if "queue" in document:
        settings["queue"] = _queue(document["queue"], queue_bytes)
    if "reorder" in document:
        settings["reorder"] = _reorder(document["reorder"])
    for key in ("ack-loss", "duplicate"):
        if key in document:
            settings[key.replace("-", "_")] = parsed(document, key, units.parse_fraction)
    if "header" in document:
        header, from_us = _header(document["header"], duration_us)
        if from_us:
            changes.append(Change(from_us, {"hazards": {"header": header}}))
        else:
            settings["header"] = header
    return Hazards(settings, tuple(sorted(changes, key=lambda change: change.at_us)))


def _outages(document: Any, duration_us: int) -> list[Change]:
    changes: list[Change] = []
    end_us = 0
    for index, entry in enumerate(document):
        at_us = parsed(entry, "at", quantities.parse_time, ("outages", index))
        if not end_us < at_us < duration_us:
            reason = "must lie after 0 s and the outage before, and before duration"
            raise _refused(("outages", index, "at"), reason)
        end_us = at_us + parsed(entry, "for", quantities.parse_time, ("outages", index))
        if end_us == at_us:
            raise _refused(("outages", index, "for"), "must be above 0 s")
        changes.append(Change(at_us, {"hazards": {"down": True}}))
        changes.append(Change(end_us, {"hazards": {"down": False}}))
    return changes


def _mtu(document: Mapping[str, Any]) -> dict[str, Any]:
    size = parsed(document, "size", quantities.parse_size, ("mtu",))
    if not MIN_MTU_BYTES <= size <= 65535:
        raise _refused(("mtu", "size"), f"must lie from {MIN_MTU_BYTES} to 65535 bytes of IP packet")
    return {"bytes": size, "icmp": document.get("icmp", False)}


def _policer(document: Mapping[str, Any]) -> dict[str, Any]:
    burst = parsed(document, "burst", quantities.parse_room, ("policer",))
    if burst < quantities.MIN_QUEUE_BYTES:
        raise _refused(
            ("policer", "burst"), f"must be at least {quantities.MIN_QUEUE_BYTES} B, or no full packet passes"
        )
    return {"rate_bps": _rate(document, "policer"), "burst_bytes": burst}


def _queue(document: Mapping[str, Any], queue_bytes: QueueBytes) -> dict[str, Any]:
    rate_bps = _rate(document, "queue")
    limit = parsed({"limit": "1 bdp", **document}, "limit", quantities.parse_queue, ("queue",))
    size = max(quantities.MIN_QUEUE_BYTES, queue_bytes(limit, rate_bps))
    if size > quantities.MAX_QUEUE_BYTES:
        raise _refused(("queue", "limit"), f"{size} bytes: must be at most 2 GiB")
    return {"rate_bps": rate_bps, "bytes": size}


def _rate(document: Mapping[str, Any], kind: str) -> int:
    rate_bps = parsed(document, "rate", quantities.parse_rate, (kind,))
    if rate_bps < 8:
        raise _refused((kind, "rate"), "must be at least 8 bit/s")
    return rate_bps


def _reorder(document: Mapping[str, Any]) -> dict[str, Any]:
    if ("delay" in document) == ("packets" in document):
        raise _refused(("reorder", "packets"), "give one of delay and packets")
    late: dict[str, Any] = {"share": parsed(document, "share", units.parse_fraction, ("reorder",))}
    if "packets" in document:
        return {**late, "packets": int(document["packets"])}
    return {**late, "delay_us": parsed(document, "delay", quantities.parse_short_time, ("reorder",))}


def _header(document: Mapping[str, Any], duration_us: int) -> tuple[dict[str, Any], int]:
    """What a middlebox does to headers, and from when on."""
    share = parsed({"share": 1, **document}, "share", units.parse_fraction, ("header",))
    from_us = parsed({"from": "0 s", **document}, "from", quantities.parse_time, ("header",))
    if from_us >= duration_us:
        raise _refused(("header", "from"), "must lie before duration")
    return {"action": document["action"], "share": share}, from_us


def _refused(path: tuple[str | int, ...], reason: str) -> FaultError:
    return FaultError(Fault(path, reason, Code.OUT_OF_RANGE))
