# SPDX-License-Identifier: Apache-2.0
"""The audit has records of access, too, which are found by their action when they are too old.

Revision ID: 0005
"""

from __future__ import annotations

from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """An index for the expiry of these records."""
    op.create_index("audit_action", "audit", ["action", "time_us"])
