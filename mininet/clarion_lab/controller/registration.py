# SPDX-License-Identifier: Apache-2.0
"""Registers the switches of a run at a controller: a P4Runtime agent for as long as the run, and their names
at the controller's REST API.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clarion_base import processes
from clarion_base.errors import RunFailedError, UserError
from clarion_lab.controller.rest_client import RestClient
from clarion_lab.machine import children
from clarion_lab.machine.state import RunState
from clarion_lab.recording import files
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Network, PlannedPort, switch_config

READY_TIMEOUT_S = 30.0  # of the agent
SYNC_TIMEOUT_S = 30.0
POLL_S = 0.1
AGENT_LOG = "agent.log"
SERVING = re.compile(r"serving P4Runtime on (\S+)")
LOCAL = "127.0.0.1:"


@dataclass(frozen=True)
class Tuning:
    """A policy of the tuner, active at the bottlenecks, and its parameters."""

    policy: str
    parameters: Mapping[str, float]

    @classmethod
    def parse(cls, text: str) -> Tuning:
        """From POLICY or POLICY:NAME=NUMBER,..."""
        policy, _, rest = text.partition(":")
        parameters: dict[str, float] = {}
        for part in filter(None, rest.split(",")):
            name, _, number = part.partition("=")
            try:
                parameters[name] = float(number)
            except ValueError:
                raise UserError(f"--tune {text}: write POLICY or POLICY:NAME=NUMBER,...") from None
        return cls(policy, parameters)


class Registrar:
    """A controller and the policies to activate there: registers the switches of each run of a batch."""

    def __init__(
        self,
        client: RestClient,
        tunings: Sequence[Tuning] = (),
        restart: Callable[[], None] | None = None,
    ) -> None:
        """`restart` starts the controller again; None where it is not the run's own."""
        self.client = client
        self.tunings = tuple(tunings)
        self.restart = restart

    @classmethod
    def from_options(
        cls,
        url: str,
        token_file: Path,
        ca: Path | None,
        tune: Sequence[str],
        restart: Callable[[], None] | None = None,
    ) -> Registrar:
        """From the command line; UserError names the option."""
        client = RestClient.with_token_of(url, token_file, ca)
        return cls(client, [Tuning.parse(text) for text in tune], restart)

    def check(self) -> None:
        """UserError if the controller does not answer, the token is not good, or a policy is not known."""
        self.client.call("GET", "/v1/switches")
        known = (
            {kind["name"] for kind in self.client.call("GET", "/v1/policies")["items"]}
            if self.tunings
            else set()
        )
        for tuning in self.tunings:
            if tuning.policy not in known:
                raise UserError(f"--tune {tuning.policy}: no such policy; use {', '.join(sorted(known))}")

    def register(
        self,
        scenario: Scenario,
        network: Network,
        state: RunState,
        control: Path,
        directory: Path,
        check: Callable[[], None],
    ) -> Registration:
        """Returns when the controller has all switches in sync and the policies are on; `check` is called
        while it waits and may raise.
        """
        registration = Registration(self, scenario, network, state, directory)
        try:
            registration.start(control, check)
        except BaseException:
            registration.close()
            raise
        return registration


class Registration:
    """The agent of one run, and its switches at the controller."""

    def __init__(
        self, registrar: Registrar, scenario: Scenario, network: Network, state: RunState, directory: Path
    ) -> None:
        self._client = registrar.client
        self._tunings = registrar.tunings
        self._scenario = scenario
        self._network = network
        self._state = state
        self._directory = directory
        self._agent: subprocess.Popen[bytes] | None = None
        self._added: list[str] = []
        self._since_id = 0

    def describe(self) -> dict[str, Any]:
        """For the summary."""
        tuned = [{"policy": tuning.policy, "parameters": dict(tuning.parameters)} for tuning in self._tunings]
        return {"url": self._client.url, "switches": list(self._added), "tuned": tuned}

    def start(self, control: Path, check: Callable[[], None]) -> None:
        """The agent, the switches, the policies."""
        address = self._start_agent(control)
        newest = self._client.call("GET", "/v1/decisions?limit=1")["items"]
        self._since_id = newest[0]["id"] if newest else 0
        for device_id, (switch, ports) in enumerate(self._network.switches.items(), start=1):
            name = self.name_of(switch)
            self._remove_dead(name)
            new = {
                "name": name,
                "address": address,
                "device_id": device_id,
                "ports": list(range(1, len(ports) + 1)),
                "port_names": {str(at): _port_name(switch, port) for at, port in enumerate(ports, start=1)},
            }
            self._client.call("POST", "/v1/switches", new)
            self._added.append(name)
        for name in self._added:
            self._await_sync(name, check)
        self._set_ports()
        for name, port in self._bottlenecks():
            for tuning in self._tunings:
                document = {"state": "active", "parameters": dict(tuning.parameters)}
                path = f"/v1/switches/{name}/ports/{port}/policies/{tuning.policy}"
                self._client.call("PUT", path, document)

    def close(self) -> None:
        """Removes the switches and stops the agent; the tuner's decisions go to the results."""
        with contextlib.suppress(UserError):
            self._save_decisions()
        for name in self._added:
            try:
                self._client.call("DELETE", f"/v1/switches/{name}")
            except UserError as error:
                print(f"clarion: {error}; the switch {name} stays at the controller", file=sys.stderr)
        if self._agent is not None:
            processes.stop([self._agent])
            self._agent = None

    def name_of(self, switch: str) -> str:
        """Its name at the controller, which may have several runs' switches."""
        return f"{self._scenario.name}-{switch}"

    def _set_ports(self) -> None:
        """The ports have the scenario's settings, whatever the controller adopted as the switches joined."""
        for switch in switch_config(self._scenario, self._network, "")["switches"]:
            for number, port in enumerate(switch["ports"], start=1):
                path = f"/v1/switches/{self.name_of(switch['name'])}/ports/{number}"
                wanted = _settings(port)
                if not _same(self._client.call("GET", path)["desired"], wanted):
                    self._client.call("PATCH", path, wanted)

    def _bottlenecks(self) -> list[tuple[str, int]]:
        return [
            (self.name_of(switch), number)
            for switch, ports in self._network.switches.items()
            for number, port in enumerate(ports, start=1)
            if port.role.endswith("forward")
        ]

    def _start_agent(self, control: Path) -> str:
        command = [sys.executable, "-m", "clarion", "switch", "serve"]
        command += ["--control", str(control), "--listen", LOCAL + "0"]
        path = self._directory / AGENT_LOG
        with path.open("wb") as log:
            self._agent = children.spawn(self._state, "agent", command, stdout=subprocess.PIPE, stderr=log)
        found = processes.await_output(self._agent, "clarion switch serve", SERVING, READY_TIMEOUT_S, path)
        return found[1]

    def _remove_dead(self, name: str) -> None:
        """A run of this machine that was killed could not take its switches away."""
        for switch in self._client.call("GET", "/v1/switches")["items"]:
            dead = switch["address"].startswith(LOCAL) and switch["status"]["state"] == "unreachable"
            if switch["name"] == name and dead:
                self._client.call("DELETE", f"/v1/switches/{name}")

    def _await_sync(self, name: str, check: Callable[[], None]) -> None:
        deadline = time.monotonic() + SYNC_TIMEOUT_S
        while True:
            status = self._client.call("GET", f"/v1/switches/{name}")["status"]
            if status["state"] == "in-sync":
                return
            if time.monotonic() > deadline:
                reason = f": {status['reason']}" if status["reason"] else ""
                raise RunFailedError(f"controller: {name} is not in sync but {status['state']}{reason}")
            check()
            time.sleep(POLL_S)

    def _save_decisions(self) -> None:
        found: list[dict[str, Any]] = []
        for name in self._added:
            before = ""
            while True:
                page = self._client.call("GET", f"/v1/decisions?switch={name}&limit=100{before}")["items"]
                fresh = [decision for decision in page if decision["id"] > self._since_id]
                found += fresh
                if len(fresh) < 100:
                    break
                before = f"&before_id={fresh[-1]['id']}"
        found.sort(key=lambda decision: int(decision["id"]))
        files.write_json(self._directory / files.DECISIONS, {"decisions": found})


def _port_name(switch: str, port: PlannedPort) -> str:
    """What a port leads to: h1 or right, without the switch's name that the controller shows beside it."""
    return port.name.removeprefix(f"{switch}-")


def _settings(port: Mapping[str, Any]) -> dict[str, Any]:
    """A port of clarion-switch's configuration as a document of the REST API."""
    xcp = {key: value for key, value in port.get("xcp", {}).items() if key != "enabled"}
    tag = {key: port.get("tag", {}).get(key, False) for key in ("stamp", "check", "edge")}
    return {"xcp": xcp or None, **tag, "wire": port.get("wire") == "declared"}


def _same(found: Any, wanted: Any) -> bool:
    """Whether the settings found are the settings wanted, up to the rounding of coefficients on their way."""
    if isinstance(wanted, Mapping):
        return isinstance(found, Mapping) and all(_same(found.get(key), wanted[key]) for key in wanted)
    if isinstance(wanted, float):
        return isinstance(found, (int, float)) and abs(found - wanted) < 1e-4
    return bool(found == wanted)
