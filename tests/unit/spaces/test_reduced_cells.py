"""Representatives of puzzles whose moves and symmetries take cells to cells: lamps, discs. Beside the layers of all
boards, which are compared with a naive model elsewhere."""

from __future__ import annotations

from itertools import permutations, product
from math import factorial

import numpy as np
import pytest

from farthest import _kernel
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.spaces import cells, compile_space, reduced_space
from farthest.spaces.cells import CellMap, automorphisms
from farthest.spaces.reduced import subgroups
from reduced_spaces import distances
from space_battery import space_layers


def lights(table: str, metric: str = "press") -> Puzzle:
    return parse_puzzle(f'name = "l"\nfamily = "lights"\nmetric = "{metric}"\n[lights]\n{table}\n', "l.toml")


def hanoi(table: str) -> Puzzle:
    return parse_puzzle(f'name = "h"\nfamily = "hanoi"\n[hanoi]\n{table}\n', "h.toml")


STAR = "edges = [[0, 1], [0, 2]]\narcs = [[0, 3], [3, 1], [3, 2]]"
CASES = [
    (lights("size = [3, 4]"), Origin(), {1, 2, 4}),
    (lights("size = [3, 3]\ncolours = 3", "multi"), Origin(), {2, 8, 16}),
    (lights("size = [2, 3]\ncolours = 4\nself = false"), Origin("from", "goal"), {1, 2, 4}),
    (lights('size = [3, 3]\ncolours = 3\nstart = ["012", "200", "111"]'), Origin("from", "start"), {1, 2, 4, 8}),
    (lights('goals = ["010/000/000", "000/010/000"]'), Origin(), {1, 2}),
    (lights("lamps = 9\nedges = [[0, 1], [1, 2], [3, 4], [4, 5], [6, 7], [7, 8]]\narcs = [[2, 5], [5, 8], [8, 2]]"),
     Origin(), {1, 3}),
    (hanoi("pegs = 4\ndiscs = 6"), Origin(), {1, 2, 3, 6}),
    (hanoi("pegs = 5\ndiscs = 4"), Origin(), {1, 4, 24}),
    (hanoi('pegs = 4\ndiscs = 5\ngoals = ["00000", "11111"]'), Origin(), {1, 2, 4}),
    (hanoi('pegs = 3\ndiscs = 5\nstart = "00100"'), Origin("from", "start"), {1}),
    (hanoi(f'pegs = 4\ndiscs = 5\n{STAR}\nstart = "00000"'), Origin("from", "start"), {1, 2}),
    (hanoi(f'pegs = 4\ndiscs = 5\n{STAR}\ngoal = "00000"'), Origin(), {1, 2}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("puzzle", "origin", "orders", "short"),
    [(*case, False) for case in CASES] + [(*case, True) for case in CASES[::3]],
)
def test_layers_and_distances_are_those_of_all_boards(
    puzzle: Puzzle, origin: Origin, orders: set[int], short: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``short``: with lines of one word, of several digits."""
    if short:
        for name, value in (("MOST_WORDS", 1), ("MOST_OUTER", 16), ("MOST_VALUES", 4)):
            monkeypatch.setattr(cells, name, value)
    layers = space_layers(puzzle, origin)
    depth = {board: number for number, layer in enumerate(layers) for board in layer}
    boards = np.array(list(depth), dtype=np.uint8)
    found, isas = set(), _kernel.available_isas()
    for order in [*orders, 7, 36]:
        space = reduced_space(puzzle, origin, order)
        if space is None:
            continue
        found.add(space.order)
        counts, of_keys = distances(space, isas[len(found) % len(isas)])
        assert counts == [len(layer) for layer in layers]
        keys = space.encode(boards)
        assert of_keys[keys.astype(np.int64)].tolist() == list(depth.values())
        assert (space.encode(space.decode(keys)) == keys).all()
        assert compile_space(puzzle, origin, space.layout_fields()).layout_fields() == space.layout_fields()
    assert found == orders or (short and found)


def test_a_run_by_representatives_is_that_of_all_boards() -> None:
    puzzle = load("lights-4x4")
    plain, whole = (
        enumerate_puzzle(puzzle, None, Settings(histogram_only=True, symmetry=order)) for order in (1, 8)
    )
    assert (whole.layers, whole.digest, sorted(whole.farthest)) == (
        plain.layers, plain.digest, sorted(plain.farthest)
    )  # fmt: skip
    assert whole.layers == puzzle.known[0].layers


def test_automorphisms() -> None:
    def brute(points: int, relation: set[tuple[int, ...]]) -> set[tuple[int, ...]]:
        return {
            to
            for to in permutations(range(points))
            if {tuple(to[p] for p in each) for each in relation} == relation
        }

    ring: set[tuple[int, ...]] = {(i, (i + 1) % 6) for i in range(6)}
    both = ring | {each[::-1] for each in ring}
    triples: set[tuple[int, ...]] = {(0, 1, 2), (2, 1, 0), (3, 4, 5), (5, 4, 3), (0, 3, 6)}
    for points, relation in ((6, ring), (6, both), (7, triples), (3, set())):
        found = automorphisms(points, relation)
        assert found[0] == tuple(range(points))
        assert set(found) == brute(points, relation)
        assert len(set(found)) == len(found)
    assert automorphisms(9, set()) == [tuple(range(9))]  # too many


def test_subgroups() -> None:
    # The groups of permutations of four points: 30.
    maps = [CellMap(to, ((0, 1),) * 4) for to in sorted(permutations(range(4)))]
    groups = list(subgroups(maps))
    assert len({frozenset(each.to for each in group) for group in groups}) == len(groups) == 30
    for group in groups:
        assert group[0] == maps[0]
        assert factorial(4) % len(group) == 0
        assert {one.then(other).image for one, other in product(group, group)} == {
            each.image for each in group
        }
