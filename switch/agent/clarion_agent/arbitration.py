# SPDX-License-Identifier: Apache-2.0
"""Who may write: per role the controller whose election id is the highest that there ever was.

As in the specification, no backup moves up by itself when the primary leaves: it is notified and has to ask
again, with an election id that is at least as high as the last primary's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from finsy.proto import U128, p4r
from grpc import StatusCode

from clarion_agent.status import Refused, invalid, number_of

MAX_CONTROLLERS = 64  # per role
MAX_ROLES = 64


@dataclass(eq=False)
class Controller:
    """A stream with an election id for a switch."""

    send: Callable[[p4r.StreamMessageResponse], None]
    role: str = ""
    election_id: int | None = None


@dataclass
class _Role:
    controllers: list[Controller] = field(default_factory=list)
    highest: int | None = None  # election id of all primaries so far
    primary: Controller | None = None


class Arbiter:
    """The controllers of one switch."""

    def __init__(self, device_id: int) -> None:
        self._device_id = device_id
        self._roles: dict[str, _Role] = {}

    def arbitrate(self, controller: Controller, update: p4r.MasterArbitrationUpdate, *, first: bool) -> None:
        """Handles an arbitration update and notifies the controllers of the role. Refused ends the stream."""
        name = update.role.name if update.HasField("role") else ""
        if update.HasField("role") and update.role.HasField("config"):
            raise Refused(
                StatusCode.UNIMPLEMENTED,
                f"role {name!r}: config: not supported; leave it out: every role may do everything",
            )
        if update.role.id:
            raise invalid("role: id: is deprecated; use role.name")
        if not first and name != controller.role:
            raise Refused(
                StatusCode.FAILED_PRECONDITION,
                f"role {name!r}: this stream has role {controller.role!r}; open another stream",
            )
        if name not in self._roles and len(self._roles) >= MAX_ROLES:
            raise Refused(StatusCode.RESOURCE_EXHAUSTED, f"role {name!r}: there are {MAX_ROLES} already")
        role = self._roles.setdefault(name, _Role())
        wanted = U128.decode(update.election_id) if update.HasField("election_id") else None
        others = [other for other in role.controllers if other is not controller]
        if wanted is not None and any(other.election_id == wanted for other in others):
            raise invalid(f"election id {wanted} is used by another controller of role {name!r}")
        if first and len(role.controllers) >= MAX_CONTROLLERS:
            raise Refused(
                StatusCode.RESOURCE_EXHAUSTED, f"role {name!r}: has {MAX_CONTROLLERS} controllers already"
            )
        if first:
            controller.role = name
            role.controllers.append(controller)
        controller.election_id = wanted
        self._elect(role, controller)

    def leave(self, controller: Controller) -> None:
        """Removes a controller whose stream has ended."""
        role = self._roles.get(controller.role)
        if role is None or controller not in role.controllers:
            return
        role.controllers.remove(controller)
        if role.primary is controller:
            role.primary = None
            self._tell(role, role.controllers)

    def authorize(self, role_name: str, election_id: p4r.Uint128 | None) -> None:
        """Refused unless the request comes from the role's primary."""
        role = self._roles.get(role_name)
        primary = role.primary if role is not None else None
        if primary is None:
            raise Refused(
                StatusCode.PERMISSION_DENIED, f"device {self._device_id}: role {role_name!r} has no primary"
            )
        if election_id is None or U128.decode(election_id) != primary.election_id:
            raise Refused(
                StatusCode.PERMISSION_DENIED,
                f"device {self._device_id}: not the primary of role {role_name!r}: its election id is "
                f"{primary.election_id}",
            )

    def is_primary(self, controller: Controller) -> bool:
        """Whether this controller is the primary of its role."""
        role = self._roles.get(controller.role)
        return role is not None and role.primary is controller

    def primaries(self) -> list[Controller]:
        """The primaries of all roles."""
        return [role.primary for role in self._roles.values() if role.primary is not None]

    def _elect(self, role: _Role, controller: Controller) -> None:
        was = role.primary
        wanted = controller.election_id
        if wanted is not None and (role.highest is None or wanted >= role.highest):
            role.highest, role.primary = wanted, controller
            self._tell(role, role.controllers)
        elif was is controller:  # it has stepped down
            role.primary = None
            self._tell(role, role.controllers)
        else:
            self._tell(role, [controller])

    def _tell(self, role: _Role, controllers: list[Controller]) -> None:
        for each in list(controllers):
            each.send(self._notice(role, each))

    def _notice(self, role: _Role, controller: Controller) -> p4r.StreamMessageResponse:
        message = p4r.StreamMessageResponse()
        update = message.arbitration
        update.device_id = self._device_id
        if controller.role:
            update.role.name = controller.role
        if role.highest is not None:
            update.election_id.CopyFrom(U128.encode(role.highest))
        if role.primary is controller:
            update.status.code, update.status.message = number_of(StatusCode.OK), "you are primary"
        elif role.primary is not None:
            update.status.code = number_of(StatusCode.ALREADY_EXISTS)
            update.status.message = "you are backup; another controller is primary"
        else:
            update.status.code = number_of(StatusCode.NOT_FOUND)
            update.status.message = "you are backup; there is no primary"
        return message
