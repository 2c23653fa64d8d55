# SPDX-License-Identifier: Apache-2.0
"""The first schema.

Revision ID: 0001
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
DOCUMENT = sa.JSON(none_as_null=True)


def upgrade() -> None:
    """Creates all tables."""
    op.create_table(
        "audit",
        sa.Column("id", ID, nullable=False),
        sa.Column("time_us", sa.BigInteger(), nullable=False),
        sa.Column("actor", sa.Text(), nullable=False),
        sa.Column("action", sa.Text(), nullable=False),
        sa.Column("origin", sa.Text(), nullable=False),
        sa.Column("switch", sa.Text(), nullable=True),
        sa.Column("port", sa.Integer(), nullable=True),
        sa.Column("before", DOCUMENT, nullable=True),
        sa.Column("after", DOCUMENT, nullable=True),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("audit_switch", "audit", ["switch", "id"], unique=False)
    op.create_table(
        "decisions",
        sa.Column("id", ID, nullable=False),
        sa.Column("time_us", sa.BigInteger(), nullable=False),
        sa.Column("switch", sa.Text(), nullable=False),
        sa.Column("port", sa.Integer(), nullable=False),
        sa.Column("policy", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("changes", DOCUMENT, nullable=False),
        sa.Column("evidence", DOCUMENT, nullable=False),
        sa.Column("undone_us", sa.BigInteger(), nullable=True),
        sa.Column("undone_by", sa.Text(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("decisions_port", "decisions", ["switch", "port", "id"], unique=False)
    op.create_table(
        "drops",
        sa.Column("id", ID, nullable=False),
        sa.Column("switch_uid", sa.BigInteger(), nullable=False),
        sa.Column("port", sa.Integer(), nullable=False),
        sa.Column("time_us", sa.BigInteger(), nullable=False),
        sa.Column("switch_time_us", sa.BigInteger(), nullable=False),
        sa.Column("frame_bytes", sa.Integer(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("destination", sa.Text(), nullable=False),
        sa.Column("protocol", sa.Integer(), nullable=False),
        sa.Column("source_port", sa.Integer(), nullable=False),
        sa.Column("destination_port", sa.Integer(), nullable=False),
        sa.Column("format", sa.Integer(), nullable=False),
        sa.Column("bucket", sa.Integer(), nullable=False),
        sa.Column("drops", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("drops_port", "drops", ["switch_uid", "port", "time_us"], unique=False)
    op.create_index("drops_time", "drops", ["time_us"], unique=False)
    op.create_table(
        "experiments",
        sa.Column("id", ID, nullable=False),
        sa.Column("scenario", sa.Text(), nullable=False),
        sa.Column("engine", sa.Text(), nullable=False),
        sa.Column("settings", DOCUMENT, nullable=False),
        sa.Column("repeat", sa.Integer(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("created_by", sa.Text(), nullable=False),
        sa.Column("started_us", sa.BigInteger(), nullable=True),
        sa.Column("ended_us", sa.BigInteger(), nullable=True),
        sa.Column("error", sa.Text(), nullable=True),
        sa.Column("files", DOCUMENT, nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "intervals",
        sa.Column("id", ID, nullable=False),
        sa.Column("switch_uid", sa.BigInteger(), nullable=False),
        sa.Column("port", sa.Integer(), nullable=False),
        sa.Column("time_us", sa.BigInteger(), nullable=False),
        sa.Column("intervals", sa.BigInteger(), nullable=False),
        sa.Column("elapsed_us", sa.Double(), nullable=False),
        sa.Column("avg_rtt_us", sa.Double(), nullable=False),
        sa.Column("input_bytes", sa.BigInteger(), nullable=False),
        sa.Column("sum_x_s", sa.Double(), nullable=False),
        sa.Column("sum_x_rtt_s2", sa.Double(), nullable=False),
        sa.Column("queue_bytes", sa.BigInteger(), nullable=False),
        sa.Column("input_bps", sa.Double(), nullable=False),
        sa.Column("phi_bps", sa.Double(), nullable=False),
        sa.Column("positive_bps", sa.Double(), nullable=False),
        sa.Column("negative_bps", sa.Double(), nullable=False),
        sa.Column("cp_bps_per_s", sa.Double(), nullable=False),
        sa.Column("cn_bps_per_byte", sa.Double(), nullable=False),
        sa.Column("lost_on_wire", sa.BigInteger(), nullable=False),
        sa.Column("dropped_by_queue", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("intervals_port", "intervals", ["switch_uid", "port", "time_us"], unique=False)
    op.create_index("intervals_time", "intervals", ["time_us"], unique=False)
    op.create_table(
        "switches",
        sa.Column("uid", ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("device_id", sa.BigInteger(), nullable=False),
        sa.Column("ports", DOCUMENT, nullable=False),
        sa.Column("tls", DOCUMENT, nullable=True),
        sa.Column("added_us", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("uid"),
        sa.UniqueConstraint("name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "tokens",
        sa.Column("id", ID, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("digest", sa.Text(), nullable=False),
        sa.Column("created_us", sa.BigInteger(), nullable=False),
        sa.Column("expires_us", sa.BigInteger(), nullable=True),
        sa.Column("last_used_us", sa.BigInteger(), nullable=True),
        sa.Column("revoked_us", sa.BigInteger(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("digest"),
        sa.UniqueConstraint("name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "desired_forwarding",
        sa.Column("switch_uid", ID, nullable=False),
        sa.Column("document", DOCUMENT, nullable=True),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("changed_us", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["switch_uid"], ["switches.uid"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("switch_uid"),
    )
    op.create_table(
        "desired_ports",
        sa.Column("switch_uid", ID, nullable=False),
        sa.Column("port", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("settings", DOCUMENT, nullable=False),
        sa.Column("version", sa.BigInteger(), nullable=False),
        sa.Column("changed_us", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["switch_uid"], ["switches.uid"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("switch_uid", "port"),
    )
    op.create_table(
        "policies",
        sa.Column("switch_uid", ID, nullable=False),
        sa.Column("port", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("state", sa.Text(), nullable=False),
        sa.Column("parameters", DOCUMENT, nullable=False),
        sa.Column("changed_us", sa.BigInteger(), nullable=False),
        sa.Column("changed_by", sa.Text(), nullable=False),
        sa.Column("reason", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(["switch_uid"], ["switches.uid"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("switch_uid", "port", "name"),
    )
