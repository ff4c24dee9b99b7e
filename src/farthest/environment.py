"""Settings by environment variables: their names, defaults and meaning, and how their values are read.

The table in docs/settings.md is tested against them (``SETTINGS``). Secrets are parts of URLs: use
``locations.hide_password`` for every URL that is shown.
"""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

from farthest.errors import SettingError


@dataclass(frozen=True, slots=True)
class Setting:
    """One environment variable. ``default`` is as it would be written there; empty: see ``meaning``. ``least``: of its
    numbers, where it is one."""

    name: str
    default: str
    meaning: str
    least: float = 0.0

    def text(self) -> str:
        """The value in force; an empty variable counts as one that is not set."""
        return os.environ.get(self.name, "").strip() or self.default

    @property
    def given(self) -> bool:
        """Whether it is set."""
        return bool(os.environ.get(self.name, "").strip())

    def number(self) -> float:
        """The value as a number. Raises SettingError unless it is ``least`` or more."""
        text = self.text()
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not self.least <= value < float("inf"):
            raise SettingError(
                f"{self.name} is {text!r}; expected a number, {self.least:g} or more"
                f"{f', such as {self.default}' if self.default else ''}"
            )
        return value

    def size(self) -> int:
        """The value as a number of bytes, see ``byte_count``. Raises SettingError."""
        size = byte_count(self.text())
        if size is None:
            raise SettingError(
                f"{self.name} is {self.text()!r}; expected a number and a unit, such as {self.default}"
            )
        return size


DATABASE_URL = Setting(
    "FARTHEST_DATABASE_URL",
    "sqlite:///farthest.db",
    "The database of jobs and maps: an SQLAlchemy URL or a file.",
)
REDIS_URL = Setting(
    "FARTHEST_REDIS_URL",
    "redis://127.0.0.1:6379/0",
    "Redis: tasks and the working state of running jobs. `rediss://` for TLS, `redis://:PASSWORD@HOST` for a password.",
)
REDIS_NODES = Setting(
    "FARTHEST_REDIS_NODES",
    "",
    "More Redis servers (URLs, split by spaces) to spread the working state over; the same list for all processes.",
)
BLOBS = Setting(
    "FARTHEST_BLOBS",
    "redis",
    "Where the blobs of running jobs are: `redis`, a folder that all hosts share (`file:///scratch`) or an object "
    "store (`s3://bucket/prefix`); the same place for all processes.",
)
CONCURRENCY = Setting(
    "FARTHEST_CONCURRENCY",
    "",
    "Processes of `farthest worker`, 1024 at most. Empty: one per processor.",
    least=1,
)
WORKER_MEMORY = Setting(
    "FARTHEST_WORKER_MEMORY",
    "256MiB",
    "Bytes of shards that each process of a worker keeps for its next steps, decoded and as blobs.",
)
LEASE_SECONDS = Setting(
    "FARTHEST_LEASE_SECONDS",
    "5",
    "The step of a worker that is silent for this long is sent again.",
    least=0.1,
)
REDIS_WAIT_SECONDS = Setting(
    "FARTHEST_REDIS_WAIT_SECONDS",
    "300",
    "How long a running job waits for Redis, or the place of its blobs, to come back.",
)
DATABASE_WAIT_SECONDS = Setting(
    "FARTHEST_DATABASE_WAIT_SECONDS",
    "300",
    "How long a running job waits for the database, or the place of its map file, to come back.",
)
CHECKPOINT_SECONDS = Setting(
    "FARTHEST_CHECKPOINT_SECONDS",
    "60",
    "Least time between two checkpoints of a job, a fifth of that of a coset; they take a tenth of the time at most.",
)
BLOCK_SIZE = Setting(
    "FARTHEST_BLOCK_SIZE",
    "4MiB",
    "Bytes of a layer's bitmap, or of all codes of a shard, in one step and one blob, where shards allow it; up to "
    "four times as many where there are many blocks, and more where a layer would have over 4,000; of codes up to "
    "sixteen times as many in the first 8 shards.",
)
SMALL_LAYER_STATES = Setting(
    "FARTHEST_SMALL_LAYER_STATES",
    "1000000",
    "Layers found from at most this many states, in at most 256 blocks, and maps of at most this many keys "
    "are not sent to "
    "workers.",
)
SCRATCH = Setting(
    "FARTHEST_SCRATCH",
    "",
    "Folder for the layers of enumerations that do not fit the memory, and for checkpoints of cosets. Empty: that of "
    "the SQLite file; of a worker, temporary files.",
)
MAPS = Setting(
    "FARTHEST_MAPS",
    "",
    "Where the files of residue maps are: a folder, also as `file:///FOLDER`, or an object store "
    "(`s3://bucket/prefix`). Empty: `FILE.maps` beside an SQLite database FILE.",
)
TABLES = Setting(
    "FARTHEST_TABLES",
    "",
    "Folder of the tables that searches make of maps, on this machine. Empty: `FILE.tables` beside an SQLite database "
    "FILE, else `farthest/tables` in the user's cache.",
)
PUZZLE_MODULES = Setting(
    "FARTHEST_PUZZLE_MODULES",
    "",
    "Modules, split by commas, whose puzzle classes this process may import and run; see SECURITY.md. Empty: none.",
)
WEB_TOKEN = Setting(
    "FARTHEST_WEB_TOKEN",
    "",
    "The token that readers of `farthest serve` have to give, 16 characters or more. Empty: none; the server is then "
    "for this machine alone, or for reading (`--public`).",
)
LOG_LEVEL = Setting("FARTHEST_LOG_LEVEL", "info", "How much services log: debug, info, warning or error.")
LOG_FORMAT = Setting(
    "FARTHEST_LOG_FORMAT",
    "text",
    "How services write a line of their log: `text`, or `json`, an object a line.",
)
METRICS_ADDRESS = Setting(
    "FARTHEST_METRICS_ADDRESS",
    "",
    "Where a worker or a coordinator answers Prometheus, at `/metrics`: a port of this machine, or `HOST:PORT`. "
    "Empty: nowhere.",
)

SETTINGS = tuple(value for value in list(globals().values()) if isinstance(value, Setting))
"""All of them, in this order."""

_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}
_SIZE = re.compile(
    r"(?P<number>\d{1,18}(?:\.\d*)?|\.\d+)\s*(?P<prefix>[kmgt]?)(?P<unit>ib|b|)", re.IGNORECASE
)


def byte_count(text: str) -> int | None:
    """A size in words as a number of bytes: 4GiB and 4g are 4 * 1024**3, 4GB 4 * 1000**3, 4 is 4. None if it is
    none."""
    match = _SIZE.fullmatch(text.strip())
    if not match:
        return None
    base = 1000 if match["unit"].lower() == "b" else 1024
    return int(float(match["number"]) * base ** _POWERS[match["prefix"].lower()])


def scratch_folder(given: Path | None, beside: Path | None) -> Path:
    """Where folders of layers are made: the one that is given, that of FARTHEST_SCRATCH, ``beside``, the folder
    of the database's file, or the system's for temporary files. Raises SettingError where it is no folder."""
    folder = given or (Path(SCRATCH.text()) if SCRATCH.text() else None)
    if folder is None:
        return beside or Path(tempfile.gettempdir())
    if not folder.is_dir():
        source = "--scratch" if given else SCRATCH.name
        raise SettingError(f"{source} is {folder}, which is not a folder; make it, or name another")
    return folder.absolute()
