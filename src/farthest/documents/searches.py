"""Searches: `farthest show` of one, what `farthest solve` prints, and the same in the web."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from farthest.documents import filled
from farthest.documents.jobs import JobDocument, job_fields
from farthest.heuristics import MAP
from farthest.models.records import IterationRecord, JobRecord
from farthest.puzzles.definition import MoveName

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from farthest.coordinator.search.choice import Choice
    from farthest.coordinator.search.settings import SearchOutcome
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
    nodes_a_second: Annotated[float | None, "`nodes` by `seconds`; null where these are 0"]
    digest: Annotated[
        str,
        "of length, solutions, nodes of each iteration and paths; equal for equal searches, however they went",
    ]
    resumed: Annotated[int | None, "the bound that the search went on from, or null"]
    database: Annotated[str | None, "where the job is, or null"]


class CandidateDocument(TypedDict):
    """A heuristic that a search with `auto` may have."""

    heuristic: Annotated[str, "as it is written; `map`: all distances of the puzzle"]
    mean: Annotated[
        float | None,
        "of its values over all boards, modelled from layers, by which `auto` decides; null of `map` and the last one",
    ]
    sampled: Annotated[
        float | None, "the mean of 1,024 random boards, always the same; null where its tables are not stored"
    ]
    bytes: Annotated[int, "of its tables in memory; of `map` on disk"]
    stored: Annotated[bool, "whether nothing has to be made for it"]
    seconds: Annotated[
        float | None, "what making the rest takes, about; null where it is refused or not known"
    ]
    fits: Annotated[bool, "whether it is within the memory"]
    taken: Annotated[bool, "whether `auto` takes it"]


def candidate_documents(choice: Choice) -> list[CandidateDocument]:
    """What a search of the puzzle may have, the best first; the simple heuristic at the end."""
    from farthest.errors import FarthestError

    taken = choice.taken()
    rows: list[CandidateDocument] = []

    def row(
        text: str, mean: float | None, size: int, seconds: float | None, *, stored: bool, fits: bool = True
    ) -> CandidateDocument:
        return CandidateDocument(
            heuristic=text,
            mean=mean,
            sampled=choice.sampled(text) if stored and text != MAP else None,
            bytes=size,
            stored=stored,
            seconds=seconds,
            fits=fits,
            taken=text == taken and fits and not any(each["taken"] for each in rows),
        )

    if taken == MAP:
        whole = choice.whole
        size, seconds = (0, 0.0) if whole is None else (whole.disk, whole.seconds)
        stored = choice.has_map
        rows.append(row(MAP, None, size, 0.0 if stored else seconds, stored=stored))
    for each in choice.judged:
        try:
            needed = choice.seconds_to_make(each)
        except FarthestError:
            needed = None
        fits = each.bytes <= choice.memory
        rows.append(row(each.text, each.mean, each.bytes, needed, stored=not each.missing, fits=fits))
    if taken not in [each["heuristic"] for each in rows] and taken != choice.simple:
        kept = choice.kept
        assert kept is not None, "what is taken is stored"
        rows.insert(0, row(kept.text, kept.mean, kept.bytes, 0.0, stored=True))
    return [*rows, row(choice.simple, None, 0, 0.0, stored=True)]


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


ITERATION = ("bound", "nodes", "nodes per second", "solutions", "pieces", "seconds")
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
