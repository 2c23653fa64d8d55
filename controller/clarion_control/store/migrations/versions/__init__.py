# SPDX-License-Identifier: Apache-2.0
"""Schema migrations, run by Alembic in the order of their revisions."""
