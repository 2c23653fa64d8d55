# SPDX-License-Identifier: Apache-2.0
"""Ports have names beside their numbers.

Revision ID: 0003
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Switches that were added before have ports without names."""
    op.add_column("switches", sa.Column("port_names", sa.JSON(none_as_null=True), nullable=True))
