# SPDX-License-Identifier: Apache-2.0
"""The topology over fake switches: who hears whom, which wires count, and the figures of each direction."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from clarion_contract import lldp
from clarion_contract.lldp import Hello, Identifier
from clarion_contract.neighbours import WireState
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_control.controller import Controller
from clarion_control.model import LinkState
from clarion_control.topology import WireLink
from clarion_p4rt.device import Cells, Lease, Mastership, OwnLldp
from fakes.controller import ADMIN, in_state, open_controller, until
from fakes.switch import FakeSwitch

PROOF = Lease(True, 4_000_000)  # by the clock of a fake switch, which stands still
MAC = bytes.fromhex("020000000009")
BRIDGE = lldp.encode(MAC, Hello(Identifier(4, MAC), Identifier(5, b"eth0"), 120))


def host(*, stamps: bool = True, ttl_s: int = 4) -> bytes:
    return lldp.encode(MAC, lldp.our_hello("h1", "eth0", stamps=stamps, checks=True, ttl_s=ttl_s))


def pair() -> tuple[FakeSwitch, FakeSwitch]:
    """Two switches, each with its port 2 at the other's, both of which stamp and check."""
    first, second = FakeSwitch("s1"), FakeSwitch("s2")
    for switch in (first, second):
        switch.ports[2] = PortSettings(2, xcp=XcpSettings(80_000_000), stamp=True, check=True)
    first.wire(2, second, 2)
    return first, second


async def the_link(controller: Controller, condition: Callable[[WireLink], bool]) -> WireLink:
    """The only link, once it is as it should be."""

    def found() -> bool:
        links = controller.topology.links()
        return len(links) == 1 and condition(links[0])

    await until(found)
    return controller.topology.links()[0]


async def test_two_switches_prove_their_link_both_ways(tmp_path: Path) -> None:
    first, second = pair()
    async with open_controller(tmp_path, first, second) as controller:
        link = await the_link(controller, lambda link: link.is_two_way)
        assert [(end.switch, end.port, end.hears) for end in link.ends] == [("s1", 2, True), ("s2", 2, True)]
        assert link.state is WireState.PROVEN
        assert link.reason == "s1 port 2: s2 port 2 is the only neighbour and numbers its packets"
        await until(lambda: bool(first.leases and second.leases))
        assert first.leases == second.leases == {2: PROOF}
        wire = (await controller.ports.get("s1", 2)).wire
        assert wire is not None
        assert wire.is_effective
        idle = (await controller.ports.get("s1", 1)).wire
        assert idle is not None
        assert idle.state is WireState.UNPROVEN


async def test_leases_are_neither_settings_nor_changes(tmp_path: Path) -> None:
    first, second = pair()
    async with open_controller(tmp_path, first, second) as controller:
        await until(lambda: bool(first.leases and second.leases))
        before = await controller.records.audit()
        assert {record.action for record in before} == {"switch.add", "port.change"}
    async with open_controller(tmp_path, first, second, compare_every_s=0.05) as controller:
        await the_link(controller, lambda link: link.is_two_way)
        assert await controller.records.audit() == before
        assert (first.writes, second.writes) == ([], [])


async def test_what_one_end_stamps_counts_at_the_other(tmp_path: Path) -> None:
    first, second = pair()
    async with open_controller(tmp_path, first, second) as controller:
        await the_link(controller, lambda link: link.state is WireState.PROVEN)
        await controller.ports.change(ADMIN, "s2", 2, {"stamp": False})
        link = await the_link(controller, lambda link: link.state is WireState.UNNUMBERED)
        assert link.reason == "s1 port 2: s2 port 2 does not number its packets"
        await until(lambda: first.leases.get(2, PROOF) != PROOF)
        assert not first.leases[2].proven
        assert second.leases == {2: PROOF}


async def test_a_bridge_disproves_the_wire(tmp_path: Path) -> None:
    first, second = pair()
    async with open_controller(tmp_path, first, second) as controller:
        await the_link(controller, lambda link: link.state is WireState.PROVEN)
        first.receive_frame(2, BRIDGE)
        await until(lambda: len(controller.topology.links()) == 2)
        links = {each.ends[1].switch or each.ends[1].chassis_id: each for each in controller.topology.links()}
        assert set(links) == {"s2", "02:00:00:00:00:09"}
        assert {each.state for each in links.values()} == {WireState.DISPROVED}
        assert links["s2"].is_two_way
        stranger = links["02:00:00:00:00:09"].ends[1]
        assert (stranger.port_id, stranger.hears, stranger.wire) == ("eth0", None, None)
        await until(lambda: first.leases.get(2, PROOF) != PROOF)
        assert not first.leases[2].proven
        await until(lambda: second.leases == {2: PROOF})


async def test_a_host_is_the_other_end_of_a_link(tmp_path: Path) -> None:
    switch = FakeSwitch("s1")
    async with open_controller(tmp_path, switch) as controller:
        switch.receive_frame(1, host())
        link = await the_link(controller, lambda link: True)
        assert [end.place for end in link.ends] == ["s1 port 1", "h1 port eth0"]
        assert (link.is_two_way, link.state) == (False, WireState.PROVEN)
        switch.receive_frame(1, host(ttl_s=0))
        await until(lambda: controller.topology.links() == [])


async def test_a_link_that_only_one_end_hears(tmp_path: Path) -> None:
    first, second = pair()
    del second.wired[2]  # what s2 sends is lost
    async with open_controller(tmp_path, first, second) as controller:
        link = await the_link(controller, lambda link: True)
        assert [(end.switch, end.hears) for end in link.ends] == [("s1", False), ("s2", True)]
        assert not link.is_two_way
        assert link.state is WireState.UNPROVEN  # of the end that hears nothing


async def test_a_switch_that_speaks_lldp_names_itself(tmp_path: Path) -> None:
    first, second = pair()
    second.own_lldp = OwnLldp("rack-7", {1: "a", 2: "b"})
    async with open_controller(tmp_path, first, second) as controller:
        await until(lambda: bool(first.sent))
        hello = lldp.our_hello("rack-7", "b", stamps=True, checks=True)
        first.receive_frame(2, lldp.encode(MAC, hello))
        link = await the_link(controller, lambda link: link.is_two_way)
        assert [(end.switch, end.port, end.chassis_id, end.port_id) for end in link.ends] == [
            ("s1", 2, "s1", "2"),
            ("s2", 2, "rack-7", "b"),
        ]
        assert second.leases == {}


async def test_ports_of_the_same_name_in_hellos_are_not_guessed(tmp_path: Path) -> None:
    first, second = pair()
    second.own_lldp = OwnLldp("s1", {2: "2"})  # as s1 calls itself
    async with open_controller(tmp_path, first, second) as controller:
        first.receive_frame(1, lldp.encode(MAC, lldp.our_hello("s1", "2", stamps=True, checks=True)))
        await until(lambda: any(end.port == 1 for each in controller.topology.links() for end in each.ends))
        stranger = next(each for each in controller.topology.links() if each.ends[0].port == 1).ends[1]
        assert (stranger.switch, stranger.chassis_id) == (None, "s1")


async def test_links_end_with_the_session_and_come_back(tmp_path: Path) -> None:
    first, second = pair()
    async with open_controller(tmp_path, first, second) as controller:
        await the_link(controller, lambda link: link.is_two_way)
        second.go()
        await in_state(controller, "s2", LinkState.UNREACHABLE)
        (link,) = controller.topology.links()
        assert [end.hears for end in link.ends] == [True, None]
        assert (await controller.ports.get("s2", 2)).wire is None
        second.come_back(empty=True)
        await the_link(controller, lambda link: link.is_two_way and link.state is WireState.PROVEN)


async def test_a_backup_says_and_writes_nothing(tmp_path: Path) -> None:
    switch = FakeSwitch("s1")
    switch.become(Mastership.BACKUP)
    async with open_controller(tmp_path, switch, wait=False) as controller:
        await in_state(controller, "s1", LinkState.BACKUP)
        switch.receive_frame(1, host())
        assert controller.topology.links() == []
        assert (await controller.ports.get("s1", 1)).wire is None
        assert (switch.sent, switch.leases) == ([], {})


async def test_each_direction_has_its_figures(tmp_path: Path) -> None:
    first, second = pair()
    async with open_controller(tmp_path, first, second, counters_every_s=0.05) as controller:
        await the_link(controller, lambda link: link.state is WireState.PROVEN)
        first.report(2, lost_on_wire=0)
        second.report(2, lost_on_wire=0)
        await until(lambda: controller.telemetry.latest("s2", 2) is not None)
        for received, lost in ((1000, 0), (2000, 10)):
            first.counters[2] = Cells({"rx": 1000, "tx": received}, {"rx": 10**6, "tx": 1000 * received})
            second.report(2, lost_on_wire=lost)
            second.counters[2] = Cells({"rx": received, "tx": 1000}, {"rx": 1000 * received, "tx": 10**6})
            await until(lambda received=received: _counted(controller) == (received, received))  # type: ignore[misc]
        link = await the_link(controller, lambda link: _is_known(link))
        forward, back = link.figures
        assert forward.errors is not None
        assert (forward.errors.lost_packets, forward.errors.received_packets) == (10, 1000)
        assert forward.sent_bps is not None
        assert forward.sent_bps > 0
        assert forward.utilisation == forward.sent_bps / 80_000_000
        assert back.sent_bps == 0
        # Without a proof gaps do not count: no errors are no claim of a clean wire.
        second.receive_frame(2, BRIDGE)
        await until(lambda: len(controller.topology.links()) == 2)
        assert [each.figures[0].errors for each in controller.topology.links() if each.is_two_way] == [None]


def _counted(controller: Controller) -> tuple[int | None, ...]:
    """What s1 has sent and s2 received, as the controller knows it."""
    found = (
        (controller.telemetry.latest_counters(name, 2), cell) for name, cell in (("s1", "tx"), ("s2", "rx"))
    )
    return tuple(None if counters is None else counters.packets.get(cell) for counters, cell in found)


def _is_known(link: WireLink) -> bool:
    """Whether there are counters of all ends to compare."""
    return link.figures[0].errors is not None and all(each.sent_bps is not None for each in link.figures)
