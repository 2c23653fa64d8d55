# SPDX-License-Identifier: Apache-2.0
"""The delays of paths over satellites, held against geometry that is done by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from clarion_base.faults import FaultError, ScenarioError
from clarion_lab.engines.bmv2.engine import Bmv2Engine
from clarion_lab.scenario import documents, orbit
from clarion_lab.scenario.constellation import IRIDIUM, Walker, parse_satellites, shortest_km
from clarion_lab.scenario.model import Scenario, build
from clarion_lab.scenario.topology import plan

LIGHT_KM_PER_MS = 299.792458
AXIS_KM = 6378.135 + 780  # of Iridium's orbits
SERDANG, TSETSERLEG = [3.02, 101.7], [47.55, 101.7]
# Of the International Space Station, from the documentation of sgp4, which has its place 14 610 s later, too.
STATION = """ISS (ZARYA)
1 25544U 98067A   19343.69339541  .00001764  00000-0  38792-4 0  9991
2 25544  51.6439 211.2001 0007417  17.6667  85.6398 15.50103472202482
"""


def load(link: dict[str, Any], **more: object) -> Scenario:
    document = {
        "description": "a path over satellites",
        "topology": "dumbbell",
        "links": {"bottleneck": {"rate": "1 Mbit/s", **link}},
        "flows": [{}],
        "duration": "300 s",
        **more,
    }
    return build("x", documents.points("x", document)[0].document)


def slant_km(elevation_deg: float, altitude_km: float = 780, earth_km: float = 6378.135) -> float:
    """Law of cosines at the station: r^2 = R^2 + d^2 + 2 R d sin e."""
    e = math.radians(elevation_deg)
    return math.sqrt((earth_km + altitude_km) ** 2 - (earth_km * math.cos(e)) ** 2) - earth_km * math.sin(e)


def test_a_geostationary_satellite_is_where_geometry_has_it() -> None:
    """Below it the way up is 42164.17 - 6378.137 km (the Earth's radius at the equator); at 60 degrees of
    latitude, on a ball, sqrt(42164^2 + 6378^2 - 2 * 42164 * 6378 cos 60) km.
    """
    below = orbit.follow({"satellites": "geo", "longitude": 0, "ground": [[0, 0], [0, 0]]}, 1)
    assert below.delays_us[0][1] == pytest.approx(2 * (42_164.17 - 6_378.137) / 299_792.458 * 1e6, abs=2)
    north = orbit.follow({"satellites": "geo", "longitude": 0, "ground": [[0, 0], [60, 0]]}, 1)
    far_km = math.sqrt(42_164**2 + 6_378**2 - 42_164 * 6_378)
    up_us = (42_164.17 - 6_378.137) / 299_792.458 * 1e6
    assert north.delays_us[0][1] == pytest.approx(up_us + far_km / 299_792.458 * 1e6, rel=1e-3)


def test_iridium_turns_as_published() -> None:
    """6026.9 s a revolution. In that time the Earth turns by 7.2921e-5 rad/s under it, 25.2 degrees."""
    assert pytest.approx(6026.9, abs=1) == IRIDIUM.period_s
    first, later = IRIDIUM.positions([0.0, IRIDIUM.period_s])[0]
    west = math.degrees(math.atan2(first[1], first[0]) - math.atan2(later[1], later[0])) % 360
    assert west == pytest.approx(math.degrees(7.2921e-5 * 6026.9), abs=0.5)
    assert np.linalg.norm(first) == pytest.approx(AXIS_KM, abs=15)  # SGP4 has the flattening of the Earth
    assert abs(first[2]) < 100  # at the equator, where it began


def test_iridium_is_spread_as_published() -> None:
    """Every distance between two satellites against circles by hand: 31.6 degrees from plane to plane, a
    plane's satellites 360 / 11 degrees apart and half of that ahead of those of the plane before.
    """

    def place(plane: int, number: int) -> list[float]:
        node, inclination = math.radians(31.6 * plane), math.radians(86.4)
        u = math.radians(360 / 11 * (number + plane / 2))
        return [
            AXIS_KM * (math.cos(node) * math.cos(u) - math.sin(node) * math.sin(u) * math.cos(inclination)),
            AXIS_KM * (math.sin(node) * math.cos(u) + math.cos(node) * math.sin(u) * math.cos(inclination)),
            AXIS_KM * math.sin(u) * math.sin(inclination),
        ]

    wanted = np.array([place(plane, number) for plane in range(6) for number in range(11)])
    found = IRIDIUM.positions([0.0])[:, 0]
    for one in range(66):
        distances = np.linalg.norm(found - found[one], axis=-1)
        assert np.abs(distances - np.linalg.norm(wanted - wanted[one], axis=-1)).max() < 40
    # Between those of one plane, 2 a sin(180 / 11 degrees).
    assert np.linalg.norm(found[0] - found[1]) == pytest.approx(4033, abs=20)


def test_a_pass_of_iridium_stays_within_its_geometry() -> None:
    """From straight up, 780 km, to 8 degrees of elevation, 2480 km; and there it hands over."""
    assert slant_km(90) == pytest.approx(780)
    assert slant_km(8) == pytest.approx(2480, abs=1)
    found = orbit.follow({"satellites": "iridium", "ground": [[48, 11], [48, 11]]}, 1_200_000_000)
    delays_ms = [delay / 1000 for _, delay in found.delays_us]
    assert min(delays_ms) >= 2 * 765 / LIGHT_KM_PER_MS
    assert max(delays_ms) == pytest.approx(2 * slant_km(8) / LIGHT_KM_PER_MS, rel=0.02)
    assert len(found.handovers_us) >= 2
    assert found.delays_us[0][0] == 0


def test_iridium_is_seen_from_everywhere() -> None:
    """Its gaps are at the equator, where planes are furthest apart: at least 8.2 degrees, as published."""
    positions = IRIDIUM.positions(range(0, 6027, 20))
    places = [orbit._station({"ground": [[0, longitude]]}, 0) for longitude in range(-180, 180, 3)]
    least_deg = min(float(each.elevation_deg(positions).max(axis=0).min()) for each in places)
    assert least_deg == pytest.approx(8.2, abs=0.1)
    assert least_deg > IRIDIUM.min_elevation_deg


def test_a_station_looks_along_its_own_vertical() -> None:
    """At 45 degrees of latitude it leans 0.19 degrees away from the line to the middle of the Earth."""
    station = orbit._station({"ground": [[45, 0]]}, 0)
    assert station.elevation_deg(station.place + 500 * station.up) == pytest.approx(90, abs=1e-3)
    assert station.elevation_deg(2 * station.place) == pytest.approx(90 - 0.192, abs=0.002)


AT_THE_EQUATOR = np.tile([7158.0, 0, 0], (66, 1))


def test_satellites_have_four_neighbours_but_at_the_seam() -> None:
    assert sorted(IRIDIUM.neighbours(0, AT_THE_EQUATOR)) == [1, 10, 11]
    assert sorted(IRIDIUM.neighbours(11, AT_THE_EQUATOR)) == [0, 12, 21, 22]
    assert sorted(IRIDIUM.neighbours(65, AT_THE_EQUATOR)) == [54, 55, 64]


@pytest.mark.parametrize("latitude_deg", [61, -61])
def test_links_between_planes_end_at_60_degrees(latitude_deg: float) -> None:
    """At 60 degrees a link to the next plane is half as long as at the equator, at 90 all planes meet."""
    places = AT_THE_EQUATOR.copy()
    north = math.radians(latitude_deg)
    places[22] = [7158 * math.cos(north), 0, 7158 * math.sin(north)]
    assert sorted(IRIDIUM.neighbours(22, places)) == [23, 32]
    assert sorted(IRIDIUM.neighbours(11, places)) == [0, 12, 21]


def test_ways_over_the_pole_stay_in_their_plane_there() -> None:
    """Every satellite reaches every other at all times, though no link between planes is above 60 degrees."""
    for second in range(0, 6000, 500):
        places = IRIDIUM.positions([second])[:, 0]
        for one in range(66):
            crossing = [other for other in IRIDIUM.neighbours(one, places) if other // 11 != one // 11]
            heights = [abs(places[each][2]) / np.linalg.norm(places[each]) for each in crossing]
            assert all(height <= math.sin(math.radians(60)) for height in heights)
        assert all(shortest_km(IRIDIUM, places, 0, other) > 0 for other in range(1, 66))


def test_a_way_along_the_arctic_goes_south_to_change_planes() -> None:
    """Svalbard to northern Alaska: without the rule the way leads from plane to plane up there."""
    ground = [[78.2, 15.6], [71.3, -156.8]]
    everywhere = {"altitude-km": 780, "inclination": 86.4, "planes": 6, "per-plane": 11, "phasing": 3}
    shape = {**everywhere, "spread": 189.6, "cross-links-up-to": 60}
    ruled = orbit.follow({"satellites": "iridium", "ground": ground}, 600_000_000)
    assert orbit.follow({"satellites": shape, "ground": ground, "min-elevation": 8}, 600_000_000) == ruled
    free = orbit.follow(
        {"satellites": {**shape, "cross-links-up-to": 90}, "ground": ground, "min-elevation": 8}, 600_000_000
    )
    with pytest.raises(FaultError, match=r"^satellites\.cross-links-up-to: too low"):
        orbit.follow({"satellites": {**shape, "cross-links-up-to": 0}, "ground": ground}, 1)
    longest, longest_free = (max(delay for _, delay in each.delays_us) for each in (ruled, free))
    assert longest > longest_free + 5_000


def test_a_delta_closes_where_its_phases_do() -> None:
    """Three planes of four, F = 1: satellites are 30 degrees ahead of those of the plane before. So 11, the
    last of the last plane, at 330 degrees, has as neighbour in the first plane 0, at 360, and not 3, at 270.
    """
    delta = Walker(1000, 60, planes=3, per_plane=4, phasing=1, spread_deg=360)
    assert sorted(delta.neighbours(0, AT_THE_EQUATOR)) == [1, 3, 4, 11]
    assert sorted(delta.neighbours(11, AT_THE_EQUATOR)) == [0, 7, 8, 10]
    heights = delta.positions([0.0])[:, 0, 2] / ((6378.135 + 1000) * math.sin(math.radians(60)))
    assert heights[[0, 4, 8, 11]] == pytest.approx([0, 0.5, math.sqrt(3) / 2, -0.5], abs=0.01)  # sin u


def test_the_shortest_way_is_not_that_of_fewest_links() -> None:
    """A ring of five: from 0 to 2 over 1 are 5 + 5 km, over 4 and 3 are 2 + 2 + 2."""
    ring = Walker(1000, 60, planes=1, per_plane=5, phasing=0, spread_deg=180)
    places = np.array([[0.0, 0, 0], [3, 4, 0], [6, 0, 0], [4, 0, 0], [2, 0, 0]])
    assert shortest_km(ring, places, 0, 2) == pytest.approx(6)
    assert shortest_km(ring, places, 0, 1) == pytest.approx(5)
    assert shortest_km(ring, places, 2, 2) == 0
    places[3] = [4, 8, 0]  # now over 1
    assert shortest_km(ring, places, 0, 2) == pytest.approx(10)


def test_a_constellation_by_its_shape() -> None:
    shape = {
        "altitude-km": 780,
        "inclination": 86.4,
        "planes": 6,
        "per-plane": 11,
        "phasing": 3,
        "spread": 189.6,
        "cross-links-up-to": 60,
    }
    ground = [SERDANG, TSETSERLEG]
    named = orbit.follow({"satellites": "iridium", "ground": ground}, 30_000_000)
    assert orbit.follow({"satellites": shape, "ground": ground, "min-elevation": 8}, 30_000_000) == named


def test_the_way_from_malaysia_to_mongolia() -> None:
    """Both stations lie on one meridian, 44.6 degrees apart. Light needs at least the straight line of
    4840 km, and two slants and two links along a plane at most, 2 * 2480 + 2 * 4033 km.
    """
    found = orbit.follow({"satellites": "iridium", "ground": [SERDANG, TSETSERLEG]}, 1_200_000_000)
    delays_ms = [delay / 1000 for _, delay in found.delays_us]
    assert min(delays_ms) > 4840 / LIGHT_KM_PER_MS
    assert max(delays_ms) < (2 * 2480 + 2 * 4033) / LIGHT_KM_PER_MS
    # Between handovers it changes steadily: two satellites at 7.5 km/s move the sum of two slants by less
    # than 15 km in a second, 50 us.
    steps = zip(found.delays_us, found.delays_us[1:], strict=False)
    jumps = [at for (_, before), (at, after) in steps if abs(after - before) > 50]
    assert set(jumps) <= set(found.handovers_us)


def test_satellites_without_links_serve_those_who_see_the_same() -> None:
    """Up and down again, from two places 300 km apart: at most 600 km more than twice the shorter slant."""
    shape = {
        "altitude-km": 550,
        "inclination": 53,
        "planes": 72,
        "per-plane": 22,
        "phasing": 39,
        "links": False,
    }
    document = {"satellites": shape, "ground": [[48.1, 11.6], [50.1, 8.7]], "min-elevation": 25}
    delays_ms = [delay / 1000 for _, delay in orbit.follow(document, 300_000_000).delays_us]
    assert min(delays_ms) >= 2 * 530 / LIGHT_KM_PER_MS
    assert max(delays_ms) <= 2 * slant_km(25, 575) / LIGHT_KM_PER_MS


def test_elements_put_a_satellite_where_their_reference_has_it() -> None:
    """r = (-6088.9, -936.1, -2866.4) km in the frame of the equinox: its length, and its height over the
    equator, are the same in the frame that turns with the Earth.
    """
    ((place,),) = parse_satellites({"elements": STATION}).positions([(0.8625 - 0.69339541) * 86_400])
    assert np.linalg.norm(place) == pytest.approx(math.hypot(6088.922, 936.137, 2866.441), abs=0.5)
    assert place[2] == pytest.approx(-2866.441, abs=0.5)


def test_a_link_in_orbit_has_steps_and_outages() -> None:
    orbital = {"satellites": "iridium", "ground": [SERDANG, TSETSERLEG], "handover-outage": "50 ms"}
    scenario = load({"orbit": orbital})
    (link,) = scenario.bottlenecks
    assert len(link.delay_steps.steps) > 200
    handovers_us = orbit.follow(orbital, 300_000_000).handovers_us
    outages = scenario.hazards_of(link, "forward").changes
    assert [change.at_us for change in outages[::2]] == list(handovers_us) != []
    assert [change.at_us for change in outages[1::2]] == [at_us + 50_000 for at_us in handovers_us]


def test_an_hour_at_a_step_a_second_is_planned() -> None:
    """More steps than a scenario file may list."""
    orbital = {"satellites": "iridium", "ground": [SERDANG, TSETSERLEG]}
    network = plan(load({"orbit": orbital}, duration="3600 s"))
    assert len(network.switches["s1"][0].changes) > 3000


def test_bmv2_has_no_moving_satellites() -> None:
    scenario = load({"orbit": {"satellites": "iridium", "ground": [SERDANG, TSETSERLEG]}})
    with pytest.raises(ScenarioError, match=r"links\.bottleneck\.orbit: engine bmv2 does not have it"):
        Bmv2Engine().check_switches(scenario, plan(scenario))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"ground": [[91, 0], [0, 0]]}, "ground.0: must be a latitude from -90 to 90"),
        ({"longitude": 5}, "longitude: only with satellites: geo"),
        ({"min-elevation": 85}, "ground.0: at 0 s no satellite is above 85 degrees"),
        ({"every": "1 us"}, "every: must be at least 1 ms"),
        (
            {
                "satellites": {"altitude-km": 500, "inclination": 50, "planes": 70, "per-plane": 70},
                "every": "1 ms",
            },
            "every: must be at least 0.00147 s for so many satellites",
        ),
        ({"satellites": "geo"}, "longitude: missing"),
        ({"satellites": "geo", "longitude": 180}, "ground.0: the satellite is below 5 degrees there"),
        ({"satellites": {"planes": 6}}, "satellites.altitude-km: missing; or give elements"),
        (
            {
                "satellites": {
                    "altitude-km": 500,
                    "inclination": 50,
                    "planes": 6,
                    "per-plane": 6,
                    "phasing": 6,
                }
            },
            "satellites.phasing: 6: must be below planes",
        ),
        (
            {"satellites": {"altitude-km": 500, "inclination": 50, "planes": 100, "per-plane": 100}},
            "satellites.planes: 10000 satellites: at most 5000",
        ),
        ({"satellites": {"elements": "1 2"}}, "satellites.elements: must have two lines for each"),
        (
            {"satellites": {"elements": STATION.replace("9991", "9990")}},
            'satellites.elements: "1 25544U 98067A ',
        ),
        ({"satellites": {"elements": STATION, "planes": 2}}, "satellites.planes: not together with elements"),
        ({"satellites": {"elements": STATION}}, "ground.0: at 0 s no satellite is above 10 degrees"),
    ],
)
def test_faults_of_orbits(change: dict[str, Any], message: str) -> None:
    document = {"satellites": "iridium", "ground": [[0.0, 0.0], [10.0, 10.0]], **change}
    with pytest.raises(FaultError) as caught:
        orbit.follow(document, 3_000_000)
    path = ".".join(map(str, caught.value.fault.path))
    assert f"{path}: {caught.value.fault.reason}".startswith(message)


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ({"rtt": "5 ms"}, "links.bottleneck.rtt: given together with orbit; leave it out"),
        (
            {"hazards": {"forward": {"outages": [{"at": "5 s", "for": "1 s"}]}}},
            "links.bottleneck.hazards.forward",
        ),
        ({"orbit": {"handover-outage": "200 s"}}, "links.bottleneck.orbit.handover-outage: must be below"),
        (
            {"orbit": {"satellites": "oneweb"}},
            'links.bottleneck.orbit.satellites: "oneweb": use iridium, geo',
        ),
        (
            {"orbit": {"satellites": {"plane": 1}}},
            "links.bottleneck.orbit.satellites.plane: unknown key; use",
        ),
    ],
)
def test_faults_of_links_in_orbit(link: dict[str, Any], message: str) -> None:
    orbital = {"satellites": "iridium", "ground": [SERDANG, TSETSERLEG], "handover-outage": "1 s"}
    with pytest.raises(ScenarioError) as caught:
        load({**link, "orbit": {**orbital, **link.get("orbit", {})}})
    assert str(caught.value).removeprefix("scenario x: ").startswith(message)
