# SPDX-License-Identifier: Apache-2.0
"""A controller over fake switches, on a SQLite file of its own."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from clarion_control.controller import Controller
from clarion_control.model import Actor, LinkState, Role
from clarion_control.store import Store
from fakes.switch import FakeFleet, FakeSwitch

ADMIN = Actor("ann", Role.ADMIN)
DEADLINE_S = 30.0


@contextlib.asynccontextmanager
async def open_store(tmp_path: Path) -> AsyncIterator[Store]:
    """A connection to the store of a test; one more beside a controller is as of another controller."""
    opened = await asyncio.to_thread(Store.open, store_in(tmp_path))
    try:
        yield opened
    finally:
        await opened.close()


@contextlib.asynccontextmanager
async def open_controller(
    tmp_path: Path, *switches: FakeSwitch, wait: bool = True, **options: Any
) -> AsyncIterator[Controller]:
    """A controller with these switches added and, with `wait`, in sync. Opening it again on the same
    `tmp_path` is a restart. `options` are those of Controller.open.
    """
    async with (
        open_store(tmp_path) as opened,
        await Controller.open(opened, connect=FakeFleet(*switches), **options) as controller,
    ):
        known = {switch.name for switch in controller.switches.all()}
        for number, switch in enumerate(switches, start=1):
            if switch.name not in known:
                await controller.switches.add(
                    ADMIN,
                    name=switch.name,
                    address=f"127.0.0.1:{9000 + number}",
                    device_id=number,
                    ports=list(switch.ports),
                    port_names=switch.port_names,
                )
        if wait:
            for switch in switches:
                await in_state(controller, switch.name, LinkState.IN_SYNC)
        yield controller


def store_in(tmp_path: Path) -> str:
    """The URL of the store of a test with this directory; tests of PostgreSQL replace it."""
    return str(tmp_path / "controller.db")


async def in_state(controller: Controller, switch: str, state: LinkState) -> None:
    """Waits until a switch is in a state."""
    try:
        await until(lambda: controller.switches.status(switch).state is state)
    except AssertionError:
        raise AssertionError(f"{switch} is not {state.value}: {controller.switches.status(switch)}") from None


async def until(condition: Callable[[], bool]) -> None:
    """Waits for a condition, and fails if it does not come true in a generous time."""
    deadline = asyncio.get_running_loop().time() + DEADLINE_S
    while not condition():
        assert asyncio.get_running_loop().time() < deadline, "timed out"
        await asyncio.sleep(0.005)
