# SPDX-License-Identifier: Apache-2.0
"""The records that the controller's parts exchange, all frozen: no I/O, no database, no HTTP.

Times are Unix time in microseconds (`_us`), rates bit/s, sizes bytes. The settings of a port are those of
`settings.py`, what a switch reports those of `telemetry.py`.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from clarion_contract.neighbours import Wire
from clarion_contract.settings import PortSettings
from clarion_contract.telemetry import IntervalReport, QueueDrop
from clarion_p4rt.switch import Switch

OIDC_PREFIX = "oidc:"  # of people who sign in by OpenID Connect, where a token's name would stand


class Role(enum.IntEnum):
    """What a token allows; a higher role allows all that a lower one does."""

    VIEWER = 1
    OPERATOR = 2
    EXPERIMENTER = 3  # may start runs, which use the controller's machine as root
    ADMIN = 4


class Origin(enum.Enum):
    """The cause of a change."""

    MANUAL = "manual"
    TUNER = "tuner"
    ADOPTED = "adopted"  # found on a switch that joined with settings of its own
    UNDO = "undo"
    REVERT = "revert"  # the switch refused the change before


@dataclass(frozen=True)
class Actor:
    """The author of a change: a token, or a part of the controller such as "tuner"."""

    name: str
    role: Role


class LinkState(enum.Enum):
    """The controller's session with a switch."""

    CONNECTING = "connecting"
    UNREACHABLE = "unreachable"
    BACKUP = "backup"  # another controller is primary
    SYNCING = "syncing"  # primary; entries are being made equal to the desired state
    IN_SYNC = "in-sync"
    REFUSED = "refused"  # primary; the switch refused an entry or the program, see `reason`


@dataclass(frozen=True)
class ControllerRecord:
    """A controller of the store, as it says of itself."""

    name: str
    election_id: int  # its own, the lower half of what it is primary with
    url: str  # of its dashboard and API
    seen_us: int  # by its own clock


@dataclass(frozen=True)
class SwitchStatus:
    """The state of the session with a switch, and its figures."""

    state: LinkState
    since_us: int
    reason: str | None = None  # one line, for UNREACHABLE and REFUSED
    reconnects: int = 0
    reports: int = 0  # received so far
    last_report_us: int | None = None
    primary: int | None = None  # own election id of the controller that leads; None: no primary, or not known


@dataclass(frozen=True)
class DesiredPort:
    """The desired settings of a port. `version` starts at 1 and goes up by one with every change."""

    settings: PortSettings
    version: int
    changed_us: int


@dataclass(frozen=True)
class PortState:
    """Desired and effective settings of a port; `effective` are those that the switch confirmed last."""

    switch: Switch
    port: int
    desired: DesiredPort | None  # None: never set, and the switch has not been reached yet
    effective: PortSettings | None  # None: not known
    applied: bool  # the switch has confirmed the desired version
    wire: Wire | None = None  # None: not known, because this controller is not primary or has no session


class Action(enum.Enum):
    """The acts that leave an audit record."""

    PORT_CHANGE = "port.change"
    FORWARDING_CHANGE = "forwarding.change"
    POLICY_CHANGE = "policy.change"
    SWITCH_ADD = "switch.add"
    SWITCH_CHANGE = "switch.change"
    SWITCH_REMOVE = "switch.remove"
    TOKEN_CREATE = "token.create"
    TOKEN_REVOKE = "token.revoke"
    EXPERIMENT_CREATE = "experiment.create"
    EXPERIMENT_STOP = "experiment.stop"
    RUN_REGISTER = "run.register"
    RUN_END = "run.end"
    SESSION_BEGIN = "session.begin"
    SESSION_FAIL = "session.fail"
    SESSION_END = "session.end"
    REQUEST_FAIL = "request.fail"  # with a token that is not valid
    REQUEST_REFUSE = "request.refuse"  # for want of a role


ACCESS = frozenset(
    {
        Action.SESSION_BEGIN,
        Action.SESSION_FAIL,
        Action.SESSION_END,
        Action.REQUEST_FAIL,
        Action.REQUEST_REFUSE,
    }
)


@dataclass(frozen=True)
class AuditRecord:
    """One change or access, in the order of `id`. `before` and `after` are JSON objects, None for what was
    absent.
    """

    id: int
    time_us: int
    actor: str
    action: str  # the value of an Action; a store may have those of other versions
    origin: Origin
    switch: str | None
    port: int | None
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    reason: str | None = None


class Interval(NamedTuple):
    """A report of a control interval with its switch and its time of arrival."""

    time_us: int  # of its arrival at the controller
    switch: str
    report: IntervalReport


def handed_out_bps(settings: PortSettings | None, measured_bps: int | None) -> int | None:
    """The capacity that a port hands out: its setting, or what it measured last; None without XCP, or where
    that is not known.
    """
    if settings is None or settings.xcp is None:
        return None
    if settings.xcp.is_measured:
        return measured_bps
    return settings.xcp.capacity_bps


@dataclass(frozen=True)
class IntervalSummary:
    """The reports of a port in a span of time: means, unless the name says otherwise."""

    start_us: int
    step_us: int
    switch: str
    port: int
    reports: int
    input_bps: float
    phi_bps: float
    avg_rtt_us: float
    queue_bytes: float
    queue_max_bytes: int
    lost_on_wire: int  # totals so far, as the last report has them
    dropped_by_queue: int


class Drop(NamedTuple):
    """A report of a packet that a queue dropped."""

    time_us: int
    switch: str
    report: QueueDrop


@dataclass(frozen=True)
class PortCounters:
    """The counter arrays of the switch at one port: packets, and bytes where the array counts them."""

    time_us: int
    switch: str
    port: int
    packets: Mapping[str, int]  # by the array's name in P4Info
    bytes: Mapping[str, int]


@dataclass(frozen=True)
class StatusChange:
    """A new state of the session with a switch."""

    time_us: int
    switch: str
    status: SwitchStatus


class PolicyState(enum.Enum):
    """Whether a policy may change its port."""

    OFF = "off"
    ACTIVE = "active"
    HELD = "held"  # a field that it governs was set by hand after it was activated


@dataclass(frozen=True)
class Policy:
    """A tuner policy at a port. `parameters` are those that the policy documents, complete."""

    switch: str
    port: int
    name: str  # "capacity", "stability", "convergence", "noise"
    state: PolicyState
    parameters: Mapping[str, float]
    changed_us: int
    changed_by: str
    reason: str | None = None  # why it is held


@dataclass(frozen=True)
class ActivePolicy:
    """An active policy of a port. `switch_uid` tells a switch from an earlier one of the same name."""

    switch_uid: int
    switch: str
    port: int
    name: str
    parameters: Mapping[str, Any]
    changed_us: int


@dataclass(frozen=True)
class PolicyChange:
    """A policy was set, held or resumed."""

    time_us: int
    policy: Policy

    @property
    def switch(self) -> str:
        """The switch of the port."""
        return self.policy.switch


Event = Interval | Drop | PortCounters | StatusChange | PolicyChange


@dataclass(frozen=True)
class Decision:
    """A policy's decision. `changes` maps a field of the port to [from, to]; empty for a flag."""

    id: int
    time_us: int
    switch: str
    port: int
    policy: str
    summary: str  # one sentence for people
    changes: Mapping[str, tuple[Any, Any]]
    evidence: Mapping[str, Any]
    undone_us: int | None = None
    undone_by: str | None = None


@dataclass(frozen=True)
class Token:
    """A bearer token as it is stored, without its secret."""

    id: int
    name: str
    role: Role
    created_us: int
    expires_us: int | None = None
    last_used_us: int | None = None
    revoked_us: int | None = None


class ExperimentState(enum.Enum):
    """The stages of an experiment."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETE = "complete"
    FAILED = "failed"
    STOPPED = "stopped"
    LOST = "lost"  # a run that reports by itself, and does not any more; it goes on if it is heard again


@dataclass(frozen=True)
class Experiment:
    """A `clarion run`: of the controller, or one that was started elsewhere and reports to it."""

    id: int
    scenario: str
    engine: str
    settings: tuple[str, ...]  # KEY=VALUE, as for --set
    repeat: int
    state: ExperimentState
    created_us: int
    created_by: str
    started_us: int | None = None
    ended_us: int | None = None
    error: str | None = None
    files: tuple[str, ...] = field(default=())  # results that can be fetched, relative paths
    place: str | None = None  # HOST:DIRECTORY of a run that reports by itself; None: the controller's own
    progress: str | None = None  # what such a run said last
    heard_us: int | None = field(default=None, compare=False)  # when that was
    stop_us: int | None = None  # when such a run was asked to stop

    @property
    def is_reported(self) -> bool:
        """Whether it was started elsewhere and reports by itself."""
        return self.place is not None
