"""Puzzles and estimates as JSON objects: `farthest puzzles`, `farthest estimate`, and the web."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from farthest.coordinator.settings import Estimate
from farthest.documents import filled, plain
from farthest.errors import ResourceError
from farthest.puzzles.board_sets import BoardSet, sets_of
from farthest.puzzles.puzzle import KnownAnswer, Origin, Puzzle
from farthest.spaces.contract import reached_by_moves
from farthest.wording import bytes_text, counted, seconds_text

if TYPE_CHECKING:
    from farthest.documents.jobs import Rows
    from farthest.puzzles.definition import Board


class PuzzleDocument(TypedDict):
    """What lists of puzzles say of each."""

    name: str
    title: str
    family: str
    metric: str
    cells: int
    arrangements: int
    states: int | None


class PuzzlesDocument(TypedDict):
    """The catalogue."""

    puzzles: list[PuzzleDocument]


class DefinitionDocument(PuzzleDocument):
    """One puzzle with its definition; its family has fields of its own besides."""

    source: str
    digest: str
    goals: list[str]
    start: str | None
    origin: Origin
    known: list[KnownAnswer]
    sets: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimateDocument(Estimate):
    """What an enumeration will need."""

    puzzle: Annotated[str, "its name"]
    fits: Annotated[bool, "whether the enumeration would be started"]


def puzzle_summary(puzzle: Puzzle) -> PuzzleDocument:
    """What lists of puzzles say of each."""
    definition = puzzle.definition
    arrangements = definition.arrangements()
    return filled(
        PuzzleDocument, puzzle, cells=definition.cells, arrangements=arrangements, states=known_states(puzzle)
    )


def puzzle_document(puzzle: Puzzle) -> dict[str, Any]:
    """A ``DefinitionDocument`` with the fields of the puzzle's family."""
    definition = puzzle.definition
    goals, start = definition.origin_boards
    return {
        **puzzle_summary(puzzle),
        "source": puzzle.source,
        "digest": puzzle.digest,
        **definition.fields(),
        "reachable": definition.reachable(goals),
        "goals": [definition.format_board(goal) for goal in goals],
        "start": None if start is None else definition.format_board(start),
        "origin": puzzle.origin,
        "known": puzzle.known,
        "sets": [found.name for found in sets_of(puzzle)],
    }


def set_document(found: BoardSet) -> dict[str, Any]:
    """A published set of boards, without these."""
    fields = {"name": found.name, "title": found.title, "source": found.source, "puzzle": found.puzzle}
    return {**fields, "boards": len(found.boards)}


def known_states(puzzle: Puzzle) -> int | None:
    """The published number of states, where the puzzle's file names one."""
    return next((known.states for known in puzzle.known if known.states is not None), None)


def states_text(puzzle: Puzzle) -> str:
    """How many states a puzzle has."""
    states = reached_by_moves(puzzle)
    return "unknown" if states is None else f"{states:,}"


def puzzle_rows(puzzle: Puzzle) -> Rows:
    """What people read of a puzzle's definition."""
    definition = puzzle.definition
    return [
        ("family", puzzle.family),
        ("size", definition.size()),
        *definition.facts(),
        ("metric", puzzle.metric),
        ("origin", f"moves are counted {puzzle.origin}"),
        *_size_rows(definition.arrangements(), reached_by_moves(puzzle)),
    ]


def _size_rows(arrangements: int, reached: int | None) -> Rows:
    """How many states can be reached, and in how many ways pieces can be put in place otherwise."""
    if reached is None:
        return [
            ("states", "unknown; `farthest estimate` counts them, or guesses"),
            ("arrangements", f"{arrangements:,} ways to put the pieces in place; moves may reach only some"),
        ]
    apart = f"{arrangements:,} ways to put the pieces in place, the others only by taking it apart"
    return [
        ("states", f"{reached:,} can be reached"),
        *([] if arrangements == reached else [("arrangements", apart)]),
    ]


def known_rows(puzzle: Puzzle, known: KnownAnswer) -> Rows:
    """The figures of a known answer."""
    goal = None if known.goal is None else f"{known.goal:,} {puzzle.origin}"
    counts = (("states", known.states), ("eccentricity", known.eccentricity))
    layers = (("layers", known.layers), ("first layers", known.first_layers))
    return [
        *((name, f"{count:,}") for name, count in counts if count is not None),
        *([] if goal is None else [("nearest goal", goal)]),
        *((name, " ".join(f"{states:,}" for states in each)) for name, each in layers if each is not None),
    ]


def named_boards(puzzle: Puzzle) -> list[tuple[str, Board]]:
    """The boards that a puzzle's file draws: its start, where it has one, and its goals."""
    goals, start = puzzle.definition.origin_boards
    named = [("goal" if len(goals) == 1 else f"goal {number}", goal) for number, goal in enumerate(goals, 1)]
    return named if start is None else [("start", start), *named]


def estimate_document(puzzle: Puzzle, needs: Estimate) -> EstimateDocument:
    """What an enumeration will need."""
    return EstimateDocument(**plain(needs), puzzle=puzzle.name, fits=needs.problem is None)


def _states_row(needs: Estimate) -> str:
    most = "" if needs.keys is None else f"at most {needs.states_at_most:,}"
    if needs.states is not None:
        number = f"{needs.states:,} by {needs.states_from}"
        return f"{number} ({most})" if most and needs.states != needs.states_at_most else number
    if needs.states_at_least is not None:
        return f"more than {needs.states_at_least:,}, which were found in a second; {most or 'how many is unknown'}"
    return most or "unknown"


def estimate_rows(needs: Estimate) -> Rows:
    """What people read of an estimate."""
    rows = [("states", _states_row(needs))]
    if needs.keys is not None:
        rows.append(("keys", f"{needs.keys:,}"))
    moves = "both ways" if needs.both_ways else "one way"
    colours = ", two colours" if needs.two_colours else ""
    by = f"; representatives of {needs.symmetries} symmetries" if needs.symmetries else ""
    rows.append(("engine", f"{needs.engine}; moves {moves}{colours}{by}"))
    if needs.layers_from:
        rows.append(("layers", f"{needs.depths:,}, {needs.layers_from}"))
    place = "memory"
    if needs.layers_in == "files":
        place = "files" if needs.scratch is None else f"files in {needs.scratch}"
    rows.append(("kept in", f"{place}: {needs.why}" if needs.why else place))
    allowed = f"{bytes_text(needs.memory_limit)} allowed"
    unknown = needs.states is None and needs.memory == needs.memory_limit
    memory = (
        f"grows with the states found; {allowed}" if unknown else f"{bytes_text(needs.memory)} of {allowed}"
    )
    rows.append(("memory", memory))
    if needs.layers_in == "files":
        rows.append(("disk at the peak", bytes_text(needs.layers_disk)))
        if needs.written:
            rows += [
                ("written, read", f"{bytes_text(needs.written)}, {bytes_text(needs.read)} in all"),
                ("units", f"{needs.units:,} a layer, of {needs.shards:,} shards"),
            ]
    size = f", about {bytes_text(needs.disk)} of disk" if needs.disk else ""
    rows.append(("map", f"{needs.map}{size}"))
    if needs.seconds is not None and needs.processor_seconds is not None:
        wall, processor = seconds_text(needs.seconds), seconds_text(needs.processor_seconds)
        rows.append(
            ("time here", f"about {wall} by {counted(needs.threads, 'thread')}, {processor} of processors")
        )
    if needs.problem:
        instead = "`farthest solve` finds solutions of single boards, --max-depth N the first layers"
        rows += [("does not fit", needs.problem), ("instead", instead)]
    return rows


def symmetry_document(puzzle: Puzzle) -> dict[str, Any]:
    """The symmetries of a puzzle. ``symmetries``: how many fix the goal, None where that is not known, and why
    (``problem``). ``representatives``: of a permutation puzzle whose maps can be kept by representatives the
    ``symmetries`` that serve for it, the number of ``keys`` of all states, and of the distances kept (``entries``);
    else None."""
    from farthest.puzzles.definition import WILDCARD
    from farthest.puzzles.family import family

    goals, _ = puzzle.definition.origin_boards
    count, problem = None, ""
    if len(goals) != 1 or WILDCARD in goals[0]:
        problem = "not known: there are several goals"
    else:
        try:
            found = family(puzzle.family).symmetries(puzzle.definition, goals[0])
        except ResourceError as error:
            problem = str(error)
        else:
            count = None if found is None else len(found.maps)
            problem = f"not known of the family {puzzle.family}" if found is None else ""
    return {
        "symmetries": count,
        "problem": problem or None,
        "representatives": _representatives(puzzle, count),
    }


def _representatives(puzzle: Puzzle, count: int | None) -> dict[str, int] | None:
    from farthest.spaces import compile_space, reduced_space

    if puzzle.family != "permutation" or (count or 1) == 1:
        return None
    try:
        keys, found = compile_space(puzzle, Origin()).keys, reduced_space(puzzle, Origin(), None)
    except ResourceError:
        return None
    if found is None or keys is None:
        return None
    return {"symmetries": found.order, "keys": keys, "entries": found.keys}
