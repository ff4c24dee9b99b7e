"""The passages of a puzzle on a graph: its ``edges`` and ``arcs``, validated pair by pair."""

from collections.abc import Callable
from typing import cast

from farthest.puzzles.grid import Passages
from farthest.wording import shown

Fail = Callable[[str, str], Exception]
"""Makes the error at a key, from the key and the problem."""


def read_passages(key: str, value: object, cells: int, edges: Passages, fail: Fail) -> Passages:
    """The pairs of ``edges`` (smaller cell first) or of ``arcs`` (as written), sorted.

    ``edges``: the edges read before the arcs. Raises what ``fail`` makes for anything but pairs of
    different cells, each passage once.
    """
    mend = f"write {key} = [[0, 1], [1, 2], ...] with cells 0 to {cells - 1}"
    if not isinstance(value, list):
        raise fail(key, f"expected an array of pairs of cells, got {shown(value)}; {mend}")
    found: set[tuple[int, int]] = set()
    for i, pair in enumerate(value, 1):
        if not isinstance(pair, list) or len(pair) != 2 or any(type(cell) is not int for cell in pair):
            raise fail(key, f"pair {i}: expected two cells such as [0, 1], got {_pair_shown(pair)}; {mend}")
        a, b = cast("list[int]", pair)
        where = f"pair {i} {_pair_shown(pair)}"
        for cell in (a, b):
            if not 0 <= cell < cells:
                raise fail(key, f"{where}: there is no cell {shown(cell)}, expected 0 to {cells - 1}; {mend}")
        if a == b:
            raise fail(key, f"{where} joins a cell with itself; expected two different cells, leave it out")
        ordered = (min(a, b), max(a, b))
        if key == "edges":
            a, b = ordered
        if (a, b) in found:
            raise fail(key, f"{where} is there twice; expected each passage once, leave one out")
        if ordered in edges:
            raise fail(
                key, f"{where} is also an edge, and edges go both ways; expected one of them, leave one out"
            )
        if (b, a) in found:
            raise fail(
                key, f"{where} and its opposite are both there; expected the edge {list(ordered)} instead"
            )
        found.add((a, b))
    return tuple(sorted(found))


def _pair_shown(pair: object) -> str:
    if isinstance(pair, list):
        return "[" + ", ".join(shown(cell) for cell in pair[:4]) + (", ..." if len(pair) > 4 else "") + "]"
    return shown(pair)
