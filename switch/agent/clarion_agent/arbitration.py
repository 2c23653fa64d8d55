# SPDX-License-Identifier: Apache-2.0
"""Who may write: per role the controller whose election id is the highest that there ever was.

As in the specification, no backup moves up by itself when the primary leaves: it is notified and has to ask
again, with an election id that is at least as high as the last primary's. Only `reset` takes an election id
back: what a full restart does to it, without one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

from finsy.proto import U128, p4r
from grpc import StatusCode

from clarion_agent.roles import FULL, Access, access
from clarion_agent.status import Refused, invalid, number_of

RESET = "the operator has reset the arbitration; open another stream"
MAX_CONTROLLERS = 64  # per role
MAX_ROLES = 16  # of a device: each primary has a queue of messages


@dataclass(eq=False)
class Controller:
    """A stream with an election id for a switch."""

    send: Callable[[p4r.StreamMessageResponse], None]
    end: Callable[[Refused], None] = lambda _: None  # ends the stream
    role: str = ""
    election_id: int | None = None


@dataclass
class _Role:
    controllers: list[Controller] = field(default_factory=list)
    highest: int | None = None  # election id of all primaries so far
    primary: Controller | None = None
    config: Any = None  # of the last primary, as it was given
    access: Access = FULL


class Arbiter:
    """The controllers of one switch."""

    def __init__(self, device_id: int, known_ids: Collection[int] = ()) -> None:
        """`known_ids`: what a role's configuration may name."""
        self._device_id = device_id
        self._known_ids = frozenset(known_ids)
        self._roles: dict[str, _Role] = {}

    def arbitrate(self, controller: Controller, update: p4r.MasterArbitrationUpdate, *, first: bool) -> None:
        """Handles an arbitration update and notifies the controllers of the role. Refused ends the stream."""
        name = update.role.name if update.HasField("role") else ""
        if update.role.id:
            raise invalid("role: id: is deprecated; use role.name")
        if not first and name != controller.role:
            raise Refused(
                StatusCode.FAILED_PRECONDITION,
                f"role {name!r}: this stream has role {controller.role!r}; open another stream",
            )
        given = self._access(name, update.role)
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
        if self._elect(role, controller):
            role.access = given
            role.config = update.role.config if update.role.HasField("config") else None
            self._tell(role, role.controllers)

    def leave(self, controller: Controller) -> None:
        """Removes a controller whose stream has ended."""
        role = self._roles.get(controller.role)
        if role is None or controller not in role.controllers:
            return
        role.controllers.remove(controller)
        if role.primary is controller:
            role.primary = None
            self._tell(role, role.controllers)
        if not role.controllers and role.highest is None:
            del self._roles[controller.role]  # there is nothing to remember

    def reset(self) -> None:
        """Forgets election ids and roles, and ends all streams."""
        roles, self._roles = self._roles, {}
        for role in roles.values():
            for controller in role.controllers:
                controller.end(Refused(StatusCode.UNAVAILABLE, RESET))

    def access(self, role_name: str) -> Access:
        """What a role may do. NOT_FOUND if there is none of that name."""
        role = self._roles.get(role_name)
        if role is None and role_name:
            raise Refused(
                StatusCode.NOT_FOUND, f"device {self._device_id}: role {role_name!r}: no controller has it"
            )
        return FULL if role is None else role.access

    def authorize(self, role_name: str, election_id: p4r.Uint128 | None) -> Access:
        """What the sender of a request may do; Refused unless that is the role's primary."""
        known = self.access(role_name)
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
        return known

    def is_primary(self, controller: Controller) -> bool:
        """Whether this controller is the primary of its role."""
        role = self._roles.get(controller.role)
        return role is not None and role.primary is controller

    def primaries(self) -> list[tuple[Controller, Access]]:
        """The primaries of all roles, and what their roles may do."""
        return [(role.primary, role.access) for role in self._roles.values() if role.primary is not None]

    def _access(self, name: str, role: p4r.Role) -> Access:
        """The access that is asked for. What one role has for itself, no other may ask for while it lives."""
        if not role.HasField("config"):
            return FULL
        wanted = access(name, role.config, self._known_ids)
        for other, each in self._roles.items():
            both = wanted.conflict(each.access) if other != name and each.controllers else None
            if both is not None:
                raise invalid(
                    f"role {name!r}: config: id {both}: is exclusive, and role {other!r} has it, too"
                )
        return wanted

    def _elect(self, role: _Role, controller: Controller) -> bool:
        """Whether the controller is primary now; if not, notifies whom this concerns."""
        was = role.primary
        wanted = controller.election_id
        if wanted is not None and (role.highest is None or wanted >= role.highest):
            role.highest, role.primary = wanted, controller
            return True
        if was is controller:  # it has stepped down
            role.primary = None
            self._tell(role, role.controllers)
        else:
            self._tell(role, [controller])
        return False

    def _tell(self, role: _Role, controllers: list[Controller]) -> None:
        for each in list(controllers):
            each.send(self._notice(role, each))

    def _notice(self, role: _Role, controller: Controller) -> p4r.StreamMessageResponse:
        message = p4r.StreamMessageResponse()
        update = message.arbitration
        update.device_id = self._device_id
        if controller.role:
            update.role.name = controller.role
        if role.config is not None:
            update.role.config.CopyFrom(role.config)
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
