# SPDX-License-Identifier: Apache-2.0
"""A controller over fake switches with its dashboard, as a process of its own, which NiceGUI needs.

It prints one line of JSON when it serves, then carries out commands, one line of JSON each, until its input
ends; so it never outlives the test.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI

from clarion import scenario_library
from clarion_contract import lldp
from clarion_contract.settings import PortSettings, XcpSettings
from clarion_contract.settings_json import to_json
from clarion_control import dashboard
from clarion_control.controller import Controller
from clarion_control.experiments.service import Experiments
from clarion_control.model import Actor, ExperimentState, PolicyState, Role
from clarion_control.store.clock import now_us
from clarion_control.store.desired_state import forwarding_to_json
from clarion_control.tuner.registry import checked_parameters
from clarion_p4rt.device import Cells, Mastership
from clarion_p4rt.switch import Forwarding
from fakes.controller import open_controller
from fakes.runner import open_runner
from fakes.switch import FakeSwitch

OTHER = Actor("olga", Role.OPERATOR)
TUNER = Actor("tuner", Role.OPERATOR)


class Site:
    """Actions of a test that bypass the dashboard."""

    def __init__(self, controller: Controller, switches: dict[str, FakeSwitch], board: dashboard.Dashboard):
        self._controller = controller
        self._switches = switches
        self._board = board

    async def report(self, switch: str, port: int, **fields: Any) -> None:
        self._switches[switch].report(port, **fields)

    async def hear(self, switch: str, port: int, chassis: str, its_port: str, ours: bool) -> None:
        """A hello of a Clarion port that stamps, or of a bridge."""
        hello = lldp.our_hello(chassis, its_port, stamps=True, checks=True, ttl_s=600)
        frame = lldp.encode(bytes(6), hello if ours else replace(hello, clarion=None))
        self._switches[switch].receive_frame(port, frame)

    async def forget(self, switch: str, port: int, chassis: str, its_port: str) -> None:
        """The last hello of a neighbour."""
        hello = lldp.our_hello(chassis, its_port, stamps=True, checks=True, ttl_s=0)
        self._switches[switch].receive_frame(port, lldp.encode(bytes(6), hello))

    async def count(self, switch: str, port: int, packets: dict[str, int], bytes: dict[str, int]) -> None:
        self._switches[switch].counters[port] = Cells(packets, bytes)

    async def settings(self, switch: str, port: int) -> dict[str, Any]:
        return to_json(self._switches[switch].ports[port])

    async def change(self, switch: str, port: int, changes: dict[str, Any]) -> None:
        await self._controller.ports.change(OTHER, switch, port, changes)

    async def reset(self, switch: str, port: int) -> None:
        """Sets a port to XCP at 100 Mbit/s, with all policies off."""
        settings = PortSettings(port, xcp=XcpSettings(100_000_000), stamp=True)
        await self._controller.ports.set(OTHER, switch, settings)
        for each in await self._controller.tuning.policies(switch, port):
            await self._controller.tuning.put_policy(
                OTHER, switch, port, each.name, PolicyState.OFF, each.parameters
            )

    async def forward(self, switch: str, addresses: dict[str, int], flood_ports: list[int]) -> None:
        await self._controller.forwarding.set(OTHER, switch, Forwarding(addresses, tuple(flood_ports)))

    async def forwarding(self, switch: str) -> Any:
        """As the switch has it."""
        return forwarding_to_json(self._switches[switch].forwarding)

    async def policy(self, switch: str, port: int, name: str) -> str | None:
        found = await self._controller.tuning.policies(switch, port)
        return next((each.state.value for each in found if each.name == name), None)

    async def decide(self, switch: str, port: int, policy: str, changes: dict[str, Any], **words: Any) -> int:
        await self._controller.tuning.put_policy(
            OTHER, switch, port, policy, PolicyState.ACTIVE, checked_parameters(policy, {})
        )
        decision = await self._controller.tuning.apply_decision(
            TUNER, switch, port, policy, if_version=None, changes=changes, **words
        )
        return decision.id

    async def experiment(self) -> None:
        assert self._board.experiments is not None
        await self._board.experiments.submit(OTHER, "smoke", "emu", {}, 1)

    async def run_elsewhere(self, place: str) -> int:
        """A run of a command line registers and says what it is doing."""
        assert self._board.experiments is not None
        reported = self._board.experiments.reported
        made = await reported.register(OTHER, "geo", "emu", {"sweep.algorithm": ["xcp", "bbr"]}, 1, place)
        return (await reported.hear(OTHER, made.id, "geo: 4.0 / 25 s")).id

    async def end_elsewhere(self, experiment: int, summary: dict[str, Any]) -> None:
        assert self._board.experiments is not None
        done = ExperimentState.COMPLETE
        await self._board.experiments.reported.finish(OTHER, experiment, done, None, summary)

    async def stand(self, switch: str, primary: bool) -> None:
        self._switches[switch].become(Mastership.PRIMARY if primary else Mastership.BACKUP)

    async def leave(self, switch: str) -> None:
        self._switches[switch].go()

    async def come_back(self, switch: str) -> None:
        self._switches[switch].come_back()

    async def link(self, base: str, name: str) -> str:
        token = next(each for each in await self._controller.tokens.all() if each.name == name)
        return self._board.sign_in_link(base, token.id)

    async def token(self, name: str, role: str, days: int = 90) -> str:
        expires_us = now_us() + days * 86_400_000_000
        return (await self._controller.tokens.create(OTHER, name, Role[role], expires_us))[1]

    async def revoke(self, name: str) -> None:
        for token in await self._controller.tokens.all():
            if token.name == name and token.revoked_us is None:
                await self._controller.tokens.revoke(OTHER, token.id)


async def main(directory: Path) -> None:
    """Serves until the input ends."""
    switches = [FakeSwitch("s1", (1, 2)), FakeSwitch("s2", (1, 2, 3))]
    for switch in switches:
        switch.ports[1] = PortSettings(1, xcp=XcpSettings(100_000_000), stamp=True)
    switches[1].port_names = {1: "left"}
    async with (
        open_controller(directory, *switches, counters_every_s=0.5) as controller,
        open_runner(directory / "experiments") as runner,
    ):
        tokens = {
            role.name.lower(): (await controller.tokens.create(OTHER, role.name.lower(), role))[1]
            for role in Role
        }
        app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
        experiments = await Experiments.open(controller, runner, scenario_library)
        board = dashboard.mount(app, controller, experiments=experiments)
        site = Site(controller, {switch.name: switch for switch in switches}, board)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            config = uvicorn.Config(
                app, log_level="warning", proxy_headers=False, timeout_graceful_shutdown=1
            )
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server.serve([listener]))
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            print(json.dumps({"url": url, "tokens": tokens}), flush=True)
            try:
                await _obey(site)
            finally:
                server.should_exit = True
                await serving
                await experiments.close()


async def _obey(site: Site) -> None:
    while line := await asyncio.to_thread(sys.stdin.readline):
        command = json.loads(line)
        try:
            answer = {"answer": await getattr(site, command["do"])(**command["with"])}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
