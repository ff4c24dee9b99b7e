"""What a stored map answers: `farthest distance` and `path`, and the web."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypedDict

from farthest.documents import filled
from farthest.puzzles.definition import Board, MoveName, NamedPath
from farthest.queries.paths import LargeGraphError, Neighbour, SolutionGraph, Way

if TYPE_CHECKING:
    from collections.abc import Iterable

    from farthest.queries.diameter import Diameter
    from farthest.queries.distance_map import DistanceMap


class MapDocument(TypedDict):
    """Which map has answered."""

    job: int
    puzzle: Annotated[str, "number and puzzle's name"]


class AnswerDocument(TypedDict):
    """The distance of a board, or why it has none."""

    board: str
    distance: int | None
    reason: str | None


class DistancesDocument(MapDocument):
    """The distances of many boards."""

    distances: list[AnswerDocument]


class WayDocument(TypedDict):
    """One solution: its moves, and the boards between them."""

    moves: list[MoveName]
    boards: list[str]


class PathDocument(MapDocument):
    """Optimal solutions of a board."""

    board: Annotated[str, "in its canonical form"]
    distance: Annotated[int, "moves of a solution"]
    solutions: Annotated[int, "how many there are, exact however large"]
    paths: Annotated[
        list[WayDocument],
        "the listed ones: objects with `moves` (names; of sliding puzzles [from, to] pairs) and `boards` (one more "
        "than moves)",
    ]


class MoveDocument(TypedDict):
    """A move of a board, and the distance after it."""

    move: MoveName
    board: str
    distance: int | None


class StateDocument(MapDocument, AnswerDocument):
    """A board with all its moves, the nearest first."""

    solutions: int | None
    moves: list[MoveDocument]
    digest: str


class LayerDocument(MapDocument):
    """The first boards of a depth."""

    depth: int
    states: int
    boards: list[str]


class RandomDocument(MapDocument):
    """Random states."""

    depth: int | None
    boards: list[str]


class EndsDocument(TypedDict):
    """Two boards; moves lead from the first to the second."""

    one: str
    other: str


class DiameterDocument(MapDocument):
    """The distances between all pairs of states of a component."""

    states: Annotated[int, "of the component"]
    ordered: Annotated[
        bool,
        "whether a pair has an order: not every move can be taken back, and the states are those of the map",
    ]
    diameter: int
    pairs: Annotated[int, "the greatest distance of two states, and how many pairs are so far apart"]
    radius: Annotated[int, "the least eccentricity"]
    mean: Annotated[float, "the mean distance of two states that moves join"]
    eccentricities: Annotated[list[int], "how many states have the eccentricity 0, 1 and so on"]
    distances: Annotated[list[int], "how many pairs of states are 0, 1 and so on moves apart"]
    unjoined: Annotated[int, "ordered pairs of which no moves lead from the first to the second"]
    ends: Annotated[
        list[EndsDocument], "of the farthest pairs `--limit` at most: the boards `one` and `other`"
    ]


def diameter_document(opened: DistanceMap, found: Diameter) -> DiameterDocument:
    """The JSON object."""
    ends: list[EndsDocument] = [{"one": one, "other": other} for one, other in found.ends]
    return filled(DiameterDocument, found, **map_facts(opened), ends=ends)


def map_facts(opened: DistanceMap) -> MapDocument:
    """Which map has answered."""
    return {"job": opened.job, "puzzle": opened.record.name}


def distance_answer(opened: DistanceMap, board: str, found: int) -> AnswerDocument:
    """The distance of a board as it was written; ``found``: -1 where it has none."""
    if found >= 0:
        return {"board": board, "distance": found, "reason": None}
    word, why = opened.why_no_distance(opened.labels(board))
    return {"board": board, "distance": None, "reason": why if word == "unreachable" else f"{word}: {why}"}


def path_document(opened: DistanceMap, board: str, graph: SolutionGraph, ways: Iterable[Way]) -> PathDocument:
    """``ways``: the solutions that are listed, of those of ``graph``."""
    named = map(opened.named, ways)
    return {
        **map_facts(opened),
        "board": opened.text(board),
        "distance": graph.distance,
        "solutions": graph.count(),
        "paths": [{"moves": each.moves, "boards": each.texts} for each in named],
    }


MOST_COUNTED = 20_000
"""Boards that optimal solutions may pass through to be counted."""

READ_AGAIN = 5_000_000
"""States that may be read for one solution, where each move of it takes one reading of the map."""


@dataclass(frozen=True, slots=True)
class State:
    """What a map tells of one state. ``board``: canonical text. ``distance``: -1 where it has none. ``graph``: its
    optimal solutions; None where there are none, or too many boards on them."""

    board: str
    labels: Board
    distance: int
    answer: AnswerDocument
    moves: list[Neighbour]
    graph: SolutionGraph | None
    digest: str

    @property
    def solutions(self) -> int | None:
        """How many optimal ones there are."""
        return None if self.graph is None else self.graph.count()

    def document(self, opened: DistanceMap) -> StateDocument:
        """The JSON object."""
        return {
            **map_facts(opened),
            **self.answer,
            "solutions": self.solutions,
            "moves": [
                {
                    "move": each.move,
                    "board": each.board,
                    "distance": None if each.distance < 0 else each.distance,
                }
                for each in self.moves
            ],
            "digest": self.digest,
        }


def state_of(opened: DistanceMap, board: str) -> State:
    """Raises BoardError where the board is malformed; a state without a distance has its moves as well."""
    labels = opened.labels(board)
    text = opened.puzzle.definition.format_board(labels)
    distance = int(opened.distances([labels])[0])
    return State(
        board=text,
        labels=labels,
        distance=distance,
        answer=distance_answer(opened, text, distance),
        moves=opened.neighbours(labels),
        graph=_graph(opened, labels, distance),
        digest=opened.digest,
    )


def path_of(opened: DistanceMap, state: State) -> NamedPath | None:
    """One optimal solution; None where there is none, or finding it would take a reading of a large map for each
    move."""
    if state.distance < 0 or not _quick(opened, state.distance):
        return None
    if state.graph is None:
        return opened.named(opened.way(state.labels))
    return opened.named(next(opened.solutions_of(state.graph, 1)))


def _graph(opened: DistanceMap, labels: Board, distance: int) -> SolutionGraph | None:
    if distance < 0 or not _quick(opened, distance):
        return None
    try:
        return opened.solution_graph(labels, limit=MOST_COUNTED)
    except LargeGraphError:
        return None


def _quick(opened: DistanceMap, distance: int) -> bool:
    """Whether solutions are found by looking single boards up, or the map is small."""
    if not opened.puzzle.definition.has_moves:
        return False
    return opened.space.moves_both_ways or opened.states * distance <= READ_AGAIN
