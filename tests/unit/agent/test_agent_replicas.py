# SPDX-License-Identifier: Apache-2.0
"""Backup replicas: which port a copy goes to while links are down, and what is read back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
from finsy.proto import p4r

from clarion_agent import device, links
from clarion_agent.device import Device, RefusedBatch
from clarion_agent.program import Program
from fakes.p4runtime_messages import delete, group, insert, modify
from fakes.target import FakeTarget
from unit.agent.conftest import Primary


def replicas(*wanted: tuple[int, ...]) -> p4r.Entity:
    """A group with a copy for each: the port, and its backups."""
    entity = group()
    made = entity.packet_replication_engine_entry.multicast_group_entry
    instance = 0
    for ports in wanted:
        replica = made.replicas.add(port=(256 + ports[0]).to_bytes(2, "big"), instance=instance)
        for port in ports[1:]:
            instance += 1
            replica.backup_replicas.add(port=(256 + port).to_bytes(2, "big"), instance=instance)
        instance += 1
    return entity


async def until(condition: Callable[[], bool]) -> None:
    end = asyncio.get_running_loop().time() + 30
    while not condition():
        assert asyncio.get_running_loop().time() < end
        await asyncio.sleep(0.001)


async def test_a_copy_goes_to_the_first_port_that_has_a_link(
    primary: Primary, target: FakeTarget, program: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "LINKS_EVERY_S", 0.001)
    target.links_down = frozenset({1})
    wanted = replicas((1, 2, 3), (3,))
    await primary.write(insert(wanted))
    assert target.flood == (2, 3)
    for down, flood in (({1, 2}, (3, 3)), ({1, 2, 3}, (1, 3)), ({2}, (1, 3)), ({1}, (2, 3))):
        target.links_down = frozenset(down)
        await until(lambda flood=flood: target.flood == flood)  # type: ignore[misc]
        assert await primary.read(group()) == [wanted]
    successor = Device(1, target, program)
    await successor.start()
    assert await Primary(successor).read(group()) == [wanted]
    successor.stop()
    target.forget()
    await primary.device.on_connected()
    assert target.flood == (2, 3)
    await primary.write(modify(replicas((1,), (3,))))
    assert target.flood == (1, 3)
    assert primary.device._watcher is None  # nothing depends on links
    await primary.write(delete(group()))
    assert target.flood is None


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (replicas((1, 1)), "backup_replicas: port 257: is the replica's own"),
        (replicas((1, 9)), "port 265: a copy goes to 256 + port; the switch has 257, 258, 259"),
    ],
)
async def test_backups_that_are_refused(
    primary: Primary, target: FakeTarget, wanted: p4r.Entity, message: str
) -> None:
    with pytest.raises(RefusedBatch) as refused:
        await primary.write(insert(wanted))
    (error,) = refused.value.plan.errors
    assert error is not None
    assert error.code.name == "INVALID_ARGUMENT"
    assert message in error.message
    assert target.flood is None


async def test_port_and_instance_are_unique_with_the_backups(primary: Primary) -> None:
    wanted = replicas((1, 2), (3, 2))
    made = wanted.packet_replication_engine_entry.multicast_group_entry
    for replica in made.replicas:
        replica.backup_replicas[0].instance = 7
    with pytest.raises(RefusedBatch) as refused:
        await primary.write(insert(wanted))
    assert "a port and instance is there twice" in str(refused.value.plan.errors[0])


def test_links_are_what_the_kernel_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "DEVICES", tmp_path)
    for name, carrier in (("up", "1\n"), ("unplugged", "0\n")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "carrier").write_text(carrier)
    (tmp_path / "off" / "carrier").mkdir(parents=True)  # cannot be read, like that of a device that is off
    assert links.down({1: "up", 2: "unplugged", 3: "off", 4: "elsewhere"}) == {2, 3}
