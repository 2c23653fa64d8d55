# SPDX-License-Identifier: Apache-2.0
"""What one package offers and another uses, without either importing the other.

Imported on use: most commands need neither.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clarion_contract.target import Source
    from clarion_control.experiments.library import ScenarioLibrary


def scenario_library() -> ScenarioLibrary:
    """The experiments that the controller may start."""
    from clarion import scenario_library as library

    return library


def nic_source(name: str) -> Source:
    """The FPGA NIC of that PCI address or register file, as a switch of the P4Runtime agent."""
    from clarion_nic.driver.place import named
    from clarion_nic.driver.target import NicConnection

    return NicConnection(named(name))
