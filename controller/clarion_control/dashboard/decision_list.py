# SPDX-License-Identifier: Apache-2.0
"""Decisions of the tuner, each with its changes, its evidence and a button to undo it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from clarion_control.dashboard import parts, quantities
from clarion_control.dashboard.port_row import port_address, port_place
from clarion_control.dashboard.visit import Visit
from clarion_control.model import Actor, Decision, Role


class DecisionList:
    """A list of decisions, redrawn only when it has changed."""

    def __init__(self, visit: Visit, *, with_place: bool, refresh: Callable[[], Awaitable[None]]) -> None:
        """`with_place` names the port of each decision; `refresh` is called after an undo."""
        self._visit = visit
        self._with_place = with_place
        self._refresh = refresh
        self._shown: Sequence[Decision] | None = None
        self._box = parts.block()

    def show(self, decisions: Sequence[Decision], nothing: str) -> None:
        """Shows these decisions, which come newest first."""
        if decisions == self._shown:
            return
        self._shown = decisions
        self._box.clear()
        with self._box:
            if not decisions:
                parts.empty(nothing)
            for decision in decisions:
                self._draw(decision)

    def _draw(self, decision: Decision) -> None:
        with parts.block("article", "decision").props(f'data-decision="{decision.id}"'):
            with parts.block(classes="decision-head"):
                parts.Badge(decision.policy, plain=True)
                if self._with_place:
                    place = port_place(self._visit.controller, decision.switch, decision.port)
                    parts.link(place, port_address(decision.switch, decision.port))
                parts.text(quantities.instant(decision.time_us).removesuffix(" UTC"), "time", "hint number")
                if not decision.changes:
                    parts.Badge("flag", "warn")
                if decision.undone_us is not None:
                    parts.Badge(f"undone by {decision.undone_by}")
                elif decision.changes and self._visit.may(Role.OPERATOR):
                    parts.button("Undo", lambda: self._undo(decision), "button small end")
            parts.text(decision.summary, "p")
            for name, (before, after) in decision.changes.items():
                label, then = quantities.named(name, before)
                now = quantities.named(name, after)[1]
                parts.text(f"{label}: {then} → {now}", "p", "number change")
            if decision.evidence:
                with parts.block("details"):
                    parts.text("Evidence", "summary")
                    with parts.block(classes="evidence"):
                        parts.facts(
                            quantities.named(name, value) for name, value in decision.evidence.items()
                        )

    async def _undo(self, decision: Decision) -> None:
        async def undo(actor: Actor) -> None:
            await self._visit.controller.tuning.undo_decision(actor, decision.id)

        if await self._visit.act(Role.OPERATOR, undo, f"Undone: {decision.summary}"):
            await self._refresh()
