# SPDX-License-Identifier: Apache-2.0
"""Brings a database to the newest schema, whichever version of Clarion made it."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import Engine, inspect, text

from clarion_control.errors import StoreError
from clarion_control.store import engine as engines

MIGRATIONS = Path(__file__).with_name("migrations")


def upgrade(engine: Engine) -> None:
    """Runs the migrations that are missing, all of them or none; StoreError for a newer database."""
    with engines.explained(engine.url), engine.begin() as connection:
        engines.lift_limits(connection)
        engines.lock_writers(connection)
        config = Config()
        config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        config.attributes["connection"] = connection
        current = None
        if inspect(connection).has_table("alembic_version"):
            current = connection.execute(text("SELECT version_num FROM alembic_version")).scalar()
        scripts = ScriptDirectory.from_config(config)
        if current == scripts.get_current_head():
            return
        try:
            command.upgrade(config, "head")
        except CommandError as error:
            raise StoreError(
                f"store {engines.shown(engine.url)}: is of a newer Clarion ({current}); upgrade this one"
            ) from error
