"""Nodes, pieces and ways as JSON, for databases and messages between processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from farthest.json_fields import count, counts, items, pair
from farthest.search.contract import Node, PieceResult
from farthest.wording import shown

if TYPE_CHECKING:
    from farthest.puzzles.definition import MoveName
    from farthest.search.contract import Engine

Way = tuple["MoveName", ...]


def engine_fields(engine: Engine) -> dict[str, Any]:
    """The engine and how it cuts a search into pieces, for JSON: the same for all processes of a search, also after it
    is resumed."""
    cut = {"split_from": engine.split_from, "parts": engine.parts, "budget": engine.budget}
    return {"version": 3, "engine": type(engine).__name__, **cut}


def way_of(fields: Any) -> Way:
    """A way that came through JSON, where a pair of cells is a list. Raises TypeError, ValueError."""
    return tuple(move if isinstance(move, str) else pair(move) for move in items(fields))


def node_fields(node: Node) -> list[Any]:
    """A node for JSON."""
    return [node.board, node.depth, node.last, node.way]


def node_of(fields: Any) -> Node:
    """Inverse of ``node_fields``, through JSON. Raises TypeError, ValueError."""
    board, depth, last, way = items(fields)
    if type(last) is not int:
        raise TypeError(f"the last move is {shown(last)}, expected a whole number")
    return Node(counts(board), count(depth), last, way_of(way))


def piece_fields(piece: PieceResult) -> list[Any]:
    """A piece for JSON."""
    rest = [node_fields(node) for node in piece.rest]
    return [piece.nodes, piece.solutions, piece.listed, piece.next_bound, rest]


def piece_of(fields: Any) -> PieceResult:
    """Inverse of ``piece_fields``, through JSON. Raises TypeError, ValueError."""
    nodes, solutions, listed, next_bound, rest = items(fields)
    if type(solutions) is not int or solutions < 0:
        raise TypeError(f"{shown(solutions)} solutions, expected a whole number from 0")
    return PieceResult(
        count(nodes),
        solutions,
        tuple(map(way_of, items(listed))),
        None if next_bound is None else count(next_bound),
        tuple(map(node_of, items(rest))),
    )
