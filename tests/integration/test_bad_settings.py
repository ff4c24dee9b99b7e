"""Settings that cannot be used: from every command one message, which names the setting and the mend, and status 2."""

import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest
from redis import Redis

from farthest.worker.registry import WorkerRecord
from forked import started
from integration.conftest import Process, Run
from servers import PostgresServer, RedisServer, free_port

PASSWORD = "p@ss/word"
QUOTED = "p%40ss%2Fword"

DATABASE_COMMANDS = (
    ["jobs"],
    ["show", "1"],
    ["submit", "3-puzzle"],
    ["watch", "1"],
    ["cancel", "1"],
    ["resume", "1"],
    ["resume", "1", "--here"],
    ["enumerate", "3-puzzle"],
    ["migrate"],
    ["coordinator", "--once"],
)
DATABASE_WAITS = (["submit", "3-puzzle"], ["watch", "1"], ["coordinator", "--once"])
REDIS_COMMANDS = (
    ["enumerate", "3-puzzle", "--workers", "celery"],
    ["resume", "1", "--here", "--workers", "celery"],
    ["coordinator", "--once"],
    ["worker"],
    ["workers"],
)


@pytest.fixture(scope="module")
def locked_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path_factory.mktemp("redis"), password=PASSWORD)
    server.start()
    yield server
    server.close()


@pytest.fixture(scope="module")
def locked_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    server = PostgresServer(tmp_path_factory.mktemp("postgres"), password=PASSWORD)
    server.start()
    yield server
    server.close()


def one_error(text: str, status: int, *parts: str) -> None:
    """What a command wrote to standard error: one error at its end, without a traceback or a secret."""
    last = text.splitlines()[-1] if text else ""
    assert (status, last[:7]) == (2, "Error: "), text
    for part in parts:
        assert part in last
    assert "Traceback" not in text
    for secret in (PASSWORD, QUOTED, "geheim"):
        assert secret not in text


@pytest.mark.parametrize("command", DATABASE_COMMANDS, ids=" ".join)
@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("nosuch://user:geheim@host/x", ["nosuch://user:***@host/x", "expected sqlite:///FILE"]),
        ("postgresql://user:geheim@host:port/x", ["not a database URL", "FARTHEST_DATABASE_URL"]),
        ("no/such/folder.db", ["no/such"]),
    ],
)
def test_database_urls(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: list[str], url: str, parts: list[str]
) -> None:
    monkeypatch.setenv("FARTHEST_DATABASE_URL", url)
    result = run(*command, status=2)
    one_error(result.stderr, result.exit_code, *parts)


@pytest.mark.slow
@pytest.mark.parametrize("command", DATABASE_COMMANDS, ids=" ".join)
def test_a_wrong_password_of_the_database(
    run: Run, monkeypatch: pytest.MonkeyPatch, locked_postgres: PostgresServer, command: list[str]
) -> None:
    monkeypatch.setenv("FARTHEST_DATABASE_URL", locked_postgres.url.replace(QUOTED, "geheim"))
    result = run(*command, status=2)
    one_error(result.stderr, result.exit_code, "the user or the password", "FARTHEST_DATABASE_URL")


@pytest.mark.parametrize("command", REDIS_COMMANDS, ids=" ".join)
@pytest.mark.parametrize("url", ["http://:geheim@127.0.0.1/", "redis://:geheim@127.0.0.1:port/0"])
def test_redis_urls(run: Run, monkeypatch: pytest.MonkeyPatch, command: list[str], url: str) -> None:
    run("submit", "3-puzzle")
    monkeypatch.setenv("FARTHEST_REDIS_URL", url)
    result = run(*command, status=2)
    one_error(result.stderr, result.exit_code, "FARTHEST_REDIS_URL is", "expected redis://HOST:PORT/0")


@pytest.mark.parametrize("command", REDIS_COMMANDS, ids=" ".join)
def test_a_wrong_password_of_redis(
    run: Run, monkeypatch: pytest.MonkeyPatch, locked_redis: RedisServer, command: list[str]
) -> None:
    run("submit", "3-puzzle")
    monkeypatch.setenv("FARTHEST_REDIS_URL", locked_redis.url.replace(QUOTED, "geheim"))
    result = run(*command, status=2)
    one_error(result.stderr, result.exit_code, "the user or the password", "FARTHEST_REDIS_URL")


def ends(
    folder: Path, commands: list[tuple[list[str], tuple[str, str]]], redis_url: str
) -> list[tuple[str, int]]:
    """What commands, each with a setting of its own, write when they are run at once, and their statuses."""
    logs = [folder / f"{number}.log" for number in range(len(commands))]
    running = [
        started(folder, log, command, {**os.environ, "FARTHEST_REDIS_URL": redis_url, name: value}, 0)
        for log, (command, (name, value)) in zip(logs, commands, strict=True)
    ]
    try:
        return [
            (log.read_text(encoding="utf-8"), status)
            for log, status in zip(logs, [process.wait(60) for process in running], strict=True)
        ]
    finally:
        for process in running:
            process.kill()


@pytest.mark.slow
def test_servers_that_do_not_run(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, redis_url: str
) -> None:
    for command in REDIS_COMMANDS:  # each has a job of its own to go on with
        run("submit", "3-puzzle", "--database", f"{len(command)}{command[0]}.db")
    nowhere = f"127.0.0.1:{free_port()}"
    no_database = ("FARTHEST_DATABASE_URL", f"postgresql://user:geheim@{nowhere}/x")
    no_redis = ("FARTHEST_REDIS_URL", f"redis://:geheim@{nowhere}/0")
    commands = [([*command], no_database) for command in DATABASE_WAITS]
    commands += [
        (
            [*command, *([] if "work" in command[0] else ["--database", f"{len(command)}{command[0]}.db"])],
            no_redis,
        )
        for command in REDIS_COMMANDS
    ]
    for (told, status), (_, (name, _)) in zip(ends(folder, commands, redis_url), commands, strict=True):
        lost = "x: the database" if name == "FARTHEST_DATABASE_URL" else "0: Redis"
        one_error(told, status, f"{nowhere}/{lost} cannot be reached", name)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("FARTHEST_CHECKPOINT_SECONDS", "often"),
        ("FARTHEST_LEASE_SECONDS", "0"),
        ("FARTHEST_REDIS_WAIT_SECONDS", "-1"),
        ("FARTHEST_DATABASE_WAIT_SECONDS", "nan"),
        ("FARTHEST_SMALL_LAYER_STATES", "few"),
        ("FARTHEST_BLOCK_SIZE", "large"),
        ("FARTHEST_WORKER_MEMORY", "none"),
        ("FARTHEST_LOG_LEVEL", "loud"),
        ("FARTHEST_LOG_FORMAT", "xml"),
    ],
)
def test_values(run: Run, redis_url: str, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv("FARTHEST_REDIS_URL", redis_url)
    monkeypatch.setenv(name, value)
    result = run("coordinator", "--once", status=2)
    one_error(result.stderr, result.exit_code, name)


@pytest.mark.slow
def test_workers_of_another_version(run: Run, process: Process, redis_url: str) -> None:
    record = WorkerRecord("farthest@old", "old", 1, "0.0.1", 0, 1, "2026-01-01T00:00:00+00:00")
    with Redis.from_url(redis_url) as redis:
        redis.set("farthest:worker:farthest@old", json.dumps(asdict(record)))
        redis.zadd("farthest:workers", {"farthest@old": time.time()})
    environment = {"FARTHEST_REDIS_URL": redis_url, "FARTHEST_SMALL_LAYER_STATES": "0"}
    result = process("enumerate", "eight-kinds", "--workers", "celery", env=environment)
    one_error(result.stderr, result.returncode, "farthest 0.0.1", "run the same version")
    run("submit", "eight-kinds", "--database", "queue.db")
    process("coordinator", "--once", "--database", "queue.db", env=environment)
    job = json.loads(run("show", "1", "--database", "queue.db", "--json").stdout)
    assert job["status"] == "failed"
    assert "run the same version" in job["error"]
