# SPDX-License-Identifier: Apache-2.0
"""Tuner policies and their decisions."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from pydantic import ConfigDict, Field

from clarion_control.api.schemas.base import Model, Page, time_field
from clarion_control.model import Decision, Policy, PolicyState
from clarion_control.tuner.policy import Parameter, PolicySpec


class ParameterView(Model):
    """A parameter of a policy."""

    name: str = Field(description="Its name.", examples=["probe"])
    unit: str = Field(description="Its unit; empty for a plain number.", examples=["s"])
    default: float = Field(description="Its value if none is given.", examples=[2.0])
    minimum: float = Field(description="The least that it may be.", examples=[0.5])
    maximum: float = Field(description="The most that it may be.", examples=[10.0])
    description: str = Field(description="Meaning of the parameter.")

    @classmethod
    def of(cls, parameter: Parameter) -> ParameterView:
        """From the tuner's record."""
        return cls(
            name=parameter.name,
            unit=parameter.unit,
            default=parameter.default,
            minimum=parameter.low,
            maximum=parameter.high,
            description=parameter.meaning,
        )


class PolicyKind(Model):
    """A policy that the tuner knows."""

    name: str = Field(description="Its name.", examples=["capacity"])
    title: str = Field(description="The same for people.", examples=["Capacity"])
    law: str = Field(description="What it does, in plain words.")
    guard_rails: list[str] = Field(description="What keeps it from doing harm.")
    governs: list[str] = Field(
        description="Settings that it changes; changing one by hand holds the policy.",
        examples=[["xcp.capacity_bps"]],
    )
    parameters: list[ParameterView]

    @classmethod
    def of(cls, spec: PolicySpec) -> PolicyKind:
        """From the tuner's record."""
        return cls(
            name=spec.name,
            title=spec.title,
            law=spec.law,
            guard_rails=list(spec.guard_rails),
            governs=list(spec.governs),
            parameters=[ParameterView.of(parameter) for parameter in spec.parameters],
        )


class PolicyKinds(Model):
    """All policies that the tuner knows."""

    items: list[PolicyKind]


class PolicyView(Model):
    """A policy at a port."""

    switch: str = Field(description="Name of the switch.", examples=["s1"])
    port: int = Field(description="Number of the port.", examples=[1])
    name: str = Field(description="Name of the policy.", examples=["capacity"])
    state: PolicyState = Field(
        description="off; active; held: a field that it governs was changed by hand, until it is resumed."
    )
    parameters: dict[str, float] = Field(description="All of them.", examples=[{"window_s": 2.0}])
    changed_us: int | None = time_field("Last change; null if there was none")
    changed_by: str | None = Field(description="Whose change that was.", examples=["alice"])
    reason: str | None = Field(description="Why it is held.")
    observed: dict[str, Any] = Field(
        description="What it saw last; empty if it does not run or has seen nothing yet.",
        examples=[{"state": "settled", "per": 0.0001}],
    )
    problem: str | None = Field(description="What keeps it from working; null if nothing does.")

    @classmethod
    def of(
        cls, policy: Policy, observed: Mapping[str, Any] = MappingProxyType({}), problem: str | None = None
    ) -> PolicyView:
        """From the records of the controller and of the tuner."""
        return cls(
            switch=policy.switch,
            port=policy.port,
            name=policy.name,
            state=policy.state,
            parameters=dict(policy.parameters),
            changed_us=policy.changed_us,
            changed_by=policy.changed_by,
            reason=policy.reason,
            observed=dict(observed),
            problem=problem,
        )


class Policies(Model):
    """All policies at a port."""

    items: list[PolicyView]


class NewPolicy(Model):
    """What a policy is to be at a port."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"state": "active", "parameters": {}}]})

    state: Literal["off", "active"] = Field(description="Whether it acts.")
    parameters: dict[str, float] = Field(
        default_factory=dict, description="Those that are left out have their defaults.", max_length=64
    )


class DecisionView(Model):
    """What a policy decided, and why."""

    id: int = Field(description="Its number, ascending.", examples=[17])
    time_us: int = time_field("When")
    switch: str = Field(description="Name of the switch.", examples=["s1"])
    port: int = Field(description="Number of the port.", examples=[1])
    policy: str = Field(description="Name of the policy.", examples=["capacity"])
    summary: str = Field(description="One sentence.", examples=["capacity 100 to 41.2 Mbit/s"])
    changes: dict[str, tuple[Any, Any]] = Field(
        description="From and to, by setting; empty for an observation.",
        examples=[{"xcp.capacity_bps": [100000000, 41200000]}],
    )
    evidence: dict[str, Any] = Field(description="What it was decided on.")
    undone_us: int | None = time_field("When it was undone; null if it was not")
    undone_by: str | None = Field(description="By whom.", examples=["alice"])

    @classmethod
    def of(cls, decision: Decision) -> DecisionView:
        """From the controller's record."""
        return cls(
            id=decision.id,
            time_us=decision.time_us,
            switch=decision.switch,
            port=decision.port,
            policy=decision.policy,
            summary=decision.summary,
            changes={name: (change[0], change[1]) for name, change in decision.changes.items()},
            evidence=dict(decision.evidence),
            undone_us=decision.undone_us,
            undone_by=decision.undone_by,
        )


class Decisions(Page[DecisionView]):
    """A page of decisions, newest first."""
