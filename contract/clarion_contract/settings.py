# SPDX-License-Identifier: Apache-2.0
# Made by `python -m clarion_contract.generate` from contract.yaml; do not edit.
"""The settings of a port in people's units, and what is known of each."""

from __future__ import annotations

from dataclasses import dataclass

from clarion_contract.setting import Argument, Setting, Stable, Table

PORTS = 64
CPU_PORT = 63
FLOOD_GROUP = 1
FLOOD_BASE = 256
LAST_EPOCH = 255

TABLES = {
    "tag_port": Table(name="tag_port", action="set_tag_port", unit="ingress", has_epoch=True),
    "xcp_port": Table(name="xcp_port", action="set_xcp_port", unit="egress", has_epoch=True),
    "stamp_port": Table(name="stamp_port", action="stamp", unit="egress"),
    "queue_port": Table(name="queue_port", action="set_queue_port", unit="egress"),
}
PORT_TABLES = tuple(TABLES)
ADDRESSES = "l2_forward"
ACTIONS = {name: table.action for name, table in TABLES.items()} | {ADDRESSES: "forward"}
JUDGING = "wire_judged"
PROVE, DISPROVE, UNTIL = "prove", "disprove", "until"
AS_RECEIVED = 511  # egress port of a PacketOut that is forwarded by its address


@dataclass(frozen=True)
class XcpSettings:
    """A port's controllers."""

    capacity_bps: int
    alpha: float = 0.4
    beta: float = 0.226
    gamma: float = 0.1
    min_interval_us: int = 1000
    max_interval_us: int = 1000000
    generation: int = 2
    allow_unstable: bool = False

    @property
    def is_measured(self) -> bool:
        """Whether the port measures what its link carries, and hands that out."""
        return self.capacity_bps == 0


@dataclass(frozen=True)
class PortSettings:
    """All of a port; what is not given is off, a queue without limit included."""

    port: int
    xcp: XcpSettings | None = None
    stamp: bool = False
    check: bool = False
    edge: bool = False
    wire: bool = False
    queue_limit_bytes: int | None = None


XCP = {
    "capacity_bps": Setting(
        name="capacity_bps",
        label="Capacity",
        kind="whole",
        about="what XCP hands out, and the link behind the port carries",
        unit="bit/s",
        least=8,
        most=2199023255551,
        zero="measured",
        table="xcp_port",
        argument=Argument(
            name="capacity", bits=38, about="bytes/s", denominator=8, core="capacity_bytes_per_s"
        ),
    ),
    "alpha": Setting(
        name="alpha",
        label="Alpha",
        kind="real",
        about="how fast spare capacity is handed out, the part of it per mean round trip time",
        default=0.4,
        most=3.99998,
        stable=Stable(
            range="above 0 and below 0.5553 (pi/(4*sqrt 2))",
            reason=", or the control loop is not stable",
            above=0.0,
            below=0.5553603672697958,
        ),
        table="xcp_port",
        argument=Argument(
            name="alpha", bits=18, about="q16", numerator=65536, is_nearest=True, core="alpha_q16"
        ),
    ),
    "beta": Setting(
        name="beta",
        label="Beta",
        kind="real",
        about="how fast a standing queue is drained; alpha^2*sqrt 2 where alpha is given without it",
        default=0.226,
        most=3.99998,
        stable=Stable(
            range="{} within 1 %",
            reason=", or the control loop is not stable",
            follows="alpha",
            rule="alpha^2*sqrt 2",
            within=0.01,
        ),
        table="xcp_port",
        argument=Argument(
            name="beta", bits=18, about="q16", numerator=65536, is_nearest=True, core="beta_q16"
        ),
    ),
    "gamma": Setting(
        name="gamma",
        label="Gamma",
        kind="real",
        about="part of the traffic that is shuffled between flows per interval, for fairness",
        default=0.1,
        most=3.99998,
        stable=Stable(
            range="above 0 and below 1",
            reason=": the share of the traffic that is shuffled",
            above=0.0,
            below=1.0,
        ),
        table="xcp_port",
        argument=Argument(
            name="gamma", bits=18, about="q16", numerator=65536, is_nearest=True, core="gamma_q16"
        ),
    ),
    "min_interval_us": Setting(
        name="min_interval_us",
        label="Shortest interval",
        kind="whole",
        about="lower bound of the control interval",
        unit="us",
        default=1000,
        least=1,
        most=16000000,
        at_most="max_interval_us",
        table="xcp_port",
        argument=Argument(
            name="min_interval",
            bits=32,
            about="ticks, at least 1",
            numerator=4194304,
            denominator=15625,
            least=1,
            core="min_interval",
        ),
    ),
    "max_interval_us": Setting(
        name="max_interval_us",
        label="Longest interval",
        kind="whole",
        about="upper bound of the control interval; at least the lower one",
        unit="us",
        default=1000000,
        least=1,
        most=16000000,
        table="xcp_port",
        argument=Argument(
            name="max_interval",
            bits=32,
            about="ticks, at least min_interval",
            numerator=4194304,
            denominator=15625,
            least=1,
            core="max_interval",
        ),
    ),
    "generation": Setting(
        name="generation",
        label="Generation",
        kind="whole",
        about="1: the XCP of the papers; 2: fair sooner, and full links where flows are held back elsewhere",
        default=2,
        least=1,
        most=2,
        table="xcp_port",
        argument=Argument(name="generation", bits=2, about="1 or 2", least=1, core="generation"),
    ),
    "allow_unstable": Setting(
        name="allow_unstable",
        label="Allow unstable",
        kind="flag",
        about="take what the data plane holds although the control loop is not stable with it",
        default=False,
    ),
}

PORT = {
    "stamp": Setting(
        name="stamp",
        label="Stamp",
        kind="flag",
        about="number the packets that leave, so that the next hop sees what the wire lost",
        default=False,
        table="stamp_port",
    ),
    "check": Setting(
        name="check",
        label="Check",
        kind="flag",
        about="count what the wire into this port lost",
        default=False,
        table="tag_port",
        argument=Argument(name="check", bits=1, about="count the losses of the incoming link"),
    ),
    "edge": Setting(
        name="edge",
        label="Edge",
        kind="flag",
        about="a host is attached, and what it claims about losses is zeroed",
        default=False,
        table="tag_port",
        argument=Argument(name="edge", bits=1, about="a host is behind this port: zero what it claims"),
    ),
    "wire": Setting(
        name="wire",
        label="Bare wire",
        kind="flag",
        about="the link is declared a bare wire, on which nothing queues: what it lost was corrupted",
        default=False,
        table="tag_port",
        argument=Argument(name="wire", bits=1, about="the link is a bare wire: gaps in its numbers count"),
    ),
    "queue_limit_bytes": Setting(
        name="queue_limit_bytes",
        label="Queue limit",
        kind="whole",
        about="most bytes that wait for the port; none for no limit but the switch's own",
        unit="B",
        least=1,
        most=1099511627775,
        table="queue_port",
        argument=Argument(name="limit_bytes", bits=40, about="bytes that may wait"),
    ),
}
