"""What the migrations build is what the tables say; older files are brought up to date."""

import multiprocessing
import shutil
import sqlite3
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine, inspect

from farthest.errors import StorageError
from farthest.models import database as schema_module
from farthest.models import migrations
from farthest.models.database import Database, open_database
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps
from farthest.models.records import LayerRecord
from farthest.models.tables import SCHEMA_VERSION, VERSION_TABLE, metadata

pytestmark = pytest.mark.usefixtures("made_by_statements")


@pytest.fixture
def database_url(place: Path) -> str:
    return str(place)


def schema(path: Path) -> dict[str, str]:
    plain = sqlite3.connect(path)
    found = dict(plain.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))
    plain.close()
    return {name: " ".join(sql.split()).replace(", ", ",") for name, sql in found.items()}


def test_the_newest_revision_is_the_one_that_fresh_databases_get() -> None:
    assert max(migrations.revisions()) == SCHEMA_VERSION


def test_migrations_and_tables_make_the_same_database(
    tmp_path: Path, database: Database, place: Path
) -> None:
    migrated = tmp_path / "migrated.db"
    engine = create_engine(f"sqlite:///{migrated}")
    migrations.upgrade(engine)
    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": VERSION_TABLE, "compare_type": True}
        )
        assert compare_metadata(context, metadata) == []
    engine.dispose()
    assert schema(migrated).keys() == schema(place).keys()
    for name, sql in schema(place).items():
        assert ("WITHOUT ROWID" in sql) == ("WITHOUT ROWID" in schema(migrated)[name])
        assert ("AUTOINCREMENT" in sql) == ("AUTOINCREMENT" in schema(migrated)[name])
        assert ("CASCADE" in sql) == ("CASCADE" in schema(migrated)[name])
    open_database(str(migrated), create=False).close()


REVISION = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "9999", "0011"


def upgrade() -> None:
    with op.batch_alter_table("job", recreate="always") as batch:
        batch.add_column(sa.Column("remark", sa.Text(), server_default="none"))
"""


@pytest.fixture
def newer_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program as if it had one more revision, which makes SQLite copy the job table and drop the old one."""
    folder = tmp_path / "migrations"
    shutil.copytree(Path(migrations.__file__).parent, folder)
    (folder / "versions" / "9999_remarks.py").write_text(REVISION)
    original = migrations.configuration

    def moved(*given: object) -> object:
        config = original(*given)  # type: ignore[arg-type]
        config.set_main_option("script_location", str(folder))
        return config

    monkeypatch.setattr(migrations, "configuration", moved)
    monkeypatch.setattr(schema_module, "SCHEMA_VERSION", "9999")


@pytest.mark.usefixtures("newer_program")
def test_an_older_database_is_brought_up_to_date_with_all_that_it_holds(place: Path) -> None:
    older = sqlite3.connect(place)
    older.close()
    engine = create_engine(f"sqlite:///{place}")
    migrations.upgrade(engine, "0001")
    engine.dispose()
    plain = sqlite3.connect(place)
    plain.execute("INSERT INTO puzzle VALUES (1, 'd', 'tiny', '{}', '2026-11-21 12:00:00.000000')")
    plain.execute(
        "INSERT INTO job (id, puzzle_id, name, kind, parameters, layout, status, created, complete, has_map)"
        " VALUES (5, 1, 'tiny', 'enumeration', '{}', '{}', 'finished', '2026-11-21 12:00:00.000000', 1, 1)"
    )
    plain.execute("INSERT INTO state VALUES (5, 0, 0, 'a')")
    plain.commit()
    plain.close()
    with open_database(str(place), create=False) as database:
        assert [one.board for one in Maps(database).states(5)] == ["a"]
    assert "remark" in schema(place)["job"]
    with open_database(str(place), create=False) as database:  # foreign keys are kept again
        assert "remark" in schema(place)["job"]
        with (
            pytest.raises(StorageError, match="FOREIGN KEY"),
            database.write() as connection,
        ):
            connection.exec_driver_sql("INSERT INTO state VALUES (99, 0, 0, 'a')")
        Maps(database).add_states(5, [(1, 1, "b")])


@pytest.mark.parametrize("found", ["0012", "9999", "", "abc"])
@pytest.mark.parametrize("create", [True, False])
def test_a_database_of_a_newer_version_is_refused(
    database: Database, jobs: Jobs, place: Path, job_id: int, found: str, create: bool
) -> None:
    with database.write() as connection:
        connection.exec_driver_sql(f"UPDATE {VERSION_TABLE} SET version_num = '{found}'")
    database.close()
    with pytest.raises(
        StorageError, match=f"newer farthest made this database .schema {found}, .* upgrade farthest"
    ):
        open_database(str(place), create=create)


def older_database(url: str) -> None:
    """A database of the first version, with a job and its map."""
    engine = create_engine(url)
    migrations.upgrade(engine, "0001")
    with engine.begin() as connection:
        job = (
            "INSERT INTO job (id, puzzle_id, name, kind, parameters, layout, status, created, complete, has_map) VALUES"
            " (5, 9, 'tiny', 'enumeration', '{}', '{}', 'finished', '2026-11-21 12:00:00.000000', true, true)"
        )
        for statement in (
            "INSERT INTO puzzle VALUES (9, 'd', 'tiny', '{}', '2026-11-21 12:00:00.000000')",
            job,
            "INSERT INTO layer VALUES (5, 0, 1, NULL)",
            "INSERT INTO state VALUES (5, 0, 0, 'a')",
        ):
            connection.exec_driver_sql(statement)
    engine.dispose()


def check_older_database(url: str) -> None:
    with open_database(url, create=False) as database:
        job = Jobs(database).get(5)
        assert (job.status, job.submitted, job.progress) == ("finished", False, None)
        assert Jobs(database).layers(5) == [LayerRecord(0, 1)]
        assert [one.board for one in Maps(database).states(5)] == ["a"]
        retitled = Jobs(database).get(
            Jobs(database).add('{"title":"new"}', "d", "new", {}, {}, "elsewhere/1/0")
        )
        assert not retitled.submitted
        assert (Jobs(database).get(5).puzzle_json, retitled.puzzle_json) == ("{}", '{"title":"new"}')


@pytest.fixture(params=["sqlite", "postgresql"])
def fresh_url(request: pytest.FixtureRequest, place: Path) -> str:
    """A database without tables, of both kinds."""
    return f"sqlite:///{place}" if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))


def test_a_database_of_the_first_version_is_brought_up_to_date(fresh_url: str) -> None:
    older_database(fresh_url)
    check_older_database(fresh_url)


def test_the_newest_revision_can_be_undone(fresh_url: str) -> None:
    older_database(fresh_url)
    open_database(fresh_url, create=False).close()
    engine = create_engine(fresh_url)
    with engine.begin() as connection:
        command.downgrade(migrations.configuration(connection), "0001")
        assert "submitted" not in {column["name"] for column in inspect(connection).get_columns("job")}
    engine.dispose()
    check_older_database(fresh_url)


@pytest.mark.slow
def test_migrations_and_tables_make_the_same_postgres_database(postgres_url: str) -> None:
    open_database(postgres_url, create=True).close()
    fresh = look_at(postgres_url)
    with open_database(postgres_url, create=False) as database, database.write() as connection:
        connection.exec_driver_sql("DROP SCHEMA public CASCADE")
        connection.exec_driver_sql("CREATE SCHEMA public")
    engine = create_engine(postgres_url)
    migrations.upgrade(engine)
    engine.dispose()
    assert look_at(postgres_url) == fresh
    assert fresh[("chunk", "payload")][-1] == "e"  # EXTERNAL: stored as it is


def look_at(url: str) -> dict[tuple[str, str], tuple[object, ...]]:
    """All columns of a PostgreSQL database: type, whether null, default, storage. They must fit the tables."""
    engine = create_engine(url)
    with engine.connect() as connection:
        options = {"version_table": VERSION_TABLE, "compare_type": True, "compare_server_default": True}
        differences = compare_metadata(MigrationContext.configure(connection, opts=options), metadata)
        # The one key that is not made on PostgreSQL.
        assert [(what, key.table.name) for what, key in differences] == [("add_fk", "state")]
        rows = connection.exec_driver_sql(
            "SELECT relname, attname, format_type(atttypid, atttypmod), attnotnull, pg_get_expr(adbin, adrelid),"
            " attstorage::text FROM pg_attribute JOIN pg_class ON attrelid = pg_class.oid"
            " LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum"
            " WHERE attnum > 0 AND relkind = 'r' AND relnamespace = 'public'::regnamespace"
        )
        found = {(row[0], row[1]): tuple(row[2:]) for row in rows}
    engine.dispose()
    return found


def together(count: int, action: Callable[[], object]) -> None:
    """Runs an action in so many processes that start it at the same moment; all must end well."""
    fork = multiprocessing.get_context("fork")
    barrier = fork.Barrier(count)

    def run() -> None:
        barrier.wait()
        action()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads; the children run only this
        processes = [fork.Process(target=run) for _ in range(count)]
        for process in processes:
            process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * count


def test_many_services_that_start_together_on_a_fresh_database(fresh_url: str) -> None:
    def serve() -> None:
        with open_database(fresh_url, create=True) as database:
            Jobs(database).add("{}", "d" * 64, "tiny", {}, {})

    together(8, serve)
    with open_database(fresh_url, create=False) as database:
        assert [job.id for job in Jobs(database).list()] == list(range(1, 9))
        with database.read() as connection:
            assert connection.exec_driver_sql(f"SELECT * FROM {VERSION_TABLE}").all() == [(SCHEMA_VERSION,)]


@pytest.mark.slow
def test_many_services_that_start_together_on_an_older_database(fresh_url: str) -> None:
    older_database(fresh_url)

    def serve() -> None:
        with open_database(fresh_url, create=False) as database:
            assert Jobs(database).get(5).name == "tiny"

    together(8, serve)
    check_older_database(fresh_url)
