"""What an enumeration may use: this machine, the folders and places that are named, Redis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farthest.coordinator.enumeration.resources import machine_speed
from farthest.coordinator.settings import Settings
from farthest.environment import REDIS_WAIT_SECONDS, SCRATCH, scratch_folder
from farthest.errors import RedisFullError, SettingError
from farthest.machine import available_memory, cores, memory_limit
from farthest.wording import bytes_text

if TYPE_CHECKING:
    from farthest.map_files.place import MapPlace
    from farthest.stores.blobs.place import BlobPlace
    from farthest.stores.redis.connections import RedisNodes


@dataclass(frozen=True, slots=True)
class Servers:
    """Redis, and the place of blobs."""

    nodes: RedisNodes
    blobs: BlobPlace

    @classmethod
    def open(cls, notice: Callable[[str], None]) -> Servers:
        """Those that the environment names. Raises SettingError, StorageError or UnavailableError where they cannot be
        used."""
        from farthest.stores.redis.connections import RedisNodes
        from farthest.stores.redis.places import place_of

        nodes = RedisNodes.from_environment(REDIS_WAIT_SECONDS.number(), notice)
        nodes.ask()
        blobs = place_of(nodes)
        blobs.check()
        return cls(nodes, blobs)

    def memory(self) -> int:
        """Bytes that the servers may use, or their machines have. Raises RedisFullError."""
        from farthest.stores.redis.connections import MORE_MEMORY

        limit = 0
        for client, place in zip(self.nodes.clients, self.nodes.places, strict=True):
            memory: Any = self.nodes.call(partial(client.info, "memory"))
            most, used = int(memory["maxmemory"]), int(memory["used_memory"])
            # Its memory has shrunk, or is all in use: it is not known how much a job may use.
            if 0 < most < used:
                raise RedisFullError(
                    f"{place}: Redis has no memory left ({bytes_text(used)} of {bytes_text(most)} used); {MORE_MEMORY}"
                )
            limit += most or int(memory["total_system_memory"])
        return limit


class Machine:
    """What an enumeration may use. What costs time is asked for when a plan comes to it.

    ``database``: its file, None where it is none; ``folder``: where that is. ``stored``: whether anything of the run
    is. ``servers``: of runs by workers, None where nothing is asked of them yet. ``begins``: the run is to begin, so
    that what it needs is tried.
    """

    def __init__(
        self,
        settings: Settings,
        database: Path | None = None,
        *,
        stored: bool = True,
        servers: Servers | None = None,
        begins: bool = False,
    ) -> None:
        self._settings = settings
        self._database = database
        self._begins = begins
        self.folder = None if database is None else database.absolute().parent
        self.stored = stored
        self.servers = servers
        self.cores = cores()
        self.threads = settings.threads or self.cores

    @cached_property
    def memory(self) -> int:
        """Bytes that this process may use."""
        return memory_limit(self._settings.memory)

    def more_memory(self, needed: int) -> str:
        """The advice to allow more memory, where the machine has more."""
        if needed > available_memory():
            return ""
        return f"allow more with --memory {-(-needed // 2**20)}MiB, or "

    @cached_property
    def scratch(self) -> Path:
        """The folder for layers in files. Raises SettingError."""
        return scratch_folder(self._settings.scratch, self.folder)

    @property
    def has_layers(self) -> bool:
        """Whether attempts at any enumerations have left layers in that folder."""
        try:
            return any(self.scratch.glob("farthest-*/header"))
        except (OSError, SettingError):
            return False

    @property
    def scratch_is_named(self) -> bool:
        """Whether somebody has chosen that folder."""
        return self._settings.scratch is not None or bool(SCRATCH.text())

    @cached_property
    def maps(self) -> MapPlace:
        """The place of map files. Raises SettingError."""
        from farthest.map_files.places import map_place

        place = map_place(self._database)
        if self._begins:
            place.check()
        return place

    @property
    def speed(self) -> float:
        """How many times as long as on the processor that was measured the same work takes here."""
        return machine_speed()
