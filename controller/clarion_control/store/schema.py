# SPDX-License-Identifier: Apache-2.0
"""The tables as the newest migration leaves them. Times are Unix time in microseconds."""

from __future__ import annotations

from sqlalchemy import (
    JSON,
    BigInteger,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
)

metadata = MetaData()

# SQLite generates ids only for a column of type INTEGER.
Id = BigInteger().with_variant(Integer, "sqlite")
Document = JSON(none_as_null=True)


def _owner() -> Column[int]:
    return Column("switch_uid", Id, ForeignKey("switches.uid", ondelete="CASCADE"), primary_key=True)


switches = Table(
    "switches",
    metadata,
    Column("uid", Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("address", Text, nullable=False),
    Column("device_id", BigInteger, nullable=False),
    Column("ports", Document, nullable=False),
    Column("port_names", Document),  # by the number as text
    Column("tls", Document),
    Column("added_us", BigInteger, nullable=False),
    sqlite_autoincrement=True,  # a uid is never used again
)

desired_ports = Table(
    "desired_ports",
    metadata,
    _owner(),
    Column("port", Integer, primary_key=True, autoincrement=False),
    Column("settings", Document, nullable=False),
    Column("version", BigInteger, nullable=False),
    Column("changed_us", BigInteger, nullable=False),
)

desired_forwarding = Table(
    "desired_forwarding",
    metadata,
    _owner(),
    Column("document", Document),
    Column("version", BigInteger, nullable=False),
    Column("changed_us", BigInteger, nullable=False),
)

policies = Table(
    "policies",
    metadata,
    _owner(),
    Column("port", Integer, primary_key=True, autoincrement=False),
    Column("name", Text, primary_key=True),
    Column("state", Text, nullable=False),
    Column("parameters", Document, nullable=False),
    Column("changed_us", BigInteger, nullable=False),
    Column("changed_by", Text, nullable=False),
    Column("reason", Text),
)

audit = Table(
    "audit",
    metadata,
    Column("id", Id, primary_key=True),
    Column("time_us", BigInteger, nullable=False),
    Column("actor", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("switch", Text),
    Column("port", Integer),
    Column("before", Document),
    Column("after", Document),
    Column("reason", Text),
    Index("audit_switch", "switch", "id"),
    Index("audit_action", "action", "time_us"),
    sqlite_autoincrement=True,
)

decisions = Table(
    "decisions",
    metadata,
    Column("id", Id, primary_key=True),
    Column("time_us", BigInteger, nullable=False),
    Column("switch", Text, nullable=False),
    Column("port", Integer, nullable=False),
    Column("policy", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("changes", Document, nullable=False),
    Column("evidence", Document, nullable=False),
    Column("undone_us", BigInteger),
    Column("undone_by", Text),
    Index("decisions_port", "switch", "port", "id"),
    sqlite_autoincrement=True,
)

tokens = Table(
    "tokens",
    metadata,
    Column("id", Id, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("role", Text, nullable=False),
    Column("digest", Text, nullable=False, unique=True),  # SHA-256 of the token, which is random enough
    Column("created_us", BigInteger, nullable=False),
    Column("expires_us", BigInteger),
    Column("last_used_us", BigInteger),
    Column("revoked_us", BigInteger),
    sqlite_autoincrement=True,
)

# Those that say that they are there, once a second.
controllers = Table(
    "controllers",
    metadata,
    Column("election_id", Text, primary_key=True),  # up to 2^64-1, more than a BigInteger holds
    Column("name", Text, nullable=False),
    Column("url", Text, nullable=False),
    Column("seen_us", BigInteger, nullable=False),
)

experiments = Table(
    "experiments",
    metadata,
    Column("id", Id, primary_key=True),
    Column("scenario", Text, nullable=False),
    Column("engine", Text, nullable=False),
    Column("settings", Document, nullable=False),
    Column("repeat", Integer, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_us", BigInteger, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("started_us", BigInteger),
    Column("ended_us", BigInteger),
    Column("error", Text),
    Column("files", Document, nullable=False),
    Column("place", Text),  # of a run that reports by itself, as all that follows
    Column("progress", Text),
    Column("heard_us", BigInteger),
    Column("stop_us", BigInteger),
    sqlite_autoincrement=True,
)

# Apart from the experiments: lists of these are read without them.
summaries = Table(
    "summaries",
    metadata,
    Column(
        "experiment_id",
        Id,
        ForeignKey("experiments.id", ondelete="CASCADE"),
        primary_key=True,
        autoincrement=False,
    ),
    Column("document", Document, nullable=False),
)

# Reports are stored by the switch's uid, and outlive the switch until they expire.
intervals = Table(
    "intervals",
    metadata,
    Column("id", Id, primary_key=True),
    Column("switch_uid", BigInteger, nullable=False),
    Column("port", Integer, nullable=False),
    Column("time_us", BigInteger, nullable=False),
    Column("intervals", BigInteger, nullable=False),
    Column("elapsed_us", Double, nullable=False),
    Column("avg_rtt_us", Double, nullable=False),
    Column("input_bytes", BigInteger, nullable=False),
    Column("sum_x_s", Double, nullable=False),
    Column("sum_x_rtt_s2", Double, nullable=False),
    Column("queue_bytes", BigInteger, nullable=False),
    Column("input_bps", Double, nullable=False),
    Column("phi_bps", Double, nullable=False),
    Column("positive_bps", Double, nullable=False),
    Column("negative_bps", Double, nullable=False),
    Column("cp_bps_per_s", Double, nullable=False),
    Column("cn_bps_per_byte", Double, nullable=False),
    Column("lost_on_wire", BigInteger, nullable=False),
    Column("dropped_by_queue", BigInteger, nullable=False),
    Column("measured_bps", BigInteger),
    Index("intervals_port", "switch_uid", "port", "time_us"),
    Index("intervals_time", "time_us"),
)

drops = Table(
    "drops",
    metadata,
    Column("id", Id, primary_key=True),
    Column("switch_uid", BigInteger, nullable=False),
    Column("port", Integer, nullable=False),
    Column("time_us", BigInteger, nullable=False),
    Column("switch_time_us", BigInteger, nullable=False),
    Column("frame_bytes", Integer, nullable=False),
    Column("source", Text, nullable=False),
    Column("destination", Text, nullable=False),
    Column("protocol", Integer, nullable=False),
    Column("source_port", Integer, nullable=False),
    Column("destination_port", Integer, nullable=False),
    Column("format", Integer, nullable=False),
    Column("bucket", Integer, nullable=False),
    Column("drops", BigInteger, nullable=False),
    Index("drops_port", "switch_uid", "port", "time_us"),
    Index("drops_time", "time_us"),
)
