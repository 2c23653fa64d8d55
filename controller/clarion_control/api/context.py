# SPDX-License-Identifier: Apache-2.0
"""What the operations share: the controller, and what limits and counts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from fastapi import Depends, Request

from clarion_control.api.limits import RateLimits
from clarion_control.api.options import ApiOptions
from clarion_control.api.streams import Streams
from clarion_control.controller import Controller

if TYPE_CHECKING:
    from clarion_control.experiments.service import Experiments


class TunerView(Protocol):
    """What the API shows of a running tuner."""

    def observed(self, switch: str, port: int) -> Mapping[str, Mapping[str, Any]]:
        """What each policy saw last at a port."""

    def health(self) -> Mapping[str, str]:
        """What keeps policies from working, by SWITCH/PORT/POLICY; empty if all is well."""


@dataclass(frozen=True)
class ApiContext:
    """One application's state. `tuner_state` says in one word how the tuner is."""

    controller: Controller
    experiments: Experiments | None
    options: ApiOptions
    limits: RateLimits
    streams: Streams
    tuner_state: Callable[[], str]
    tuner: Callable[[], TunerView | None]


def of(request: Request) -> ApiContext:
    """The state of the application that a request came to."""
    context: ApiContext = request.app.state.clarion_api
    return context


async def _here(request: Request) -> ApiContext:  # what is not async, FastAPI hands to a thread
    return of(request)


Api = Annotated[ApiContext, Depends(_here)]
