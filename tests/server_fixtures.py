"""Fixtures of servers and databases: started once by each process of tests, at the first test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from farthest.stores.redis.connections import RedisNodes
from servers import PostgresServer, RedisServer


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    """A Redis server of this process of tests. A test that ends or stops it starts it again."""
    server = RedisServer(tmp_path_factory.mktemp("redis"))
    server.start()
    yield server
    server.close()


@pytest.fixture
def redis_url(redis_server: RedisServer) -> str:
    """The URL of a Redis server without keys."""
    redis_server.flush()
    return redis_server.url


@pytest.fixture
def redis_nodes(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[RedisNodes]:
    """Connections to a Redis without keys, which the environment names."""
    monkeypatch.setenv("FARTHEST_REDIS_URL", redis_url)
    nodes = RedisNodes([redis_url])
    yield nodes
    nodes.close()


@pytest.fixture(scope="session")
def postgres_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """A PostgreSQL server of this process of tests. A test that ends or stops it starts it again."""
    server = PostgresServer(tmp_path_factory.mktemp("postgres"))
    server.start()
    yield server
    server.close()


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of a fresh, empty database."""
    with postgres_server.fresh_database() as url:
        yield url


@pytest.fixture(scope="session")
def _postgres_kept(postgres_server: PostgresServer) -> str:
    from farthest.models.database import open_database

    url = postgres_server.create_database("kept")
    open_database(url, create=True).close()
    return url


@pytest.fixture
def postgres_empty_url(postgres_server: PostgresServer, _postgres_kept: str) -> str:
    """The URL of a database with farthest's tables, all of them empty: sooner made than a fresh database."""
    # Few rows: deleting them takes a tenth of the time of TRUNCATE.
    postgres_server.execute(
        "DELETE FROM job; DELETE FROM puzzle; DELETE FROM state;"
        " ALTER SEQUENCE job_id_seq RESTART; ALTER SEQUENCE puzzle_id_seq RESTART",
        "kept",
    )
    return _postgres_kept


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database without jobs: each test that asks for it is run with a file and on PostgreSQL."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'maps.db'}"
    return str(request.getfixturevalue("postgres_empty_url"))
