"""What the migrations build is what the tables say; older files are brought up to date."""

import shutil
import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from sqlalchemy import create_engine

from farthest.errors import StorageError
from farthest.models import database as database_module
from farthest.models import migrations
from farthest.models.database import Database, open_database
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps
from farthest.models.tables import SCHEMA_VERSION, VERSION_TABLE, metadata


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

revision, down_revision = "9999", "0001"


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
    monkeypatch.setattr(database_module, "SCHEMA_VERSION", "9999")


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
        with pytest.raises(StorageError, match="FOREIGN KEY"):
            Maps(database).add_states(99, [(0, 0, "a")])
        Maps(database).add_states(5, [(1, 1, "b")])


@pytest.mark.parametrize("found", ["0002", "9999", "", "abc"])
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
