# SPDX-License-Identifier: Apache-2.0
"""Controllers of one store know each other.

Revision ID: 0006
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Controllers that run put themselves in within a second."""
    op.create_table(
        "controllers",
        sa.Column("election_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("seen_us", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("election_id"),
    )
