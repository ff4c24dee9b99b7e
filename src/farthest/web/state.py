"""What a map tells of one state: its distance, every move with the distance after it, how many optimal solutions there
are, and one of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.documents.answers import distance_answer, map_facts
from farthest.queries.paths import LargeGraphError

if TYPE_CHECKING:
    from farthest.puzzles.definition import Board, NamedPath
    from farthest.queries.distance_map import DistanceMap
    from farthest.queries.neighbours import Neighbour
    from farthest.queries.paths import SolutionGraph

MOST_COUNTED = 20_000
"""Boards that optimal solutions may pass through to be counted."""

READ_AGAIN = 5_000_000
"""States that may be read for one solution, where each move of it takes one reading of the map."""


@dataclass(frozen=True, slots=True)
class State:
    """``board``: canonical text. ``distance``: -1 where it has none; ``answer``: as `farthest distance --json` tells.
    ``graph``: its optimal solutions; None where there are none, or too many boards on them."""

    board: str
    labels: Board
    distance: int
    answer: dict[str, Any]
    moves: list[Neighbour]
    graph: SolutionGraph | None
    digest: str

    @property
    def solutions(self) -> int | None:
        """How many optimal ones there are."""
        return None if self.graph is None else self.graph.count()

    def document(self, opened: DistanceMap) -> dict[str, Any]:
        """The JSON object."""
        moves = [
            {"move": each.move, "board": each.board, "distance": _or_none(each.distance)}
            for each in self.moves
        ]
        return {
            **map_facts(opened),
            **self.answer,
            "solutions": self.solutions,
            "moves": moves,
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


def _or_none(distance: int) -> int | None:
    return None if distance < 0 else distance
