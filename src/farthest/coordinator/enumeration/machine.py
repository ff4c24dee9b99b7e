"""What an enumeration may use: this machine, the folders and places that are named, servers."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from farthest.coordinator.enumeration.resources import machine_speed
from farthest.coordinator.settings import Settings
from farthest.environment import SCRATCH, scratch_folder
from farthest.errors import SettingError
from farthest.machine import available_memory, cores, memory_limit

if TYPE_CHECKING:
    from farthest.coordinator.workers import Servers
    from farthest.map_files.place import MapPlace


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
