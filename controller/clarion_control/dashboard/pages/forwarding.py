# SPDX-License-Identifier: Apache-2.0
"""The static forwarding of a switch, to change it."""

from __future__ import annotations

from nicegui import ui

from clarion_control.dashboard import parts
from clarion_control.dashboard.dashboard import Dashboard
from clarion_control.dashboard.forwarding_form import ForwardingForm
from clarion_control.dashboard.port_row import switch_address
from clarion_control.dashboard.visit import Visit
from clarion_control.errors import NotFoundError
from clarion_control.model import Role


def register(dashboard: Dashboard) -> None:
    """The page at /switches/SWITCH/forwarding."""

    @dashboard.page("/switches/{switch}/forwarding", "/", "Forwarding")
    async def forwarding(visit: Visit, switch: str) -> None:
        found = visit.controller.switches.get(switch)
        ui.page_title(f"{switch} forwarding · Clarion")
        parts.heading("Forwarding", ("Overview", "/"), (switch, switch_address(switch)))
        with parts.card("Entries", "Static entries that this controller keeps on the switch") as box:
            if not visit.may(Role.OPERATOR):
                parts.empty("Your role may only look; changes need the role operator.")
                return
            form = ForwardingForm(visit, found, await visit.controller.forwarding.get(switch))

        async def refresh() -> None:
            try:
                await form.refresh()
            except NotFoundError:  # it was removed
                timer.cancel()
                box.clear()
                with box:
                    parts.banner("warn", f"{switch} was removed from this controller.")

        timer = ui.timer(visit.options.refresh_s, refresh, immediate=False)
