# SPDX-License-Identifier: Apache-2.0
"""What the operations share: the controller, and what limits and counts them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from clarion_control.api.limits import RateLimits
from clarion_control.api.options import ApiOptions
from clarion_control.api.streams import Streams
from clarion_control.controller import Controller

if TYPE_CHECKING:
    from clarion_control.experiments.service import Experiments


@dataclass(frozen=True)
class ApiContext:
    """One application's state. `tuner_state` says in one word how the tuner is."""

    controller: Controller
    experiments: Experiments | None
    options: ApiOptions
    limits: RateLimits
    streams: Streams
    tuner_state: Callable[[], str]


def of(request: Request) -> ApiContext:
    """The state of the application that a request came to."""
    context: ApiContext = request.app.state.clarion_api
    return context


Api = Annotated[ApiContext, Depends(of)]
