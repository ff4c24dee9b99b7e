"""The contract of backends: where an attempt keeps its states and takes its steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from farthest.coordinator.enumeration.executors import Executor

if TYPE_CHECKING:
    from pathlib import Path

    from farthest.models.transactions import Database
    from farthest.spaces.contract import Space
    from farthest.stores.contract import JobStore, MadeMap
    from farthest.stores.folder.journal import LayerFigures

Progress = Callable[[dict[str, Any]], None]
"""Called with the state of the layer under way: ``blocks``, ``blocks_done``, and of workers ``workers``, ``resent``."""


class Backend(Protocol):
    """Makes the store and the executor of an attempt."""

    def admit(self, space: Space, database: Database | None) -> None:
        """Reports what the enumeration will need. Raises ResourceError when there is not enough of it."""

    def store(self, space: Space, name: str) -> JobStore:
        """A store at depth 0, for an attempt at the job called ``name``."""

    def kept(self) -> list[LayerFigures]:
        """The layers that the last store had from an earlier attempt at the job."""

    @property
    def keeps(self) -> Path | None:
        """Where the layers are that the job can be continued from, where the store keeps them; else checkpoints do."""

    def leave(self, store: JobStore) -> None:
        """Gives up the store of an attempt that was stopped; what the job can be continued from stays."""

    def short_of_room(self, store: JobStore) -> bool:
        """Whether a checkpoint is to make room for the next layers."""

    def make_map(
        self,
        store: JobStore,
        depth: int,
        states: int,
        job: int,
        owner: str,
        database: Database,
        progress: Progress,
        still_ours: Callable[[], None],
    ) -> MadeMap | None:
        """The map up to ``depth``, of ``states`` states, as workers make it for the job that ``owner`` runs; None where
        it is to be made of the store's chunks."""

    def goes_over_to_files(self, space: Space) -> str | None:
        """Whether the next attempt keeps its layers in files, where those in memory have become too large: what the
        user is told, else None."""

    def give_up(self, depth: int) -> bool:
        """Forgets what was found of a layer for which there was no room; False where the layers before cannot be had
        then, or others may make room."""

    def while_waiting(self, action: Callable[[], None]) -> None:
        """Sets a function that is called regularly while a server is away; it may raise an exception."""

    def restarted(self) -> bool:
        """Whether a server has been restarted since the last call, so that its data may be lost."""

    def executor(
        self, progress: Progress, should_stop: Callable[[], None], still_ours: Callable[[], None]
    ) -> Executor:
        """Takes the steps. ``should_stop`` is called now and then during a layer that can be given up, and
        ``still_ours`` during one that overwrites the layers before it; they may raise an exception."""
