# SPDX-License-Identifier: Apache-2.0
"""The ports of a controller's switches that are declared wires and that LLDP denies."""

from __future__ import annotations

from clarion_base.errors import UserError
from clarion_lab.controller.rest_client import RestClient


def conflicts(client: RestClient) -> list[str]:
    """A line for each such port."""
    try:
        ends = [
            end
            for link in client.call("GET", "/v1/links?conflicts=true")["items"]
            for end in link["ends"]
            if end["wire"] is not None and end["wire"]["conflict"]
        ]
        lines = [f"{end['switch']} port {end['port']}: {end['wire']['reason']}" for end in ends]
    except (KeyError, TypeError):
        raise UserError(
            f"controller {client.url}/v1/links: not a list of links; is this a controller?"
        ) from None
    return list(dict.fromkeys(lines))  # a port may have several neighbours
