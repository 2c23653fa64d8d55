# SPDX-License-Identifier: Apache-2.0
"""The pages, one per file."""

from __future__ import annotations

from clarion_control.dashboard.dashboard import Dashboard
from clarion_control.dashboard.pages import (
    audit,
    compare,
    experiment,
    experiments,
    forwarding,
    overview,
    port,
    switch,
    tokens,
    topology,
    tuner,
)


def register(dashboard: Dashboard) -> None:
    """Registers all pages."""
    overview.register(dashboard)
    switch.register(dashboard)
    port.register(dashboard)
    topology.register(dashboard)
    tuner.register(dashboard)
    experiments.register(dashboard)
    experiment.register(dashboard)
    compare.register(dashboard)
    audit.register(dashboard)
    forwarding.register(dashboard)
    tokens.register(dashboard)
