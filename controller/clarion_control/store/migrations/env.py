# SPDX-License-Identifier: Apache-2.0
"""Alembic's entry: runs the migrations on the connection from `clarion_control.store.migrate`."""

from alembic import context

from clarion_control.store.schema import metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    transactional_ddl=True,
    transaction_per_migration=False,
)
with context.begin_transaction():
    context.run_migrations()
