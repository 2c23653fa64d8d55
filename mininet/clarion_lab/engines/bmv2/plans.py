# SPDX-License-Identifier: Apache-2.0
"""What each switch is to do: the scenario's settings as table entries, and the way to every host."""

from __future__ import annotations

from clarion_base.faults import ScenarioError
from clarion_contract.checks import checked_settings
from clarion_contract.errors import SettingsError
from clarion_contract.settings import PortSettings
from clarion_lab.engines.bmv2.control import SwitchPlan
from clarion_lab.scenario.model import Scenario
from clarion_lab.scenario.topology import Network, PlannedPort


def switch_plans(scenario: Scenario, network: Network) -> list[SwitchPlan]:
    """One plan per switch; device ids count from 1."""
    return [
        SwitchPlan(name, device_id, _settings(scenario, name, ports), _addresses(network, name))
        for device_id, (name, ports) in enumerate(network.switches.items(), 1)
    ]


def check_settings(scenario: Scenario, network: Network) -> None:
    """ScenarioError if a switch could not work with the rates or queues of the links."""
    for name, ports in network.switches.items():
        numbers = range(1, len(ports) + 1)
        try:
            checked_settings(name, numbers, _settings(scenario, name, ports))
        except SettingsError as error:
            raise ScenarioError(scenario.name, ("links",), error.fault.reason) from error


def _settings(scenario: Scenario, switch: str, ports: list[PlannedPort]) -> list[PortSettings]:
    return [
        PortSettings(
            port=number,
            xcp=scenario.xcp_of(switch, port.rate_bps),
            stamp=scenario.tagging,
            check=scenario.tagging,
            edge=scenario.tagging and port.peer is None,
            wire=scenario.tagging and port.wire == "declared",
            queue_limit_bytes=port.queue_bytes if port.rate_bps else None,
        )
        for number, port in enumerate(ports, 1)
    ]


def _addresses(network: Network, switch: str) -> dict[str, int]:
    """The port towards every host: its own, or that to the switches on its host's side of the chain."""
    numbers = {port.name: number for number, port in enumerate(network.switches[switch], 1)}
    order = list(network.switches)
    ways: dict[str, int] = {}
    for host in network.hosts:
        if host.switch == switch:
            ways[host.mac] = numbers[host.port]
        else:
            side = "right" if order.index(host.switch) > order.index(switch) else "left"
            ways[host.mac] = numbers[f"{switch}-{side}"]
    return ways
