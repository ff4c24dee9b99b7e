"""One cache of compiled SQL statements for all databases of a process of tests.

SQLAlchemy keeps what it has compiled with each engine, and hundreds of tests open databases of their own: compiling the
same statements again took an eighth of the processor time of the fast tests. Databases of one kind have equal dialects.
"""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy.engine import Engine
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.util import LRUCache

_compiled: LRUCache[Any, Any] = LRUCache(2000)
_make_engine = Engine.__init__


def _kind(dialect: DefaultDialect) -> tuple[object, ...]:
    return type(dialect), dialect.server_version_info


def _equal(dialect: DefaultDialect, other: object) -> bool:
    return isinstance(other, DefaultDialect) and _kind(dialect) == _kind(other)


def _hash(dialect: DefaultDialect) -> int:
    return hash(type(dialect))


def _made(engine: Engine, *arguments: Any, **options: Any) -> None:
    _make_engine(engine, *arguments, **options)
    engine._compiled_cache = _compiled


def pytest_configure() -> None:
    patch = pytest.MonkeyPatch()
    patch.setattr(DefaultDialect, "__eq__", _equal)
    patch.setattr(DefaultDialect, "__hash__", _hash)
    patch.setattr(Engine, "__init__", _made)
