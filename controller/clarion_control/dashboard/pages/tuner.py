# SPDX-License-Identifier: Apache-2.0
"""The tuner: ports with active policies, and their decisions."""

from __future__ import annotations

from urllib.parse import urlencode

from nicegui import ui

from clarion_control.dashboard import parts
from clarion_control.dashboard.dashboard import Dashboard
from clarion_control.dashboard.decision_list import DecisionList
from clarion_control.dashboard.port_row import port_address, port_place
from clarion_control.dashboard.visit import Visit
from clarion_control.errors import NotFoundError
from clarion_control.model import Policy, PolicyState
from clarion_control.tuner.registry import POLICIES

PAGE = 30
REFRESH_S = 3.0


def register(dashboard: Dashboard) -> None:
    """The page at /tuner."""

    @dashboard.page("/tuner", "/tuner", "Tuner")
    async def tuner(visit: Visit) -> None:
        await TunerPage(visit).build()


class TunerPage:
    """The tuner: policies and decisions."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        asked = visit.request.query_params
        self._policy = asked.get("policy") if asked.get("policy") in POLICIES else None
        before = asked.get("before", "")
        self._before = int(before) if before.isdecimal() else None
        self._listed: list[Policy] | None = None

    async def build(self) -> None:
        """Draws the page and keeps it up to date."""
        with parts.heading("Tuner"):
            parts.block(classes="grow")
            with parts.block("nav", "segments").props('aria-label="Policy"'):
                for name in (None, *POLICIES):
                    target = "/tuner" if name is None else f"/tuner?{urlencode({'policy': name})}"
                    parts.link(name or "all", target).props(
                        'aria-current="true"' if name == self._policy else ""
                    )
        with parts.block(classes="columns"):
            with parts.card("Decisions", "What policies changed or flagged, and why"):
                self._decisions = DecisionList(self._visit, with_place=True, refresh=self.refresh)
                self._pager = parts.block(classes="buttons pager")
            with parts.card("Where policies are on", "Switch them on and off on the page of a port"):
                self._policies = parts.block()
        await self.refresh()
        if self._before is None:
            ui.timer(REFRESH_S, self.refresh, immediate=False)

    async def refresh(self) -> None:
        """Update policies and decisions."""
        found = await self._visit.controller.tuning.decisions(
            policy=self._policy, before_id=self._before, limit=PAGE
        )
        self._decisions.show(found, "No decisions yet. Switch a policy on at a port, and it reports here.")
        self._pager.clear()
        with self._pager:
            filters = {} if self._policy is None else {"policy": self._policy}
            if self._before is not None:
                parts.link("Newest", f"/tuner?{urlencode(filters)}", "button small")
            if len(found) == PAGE:
                older = urlencode(filters | {"before": str(found[-1].id)})
                parts.link("Older", f"/tuner?{older}", "button small")
        await self._show_policies()

    async def _show_policies(self) -> None:
        listed: list[Policy] = []
        for switch in self._visit.controller.switches.all():
            try:
                listed += await self._visit.controller.tuning.policies(switch.name)
            except NotFoundError:  # removed meanwhile
                continue
        on = [each for each in listed if each.state is not PolicyState.OFF and self._is_shown(each)]
        if on == self._listed:
            return
        self._listed = on
        self._policies.clear()
        with self._policies:
            if not on:
                parts.empty("No policy is on.")
            for policy in on:
                with parts.block(classes="decision"), parts.block(classes="decision-head"):
                    held = policy.state is PolicyState.HELD
                    place = port_place(self._visit.controller, policy.switch, policy.port)
                    parts.link(place, port_address(policy.switch, policy.port))
                    parts.text(policy.name)
                    parts.Badge("held" if held else "on", "warn" if held else "good")
                    if policy.reason:
                        parts.text(policy.reason, "span", "hint")

    def _is_shown(self, policy: Policy) -> bool:
        return self._policy is None or policy.name == self._policy
