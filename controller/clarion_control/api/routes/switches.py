# SPDX-License-Identifier: Apache-2.0
"""Switches and their static forwarding."""

from __future__ import annotations

from fastapi import Response

from clarion_control.api.auth import Asker
from clarion_control.api.context import Api
from clarion_control.api.operations import LOCATION, WRITING, also_as_merge_patch, operation, router
from clarion_control.api.problems import Problem
from clarion_control.api.schemas.base import SwitchName
from clarion_control.api.schemas.ports import ForwardingTable
from clarion_control.api.schemas.switches import NewSwitch, SwitchChanges, Switches, SwitchView
from clarion_control.controller import Controller
from clarion_control.model import Role
from clarion_p4rt.switch import Forwarding, Switch

routes = router("switches")


@routes.get(
    "/v1/switches",
    **operation(
        Role.VIEWER,
        "list_switches",
        "All switches",
        description="By name, with their state.",
    ),
)
async def list_switches(api: Api) -> Switches:
    """All of them; a thousand fit into one answer."""
    controller = api.controller
    return Switches(items=[_view(controller, switch) for switch in controller.switches.all()])


@routes.post(
    "/v1/switches",
    **operation(
        Role.ADMIN,
        "add_switch",
        "Add a switch",
        "already-exists",
        body=True,
        status=201,
        headers=LOCATION,
        description="The controller connects by itself. When the switch answers first, what its ports have"
        " becomes what is desired.",
    ),
)
async def add_switch(api: Api, actor: Asker, new: NewSwitch, response: Response) -> SwitchView:
    """Add a switch and connect to it."""
    switch = await api.controller.switches.add(
        actor,
        name=new.name,
        address=new.address,
        device_id=new.device_id,
        ports=new.ports,
        tls=None if new.tls is None else new.tls.files(),
        port_names={int(port): name for port, name in new.port_names.items()},
    )
    response.headers["Location"] = f"/v1/switches/{switch.name}"
    return _view(api.controller, switch)


@routes.get(
    "/v1/switches/{switch}",
    **operation(
        Role.VIEWER,
        "get_switch",
        "A switch",
        "unknown-switch",
        description="Its ports, and how its link is doing.",
    ),
)
async def get_switch(api: Api, switch: SwitchName) -> SwitchView:
    """One switch with the state of its session."""
    return _view(api.controller, api.controller.switches.get(switch))


@routes.patch(
    "/v1/switches/{switch}",
    **operation(
        Role.ADMIN,
        "change_switch",
        "Change how a switch is reached",
        "unknown-switch",
        body=True,
        description="A JSON merge patch (RFC 7396) of address, TLS files and names of ports, the latter two"
        " as a whole. The controller connects anew; what is desired of the switch stays.",
        openapi_extra=also_as_merge_patch("SwitchChanges"),
    ),
)
async def change_switch(api: Api, actor: Asker, switch: SwitchName, changes: SwitchChanges) -> SwitchView:
    """Change address, TLS files or names of ports of a switch."""
    switches = api.controller.switches
    changed = await switches.change(actor, changes.applied(switches.get(switch)))
    return _view(api.controller, changed)


@routes.delete(
    "/v1/switches/{switch}",
    response_class=Response,
    **operation(
        Role.ADMIN,
        "remove_switch",
        "Remove a switch",
        "unknown-switch",
        status=204,
        description="Forgets it and what was desired of it. The switch itself stays as it is.",
    ),
)
async def remove_switch(api: Api, actor: Asker, switch: SwitchName) -> Response:
    """Remove a switch; its entries stay on it."""
    await api.controller.switches.remove(actor, switch)
    return Response(status_code=204)


@routes.get(
    "/v1/switches/{switch}/forwarding",
    **operation(
        Role.VIEWER,
        "get_forwarding",
        "Static forwarding of a switch",
        "unknown-switch",
        "no-forwarding",
        description="The desired forwarding; 404 while none is set, and the switch keeps its present one.",
    ),
)
async def get_forwarding(api: Api, switch: SwitchName) -> ForwardingTable:
    """The desired forwarding of a switch."""
    forwarding = await api.controller.forwarding.get(switch)
    if forwarding is None:
        raise Problem("no-forwarding", f"{switch}: no forwarding is set; the switch keeps its present one")
    return ForwardingTable.of(forwarding)


@routes.put(
    "/v1/switches/{switch}/forwarding",
    **operation(
        Role.OPERATOR,
        "set_forwarding",
        "Set the static forwarding of a switch",
        "unknown-switch",
        "invalid-settings",
        *WRITING,
        body=True,
        description="Replaces the whole table. Answers when the switch has confirmed, or with 202 if it takes"
        " long.",
        responses={
            202: {"model": ForwardingTable, "description": "Stored; the switch has not confirmed yet."}
        },
    ),
)
async def set_forwarding(
    api: Api, actor: Asker, switch: SwitchName, table: ForwardingTable
) -> ForwardingTable:
    """Replace the forwarding of a switch."""
    forwarding = Forwarding(table.addresses, tuple(table.flood_ports))
    await api.controller.forwarding.set(actor, switch, forwarding)
    return table


@routes.delete(
    "/v1/switches/{switch}/forwarding",
    response_class=Response,
    **operation(
        Role.OPERATOR,
        "leave_forwarding",
        "Leave the forwarding of a switch alone",
        "unknown-switch",
        *WRITING,
        status=204,
        description="The controller stops managing it; the switch keeps what it has.",
    ),
)
async def leave_forwarding(api: Api, actor: Asker, switch: SwitchName) -> Response:
    """Leave forwarding to the switch and its other controllers."""
    await api.controller.forwarding.set(actor, switch, None)
    return Response(status_code=204)


def _view(controller: Controller, switch: Switch) -> SwitchView:
    status = controller.switches.status(switch.name)
    return SwitchView.of(switch, status, controller.standing.name_of(status.primary))
