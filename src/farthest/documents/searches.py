"""Searches: `farthest show` of one, what `farthest solve` prints, and the same in the web."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from farthest.documents import filled
from farthest.documents.jobs import JobDocument, job_fields
from farthest.models.records import IterationRecord
from farthest.puzzles.definition import MoveName

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from farthest.coordinator.search.settings import SearchOutcome
    from farthest.models.records import JobRecord
    from farthest.models.searches import Searches


class SearchDocument(JobDocument):
    """One search with its iterations and listed solutions."""

    puzzle_digest: Annotated[str, "of the puzzle"]
    engine: Annotated[
        dict[str, Any], "what cuts it into pieces: `version`, `engine`, `split_from`, `parts`, `budget`"
    ]
    iterations: Annotated[
        list[IterationRecord],
        "objects with `bound`, `nodes`, `solutions`, `pieces`, `seconds`, `next_bound`, `complete` (false: under way) "
        "and `kept` (pieces stored of the one under way, else null)",
    ]
    paths: Annotated[list[list[MoveName]], "the listed solutions, as moves"]


class SolvedDocument(TypedDict):
    """What `farthest solve --json` prints."""

    job: int | None
    puzzle: Annotated[str, "the job's number, null where the search was not stored; the puzzle's name"]
    board: str
    target: str
    algorithm: str
    heuristic: Annotated[str, "what was asked; `heuristic` is `zero` where the algorithm uses none"]
    length: Annotated[int | None, "moves of the solutions; 0 where the board is a target already"]
    solutions: Annotated[int, "how many of that length were found: all with `--all`, else 1"]
    moves: Annotated[list[MoveName] | None, "the first solution: names; of sliding puzzles [from, to] pairs"]
    paths: Annotated[list[list[MoveName]], "the listed solutions, each as `moves`"]
    optimal: Annotated[
        bool,
        "whether it is proven that none is shorter; false with a heuristic that may be more than the distance, "
        "with `dfs`, and mostly with `--first` and `--within`",
    ]
    bound: Annotated[
        int | None, "it is proven that no solution has fewer moves; null where nothing is proven"
    ]
    nodes: Annotated[int, "boards generated, in all iterations"]
    expanded: Annotated[int | None, "of `bfs`, `dfs` and `astar`: boards taken from the list, else null"]
    iterations: Annotated[
        list[dict[str, Any]],
        "objects with `bound`, `nodes`, `solutions`, `pieces` and `seconds`; empty with `bfs`, `dfs` and `astar`",
    ]
    seconds: Annotated[float, "the search alone"]
    digest: Annotated[
        str,
        "of length, solutions, nodes of each iteration and paths; equal for equal searches, however they went",
    ]
    resumed: Annotated[int | None, "the bound that the search went on from, or null"]
    database: Annotated[str | None, "where the job is, or null"]


def search_document(record: JobRecord, searches: Searches) -> SearchDocument:
    """One search. Raises StorageError where its iterations or solutions are not what was stored."""
    return filled(
        SearchDocument,
        record,
        **job_fields(record),
        engine=record.layout,
        iterations=searches.iterations(record.id),
        paths=search_paths(record, searches, None),
    )


ITERATION = ("bound", "nodes", "nodes a second", "solutions", "pieces", "seconds")
"""The headings of ``iteration_rows``."""


def iteration_rows(iterations: Iterable[IterationRecord]) -> list[tuple[str, ...]]:
    """A row of texts for each iteration; + marks the bound of the one under way."""
    return [
        (
            f"{one.bound}{'' if one.complete else '+'}",
            f"{one.nodes:,}",
            f"{one.nodes / one.seconds:,.0f}" if one.seconds else "",
            f"{one.solutions:,}",
            f"{one.pieces:,}",
            f"{one.seconds:.4f}",
        )
        for one in iterations
    ]


def search_paths(record: JobRecord, searches: Searches, limit: int | None) -> list[Any]:
    """The listed solutions of a search, at most ``limit``, as moves: each piece keeps its name. Raises StorageError."""
    from farthest.coordinator.search.settings import named_moves
    from farthest.models.sealing import damaged
    from farthest.models.stored_job import puzzle_of, search_parameters
    from farthest.search.contract import way_of

    puzzle, paths = puzzle_of(record), searches.solutions(record.id, limit)
    if not puzzle.definition.names_swap:
        return paths
    board = puzzle.definition.parse_board(search_parameters(record).board, name=puzzle.name)
    try:
        return list(named_moves(puzzle, board, map(way_of, paths)))
    except (TypeError, ValueError) as error:
        raise damaged("solution", f"of job {record.id}", f"column moves: {error}", record.id) from None


def solved_document(
    outcome: SearchOutcome, paths: Sequence[Sequence[Any]], database: str | None
) -> SolvedDocument:
    """The result of a search. ``paths``: the listed solutions, in which each piece keeps its name."""
    return filled(
        SolvedDocument,
        outcome,
        moves=paths[0] if paths else None,
        paths=paths,
        database=database,
    )
