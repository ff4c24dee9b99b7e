"""Connections to the Redis servers, and their failures as errors for users.

One server, the *main* node, has the tasks, the leases and what says which blobs are valid. The blobs are spread over
all nodes, block by block; FARTHEST_REDIS_NODES adds nodes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from farthest.environment import BLOBS, REDIS_NODES, REDIS_URL
from farthest.errors import AccessError, RedisFullError, SettingError, StorageError, UnavailableError
from farthest.locations import hide_password
from farthest.retry import retry_while_away
from farthest.wording import shown

if TYPE_CHECKING:
    from redis import Redis

Result = TypeVar("Result")

LEAST_VERSION = (6, 2)
_WHERE = re.compile(
    r"^(Error running script .*?: -?(?=[A-Z]{3,} )|Command # \d+ .*? of pipeline caused error: )"
)
"""What Redis before 7 says first of a command that it refuses to a script, and redis-py of one among several."""

WRONG_KIND = "WRONGTYPE"

_PASSING = (
    "BUSY ",
    "CLUSTERDOWN",
    "EXECABORT",
    "LOADING",
    "MASTERDOWN",
    "MISCONF",
    "NOREPLICAS",
    "READONLY",
    "TRYAGAIN",
    "UNBLOCKED",
)
"""What Redis answers first where the same may be accepted later."""

MEMORY_VARIABLES = (
    "with Docker Compose REDIS_MAXMEMORY and REDIS_LIMIT in .env (docs/many-machines.md, Memory)"
)

MORE_MEMORY = (
    f"raise its maxmemory ({MEMORY_VARIABLES}), add servers with {REDIS_NODES.name}, keep blobs elsewhere with "
    f"{BLOBS.name}, or run fewer jobs"
)

BLOCK_SECONDS = 1.0
"""Longest wait of a blocking command: the caller checks other things once a second."""


class RedisNodes:
    """Clients of the main node and of the nodes with the blobs. Connections are made at their first use, by each
    process and thread for itself. ``urls``: main first.

    ``wait``: for so many seconds ``call`` tries again what fails because a server cannot be reached; ``told`` receives
    what is to be said then. Raises SettingError for URLs that cannot be used.
    """

    def __init__(
        self, urls: list[str], wait: float = 0.0, told: Callable[[str], None] = lambda text: None
    ) -> None:
        self.urls = urls
        self._wait = wait
        self._told = told
        self.while_waiting: Callable[[], None] = lambda: None  # may raise an exception, to give up
        self.places = [hide_password(url) for url in urls]
        settings = [REDIS_URL.name, *[REDIS_NODES.name] * (len(urls) - 1)]
        self.clients = [_client(url, setting) for url, setting in zip(urls, settings, strict=True)]
        self._settings = " and ".join(dict.fromkeys(settings))
        self.main: Redis = self.clients[0]
        self._run_ids: dict[str, str] = {}  # by place, of the server that was there when it was looked last

    @classmethod
    def from_environment(
        cls, wait: float = 0.0, told: Callable[[str], None] = lambda text: None
    ) -> RedisNodes:
        """The nodes that FARTHEST_REDIS_URL and FARTHEST_REDIS_NODES name."""
        return cls([REDIS_URL.text(), *REDIS_NODES.text().split()], wait, told)

    def __len__(self) -> int:
        return len(self.clients)

    def node(self, block: int) -> Redis:
        """The client of the node that has a block's blobs."""
        return self.clients[block % len(self.clients)]

    def now(self) -> float:
        """Seconds by the clock of the main node, the same for all processes. Raises what redis-py does."""
        seconds, microseconds = self.main.time()
        return float(seconds + microseconds / 1e6)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turns a failure of Redis meanwhile into UnavailableError where waiting may help, else StorageError."""
        from redis.exceptions import RedisError

        try:
            yield
        except (RedisError, OSError) as error:
            raise translate(error, ", ".join(self.places), self._settings) from error

    def call(self, operation: Callable[[], Result]) -> Result:
        """What the operation gives; it is repeated while a server cannot be reached, and must bear that. Raises
        UnavailableError when that lasts, StorageError for what waiting does not mend."""

        def attempt() -> Result:
            with self.errors():
                return operation()

        return retry_while_away(
            attempt, lambda: self._wait, told=self._told, while_waiting=self.while_waiting
        )

    @contextmanager
    def waiting(self, seconds: float) -> Iterator[None]:
        """``call`` waits so long for a server meanwhile, in any thread."""
        wait, self._wait = self._wait, seconds
        try:
            yield
        finally:
            self._wait = wait

    def restarted(self) -> bool:
        """Whether a server is another process than when this, or ``check``, was called last. Raises as ``call``."""
        before = dict(self._run_ids)
        self.call(self._note_run_ids)
        return any(before.get(place, run_id) != run_id for place, run_id in self._run_ids.items())

    def _note_run_ids(self) -> None:
        for client, place in zip(self.clients, self.places, strict=True):
            self._run_ids[place] = str(client.info("server")["run_id"])

    def check(self) -> None:
        """``ask`` for a process that starts: its password is wrong where it is refused, which is a StorageError."""
        try:
            self.ask()
        except AccessError as error:
            raise StorageError(str(error)) from error

    def ask(self) -> None:
        """Asks every node for its version. Raises StorageError or UnavailableError with the reason."""
        with self.errors():
            for client, place in zip(self.clients, self.places, strict=True):
                server = client.info("server")
                self._run_ids[place], text = str(server["run_id"]), str(server["redis_version"])
                version = tuple(int(part) for part in text.split(".")[:2] if part.isdecimal())
                if version < LEAST_VERSION:
                    raise StorageError(f"{place}: this is Redis {text}; expected 6.2 or newer")

    def close(self) -> None:
        """Closes all connections."""
        for client in self.clients:
            client.close()


def _client(url: str, setting: str) -> Redis:
    import redis
    from redis.backoff import ExponentialBackoff
    from redis.retry import Retry

    class NamingRedis(redis.Redis):
        """Names the key where Redis does not: a key that holds something of another kind."""

        def execute_command(self, *args: Any, **options: Any) -> Any:
            try:
                return super().execute_command(*args, **options)  # type: ignore[no-untyped-call]
            except redis.ResponseError as error:
                if WRONG_KIND not in str(error):
                    raise
                keys = args[3:] if args[0] == "EVALSHA" else args[1:]
                said = " ".join(shown(_text(key)) for key in keys[:4])
                raise redis.ResponseError(f"{WRONG_KIND} {args[0]} {said}") from error

    try:
        # A command that the server may have executed is sent again: every one that farthest sends may be repeated.
        client = NamingRedis.from_url(
            url,
            socket_timeout=10,
            **({} if url.startswith("unix:") else {"socket_connect_timeout": 5, "socket_keepalive": True}),
            health_check_interval=15,
            retry=Retry(ExponentialBackoff(base=0.01, cap=0.1), 2),
        )
        pool = client.connection_pool
        pool.connection_class(**pool.connection_kwargs)  # not connected: it tells of unknown options
        return client
    except (ValueError, TypeError):
        raise url_error(url, setting) from None


def url_error(url: str, setting: str = REDIS_URL.name) -> SettingError:
    """The message for a URL that redis-py cannot use. What redis-py says of it may hold a part of the password."""
    return SettingError(
        f"{setting} is {hide_password(url)!r}: not a Redis URL; expected "
        "redis://HOST:PORT/0, rediss://… for TLS or unix://PATH; @ : / ? # % in a password are written %40 %3A %2F "
        "%3F %23 %25"
    )


def translate_any(error: Exception, place: str) -> StorageError | None:
    """The message for what Celery and kombu raise where Redis is the cause, which they wrap; None where it is not."""
    from kombu.exceptions import KombuError
    from redis.exceptions import RedisError

    cause = error.__cause__
    if isinstance(error, KombuError):
        inner = translate_any(cause, place) if isinstance(cause, Exception) else None
        return inner or translate(OSError(str(error)), place)
    return translate(error, place) if isinstance(error, RedisError | OSError) else None


def translate(error: Exception, place: str, setting: str = REDIS_URL.name) -> StorageError:
    """The message for one failure of Redis; ``setting`` names the place."""
    from redis import exceptions

    said = _WHERE.sub("", (str(error).strip().splitlines() or [type(error).__name__])[0])
    refused = isinstance(error, exceptions.AuthenticationError) or "NOAUTH" in said
    if refused or isinstance(error, exceptions.NoPermissionError):
        return (AccessError if refused else StorageError)(
            f"{place}: Redis refuses the user or the password ({said}); write them into {setting} as "
            "redis://USER:PASSWORD@HOST:PORT/0"
        )
    if isinstance(error, exceptions.OutOfMemoryError) or said.startswith("OOM"):
        return RedisFullError(f"{place}: Redis has no memory left ({said}); {MORE_MEMORY}")
    waiting = (exceptions.ConnectionError, exceptions.TimeoutError, exceptions.ReadOnlyError)
    if isinstance(error, (*waiting, OSError)):
        return UnavailableError(
            f"{place}: Redis cannot be reached ({said}); check that it runs, and {setting}"
        )
    if WRONG_KIND in said:
        return StorageError(
            f"{place}: a key that farthest uses holds something of another kind ({error}); give farthest a Redis "
            "database of its own, or remove that key"
        )
    if said.startswith(_PASSING):
        return UnavailableError(f"{place}: Redis does not serve now ({said}); see its log")
    return StorageError(f"{place}: Redis refused: {said}")


def _text(key: object) -> str:
    return key.decode(errors="replace") if isinstance(key, bytes) else str(key)
