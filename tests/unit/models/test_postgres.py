"""PostgreSQL alone: URLs and their secrets, what can be wrong with a server, and servers that go and come back."""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Barrier, BrokenBarrierError

import pytest
from sqlalchemy import make_url, text
from sqlalchemy.exc import OperationalError

from cases import for_each
from farthest.errors import NoRoomError, StorageError, UnavailableError
from farthest.models import database as database_module
from farthest.models import surveys
from farthest.models.chunks import Chunk
from farthest.models.database import CONNECTION, Database, open_database, postgres_options
from farthest.models.failures import translate
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps
from farthest.models.surveys import digest_of
from farthest.starts import Found, starts_named
from servers import PostgresServer, free_port

PASSWORD = "a b:c@d/é%"


@pytest.fixture(scope="session")
def locked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """A server that asks for a password; it may be stopped."""
    server = PostgresServer(tmp_path_factory.mktemp("locked"), password=PASSWORD)
    server.start()
    yield server
    server.close()


@pytest.fixture
def url(locked: PostgresServer) -> Iterator[str]:
    with locked.fresh_database() as fresh:
        yield fresh


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["postgresql", "postgresql+psycopg"])
@pytest.mark.parametrize("options", ["", "?sslmode=disable", "?application_name=mine&connect_timeout=5"])
def test_urls_with_a_password(url: str, scheme: str, options: str) -> None:
    whole = url.replace("postgresql", scheme, 1) + options
    with open_database(whole, create=True) as database:
        assert Jobs(database).list() == []
        assert "***" in database.place
        assert database.place.endswith(f"/{make_url(url).database}")
        with database.read() as connection:
            name = connection.execute(text("SHOW application_name")).scalar()
        assert name == ("mine" if "application_name" in options else "farthest")
    with open_database(whole, create=False) as database:
        assert Jobs(database).list() == []


def test_options_of_the_url_come_first() -> None:
    given = postgres_options(make_url("postgresql://me@host/db?connect_timeout=3"))["connect_args"]
    assert given == {name: value for name, value in CONNECTION.items() if name != "connect_timeout"}


SECRET = "a%20b%3Ac%40d%2F%C3%A9%25"
WRONG: dict[str, tuple[Callable[[str], str], type[StorageError], str]] = {
    "password": (lambda url: url.replace(SECRET, "geheim"), StorageError, "refuses the user or the password"),
    "no password": (
        lambda url: url.replace(f":{SECRET}", ""),
        StorageError,
        "postgresql://USER:PASSWORD@HOST",
    ),
    "user": (lambda url: url.replace("//postgres:", "//nobody:"), StorageError, "the user or the password"),
    "database": (
        lambda url: url.rpartition("/")[0] + "/nothing",
        StorageError,
        "this server has no database 'nothing'; make it with `createdb nothing`, or name another with",
    ),
    "TLS": (lambda url: f"{url}?sslmode=require", StorageError, "no connection with TLS can be made"),
    "certificate": (
        lambda url: f"{url}?sslmode=verify-full&sslrootcert=/nowhere.pem",
        StorageError,
        "no connection with TLS can be made",
    ),
    "sslmode": (lambda url: f"{url}?sslmode=wrong", StorageError, "sslmode"),
    "option": (lambda url: f"{url}?nonsense=geheim", StorageError, "nonsense"),
    "host": (
        lambda url: url.replace("127.0.0.1", "no-such-host.invalid"),
        UnavailableError,
        "the database's host is not known",
    ),
    "port": (
        lambda url: url.replace(str(make_url(url).port), str(free_port())),
        UnavailableError,
        "the database cannot be reached (Connection refused); check that its server runs",
    ),
    "password not quoted": (
        lambda url: url.replace(SECRET, "geheim@geheim"),
        StorageError,
        "not a database URL; expected sqlite:///FILE, postgresql://USER:PASSWORD@HOST/NAME",
    ),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_what_can_be_wrong_with_a_url(locked: PostgresServer, wrong: str) -> None:
    alter, kind, told = WRONG[wrong]
    with pytest.raises(StorageError) as caught:
        open_database(alter(locked.url), create=True)
    message = str(caught.value)
    assert type(caught.value) is kind
    assert told in message
    assert message.startswith("postgresql://")
    assert "FARTHEST_DATABASE_URL" in message
    assert "--database" in message
    assert "geheim" not in message
    assert SECRET not in message
    assert PASSWORD not in message
    assert "\n" not in message


def test_a_database_without_tables_or_of_another_program(url: str, locked: PostgresServer) -> None:
    with pytest.raises(StorageError, match="has no tables of farthest; make a map in it"):
        open_database(url, create=False)
    locked.execute("CREATE TABLE job (id integer)", url.rpartition("/")[2])
    with pytest.raises(StorageError, match="this is another program's database: it has a table named job"):
        open_database(url, create=True)


def as_guest(url: str, locked: PostgresServer, limit: int = -1) -> str:
    """The URL for a user who may not make tables."""
    locked.execute("DROP ROLE IF EXISTS guest")
    locked.execute(f"CREATE ROLE guest LOGIN PASSWORD 'guest' CONNECTION LIMIT {limit}")
    return url.replace(f"//postgres:{SECRET}", "//guest:guest")


def test_a_user_without_the_right_to_make_tables(url: str, locked: PostgresServer) -> None:
    with pytest.raises(StorageError, match=r"lacks a right \(permission denied.*GRANT ALL ON SCHEMA public"):
        open_database(as_guest(url, locked), create=True)


def test_a_server_with_no_connection_left(url: str, locked: PostgresServer) -> None:
    with pytest.raises(UnavailableError, match="takes no more connections now"):
        open_database(as_guest(url, locked, limit=0), create=True)


class ServerError(Exception):
    def __init__(self, sqlstate: str) -> None:
        super().__init__("the server's words\nDETAIL: more")
        self.sqlstate = sqlstate


@for_each(
    ("sqlstate", "kind", "told"),
    [
        ("53200", NoRoomError, "the database's server has no memory left (the server's words)"),
        (
            "53100",
            NoRoomError,
            "no room left on the disk of the database's server; this change was not stored",
        ),
        ("53300", UnavailableError, "cannot be reached"),
        ("57P01", UnavailableError, "the connection to the database broke off (the server's words)"),
        ("57P03", UnavailableError, "broke off"),
        ("08006", UnavailableError, "broke off"),
        ("25P03", UnavailableError, "this process was stopped for so long"),
        ("40P01", UnavailableError, "another process changed the same at the same time (the server's words)"),
        (
            "42P01",
            StorageError,
            "lacks tables or columns that farthest needs (the server's words); name another with",
        ),
        ("22003", StorageError, "the database refused: the server's words"),
    ],
)
def test_what_the_server_says(sqlstate: str, kind: type[StorageError], told: str) -> None:
    error = translate(OperationalError("SELECT 1", {}, ServerError(sqlstate)), "postgresql://me@host/db")
    assert type(error) is kind
    assert told in str(error)


def noise(job_id: int, server: PostgresServer, at: int) -> Iterator[tuple[int, int, str]]:
    """Rows in whose midst the server is killed."""
    for key in range(20_000):
        if key == at:
            server.kill()
        yield key, 0, "x" * 100


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    with open_database(url, create=True) as opened:
        yield opened


def add(database: Database) -> int:
    return Jobs(database).add("{}", "d" * 64, "tiny", {}, {}, "elsewhere/1/0")


def submit(jobs: Jobs) -> int:
    return jobs.add("{}", "d" * 64, "tiny", {}, {})


def test_a_job_whose_owner_stands_still_in_a_transaction_keeps_nobody_from_the_next(
    database: Database, url: str
) -> None:
    jobs = Jobs(database)
    first, second = submit(jobs), submit(jobs)
    with open_database(url, create=False) as other, other.write() as connection:
        connection.execute(text(f"UPDATE job SET progress = '{{}}' WHERE id = {first}"))
        begun = time.monotonic()
        claimed = jobs.claim_next("elsewhere/1/0", 60)
        assert claimed is not None
        assert claimed.id == second
        assert jobs.claim_next("elsewhere/1/0", 60) is None
        assert time.monotonic() - begun < 10
    claimed = jobs.claim_next("elsewhere/1/0", 60)
    assert claimed is not None
    assert claimed.id == first


@pytest.mark.slow
def test_no_lock_is_waited_for_or_held_for_ever(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, seconds in (("lock_timeout", "1min"), ("idle_in_transaction_session_timeout", "15min")):
        with open_database(url, create=True) as database, database.read() as connection:
            assert connection.execute(text(f"SHOW {name}")).scalar() == seconds
    short = database_module.SESSION.replace("60s", "50ms").replace("15min", "300ms")
    monkeypatch.setattr(database_module, "SESSION", short)
    with open_database(url, create=True) as still, open_database(url, create=True) as database:
        job_id = submit(Jobs(still))
        with pytest.raises(UnavailableError), still.write() as connection:  # noqa: PT012
            connection.execute(text("UPDATE job SET name = 'changed'"))
            with pytest.raises(UnavailableError, match="changed the same at the same time"):
                Jobs(database).cancel(job_id)
            time.sleep(0.5)
            assert Jobs(database).cancel(job_id).name == "tiny"
            connection.execute(text("SELECT 1"))


def test_a_server_that_is_killed_amid_rows_and_comes_back(database: Database, locked: PostgresServer) -> None:
    job_id = add(database)
    jobs, maps = Jobs(database), Maps(database)
    maps.add_states(job_id, [(0, 0, "kept")])
    with pytest.raises(UnavailableError, match="FARTHEST_DATABASE_URL"):
        maps.add_states(job_id, noise(job_id, locked, 10_000))
    with pytest.raises(UnavailableError, match="cannot be reached"):
        jobs.list()
    locked.start()
    assert [record.id for record in jobs.list()] == [job_id]
    assert [row.board for row in maps.states(job_id)] == ["kept"]
    maps.add_states(job_id, [(1, 0, "more")])


@pytest.mark.parametrize("kill", [True, False])
def test_a_server_that_ends_amid_a_checkpoint(database: Database, locked: PostgresServer, kill: bool) -> None:
    job_id = add(database)
    maps = Maps(database)
    maps.checkpoint(job_id, 1, [Chunk(0, 2, "uint8", b"abc")], [], 1.0)

    def pieces() -> Iterator[Chunk]:
        for part in range(20):
            if part == 10:
                (locked.kill if kill else locked.stop)()
            yield Chunk(part, part, "uint8", b"a")

    with pytest.raises(UnavailableError), database.write():
        maps.checkpoint(job_id, 2, pieces(), [], 2.0)
    locked.start()
    assert maps.depth(job_id) == 1
    assert [one.distances for one in maps.chunks(job_id)] == [b"abc"]
    maps.checkpoint(job_id, 3, [Chunk(0, 2, "uint8", b"xyz")], [], 3.0)


def test_a_server_that_ends_amid_reading(database: Database, locked: PostgresServer) -> None:
    job_id = add(database)
    maps = Maps(database)
    maps.checkpoint(job_id, 1, [Chunk(key, key, "uint8", b"a") for key in range(50)], [], 1.0)
    reading = maps.chunks(job_id)
    next(reading)
    locked.restart()
    with pytest.raises(UnavailableError):
        list(reading)
    assert len(list(maps.chunks(job_id))) == 50


def test_connections_that_the_pool_kept_over_a_restart(database: Database, locked: PostgresServer) -> None:
    jobs = Jobs(database)
    add(database)
    locked.restart()
    assert len(jobs.list()) == 1
    locked.restart()
    add(database)


def test_coordinators_of_one_survey_store_one_after_another(
    postgres_empty_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    starts = starts_named("rush-hour-3x3", keep="all")
    done = [(0, starts.survey(0, 8), 1.0)]
    both = Barrier(2)

    def meet(found: Found) -> str:  # after the look at what is stored
        with suppress(BrokenBarrierError):
            both.wait(0.1)
        return digest_of(found)

    monkeypatch.setattr(surveys, "digest_of", meet)
    with open_database(postgres_empty_url, create=False) as database:
        known = surveys.Surveys(database)
        begun = known.begin(starts, 8)
        with ThreadPoolExecutor(2) as pool:
            fresh = list(pool.map(known.store, [begun.id] * 2, [done] * 2))
        known.delete(begun.id)
    assert sorted(map(len, fresh)) == [0, 1]
