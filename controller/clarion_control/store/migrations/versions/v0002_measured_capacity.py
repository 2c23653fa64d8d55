# SPDX-License-Identifier: Apache-2.0
"""Reports say what the link was measured to carry.

Revision ID: 0002
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Earlier reports say nothing of it."""
    op.add_column("intervals", sa.Column("measured_bps", sa.BigInteger(), nullable=True))
