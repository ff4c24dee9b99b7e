"""What an enumeration will need, worked out without enumerating."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from farthest.coordinator.enumeration.chosen_space import space_for
from farthest.coordinator.enumeration.needs import check_countable, thread_needs
from farthest.coordinator.enumeration.residues import with_kind_of_map
from farthest.coordinator.enumeration.worker_needs import worker_needs
from farthest.map_files.places import map_place

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from farthest.coordinator.settings import Estimate, Settings
    from farthest.puzzles.puzzle import Puzzle


def estimated(
    puzzle: Puzzle, settings: Settings, folder: Path | None, processes: Sequence[int] = ()
) -> Estimate:
    """The figures by which `farthest enumerate` decides. ``folder``: of the database's file, None where it is none.
    ``processes``: numbers of workers' processes to tell the time of. Raises PuzzleError, BoardError (of the origin),
    ResourceError, and SettingError (of a folder)."""
    space = space_for(puzzle, settings)
    check_countable(space, settings)
    settings = with_kind_of_map(space, settings, stored=True)
    maps = map_place(folder / puzzle.name if folder else None) if settings.residues else None
    needs = thread_needs(space, settings, folder, maps).estimate
    return (
        replace(needs, workers=worker_needs(space, settings, sorted(set(processes)))) if processes else needs
    )
