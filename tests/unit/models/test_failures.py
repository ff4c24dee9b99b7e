"""Every way in which a database can be wrong: one message with the place, what was expected, and a mend."""

import contextlib
import os
import shutil
import sqlite3
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sqlalchemy import event
from sqlalchemy.exc import OperationalError

from farthest.errors import NoRoomError, StorageError
from farthest.models import database as database_module
from farthest.models.chunks import Chunk
from farthest.models.database import Database, open_database
from farthest.models.failures import translate
from farthest.models.jobs import Jobs
from farthest.models.maps import Maps

pytestmark = pytest.mark.usefixtures("made_by_statements")

NOBODY = 65534


@pytest.fixture
def database_url(place: Path) -> str:
    return str(place)


def missing(path: Path) -> None:
    pass


def folder(path: Path) -> None:
    path.mkdir()


def pipe(path: Path) -> None:
    os.mkfifo(path)


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def text(path: Path) -> None:
    path.write_text("this is a diary, not a database\n" * 100)


def cut(path: Path) -> None:
    with open_database(str(path), create=True) as database:
        Jobs(database).add("{}", "d" * 64, "tiny", {}, {}, "elsewhere/1/0")
    path.write_bytes(path.read_bytes()[:40_000])


def other_program(path: Path) -> None:
    plain = sqlite3.connect(path)
    plain.execute("CREATE TABLE job (id)")
    plain.close()


def empty(path: Path) -> None:
    path.touch()


def version_without_tables(path: Path) -> None:
    plain = sqlite3.connect(path)
    plain.execute("CREATE TABLE farthest_version (version_num)")
    plain.execute("INSERT INTO farthest_version VALUES ('0001')")
    plain.commit()
    plain.close()


WRONG_FILES: list[tuple[Callable[[Path], None], bool, str]] = [
    (missing, False, "there is no such database; make one with `farthest enumerate PUZZLE`"),
    (folder, True, "this is a folder, expected a database file"),
    (folder, False, "this is a folder, expected a database file"),
    (pipe, True, "this is a pipe or a device, expected a database file"),
    (pipe, False, "this is a pipe or a device, expected a database file"),
    (device, False, "this is a pipe or a device, expected a database file"),
    (text, True, "this is not an SQLite database, or its first page is damaged; name another file"),
    (text, False, "this is not an SQLite database, or its first page is damaged; name another file"),
    (cut, False, "the database file is damaged; restore it from a copy"),
    (other_program, True, "this is another program's database: it has a table named job"),
    (other_program, False, "has no tables of farthest; make a map in it"),
    (empty, False, "has no tables of farthest; make a map in it"),
    (version_without_tables, False, "lacks tables or columns that farthest needs (no such table: job)"),
]


@pytest.mark.parametrize(("make", "create", "told"), WRONG_FILES)
def test_a_wrong_file(place: Path, make: Callable[[Path], None], create: bool, told: str) -> None:
    make(place)
    with pytest.raises(StorageError) as caught, open_database(str(place), create=create) as database:
        Jobs(database).list()
    assert str(caught.value).startswith(f"{place}: ")
    assert told in str(caught.value)


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="Linux's")
def test_files_of_the_kernel_hold_no_database() -> None:
    for name in ("/proc/self/mem", "/proc/self/status"):
        with pytest.raises(StorageError, match=f"{name}: the kernel's own files hold no database"):
            open_database(name, create=True)


def test_no_larger_text_is_read_than_farthest_writes(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "MOST_BYTES", 2**18)
    with open_database(str(place), create=True) as database:
        Jobs(database).add("{}", "d" * 64, "tiny", {}, {}, "elsewhere/1/0")
    plain = sqlite3.connect(place)
    plain.execute(f"UPDATE job SET layout = CAST(zeroblob({2**18 + 1}) AS TEXT)")
    plain.commit()
    plain.close()
    with (
        open_database(str(place), create=False) as database,
        pytest.raises(StorageError, match="larger than any that farthest stores"),
    ):
        Jobs(database).list()


WRONG_URLS = {
    "oracel://scott:tiger@host/db": "unknown kind of database",
    "postgresql+nothing://scott:tiger@host/db": "unknown kind of database",
    "mssql+pyodbc://scott:tiger@host/db": "unknown kind of database",
    "mysql://scott:tiger@host/db?password=tiger": "unknown kind of database; expected sqlite:///FILE, postgresql://…",
    "postgresql://scott:tiger@host:port/db": "not a database URL; expected sqlite:///FILE",
    "://scott:tiger@host": "not a database URL; expected sqlite:///FILE",
    "postgresql:/scott:tiger@host/db": "not a database URL; expected sqlite:///FILE",
    "postgres:tiger@127.0.0.1:1/db": "not a database URL; expected sqlite:///FILE",
    "postgresql://scott:ti@tiger/x@127.0.0.1:1/db": "not a database URL; expected sqlite:///FILE",
    "file:nope": "not a database URL; expected sqlite:///FILE",
    "file:nope?mode=ro": "not a database URL; expected sqlite:///FILE",
    "sqlite:///file:nope": "not a database URL; expected sqlite:///FILE",
    "sqlite:///no/such/folder/x.db": "the folder no/such/folder does not exist; make it",
    "sqlite:///x\0y.db": "cannot be opened",
    "x" * 5000: "cannot be opened",
}


@pytest.mark.parametrize("url", WRONG_URLS)
def test_a_wrong_url(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StorageError) as caught:
        open_database(url, create=True)
    assert WRONG_URLS[url] in str(caught.value)
    assert "tiger" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_server_of_another_kind() -> None:
    class ServerError(Exception):
        pass

    failure = OperationalError("SELECT 1", {}, ServerError("connection refused\nis it running?"))
    message = str(translate(failure, "mysql://me@host/db"))
    assert message.startswith("mysql://me@host/db: the database cannot be used (connection refused); check")


def test_a_database_that_another_process_is_writing(
    place: Path, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 0.05)
    other = sqlite3.connect(place, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with open_database(str(place), create=False) as waiting:
        assert Jobs(waiting).list() == []  # reading goes on
        for _ in range(2):
            with pytest.raises(StorageError, match="locked by another process that is writing; wait for it"):
                Jobs(waiting).add("{}", "d" * 64, "tiny", {}, {}, "elsewhere/1/0")
        other.execute("ROLLBACK")
        Jobs(waiting).add("{}", "d" * 64, "tiny", {}, {}, "elsewhere/1/0")
    other.close()


def test_a_fresh_file_that_another_process_keeps_for_itself(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "BUSY_SECONDS", 0.05)
    other = sqlite3.connect(place, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StorageError, match="locked by another process"):
        open_database(str(place), create=True)
    other.close()


def noise(chunks: int) -> Iterator[Chunk]:
    for part in range(chunks):
        yield Chunk(part * 65536, part * 65536 + 65535, "uint8", os.urandom(65536))


def fills_up(database: Database, job_id: int) -> None:
    """A full disk during a checkpoint, alone and inside a larger transaction, leaves the older one usable."""
    jobs, maps = Jobs(database), Maps(database)
    maps.checkpoint(job_id, 1, [Chunk(0, 2, "uint8", b"abc")], [], None)
    with pytest.raises(NoRoomError, match="no room left for the database; this change was not stored"):
        maps.checkpoint(job_id, 2, noise(100), [], None)
    with pytest.raises(NoRoomError, match="no room left"), database.write():
        maps.checkpoint(job_id, 2, noise(100), [], None)
    with pytest.raises(NoRoomError, match="no room left"):
        maps.add_states(job_id, ((key, 0, "x" * 1000) for key in range(10_000)))
    assert maps.depth(job_id) == 1
    assert [chunk.distances for chunk in maps.chunks(job_id)] == [b"abc"]
    jobs.interrupt(job_id, "the disk was full")
    assert jobs.get(job_id).status == "interrupted"


def test_a_database_that_may_not_grow(database: Database, job_id: int) -> None:
    def limit(connection: sqlite3.Connection, _record: object) -> None:
        connection.execute("PRAGMA max_page_count=60").close()

    event.listen(database.engine, "connect", limit)
    database.close()  # the connections of the pool, to be opened again with the limit
    fills_up(database, job_id)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of two megabytes."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(disk)]
    if not shutil.which("mount") or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small disk")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk(small_disk: Path) -> None:
    with open_database(str(small_disk / "x.db"), create=True) as database:
        job_id = Jobs(database).add("{}", "d" * 64, "tiny", {}, {}, "elsewhere/1/0")
        fills_up(database, job_id)
    with open_database(str(small_disk / "x.db"), create=False) as database:
        assert Maps(database).chunk_at(job_id, 0).distances == b"abc"


def test_a_disk_with_no_room_for_a_fresh_database(small_disk: Path) -> None:
    with contextlib.suppress(OSError):
        (small_disk / "filler").write_bytes(bytes(3 << 20))
    with pytest.raises(NoRoomError, match="no room left for the database"):
        open_database(str(small_disk / "x.db"), create=True)


def as_nobody(action: Callable[[], str]) -> str:
    """What an action says in a child process without the rights of root; its error's text if it raises one."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of threads; the child runs only this
        child = os.fork()
    if not child:
        try:
            if os.getuid() == 0:
                os.setgroups([])
                os.setresgid(NOBODY, NOBODY, NOBODY)
                os.setresuid(NOBODY, NOBODY, NOBODY)
            said = action()
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    os.waitpid(child, 0)
    return said


@pytest.fixture
def shared() -> Iterator[Path]:
    """A database with a map in a folder that everybody may enter."""
    with tempfile.TemporaryDirectory() as name:
        place = Path(name) / "x.db"
        with open_database(str(place), create=True) as database:
            job_id = Jobs(database).add("{}", "d" * 64, "tiny", {}, {}, "elsewhere/1/0")
            Maps(database).checkpoint(job_id, 0, [Chunk(0, 2, "uint8", b"abc")], [], None)
        place.chmod(0o444)
        place.parent.chmod(0o555)
        yield place
        place.parent.chmod(0o755)


def use(place: Path, action: Callable[[Database], object], create: bool = False) -> Callable[[], str]:
    def using() -> str:
        with open_database(str(place), create=create) as database:
            return str(action(database))

    return using


def read(database: Database) -> str:
    return bytes(Maps(database).chunk_at(1, 0).distances).decode()


def write(database: Database) -> object:
    Jobs(database).interrupt(1)
    return None


def test_a_map_that_may_only_be_read_can_be_asked(shared: Path) -> None:
    assert as_nobody(use(shared, read)) == "abc"
    assert as_nobody(use(shared, read, create=True)) == "abc"


def test_a_read_only_file_or_folder_cannot_be_written(shared: Path) -> None:
    told = f"StorageError: {shared}: the database can be read but not written; make the file and its folder writable"
    assert as_nobody(use(shared, write)).startswith(told)
    shared.chmod(0o666)
    assert as_nobody(use(shared, write)).startswith(told)


def test_a_folder_in_which_no_file_may_be_made(shared: Path) -> None:
    fresh = shared.with_name("fresh.db")
    told = as_nobody(use(fresh, read, create=True))
    assert told.startswith(
        f"StorageError: {fresh}: the database cannot be opened; expected a file that you may"
    )


def test_a_file_or_folder_that_may_not_be_read(shared: Path) -> None:
    shared.chmod(0o000)
    told = f"StorageError: {shared}: the database cannot be opened"
    assert as_nobody(use(shared, read)).startswith(told)
    shared.parent.chmod(0o000)
    assert as_nobody(use(shared, read)).startswith(told)


def test_a_read_only_database_that_was_not_closed(shared: Path) -> None:
    """Its latest part is in the file beside it, and is not passed over in silence."""
    shared.parent.chmod(0o755)
    shared.chmod(0o644)
    with open_database(str(shared), create=False) as database:
        Maps(database).checkpoint(1, 1, [Chunk(0, 2, "uint8", b"xyz")], [], None)
        wal = shared.with_name("x.db-wal")
        copy = shared.with_name("copy.db")
        shutil.copy(shared, copy)
        shutil.copy(wal, copy.with_name("copy.db-wal"))
    for file in shared.parent.iterdir():
        file.chmod(0o444)
    shared.parent.chmod(0o555)
    told = as_nobody(use(copy, read))
    assert told.startswith(f"StorageError: {copy}: the database cannot be opened")
