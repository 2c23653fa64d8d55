# SPDX-License-Identifier: Apache-2.0
"""The errors of the controller, each as one line for the user."""

from __future__ import annotations

from clarion_base.errors import UserError
from clarion_p4rt.errors import Entity


class FieldError(UserError):
    """Input with a field that is not valid; `field` is its name in the JSON, such as "address"."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class NotFoundError(UserError):
    """A switch, port or token that does not exist; `hint` names those that do."""

    def __init__(self, kind: str, name: object, hint: str | None = None) -> None:
        super().__init__(f"{kind} {name}: there is none" + (f"; {hint}" if hint else ""))
        self.kind = kind
        self.name = str(name)


class ExistsError(UserError):
    """A name that is taken."""

    def __init__(self, kind: str, name: object) -> None:
        super().__init__(f"{kind} {name}: exists already; remove it first, or take another name")
        self.kind = kind
        self.name = str(name)


class FullError(UserError):
    """There are as many of a kind as there may be."""

    def __init__(self, kind: str, most: int, remedy: str) -> None:
        super().__init__(f"{kind}: there are {most}, and may be no more; {remedy}")
        self.kind = kind


class StaleVersionError(UserError):
    """A change that was made for another version than the current one (0: nothing is set)."""

    def __init__(self, what: str, current: int) -> None:
        super().__init__(f"{what}: is at version {current} by now; read it again")
        self.what = what
        self.current = current


class NotPrimaryError(UserError):
    """Another controller is primary at the switch."""

    def __init__(self, switch: str, primary: str | None) -> None:
        other = "another controller" if primary is None else f"another controller ({primary})"
        super().__init__(f"{switch}: {other} is primary at this switch; make the change there")
        self.switch = switch


class UnreachableError(UserError):
    """The switch does not answer, so a change could not be confirmed; nothing was stored."""

    def __init__(self, switch: str, reason: str) -> None:
        super().__init__(f"{switch}: not reachable: {reason}")
        self.switch = switch
        self.reason = reason


class ApplyPending(UserError):  # noqa: N818 - no error: it will happen
    """A change that is stored, and that the switch has not confirmed yet."""

    def __init__(self, switch: str, port: int | None) -> None:
        where = switch if port is None else f"{switch} port {port}"
        super().__init__(f"{where}: stored; the switch gets it as soon as it answers")
        self.switch = switch
        self.port = port


class RefusedError(UserError):
    """The switch refused a change; the settings before it are desired again."""

    def __init__(self, switch: str, entity: Entity, reason: str) -> None:
        super().__init__(f"{switch}: {entity}: {reason}")
        self.switch = switch
        self.entity = entity
        self.reason = reason


class PolicyHeldError(UserError):
    """A decision of a policy that is not active any more."""

    def __init__(self, switch: str, port: int, policy: str) -> None:
        super().__init__(f"{switch} port {port}: policy {policy} is not active; resume it first")
        self.switch = switch
        self.port = port
        self.policy = policy


class UndoneError(UserError):
    """A decision that cannot be undone: it was already, or it has changed nothing."""

    def __init__(self, decision: int, reason: str) -> None:
        super().__init__(f"decision {decision}: {reason}")
        self.decision = decision
        self.reason = reason


class RunError(UserError):
    """A report of a run that cannot be taken."""

    def __init__(self, experiment: int, reason: str) -> None:
        super().__init__(f"experiment {experiment}: {reason}")
        self.experiment = experiment
        self.reason = reason


class StoreError(UserError):
    """A database that cannot be used, named as `STORE: reason`."""


class UnstorableError(StoreError):
    """A value that the database has no place for, such as a number that is too large."""
