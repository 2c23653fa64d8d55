# SPDX-License-Identifier: Apache-2.0
"""The delay of a path over satellites: where they are (Skyfield, SGP4), which one each ground station uses,
and how far light goes from one station over the satellites to the other.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clarion_base import units
from clarion_base.faults import Code, Fault, FaultError
from clarion_lab.scenario.steps import parsed

LIGHT_KM_PER_S = 299_792.458
EARTH_GM_KM3_PER_S2 = 398_600.8  # of WGS 72, which SGP4 counts with
EARTH_RADIUS_KM = 6378.135  # likewise
GEO_RADIUS_KM = 42_164.17
EPOCH = (2025, 1, 1)  # of every constellation; `start` moves a run along its orbits
DAYS_TO_EPOCH = 27_395.0  # from the last day of 1949, as SGP4 counts

Vectors = NDArray[np.float64]  # km in the frame that turns with the Earth, [time, 3]


@dataclass(frozen=True)
class Walker:
    """Circular orbits in planes that are turned evenly about the Earth's axis (Walker, 1984).

    A star's planes share half a turn, so the first and the last move against each other: there is a seam,
    which no link between satellites crosses. A delta's share a whole turn.
    """

    altitude_km: float
    inclination_deg: float
    planes: int
    per_plane: int
    phase: float  # of one plane against the one before, in distances of a plane's satellites
    star: bool
    min_elevation_deg: float

    @property
    def period_s(self) -> float:
        """Of a revolution."""
        axis_km = EARTH_RADIUS_KM + self.altitude_km
        return 2 * math.pi * math.sqrt(axis_km**3 / EARTH_GM_KM3_PER_S2)

    def neighbours(self, satellite: int) -> Iterator[int]:
        """Those that a satellite has links to: before and behind it, and in the planes beside its own."""
        plane, place = divmod(satellite, self.per_plane)
        for along in (-1, 1):
            yield plane * self.per_plane + (place + along) % self.per_plane
        for across in (-1, 1):
            beside = plane + across
            if 0 <= beside < self.planes:
                yield beside * self.per_plane + place
            elif not self.star:
                yield beside % self.planes * self.per_plane + place


IRIDIUM = Walker(780.0, 86.4, planes=6, per_plane=11, phase=0.5, star=True, min_elevation_deg=8.2)
CONSTELLATIONS = {"iridium": IRIDIUM}
GEO_MIN_ELEVATION_DEG = 5.0


@dataclass(frozen=True)
class Pass:
    """The path over time, one way: its delay from each instant on, and when stations changed satellites."""

    delays_us: tuple[tuple[int, int], ...]  # us of the run's clock, us; the first at 0
    handovers_us: tuple[int, ...]


def follow(document: Mapping[str, Any], duration_us: int) -> Pass:
    """The path that a link's `orbit` describes; FaultError names the key."""
    ground = [_ground(document, index) for index in (0, 1)]
    if document["satellites"] == "geo":
        return _stationary(document, ground)
    if "longitude" in document:
        raise FaultError(Fault(("longitude",), "only with satellites: geo", Code.CONFLICT))
    walker = CONSTELLATIONS[document["satellites"]]
    every_us = parsed({"every": "1 s", **document}, "every", units.parse_time)
    if every_us < 1000:
        raise FaultError(Fault(("every",), "must be at least 1 ms", Code.OUT_OF_RANGE))
    start_us = parsed({"start": "0 s", **document}, "start", units.parse_time)
    times_us = list(range(0, duration_us, every_us))
    positions = satellites(walker, [(start_us + at_us) / 1e6 for at_us in times_us])
    least_deg = float(document.get("min-elevation", walker.min_elevation_deg))
    used = [_choices(station, positions, least_deg, times_us, index) for index, station in enumerate(ground)]
    delays_us: list[tuple[int, int]] = []
    handovers_us: list[int] = []
    for step, at_us in enumerate(times_us):
        up, down = used[0][step], used[1][step]
        if step and (up, down) != (used[0][step - 1], used[1][step - 1]):
            handovers_us.append(at_us)
        now = positions[:, step]
        km = _distance(ground[0], now[up]) + between(walker, now, up, down) + _distance(now[down], ground[1])
        delay_us = round(km / LIGHT_KM_PER_S * 1e6)
        if not delays_us or delay_us != delays_us[-1][1]:
            delays_us.append((at_us, delay_us))
    return Pass(tuple(delays_us), tuple(handovers_us))


def _stationary(document: Mapping[str, Any], ground: Sequence[Vectors]) -> Pass:
    if "longitude" not in document:
        raise FaultError(Fault(("longitude",), "missing; where the satellite stands", Code.MISSING))
    for key in ("every", "start", "handover-outage"):
        if key in document:
            raise FaultError(Fault((key,), "not with satellites: geo, which does not move", Code.CONFLICT))
    east = math.radians(float(document["longitude"]))
    satellite = GEO_RADIUS_KM * np.array([math.cos(east), math.sin(east), 0.0])
    least_deg = float(document.get("min-elevation", GEO_MIN_ELEVATION_DEG))
    for index, station in enumerate(ground):
        if elevation_deg(station, satellite) < least_deg:
            raise FaultError(Fault(("ground", index), f"the satellite is below {least_deg:g} degrees there"))
    km = sum(_distance(station, satellite) for station in ground)
    return Pass(((0, round(km / LIGHT_KM_PER_S * 1e6)),), ())


def _ground(document: Mapping[str, Any], index: int) -> Vectors:
    from skyfield.api import wgs84

    latitude, longitude = document["ground"][index]
    if not (-90 <= latitude <= 90 and -180 <= longitude <= 180):
        reason = "must be a latitude from -90 to 90 and a longitude from -180 to 180 degrees"
        raise FaultError(Fault(("ground", index), reason, Code.OUT_OF_RANGE))
    place: Vectors = wgs84.latlon(latitude, longitude).itrs_xyz.km
    return place


def satellites(walker: Walker, times_s: Sequence[float]) -> Vectors:
    """Where all satellites are, [satellite, time, 3], so many seconds after the epoch."""
    from sgp4.api import WGS72, Satrec
    from skyfield.api import EarthSatellite, load
    from skyfield.framelib import itrs

    timescale = load.timescale(builtin=True)
    times = timescale.utc(*EPOCH, 0, 0, np.asarray(times_s))
    turn = math.pi if walker.star else 2 * math.pi
    found = []
    for plane in range(walker.planes):
        for place in range(walker.per_plane):
            anomaly = 2 * math.pi * (place + walker.phase * plane) / walker.per_plane
            record = Satrec()
            record.sgp4init(
                WGS72,
                "i",
                plane * walker.per_plane + place,
                DAYS_TO_EPOCH,
                0.0,  # drag
                0.0,
                0.0,
                0.0,  # eccentricity
                0.0,  # argument of the perigee
                math.radians(walker.inclination_deg),
                anomaly % (2 * math.pi),
                2 * math.pi / (walker.period_s / 60),  # mean motion, per minute
                turn * plane / walker.planes,  # of the ascending node
            )
            satellite = EarthSatellite.from_satrec(record, timescale)
            found.append(satellite.at(times).frame_xyz(itrs).km.T)
    return np.array(found)


def elevation_deg(station: Vectors, satellite: Vectors) -> Any:
    """Above the horizon of a station; of one position or of many. The Earth is a ball for that."""
    line = satellite - station
    up = station / np.linalg.norm(station)
    return np.degrees(np.arcsin(line @ up / np.linalg.norm(line, axis=-1)))


def _choices(
    station: Vectors, positions: Vectors, least_deg: float, times_us: Sequence[int], index: int
) -> list[int]:
    """The satellite that a station uses at each instant: one until it is too low, then the highest."""
    elevations = elevation_deg(station, positions)
    used: list[int] = []
    for step, at_us in enumerate(times_us):
        now = elevations[:, step]
        if not used or now[used[-1]] < least_deg:
            used.append(int(np.argmax(now)))
        else:
            used.append(used[-1])
        if now[used[-1]] < least_deg:
            reason = f"at {at_us / 1e6:g} s no satellite is above {least_deg:g} degrees; lower min-elevation"
            raise FaultError(Fault(("ground", index), reason))
    return used


def between(walker: Walker, positions: Vectors, start: int, goal: int) -> float:
    """Kilometres from one satellite to another over the links between neighbours, the shortest way."""
    queue = [(0.0, start)]
    reached: set[int] = set()
    while queue:
        km, here = heapq.heappop(queue)
        if here == goal:
            return km
        if here in reached:
            continue
        reached.add(here)
        for there in walker.neighbours(here):
            if there not in reached:
                heapq.heappush(queue, (km + _distance(positions[here], positions[there]), there))
    raise AssertionError("the satellites of a constellation are joined")


def _distance(a: Vectors, b: Vectors) -> float:
    return float(np.linalg.norm(a - b))
