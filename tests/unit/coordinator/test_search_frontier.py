"""The frontier's totals are those of a search from the first piece to the last, in whatever order pieces are done."""

import random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each
from farthest.search.contract import Node, PieceResult, Way
from farthest.search.deepening import Frontier, Place, Totals
from search_trees import TreeEngine

LIMIT = 5
BOUND = 6

Result = tuple[Totals, list[Way]]


def begun(engine: TreeEngine, *, first: bool, split: bool) -> Frontier:
    cut = engine.split((), BOUND) if split else None
    frontier = Frontier(BOUND, cut, Node((), 0), first=first, limit=LIMIT)
    frontier.begin()
    return frontier


def one_by_one(engine: TreeEngine, *, first: bool, split: bool) -> Result:
    """The result without a frontier: always the first piece of a list, and what it has left over in its place."""
    cut = engine.split((), BOUND) if split else None
    pieces = list(enumerate([Node((), 0)] if cut is None else cut.roots))
    nodes, solutions, number, bounds = 0 if cut is None else cut.nodes, 0, 0, set[int]()
    listed: list[Way] = []
    while pieces and not (first and solutions):
        root, node = pieces.pop(0)
        piece = engine.run(node, BOUND, first=first, limit=1 if first else LIMIT)
        nodes, number = nodes + piece.nodes, number + 1
        bounds |= set() if piece.next_bound is None else {piece.next_bound}
        ways: list[Way] = [()] if cut is None else list(cut.ways_to(root))
        ways = ways[:1] if first else ways
        solutions += len(ways) * piece.solutions
        listed += [(*way, *rest) for way in ways for rest in piece.listed]
        pieces[:0] = [(root, rest) for rest in piece.rest]
    listed = listed[: 1 if first else LIMIT]
    return Totals(nodes, solutions, number, min(bounds, default=None), len(listed)), listed


@pytest.mark.slow
@given(st.integers(0, 10**6), st.booleans(), st.booleans(), st.integers(1, 8), st.integers(0, 10**6))
def test_any_order_gives_the_same(seed: int, first: bool, split: bool, budget: int, rng: int) -> None:
    engine, order = TreeEngine(seed, budget=budget), random.Random(rng)
    frontier, listed = begun(engine, first=first, split=split), list[Way]()
    taken: list[tuple[Place, Node]] = []
    while not frontier.complete:
        if frontier.waiting and (not taken or order.random() < 0.6):
            found = frontier.take()
            assert found is not None
            taken.append(found)
            continue
        if not taken:
            break
        place, node = taken.pop(order.randrange(len(taken)))
        piece = engine.run(node, BOUND, first=first, limit=1 if first else LIMIT)
        for _ in range(order.choice([1, 1, 2])):  # what comes a second time changes nothing
            frontier.done(place, piece)
        if order.random() < 0.2:
            listed += frontier.new_solutions
            frontier, taken = read_back(frontier, engine, first=first, split=split), []
    assert (frontier.totals, listed + frontier.new_solutions) == one_by_one(engine, first=first, split=split)


def read_back(frontier: Frontier, engine: TreeEngine, *, first: bool, split: bool) -> Frontier:
    """The frontier as another process goes on with it."""
    cut = engine.split((), BOUND) if split else None
    again = Frontier(BOUND, cut, Node((), 0), first=first, limit=LIMIT)
    open_pieces = {**frontier.waiting, **frontier.running}
    again.restore(
        frontier.totals,
        {
            place: msgspec.json.decode(msgspec.json.encode(node), type=Node)
            for place, node in open_pieces.items()
        },
        {
            place: msgspec.json.decode(msgspec.json.encode(piece), type=PieceResult)
            for place, piece in frontier.beyond.items()
        },
    )
    return again


def test_pieces_are_taken_in_order() -> None:
    frontier = begun(TreeEngine(1), first=False, split=True)
    taken = frontier.take()
    assert taken is not None
    assert taken[0] == (0,)
    rest = (Node((7,), 1), Node((8,), 1))
    frontier.done((0,), PieceResult(5, 0, (), None, rest))
    places = []
    while (taken := frontier.take()) is not None:
        places.append(taken[0])
    assert places == [(0, 0), (0, 1), *((root,) for root in range(1, len(places) - 1))]


def test_pieces_after_the_first_solution_are_dropped() -> None:
    frontier = begun(TreeEngine(4), first=True, split=False)
    frontier.restore(Totals(), {(n,): Node((n,), 1) for n in range(4)}, {})
    places = [taken[0] for _ in range(3) if (taken := frontier.take())]
    assert places == [(0,), (1,), (2,)]
    frontier.done((2,), PieceResult(7, 1, (("late",),), None, ()))
    assert (sorted(frontier.waiting), sorted(frontier.running)) == ([], [(0,), (1,)])
    frontier.done((1,), PieceResult(5, 1, (("first",),), None, ()))
    assert frontier.totals.nodes == 0
    frontier.done((0,), PieceResult(3, 0, (), 9, ()))
    assert frontier.complete
    assert (frontier.totals, frontier.new_solutions) == (Totals(8, 1, 2, 9, 1), [("first",)])


def test_pieces_under_way_after_the_first_solution_are_not_waited_for() -> None:
    frontier = begun(TreeEngine(4), first=True, split=False)
    frontier.restore(Totals(), {(n,): Node((n,), 1) for n in range(3)}, {})
    while frontier.take():
        pass
    frontier.done((0,), PieceResult(7, 1, (("only",),), None, ()))
    assert frontier.complete
    frontier.done((1,), PieceResult(5, 1, (("late",),), None, ()))
    assert (frontier.totals.nodes, frontier.new_solutions) == (7, [("only",)])


@for_each("way", [("R", (3, 4)), (), ((0, 15),)])
def test_ways_come_back_from_json(way: Way) -> None:
    node = Node((1, 2), 3, 4, way)
    assert msgspec.json.decode(msgspec.json.encode(node), type=Node) == node
    piece = PieceResult(9, 1, (way,), None, (node,))
    assert msgspec.json.decode(msgspec.json.encode(piece), type=PieceResult) == piece
