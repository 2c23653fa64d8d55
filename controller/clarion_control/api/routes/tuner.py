# SPDX-License-Identifier: Apache-2.0
"""Tuner policies at ports, and what they decided."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request, Response

from clarion_control.api.auth import Asker
from clarion_control.api.context import Api
from clarion_control.api.operations import LINK, WRITING, operation, router
from clarion_control.api.pages import next_page
from clarion_control.api.problems import Problem
from clarion_control.api.schemas.base import (
    NAME,
    PAGE_ITEMS,
    BeforeId,
    Limit,
    OfPort,
    OfSwitch,
    PortNumber,
    Reason,
    RecordId,
    SwitchName,
)
from clarion_control.api.schemas.tuner import (
    Decisions,
    DecisionView,
    NewPolicy,
    Policies,
    PolicyKind,
    PolicyKinds,
    PolicyView,
)
from clarion_control.errors import ApplyPending
from clarion_control.model import Policy, PolicyState, Role
from clarion_control.tuner import registry

routes = router("tuner")

PolicyName = Annotated[str, Path(description="Name of the policy.", max_length=63, examples=["capacity"])]
OfPolicy = Annotated[
    str | None, Query(description="Only those of this policy.", pattern=NAME, examples=["capacity"])
]
_AT_PORT = ("unknown-switch", "unknown-port", "unknown-policy")


@routes.get(
    "/v1/policies",
    **operation(
        Role.VIEWER,
        "list_policy_kinds",
        "The policies that the tuner knows",
        description="What each does, what keeps it from doing harm, and its parameters.",
    ),
)
async def list_policy_kinds() -> PolicyKinds:
    """The policies with their parameters, as they document themselves."""
    return PolicyKinds(items=[PolicyKind.of(spec) for spec in registry.POLICIES.values()])


@routes.get(
    "/v1/switches/{switch}/ports/{port}/policies",
    **operation(
        Role.VIEWER,
        "list_policies",
        "All policies at a port",
        "unknown-switch",
        "unknown-port",
        description="Also those that are off.",
    ),
)
async def list_policies(api: Api, switch: SwitchName, port: PortNumber) -> Policies:
    """All policies at a port; those that were never set are off."""
    return Policies(items=await _all(api, switch, port))


@routes.get(
    "/v1/switches/{switch}/ports/{port}/policies/{policy}",
    **operation(
        Role.VIEWER,
        "get_policy",
        "A policy at a port",
        *_AT_PORT,
        description="Its state and all of its parameters.",
    ),
)
async def get_policy(api: Api, switch: SwitchName, port: PortNumber, policy: PolicyName) -> PolicyView:
    """One policy at a port."""
    return await _one(api, switch, port, policy)


@routes.put(
    "/v1/switches/{switch}/ports/{port}/policies/{policy}",
    **operation(
        Role.OPERATOR,
        "set_policy",
        "Set a policy at a port",
        *_AT_PORT,
        body=True,
        description="Switches it on or off, with its parameters.",
    ),
)
async def set_policy(
    api: Api,
    actor: Asker,
    switch: SwitchName,
    port: PortNumber,
    policy: PolicyName,
    new: NewPolicy,
    reason: Reason = None,
) -> PolicyView:
    """Switch a policy on or off and set its parameters."""
    await api.controller.ports.get(switch, port)
    parameters = registry.checked_parameters(policy, new.parameters)
    state = PolicyState(new.state)
    made = await api.controller.tuning.put_policy(actor, switch, port, policy, state, parameters, reason)
    return _view(api, made)


@routes.post(
    "/v1/switches/{switch}/ports/{port}/policies/{policy}/resume",
    **operation(
        Role.OPERATOR,
        "resume_policy",
        "Resume a policy that is held",
        *_AT_PORT,
        "conflict",
        description="Makes it active again after a change by hand of a field that it governs.",
    ),
)
async def resume_policy(
    api: Api,
    actor: Asker,
    switch: SwitchName,
    port: PortNumber,
    policy: PolicyName,
    reason: Reason = None,
) -> PolicyView:
    """Resume a policy that a manual setting holds."""
    found = await _one(api, switch, port, policy)
    if found.state is not PolicyState.HELD:
        detail = f"policy {policy} at {switch} port {port} is {found.state.value}, not held"
        raise Problem("conflict", detail)
    made = await api.controller.tuning.put_policy(
        actor, switch, port, policy, PolicyState.ACTIVE, found.parameters, reason
    )
    return _view(api, made)


@routes.get(
    "/v1/decisions",
    **operation(
        Role.VIEWER,
        "list_decisions",
        "What policies decided",
        headers=LINK,
        description="Newest first, each with what it was decided on.",
    ),
)
async def list_decisions(
    request: Request,
    response: Response,
    api: Api,
    switch: OfSwitch = None,
    port: OfPort = None,
    policy: OfPolicy = None,
    before_id: BeforeId = None,
    limit: Limit = PAGE_ITEMS,
) -> Decisions:
    """A page of decisions from the store."""
    found = await api.controller.tuning.decisions(
        switch=switch, port=port, policy=policy, before_id=before_id, limit=limit
    )
    items = [DecisionView.of(each) for each in found]
    return Decisions(items=items, next=next_page(request, response, [each.id for each in items], limit))


@routes.get(
    "/v1/decisions/{id}",
    **operation(
        Role.VIEWER, "get_decision", "A decision", "unknown-decision", description="With its evidence."
    ),
)
async def get_decision(api: Api, id: RecordId) -> DecisionView:
    """One decision with its evidence."""
    return DecisionView.of(await api.controller.tuning.decision(id))


@routes.post(
    "/v1/decisions/{id}/undo",
    **operation(
        Role.OPERATOR,
        "undo_decision",
        "Undo a decision",
        "unknown-decision",
        "unknown-switch",
        "unknown-port",
        "conflict",
        "invalid-settings",
        *WRITING,
        description="Sets back what it changed, and holds the policy, which would do it again. Answers when"
        " the switch has confirmed, or with 202 if it takes long.",
        responses={202: {"model": DecisionView, "description": "Stored; the switch has not confirmed yet."}},
    ),
)
async def undo_decision(api: Api, actor: Asker, id: RecordId, response: Response) -> DecisionView:
    """Restore the settings from before a decision."""
    try:
        return DecisionView.of(await api.controller.tuning.undo_decision(actor, id))
    except ApplyPending:
        response.status_code = 202
        return DecisionView.of(await api.controller.tuning.decision(id))


async def _all(api: Api, switch: str, port: int) -> list[PolicyView]:
    stored = {policy.name: policy for policy in await api.controller.tuning.policies(switch, port)}
    made = []
    for name in registry.POLICIES:
        if name in stored:
            made.append(_view(api, stored[name]))
        else:
            parameters = registry.checked_parameters(name, {})
            made.append(
                PolicyView(
                    switch=switch,
                    port=port,
                    name=name,
                    state=PolicyState.OFF,
                    parameters=parameters,
                    changed_us=None,
                    changed_by=None,
                    reason=None,
                    observed={},
                    problem=None,
                )
            )
    return made


def _view(api: Api, policy: Policy) -> PolicyView:
    tuner = api.tuner()
    if tuner is None:
        return PolicyView.of(policy)
    observed = tuner.observed(policy.switch, policy.port).get(policy.name, {})
    return PolicyView.of(policy, observed, tuner.health().get(f"{policy.switch}/{policy.port}/{policy.name}"))


async def _one(api: Api, switch: str, port: int, policy: str) -> PolicyView:
    known = await _all(api, switch, port)
    registry.policy(policy)
    return next(each for each in known if each.name == policy)
