# SPDX-License-Identifier: Apache-2.0
"""The delay of a path over satellites: which one each ground station uses, and how far light goes from one
station over the satellites to the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from clarion_base.faults import Code, Fault, FaultError
from clarion_lab.scenario import quantities
from clarion_lab.scenario.constellation import Vectors, parse_satellites, shortest_km
from clarion_lab.scenario.fields import parsed

LIGHT_KM_PER_S = 299_792.458
GEO_RADIUS_KM = 42_164.17
GEO_MIN_ELEVATION_DEG = 5.0
MAX_PLACES = 10_000_000  # of satellites over time: 240 MB


@dataclass(frozen=True)
class Pass:
    """The path over time, one way: its delay from each instant on, and when stations changed satellites."""

    delays_us: tuple[tuple[int, int], ...]  # us of the run's clock, us; the first at 0
    handovers_us: tuple[int, ...] = ()
    outage_us: int = 0  # at each handover


@dataclass(frozen=True)
class Station:
    """A ground station on the WGS 84 ellipsoid."""

    place: Vectors
    up: Vectors  # of length 1

    def elevation_deg(self, satellite: Vectors) -> Any:
        """Above its horizon; of one position or of many."""
        line = satellite - self.place
        return np.degrees(np.arcsin(line @ self.up / np.linalg.norm(line, axis=-1)))

    def distance_km(self, satellite: Vectors) -> float:
        """The slant range."""
        return math.dist(self.place, satellite)


def follow(document: Mapping[str, Any], duration_us: int) -> Pass:
    """The path that a link's `orbit` describes; FaultError names the key."""
    ground = [_station(document, index) for index in (0, 1)]
    if document["satellites"] == "geo":
        return _stationary(document, ground)
    if "longitude" in document:
        raise FaultError(Fault(("longitude",), "only with satellites: geo", Code.CONFLICT))
    try:
        constellation = parse_satellites(document["satellites"])
    except FaultError as error:
        raise FaultError(error.fault.below("satellites")) from error
    every_us = parsed({"every": "1 s", **document}, "every", quantities.parse_time)
    if every_us < 1000:
        raise FaultError(Fault(("every",), "must be at least 1 ms", Code.OUT_OF_RANGE))
    start_us = parsed({"start": "0 s", **document}, "start", quantities.parse_time)
    steps = -(-duration_us // every_us)
    if steps * constellation.count > MAX_PLACES:
        least_us = -(-duration_us * constellation.count // MAX_PLACES)
        reason = f"must be at least {least_us / 1e6:g} s for so many satellites and so long a run"
        raise FaultError(Fault(("every",), reason, Code.OUT_OF_RANGE))
    times_us = range(0, duration_us, every_us)
    positions = constellation.positions([(start_us + at_us) / 1e6 for at_us in times_us])
    if not np.isfinite(positions).all():
        raise FaultError(Fault(("satellites",), "SGP4 loses one on its way: its orbit decays or is no orbit"))
    seen = [station.elevation_deg(positions) for station in ground]
    if not constellation.has_links:  # both stations need the same one
        seen = [np.minimum(*seen)] * 2
    least_deg = float(document.get("min-elevation", constellation.min_elevation_deg))
    used = [_choices(each, least_deg, times_us, index) for index, each in enumerate(seen)]
    ends = list(zip(*used, strict=True))
    delays_us: list[tuple[int, int]] = []
    for step, (at_us, (up, down)) in enumerate(zip(times_us, ends, strict=True)):
        now = positions[:, step]
        km = ground[0].distance_km(now[up]) + ground[1].distance_km(now[down])
        delay_us = _light_us(km + shortest_km(constellation, now, up, down))
        if not delays_us or delay_us != delays_us[-1][1]:
            delays_us.append((at_us, delay_us))
    changes = zip(times_us[1:], pairwise(ends), strict=True)
    handovers_us = tuple(at_us for at_us, (before, after) in changes if before != after)
    return Pass(tuple(delays_us), handovers_us, _outage(document, handovers_us))


def _light_us(km: float) -> int:
    return round(km / LIGHT_KM_PER_S * 1e6)


def _outage(document: Mapping[str, Any], handovers_us: Sequence[int]) -> int:
    outage_us = parsed({"handover-outage": "0 s", **document}, "handover-outage", quantities.parse_time)
    least_us = min((after - before for before, after in pairwise(handovers_us)), default=None)
    if least_us is not None and outage_us >= least_us:
        reason = f"must be below {least_us / 1e6:g} s, the time between two handovers"
        raise FaultError(Fault(("handover-outage",), reason, Code.OUT_OF_RANGE))
    return outage_us


def _stationary(document: Mapping[str, Any], ground: Sequence[Station]) -> Pass:
    if "longitude" not in document:
        raise FaultError(Fault(("longitude",), "missing; where the satellite stands", Code.MISSING))
    for key in ("every", "start", "handover-outage"):
        if key in document:
            raise FaultError(Fault((key,), "not with satellites: geo, which does not move", Code.CONFLICT))
    east = math.radians(float(document["longitude"]))
    satellite = GEO_RADIUS_KM * np.array([math.cos(east), math.sin(east), 0.0])
    least_deg = float(document.get("min-elevation", GEO_MIN_ELEVATION_DEG))
    for index, station in enumerate(ground):
        if station.elevation_deg(satellite) < least_deg:
            raise FaultError(Fault(("ground", index), f"the satellite is below {least_deg:g} degrees there"))
    return Pass(((0, _light_us(sum(station.distance_km(satellite) for station in ground))),))


def _station(document: Mapping[str, Any], index: int) -> Station:
    from skyfield.api import wgs84

    latitude, longitude = document["ground"][index]
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        reason = "must be a latitude from -90 to 90 and a longitude from -180 to 180 degrees"
        raise FaultError(Fault(("ground", index), reason, Code.OUT_OF_RANGE))
    north, east = math.radians(latitude), math.radians(longitude)
    up = np.array([math.cos(north) * math.cos(east), math.cos(north) * math.sin(east), math.sin(north)])
    return Station(wgs84.latlon(latitude, longitude).itrs_xyz.km, up)


def _choices(elevations_deg: Any, least_deg: float, times_us: Sequence[int], index: int) -> list[int]:
    """The satellite that a station uses at each instant: one until it is too low, then the highest."""
    used: list[int] = []
    for step, at_us in enumerate(times_us):
        now = elevations_deg[:, step]
        if not used or now[used[-1]] < least_deg:
            used.append(int(np.argmax(now)))
        else:
            used.append(used[-1])
        if now[used[-1]] < least_deg:
            reason = f"at {at_us / 1e6:g} s no satellite is above {least_deg:g} degrees; lower min-elevation"
            raise FaultError(Fault(("ground", index), reason))
    return used
