# SPDX-License-Identifier: Apache-2.0
"""The tuner policies of a port: description, state and parameters of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from nicegui import ui

from clarion_control.dashboard import parts, quantities
from clarion_control.dashboard.visit import Visit, tell
from clarion_control.errors import FieldError
from clarion_control.model import Actor, Policy, PolicyState, Role
from clarion_control.tuner.loop import Tuner
from clarion_control.tuner.policy import PolicySpec
from clarion_control.tuner.registry import POLICIES, checked_parameters

UNSHOWN = ("from_us", "to_us")  # of an observation: absolute times
_STATES = {
    PolicyState.OFF: ("off", ""),
    PolicyState.ACTIVE: ("on", "good"),
    PolicyState.HELD: ("held", "warn"),
}


class PolicyCards:
    """One card for each policy."""

    def __init__(
        self, visit: Visit, tuner: Tuner | None, name: str, port: int, stored: Iterable[Policy]
    ) -> None:
        self._visit = visit
        self._tuner = tuner
        self._name, self._port = name, port
        known = {each.name: each for each in stored}
        with parts.card(
            "Tuner", "Policies that set this port from what it reports. Manual settings win."
        ) as box:
            box.props('id="tuner"')
            self._cards = [
                PolicyCard(visit, name, port, spec, known.get(spec.name)) for spec in POLICIES.values()
            ]

    async def refresh(self) -> None:
        """Update the states of all policies."""
        stored = {
            each.name: each for each in await self._visit.controller.tuning.policies(self._name, self._port)
        }
        for card in self._cards:
            card.show(stored.get(card.spec.name))
        seen = {} if self._tuner is None else self._tuner.observed(self._name, self._port)
        problems = {} if self._tuner is None else self._tuner.health()
        for card in self._cards:
            place = f"{self._name}/{self._port}/{card.spec.name}"
            card.tell(seen.get(card.spec.name, {}), problems.get(place))


class PolicyCard:
    """The card of one policy."""

    def __init__(self, visit: Visit, name: str, port: int, spec: PolicySpec, stored: Policy | None) -> None:
        self.spec = spec
        self._visit = visit
        self._name, self._port = name, port
        self._stored = stored
        self._editable = visit.may(Role.OPERATOR)
        self._shown: object = self
        with parts.block("section", "policy").props(f'data-policy="{spec.name}"'):
            with parts.block(classes="card-head"):
                parts.text(spec.title, "h3")
                self._state = parts.Badge("off", "")
            self._reason = parts.text("", "p", "hint")
            self._seen = parts.text("", "p", "hint")
            self._problem = parts.text("", "p", "problem")
            self.tell({}, None)
            with parts.block("details"):
                parts.text("How it decides", "summary")
                with parts.block(classes="evidence"):
                    parts.prose(spec.law, "p")
                    parts.text("Guard rails", "h4")
                    with parts.block("ul"):
                        for rail in spec.guard_rails:
                            parts.prose(rail, "li")
            with parts.block("details"):
                parts.text("Parameters", "summary")
                self._inputs = self._parameters()
            self._buttons = parts.block(classes="buttons")

    def _parameters(self) -> dict[str, ui.number]:
        inputs = {}
        with parts.block("form", "form").on("submit.prevent", self._save):
            for each in self.spec.parameters:
                unit = f" {each.unit}" if each.unit else ""
                bounds = f"{each.low:g} to {each.high:g}{unit}"
                label = each.name.replace("_", " ") + (f" ({each.unit})" if each.unit else "")
                value = self._stored.parameters.get(each.name) if self._stored else None
                entry = ui.number(label, value=each.default if value is None else value, format="%.6g")
                entry.props(f'outlined dense stack-label bottom-slots step="any" name="{each.name}"')
                entry.props["hint"] = f"{each.meaning}; {bounds}"
                entry.props(add="" if self._editable else "readonly")
                inputs[each.name] = entry
            if self._editable and inputs:
                with parts.block("button", "button small").props('type="submit"'):
                    parts.text("Save parameters")
        return inputs

    def show(self, stored: Policy | None) -> None:
        """Shows the policy as it is stored; parameters only when they have changed there."""
        self._stored = stored
        known = (stored.state, stored.reason, dict(stored.parameters)) if stored else None
        if known == self._shown:
            return
        self._shown = known
        state = stored.state if stored else PolicyState.OFF
        self._state.show(*_STATES[state])
        self._reason.text = stored.reason or "" if stored else ""
        self._reason.set_visibility(bool(self._reason.text))
        if stored is not None:
            for name, value in stored.parameters.items():
                if name in self._inputs and self._inputs[name].value != value:
                    self._inputs[name].value = value
        self._buttons.clear()
        if self._editable:
            with self._buttons:
                self._choices(state)

    def tell(self, observed: Mapping[str, Any], problem: str | None) -> None:
        """Shows the policy's last observation, and the problem that keeps it from acting."""
        seen = (quantities.named(*item) for item in observed.items() if item[0] not in UNSHOWN)
        self._seen.text = " · ".join(f"{name} {value}" for name, value in seen)
        self._seen.set_visibility(bool(observed))
        self._problem.text = problem or ""
        self._problem.set_visibility(problem is not None)

    def _choices(self, state: PolicyState) -> None:
        if state is PolicyState.OFF:
            self._choice("Switch on", PolicyState.ACTIVE)
            return
        if state is PolicyState.HELD:
            self._choice("Resume", PolicyState.ACTIVE)
        self._choice("Switch off", PolicyState.OFF)

    def _choice(self, label: str, state: PolicyState) -> None:
        async def choose() -> None:
            parameters = dict(self._stored.parameters) if self._stored else {}
            if await self._put(state, parameters):
                await self._reread()

        parts.button(label, choose, "button small")

    async def _save(self) -> None:
        for entry in self._inputs.values():
            entry.error = None
        given = {name: entry.value for name, entry in self._inputs.items() if entry.value is not None}
        state = self._stored.state if self._stored else PolicyState.OFF
        if await self._put(state, given):
            tell(f"{self.spec.title}: parameters saved", "positive")
            await self._reread()

    async def _put(self, state: PolicyState, parameters: Mapping[str, Any]) -> bool:
        try:
            complete = checked_parameters(self.spec.name, parameters)
        except FieldError as error:
            name = error.field.removeprefix("parameters.")
            if name in self._inputs:
                self._inputs[name].error = error.reason
            else:
                tell(str(error), "negative")
            return False

        async def put(actor: Actor) -> None:
            await self._visit.controller.tuning.put_policy(
                actor, self._name, self._port, self.spec.name, state, complete
            )

        return await self._visit.act(Role.OPERATOR, put)

    async def _reread(self) -> None:
        stored = await self._visit.controller.tuning.policies(self._name, self._port)
        self.show(next((each for each in stored if each.name == self.spec.name), None))
