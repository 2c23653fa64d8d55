# SPDX-License-Identifier: Apache-2.0
"""Satellites: where they are (Skyfield, SGP4), and which of them have links to each other."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from clarion_base.faults import Code, Fault, FaultError

EARTH_GM_KM3_PER_S2 = 398_600.8  # of WGS 72, which SGP4 counts with
EARTH_RADIUS_KM = 6378.135  # likewise
EPOCH = (2025, 1, 1)  # of orbits that are given by their shape
DAYS_TO_EPOCH = 27_395.0  # from the last day of 1949, as SGP4 counts
MIN_ELEVATION_DEG = 10.0  # of those that have none of their own
MAX_SATELLITES = 5000
ELEMENTS_COLUMNS = 69  # of a line of two-line elements

Vectors = NDArray[np.float64]  # km in the frame that turns with the Earth, [time, 3]


class Constellation(Protocol):
    """Satellites, counted from 0."""

    @property
    def count(self) -> int:
        """How many there are."""

    @property
    def min_elevation_deg(self) -> float:
        """Below it a ground station leaves a satellite, unless the scenario says otherwise."""

    @property
    def has_links(self) -> bool:
        """Whether satellites have links to each other; else both stations must see the same one."""

    def neighbours(self, satellite: int, places: Vectors) -> Iterator[int]:
        """Those that a satellite has links to while all are at `places`, [satellite, 3]."""

    def positions(self, times_s: Sequence[float]) -> Vectors:
        """Where all are, [satellite, time, 3], so many seconds after the epoch."""


@dataclass(frozen=True)
class Walker:
    """Circular orbits in planes that are turned evenly about the Earth's axis (Walker, 1984).

    Planes that share the whole turn (a delta) are joined all around. Of others (a star shares about half of
    it) the first and the last move against each other: there is a seam, which no link crosses. Near the poles
    planes cross and bearings turn fast, so that links between planes end at a latitude.
    """

    altitude_km: float
    inclination_deg: float
    planes: int
    per_plane: int
    phasing: int  # Walker's F: satellites are this part of `planes` ahead of those of the plane before
    spread_deg: float  # the planes' share of the turn
    min_elevation_deg: float = MIN_ELEVATION_DEG
    has_links: bool = True
    cross_links_up_to_deg: float = 90.0  # of latitude, of both ends

    @property
    def count(self) -> int:
        """How many there are."""
        return self.planes * self.per_plane

    @property
    def period_s(self) -> float:
        """Of a revolution."""
        axis_km = EARTH_RADIUS_KM + self.altitude_km
        return 2 * math.pi * math.sqrt(axis_km**3 / EARTH_GM_KM3_PER_S2)

    def neighbours(self, satellite: int, places: Vectors) -> Iterator[int]:
        """Those before and behind it, and in the planes beside its own."""
        plane, place = divmod(satellite, self.per_plane)
        for along in (-1, 1):
            yield self._number(plane, place + along)
        if self._has_cross_links(places[satellite]):
            yield from (each for each in self._beside(plane, place) if self._has_cross_links(places[each]))

    def _has_cross_links(self, place: Vectors) -> bool:
        """Whether a satellite that is there keeps its links to other planes."""
        latitude_deg = math.degrees(math.atan2(abs(place[2]), math.hypot(place[0], place[1])))
        return latitude_deg <= self.cross_links_up_to_deg

    def _beside(self, plane: int, place: int) -> Iterator[int]:
        for across in (-1, 1):
            beside = plane + across
            if 0 <= beside < self.planes:
                yield self._number(beside, place)
            elif self.spread_deg == 360:  # all phases together are whole distances
                yield self._number(beside % self.planes, place + across * self.phasing)

    def _number(self, plane: int, place: int) -> int:
        return plane * self.per_plane + place % self.per_plane

    def positions(self, times_s: Sequence[float]) -> Vectors:
        """By SGP4, without drag."""
        from sgp4.api import WGS72, Satrec

        records = []
        for plane in range(self.planes):
            for place in range(self.per_plane):
                turns = (place + self.phasing / self.planes * plane) / self.per_plane
                record = Satrec()
                record.sgp4init(
                    WGS72,
                    "i",
                    self._number(plane, place),
                    DAYS_TO_EPOCH,
                    0.0,  # drag
                    0.0,
                    0.0,
                    0.0,  # eccentricity
                    0.0,  # argument of the perigee
                    math.radians(self.inclination_deg),
                    2 * math.pi * (turns % 1),  # mean anomaly
                    2 * math.pi / (self.period_s / 60),  # mean motion, per minute
                    math.radians(self.spread_deg * plane / self.planes),  # of the ascending node
                )
                records.append(record)
        return _positions(records, times_s)


@dataclass(frozen=True)
class Listed:
    """Satellites by their two-line elements, without links to each other. The epoch is that of the first."""

    elements: tuple[tuple[str, str], ...]
    min_elevation_deg: float = MIN_ELEVATION_DEG
    has_links: bool = False

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.elements)

    def neighbours(self, satellite: int, places: Vectors) -> Iterator[int]:
        """None."""
        return iter(())

    def positions(self, times_s: Sequence[float]) -> Vectors:
        """By SGP4."""
        from sgp4.api import Satrec

        return _positions([Satrec.twoline2rv(*lines) for lines in self.elements], times_s)


def _positions(records: Sequence[Any], times_s: Sequence[float]) -> Vectors:
    """Of SGP4's records, the times counted from the epoch of the first."""
    from skyfield.api import EarthSatellite, load
    from skyfield.framelib import itrs

    timescale = load.timescale(builtin=True)
    satellites = [EarthSatellite.from_satrec(record, timescale) for record in records]
    times = timescale.tt_jd(satellites[0].epoch.tt, np.asarray(times_s) / 86_400)
    return np.array([satellite.at(times).frame_xyz(itrs).km.T for satellite in satellites])


# Planes that move the same way are 31.6 degrees apart, those at the seam 22; the satellites of one pass the
# gaps of the next (Pattan, "Satellite-based global cellular communications", 1997, as in ns-2's Iridium). So
# everywhere one is always above 8.2 degrees, as published; on the flattened Earth above 8.18.
# Links between planes are off above 60 degrees, and there are none across the seam (The ns Manual, "Satellite
# networking in ns", table of the parameters of Iridium; Henderson and Katz, AIAA 2000-1237).
IRIDIUM = Walker(
    780.0,
    86.4,
    planes=6,
    per_plane=11,
    phasing=3,
    spread_deg=6 * 31.6,
    min_elevation_deg=8.0,
    cross_links_up_to_deg=60.0,
)
CONSTELLATIONS: dict[str, Constellation] = {"iridium": IRIDIUM}


def parse_satellites(value: str | Mapping[str, Any]) -> Constellation:
    """A constellation by its name, its shape or its elements; FaultError names the key."""
    if isinstance(value, str):
        return CONSTELLATIONS[value]
    return _listed(value) if "elements" in value else _walker(value)


def _walker(document: Mapping[str, Any]) -> Walker:
    for key in ("altitude-km", "inclination", "planes", "per-plane"):
        if key not in document:
            raise FaultError(Fault((key,), "missing; or give elements", Code.MISSING))
    planes, per_plane = int(document["planes"]), int(document["per-plane"])
    if planes * per_plane > MAX_SATELLITES:
        reason = f"{planes * per_plane} satellites: at most {MAX_SATELLITES}"
        raise FaultError(Fault(("planes",), reason, Code.OUT_OF_RANGE))
    phasing = int(document.get("phasing", 0))
    if phasing >= planes:
        raise FaultError(Fault(("phasing",), f"{phasing}: must be below planes", Code.OUT_OF_RANGE))
    return Walker(
        float(document["altitude-km"]),
        float(document["inclination"]),
        planes,
        per_plane,
        phasing,
        float(document.get("spread", 360)),
        has_links=document.get("links", True),
        cross_links_up_to_deg=float(document.get("cross-links-up-to", 90)),
    )


def _listed(document: Mapping[str, Any]) -> Listed:
    other = next((key for key in document if key != "elements"), None)
    if other is not None:
        raise FaultError(Fault((other,), "not together with elements", Code.CONFLICT))
    lines = [line.rstrip() for line in document["elements"].splitlines()]
    numbered = [line for line in lines if line[:2] in ("1 ", "2 ")]  # beside them there may be names
    pairs = list(zip(numbered[::2], numbered[1::2], strict=False))
    if not pairs or len(numbered) % 2:
        raise FaultError(Fault(("elements",), "must have two lines for each satellite, 1 ... and 2 ..."))
    if len(pairs) > MAX_SATELLITES:
        reason = f"{len(pairs)} satellites: at most {MAX_SATELLITES}"
        raise FaultError(Fault(("elements",), reason, Code.OUT_OF_RANGE))
    for pair in pairs:
        _check_elements(*pair)
    return Listed(tuple(pairs))


def _check_elements(first: str, second: str) -> None:
    from sgp4.io import verify_checksum

    for number, line in (("1", first), ("2", second)):
        if len(line) != ELEMENTS_COLUMNS or line[0] != number:
            reason = f'"{line}": must be a line {number} of {ELEMENTS_COLUMNS} characters'
            raise FaultError(Fault(("elements",), reason))
        try:
            verify_checksum(line)
        except ValueError as error:
            raise FaultError(Fault(("elements",), f'"{line}": its checksum is wrong')) from error


def shortest_km(constellation: Constellation, positions: Vectors, start: int, goal: int) -> float:
    """From one satellite to another over the links between neighbours. The straight line to the goal is never
    longer than the way there, so what is tried first is what it promises most of (A*). FaultError: none leads
    there.
    """
    queue = [(_distance_km(positions[start], positions[goal]), 0.0, start)]
    reached: set[int] = set()
    while queue:
        _, km, here = heapq.heappop(queue)
        if here == goal:
            return km
        if here in reached:
            continue
        reached.add(here)
        for there in constellation.neighbours(here, positions):
            if there not in reached:
                way_km = km + _distance_km(positions[here], positions[there])
                heapq.heappush(
                    queue, (way_km + _distance_km(positions[there], positions[goal]), way_km, there)
                )
    reason = "too low: planes that a way has to cross have no link to each other; make it larger"
    raise FaultError(Fault(("satellites", "cross-links-up-to"), reason, Code.OUT_OF_RANGE))


def _distance_km(a: Vectors, b: Vectors) -> float:
    return math.dist(a, b)
