"""Opening databases: where they are, what they are made with, transactions, and what they cost."""

import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from farthest.errors import StorageError
from farthest.models.chunks import Chunk
from farthest.models.database import Database, open_database
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps
from farthest.models.tables import SCHEMA_VERSION, VERSION_TABLE, metadata

pytestmark = pytest.mark.usefixtures("made_by_statements")


@pytest.fixture
def database_url(place: Path) -> str:
    return str(place)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, and no database named by the environment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FARTHEST_DATABASE_URL", raising=False)
    return tmp_path


def test_the_default_is_a_file_in_the_working_directory(folder: Path) -> None:
    with open_database(create=True) as database:
        assert database.path == Path("farthest.db")
    assert (folder / "farthest.db").stat().st_size > 0


def test_the_environment_names_another(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FARTHEST_DATABASE_URL", "sqlite:///mine.db")
    open_database(create=True).close()
    assert (folder / "mine.db").exists()
    open_database("given.db", create=True).close()
    assert (folder / "given.db").exists()
    monkeypatch.setenv("FARTHEST_DATABASE_URL", "")
    open_database(create=True).close()
    assert (folder / "farthest.db").exists()


@pytest.mark.parametrize("form", ["{0}/a b.db", "sqlite:///{0}/a b.db", "a b.db", "sqlite:///a b.db"])
def test_files_are_named_by_url_or_as_they_are(folder: Path, form: str) -> None:
    open_database(form.format(folder), create=True).close()
    assert [file.name for file in folder.iterdir()] == ["a b.db"]
    open_database(form.format(folder), create=False).close()


def test_a_home_folder_is_understood(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(folder))
    open_database("~/x.db", create=True).close()
    assert (folder / "x.db").exists()


def test_a_fresh_database_has_its_tables_and_version(place: Path, database: Database) -> None:
    plain = sqlite3.connect(place)
    tables = {name for (name,) in plain.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert tables == {*metadata.tables, VERSION_TABLE, "sqlite_sequence"}
    assert plain.execute(f"SELECT * FROM {VERSION_TABLE}").fetchall() == [(SCHEMA_VERSION,)]
    assert plain.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    plain.close()


def test_an_empty_file_becomes_a_database(place: Path) -> None:
    place.touch()
    open_database(str(place), create=True).close()
    open_database(str(place), create=False).close()


def test_tables_of_other_programs_may_stand_beside_ours(place: Path) -> None:
    plain = sqlite3.connect(place)
    plain.execute("CREATE TABLE theirs (x)")
    plain.close()
    with open_database(str(place), create=True) as database:
        assert Jobs(database).list() == []


ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r"


@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (["DROP TABLE solution", f"CREATE VIEW Solution AS {ENDLESS}"], "view 'Solution'"),
        (
            [f"DROP TABLE {VERSION_TABLE}", f"CREATE VIEW {VERSION_TABLE} AS {ENDLESS}"],
            f"view '{VERSION_TABLE}'",
        ),
        ([f"CREATE TRIGGER a AFTER INSERT ON JOB BEGIN SELECT max(n) FROM ({ENDLESS}); END"], "trigger 'a'"),
        (["CREATE TRIGGER b AFTER INSERT ON puzzle BEGIN DELETE FROM layer; END"], "trigger 'b'"),
        (["DROP TABLE state", "CREATE VIRTUAL TABLE state USING rtree(a, b, c)"], "virtual table 'state'"),
    ],
)
def test_a_file_whose_tables_are_programs_is_refused(place: Path, statements: list[str], told: str) -> None:
    open_database(str(place), create=True).close()
    with sqlite3.connect(place) as connection:
        for statement in statements:
            connection.execute(statement)
    connection.close()
    for create in (True, False):
        with pytest.raises(StorageError, match=f"{place}: it has the {told}, which farthest has not made"):
            open_database(str(place), create=create)


def test_views_beside_our_tables_are_the_users_own(place: Path) -> None:
    open_database(str(place), create=True).close()
    with sqlite3.connect(place) as connection:
        connection.execute("CREATE VIEW mine AS SELECT count(*) FROM job")
    connection.close()
    open_database(str(place), create=False).close()


def test_after_closing_everything_is_in_the_one_file(tmp_path: Path) -> None:
    with open_database(str(tmp_path / "x.db"), create=True) as database:
        Jobs(database).add("{}", "d" * 64, "tiny", {}, {}, "elsewhere/1/0")
    assert [file.name for file in tmp_path.iterdir()] == ["x.db"]


def test_a_transaction_is_stored_whole_or_not_at_all(database: Database, jobs: Jobs) -> None:
    def fail() -> None:
        with database.write():
            jobs.add("{}", "d" * 64, "tiny", {}, {}, "elsewhere/1/0")
            assert len(jobs.list()) == 1
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert jobs.list() == []


def test_each_thread_has_its_own_transaction(database: Database, jobs: Jobs) -> None:
    seen: list[int] = []
    with database.write():
        jobs.add("{}", "d" * 64, "tiny", {}, {}, "elsewhere/1/0")
        other = Thread(target=lambda: seen.append(len(jobs.list())))
        other.start()
        other.join()
    assert seen == [0]
    assert len(jobs.list()) == 1


def test_a_database_may_be_moved(
    tmp_path: Path, place: Path, maps: Maps, database: Database, job_id: int
) -> None:
    maps.checkpoint(job_id, 0, [Chunk(0, 2, "uint8", b"abc")], [], None)
    database.close()
    place.rename(tmp_path / "moved.db")
    with open_database(str(tmp_path / "moved.db"), create=False) as moved:
        assert Maps(moved).chunk_at(job_id, 1).distances == b"abc"


def test_what_storing_a_small_map_imports(tmp_path: Path) -> None:
    program = """
import sys
from farthest.models.chunks import Chunk
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.leases import owner_token
from farthest.models.maps import Maps
with open_database(sys.argv[1], create=True) as database:
    job_id = Jobs(database).add("{}", "d" * 64, "tiny", {}, {}, owner_token())
    Maps(database).checkpoint(job_id, 0, [Chunk(0, 2, "uint8", b"abc")], [], None)
    Maps(database).add_states(job_id, [(0, 0, "a")])
    Jobs(database).find(str(job_id))
print(*sorted({"sqlalchemy.orm", "alembic", "numpy", "rich", "difflib"} & set(sys.modules)))
"""
    command = [sys.executable, "-c", program, str(tmp_path / "x.db")]
    assert subprocess.run(command, stdout=subprocess.PIPE, check=True, env=os.environ).stdout.strip() == b""


def test_postgresql_takes_the_same_tables() -> None:
    from sqlalchemy.dialects import postgresql
    from sqlalchemy.schema import CreateTable

    dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    made = {table.name: str(CreateTable(table).compile(dialect=dialect)) for table in metadata.sorted_tables}
    assert "id SERIAL NOT NULL" in made["job"]
    assert "payload BYTEA NOT NULL" in made["chunk"]
    assert "first_key BIGINT NOT NULL" in made["chunk"]
    assert "key BIGINT NOT NULL" in made["state"]


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_database_in_memory_is_refused(url: str) -> None:
    with pytest.raises(StorageError, match="would be lost at once; name a file"):
        open_database(url, create=True)
