# SPDX-License-Identifier: Apache-2.0
"""Runs that were started elsewhere report to the controller.

Revision ID: 0004
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"

ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """The experiments that there are were all run by controllers."""
    op.add_column("experiments", sa.Column("place", sa.Text(), nullable=True))
    op.add_column("experiments", sa.Column("progress", sa.Text(), nullable=True))
    op.add_column("experiments", sa.Column("heard_us", sa.BigInteger(), nullable=True))
    op.add_column("experiments", sa.Column("stop_us", sa.BigInteger(), nullable=True))
    op.create_table(
        "summaries",
        sa.Column("experiment_id", ID, autoincrement=False, nullable=False),
        sa.Column("document", sa.JSON(none_as_null=True), nullable=False),
        sa.ForeignKeyConstraint(["experiment_id"], ["experiments.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("experiment_id"),
    )
