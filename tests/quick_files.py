"""SQLite files are made and closed sooner in tests than for users.

They do not wait for the disk: processes are killed in tests, but no power fails. A database that this process makes is
a copy of the first one that it made: the same statements, a thousand times, took a twentieth of the processor time of
the fast tests; tests of making one ask for the fixture `made_by_statements`. In fast tests only the last layer of maps
that are not small has readable rows, which took another twentieth; with the fixture `all_rows` all states have them.
"""

import os
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, event

from farthest.coordinator.enumeration import record
from farthest.coordinator.settings import STATE_ROWS
from farthest.models import database

_prepare = database.prepare_sqlite
_switch = database._switch_to_wal


def _prepared(engine: Engine, place: str, path: Path | None) -> None:
    _prepare(engine, place, path)

    @event.listens_for(engine, "connect")
    def _set_up(connection: Any, _record: Any) -> None:
        connection.execute("PRAGMA synchronous=OFF").close()

    engine.dispose()


@cache
def _first() -> bytes:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(database, "_switch_to_wal", _switch)
        file = Path(folder, "first.db")
        database.open_database(file, create=True).close()
        return file.read_bytes()


def _copied(engine: Engine, place: str, path: Path | None) -> None:
    if path is not None and not path.exists():
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        with suppress(OSError):  # which the switch reports; or another thread was first
            draft.write_bytes(_first())
            os.link(draft, path)
        with suppress(OSError):
            draft.unlink()
    _switch(engine, place, path)


def pytest_configure() -> None:
    patch = pytest.MonkeyPatch()
    patch.setattr(database, "prepare_sqlite", _prepared)
    patch.setattr(database, "_switch_to_wal", _copied)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    patch = pytest.MonkeyPatch()
    patch.setattr(record, "STATE_ROWS", STATE_ROWS if item.get_closest_marker("slow") else 20_000)


@pytest.fixture
def made_by_statements(monkeypatch: pytest.MonkeyPatch) -> None:
    """Databases that are made as users' are."""
    monkeypatch.setattr(database, "_switch_to_wal", _switch)


@pytest.fixture
def all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readable rows of all states that users get them of."""
    monkeypatch.setattr(record, "STATE_ROWS", STATE_ROWS)
