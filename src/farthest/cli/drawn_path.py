"""The solution that `farthest draw --path` draws: of the puzzle's stored map, or searched for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.errors import JobError, StorageError

if TYPE_CHECKING:
    from farthest.puzzles.puzzle import Puzzle
    from farthest.queries.board_path import BoardPath


def drawn_path(puzzle: Puzzle, board: str, database: str | None, *, search: bool) -> BoardPath:
    """A shortest solution of a board. Raises BoardError, JobError where there is no map, or as `solve` does."""
    return _searched(puzzle, board, database) if search else _stored(puzzle, board, database)


def _stored(puzzle: Puzzle, board: str, database: str | None) -> BoardPath:
    from farthest.cli.opening import open_job
    from farthest.models.database import open_database
    from farthest.models.jobs import Jobs
    from farthest.models.stored_job import origin_of

    try:
        with open_database(database, create=False) as opened:
            found = Jobs(opened).finished_maps(puzzle.digest)
            place = opened.place
    except StorageError as error:
        raise StorageError(f"{error}; or --search, which needs no map") from None
    if not found:
        raise JobError(
            f"puzzle {puzzle.name}: {place} has no map of it; `farthest enumerate` makes one, or --search searches "
            "for a solution"
        )
    own = (record for record in found if record.complete and origin_of(record) == puzzle.origin)
    with open_job(str(next(own, found[0]).id), database) as distances:
        return distances.path(board)


def _searched(puzzle: Puzzle, board: str, database: str | None) -> BoardPath:
    from farthest.api.searches import solve
    from farthest.cli.search_outcome import refuse_unsolvable

    outcome = solve(puzzle, board, store=False, database=database)
    refuse_unsolvable(outcome)
    assert outcome.path is not None, "one solution is listed of each search"
    return outcome.path
