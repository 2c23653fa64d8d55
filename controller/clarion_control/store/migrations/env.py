# SPDX-License-Identifier: Apache-2.0
"""What Alembic runs: the migrations on the connection that `clarion_control.store.migrate` gives."""

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
