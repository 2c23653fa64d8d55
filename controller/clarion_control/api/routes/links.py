# SPDX-License-Identifier: Apache-2.0
"""The topology."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query

from clarion_control.api.context import Api
from clarion_control.api.operations import operation, router
from clarion_control.api.schemas.base import OfSwitch
from clarion_control.api.schemas.links import Links, LinkView
from clarion_control.model import Role

routes = router("links")

OnlyConflicts = Annotated[bool, Query(description="Only links with a conflict.")]


@routes.get(
    "/v1/links",
    **operation(
        Role.VIEWER,
        "list_links",
        "All links",
        "unknown-switch",
        description="What the ports of all switches hear of each other and of hosts by LLDP, with the figures"
        " of each direction. A switch whose primary controller is another one shows no links here.",
    ),
)
async def list_links(api: Api, switch: OfSwitch = None, conflicts: OnlyConflicts = False) -> Links:
    """All links that are heard at this moment."""
    if switch is not None:
        api.controller.switches.get(switch)
    return Links(
        items=[
            LinkView.of(each)
            for each in api.controller.topology.links()
            if (switch is None or switch in {end.switch for end in each.ends})
            and (not conflicts or each.is_conflict)
        ]
    )
