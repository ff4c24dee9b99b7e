"""SQLite does not wait for the disk in tests: processes are killed there, but no power fails.

Closing a database would wait some milliseconds, hundreds of times.
"""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from farthest.models import database

_prepare = database.prepare_sqlite


def _prepared(engine: Engine, place: str, path: Path | None) -> None:
    _prepare(engine, place, path)

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA synchronous=OFF").close()

    engine.dispose()


def pytest_configure() -> None:
    pytest.MonkeyPatch().setattr(database, "prepare_sqlite", _prepared)
