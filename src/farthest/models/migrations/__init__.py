"""Alembic migrations of the database, kept in the package so that every installation can use them.

Imported only where there is something to migrate: Alembic takes half a second. To add a revision: change
``models/tables.py`` and its ``SCHEMA_VERSION``, copy the newest file in ``versions`` (or use
``script.py.mako``), and run the tests, which compare what the revisions build with the tables.
"""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, Engine


def configuration(connection: Connection | None = None) -> Config:
    """Alembic's configuration for this package, without an alembic.ini."""
    config = Config()
    config.set_main_option("script_location", "farthest.models:migrations")
    config.attributes["connection"] = connection
    return config


def revisions() -> set[str]:
    """All revisions that this installation knows."""
    return {script.revision for script in ScriptDirectory.from_config(configuration()).walk_revisions()}


def upgrade(engine: Engine, revision: str = "head") -> None:
    """Brings the tables up to date in one transaction; of several concurrent processes the first does it."""
    with engine.connect().execution_options(farthest_write=True) as connection:
        sqlite = connection.dialect.name == "sqlite"
        if sqlite:
            # SQLite changes a table by copying it and dropping the old one, which would delete the rows of
            # all tables that refer to it. The setting cannot be changed inside a transaction.
            connection.connection.cursor().execute("PRAGMA foreign_keys=OFF")
        try:
            with connection.begin():
                command.upgrade(configuration(connection), revision)
        finally:
            if sqlite:
                connection.connection.cursor().execute("PRAGMA foreign_keys=ON")
