# SPDX-License-Identifier: Apache-2.0
"""The API over a controller with fake switches, and a client for each role."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from clarion import scenario_library
from clarion_control.api.app import create_app
from clarion_control.api.options import ApiOptions
from clarion_control.controller import Controller
from clarion_control.experiments.service import Experiments
from clarion_control.model import Role
from clarion_control.store import Store
from fakes.controller import ADMIN, DEADLINE_S, open_controller, open_store
from fakes.runner import open_runner
from fakes.switch import FakeSwitch

GENEROUS = ApiOptions(
    requests_per_minute=10**6,
    anonymous_per_minute=10**6,
    failures_per_minute=10**6,
    streams=10**6,
    streams_per_token=10**6,
)
PORT = "/v1/switches/s1/ports/1"


@dataclass
class Rig:
    """The API under test, and everything behind it."""

    app: FastAPI
    client: httpx.AsyncClient
    controller: Controller
    store: Store  # a second connection, as of another controller
    experiments: Experiments
    switches: dict[str, FakeSwitch]
    tokens: dict[Role, str]

    async def ask(self, role: Role | None, method: str, path: str, **more: Any) -> httpx.Response:
        """One request; without a role it carries no token."""
        headers = dict(more.pop("headers", {}))
        if role is not None:
            headers["Authorization"] = f"Bearer {self.tokens[role]}"
        return await self.client.request(method, path, headers=headers, **more)

    async def read(self, path: str, **more: Any) -> Any:
        """The document of a viewer's GET, which must succeed."""
        answer = await self.ask(Role.VIEWER, "GET", path, **more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def operate(self, method: str, path: str, **more: Any) -> httpx.Response:
        """The response to an operator's request."""
        return await self.ask(Role.OPERATOR, method, path, **more)

    async def experiment(self, method: str, path: str, **more: Any) -> httpx.Response:
        """The response to an experimenter's request."""
        return await self.ask(Role.EXPERIMENTER, method, path, **more)

    async def administer(self, method: str, path: str, **more: Any) -> httpx.Response:
        """The response to an admin's request."""
        return await self.ask(Role.ADMIN, method, path, **more)


@contextlib.asynccontextmanager
async def open_rig(
    tmp_path: Path,
    *switches: FakeSwitch,
    options: ApiOptions = GENEROUS,
    clarion: Sequence[str] | None = None,
    **more: Any,
) -> AsyncIterator[Rig]:
    """A controller, its experiments, its API, and a token for each role. `clarion` runs the experiments, a
    stand-in by default; `more` goes to the controller.
    """
    more.setdefault("apply_timeout_s", DEADLINE_S)  # a slow machine is no reason for a 202
    switches = switches or (FakeSwitch("s1"), FakeSwitch("s2", (1, 2, 3)))
    async with (
        open_controller(tmp_path, *switches, **more) as controller,
        open_store(tmp_path) as store,
        open_runner(tmp_path / "experiments", clarion=clarion) as runner,
    ):
        experiments = await Experiments.open(controller, runner, scenario_library)
        try:
            app = create_app(controller, experiments=experiments, options=options)
            transport = httpx.ASGITransport(app, raise_app_exceptions=False, client=("127.0.0.1", 1))
            async with httpx.AsyncClient(transport=transport, base_url="http://controller") as client:
                tokens = {
                    role: (await controller.tokens.create(ADMIN, role.name.lower(), role))[1] for role in Role
                }
                named = {switch.name: switch for switch in switches}
                yield Rig(app, client, controller, store, experiments, named, tokens)
        finally:
            await experiments.close()


def problem(answer: httpx.Response, status: int, slug: str) -> Any:
    """The problem document of an answer, which must have this status and type."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    document = answer.json()
    assert document["type"] == f"/problems/{slug}"
    assert document["status"] == status
    assert document["title"]
    assert "\n" not in document["detail"]
    return document
