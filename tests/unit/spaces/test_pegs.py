"""Peg puzzles: both kinds of space against boards as tuples, published counts, and the maps of whole runs."""

from collections import Counter
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest

from cases import for_each
from farthest import _kernel
from farthest.errors import BoardError, PuzzleError, StorageError
from farthest.families.pegs.definition import Pegs
from farthest.families.pegs.layout import choose_layout, parities
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import NO_KEY, Space, gather, scatter
from farthest.stores.contract import step
from farthest.stores.memory.gather_store import MemoryStore
from farthest.verify.models.digits import PegModel

BOARDS = {
    "row": 'start = "ooo.o"\ngoal = "....o"',
    "square": 'start = "ooo/ooo/o.o"\ngoals = ["o.*/.../...", "..o/.o./o.."]',
    "diagonal": 'start = "ooo/o.o/ooo"\ngoal = ".../.o./..."\ndiagonal = true',
    "cross": 'start = ["#oo#", "o..o", "oooo"]\ngoal = ["#..#", "*...", "...."]',
    "triangle": 'start = "./oo/ooo/oooo"\ngoal = "o/../.../...."\ngrid = "triangle"',
    "hole in a triangle": 'start = "./oo/o#o/oooo"\ngoal = "o/../.#./...."\ngrid = "triangle"',
    "one way": 'start = "oo.oo.o"\ngoal = "o......"\n'
    "jumps = [[0, 1, 2], [2, 3, 5], [5, 4, 0], [4, 3, 2], [6, 5, 4], [4, 2, 6]]",
    "apart": 'start = "oo..ooo"\ngoal = "o.....o"\njumps = [[0, 1, 2], [4, 5, 3]]',
}
ORIGINS = ["from start", "to goal", "from goal", "to start"]


def puzzle_of(table: str, metric: str = "jump") -> Puzzle:
    return parse_puzzle(f'name = "p"\nfamily = "pegs"\nmetric = "{metric}"\n[pegs]\n{table}\n', "p.toml")


def origin_of(text: str) -> Origin:
    direction, where = text.split()
    return Origin("to" if direction == "to" else "from", where)


def naive_moves(puzzle: Puzzle, board: Board, peg: int | None = None) -> Iterator[tuple[str, Board]]:
    """The moves that the player has: each jump; in the metric chain also those that go on with the same peg."""
    for a, b, c in puzzle.defined_as(Pegs).jumps:
        if (board[a], board[b], board[c]) == (1, 1, 0) and peg in (None, a):
            after = tuple({a: 0, b: 0, c: 1}.get(hole, content) for hole, content in enumerate(board))
            yield f"{a}-{c}", after
            if puzzle.metric == "chain":
                for name, last in naive_moves(puzzle, after, c):
                    yield f"{a}-{name}", last


def all_boards(holes: int) -> list[Board]:
    return [tuple(number >> hole & 1 for hole in range(holes)) for number in range(2**holes)]


@cache
def naive_links(puzzle: Puzzle) -> list[tuple[Board, Board]]:
    """All boards, each with those that a move leads to."""
    boards = all_boards(puzzle.defined_as(Pegs).holes)
    return [(board, reached) for board in boards for _, reached in naive_moves(puzzle, board)]


def naive_layers(puzzle: Puzzle, origins: list[Board], direction: str) -> list[set[Board]]:
    """The boards at each distance, by links between all boards of the puzzle."""
    links: dict[Board, set[Board]] = {}
    for board, reached in naive_links(puzzle):
        first, second = (board, reached) if direction == "from" else (reached, board)
        links.setdefault(first, set()).add(second)
    layers = [set(origins)]
    found = set(origins)
    while layers[-1]:
        layers.append({far for near in layers[-1] for far in links.get(near, ())} - found)
        found |= layers[-1]
    return layers[:-1]


def space_layers(space: Space) -> list[set[Board]]:
    """The boards at each distance as the engines find them."""
    layers: list[set[Board]] = []
    if space.engine == "gather":
        kernel = gather(space).compile_kernel(3)
        store = MemoryStore(kernel, gather(space).keys_of(space.origins), distances=False)
        depth = 0
        while True:
            codes = np.array(store.keys(depth, 2**20), dtype=np.uint64)
            if not codes.size:
                return layers
            layers.append({tuple(board) for board in space.decode(codes).tolist()})
            depth += 1
            step(store, depth, store.begin(depth, range(kernel.shards)), 2)
    wide = scatter(space)
    codes, known = np.unique(np.frombuffer(memoryview(wide.origin_codes()), dtype=np.uint64)), set[int]()
    while codes.size:
        layers.append({tuple(board) for board in space.decode(codes).tolist()})
        known |= set() if wide.graded else set(codes.tolist())
        reached = np.unique(np.frombuffer(memoryview(wide.successors(codes.data, 2)), dtype=np.uint64))
        codes = np.array(sorted(set(reached.tolist()) - known), dtype=np.uint64)
    return layers


@for_each(
    ("table", "metric", "origin"),
    [
        (table, ("jump", "chain")[(i + j) % 2], origin)
        for i, table in enumerate(BOARDS.values())
        for j, origin in enumerate(ORIGINS)
    ],
)
def test_layers_are_those_of_the_naive_model(table: str, metric: str, origin: str) -> None:
    puzzle = puzzle_of(table, metric)
    space = compile_space(puzzle, origin_of(origin))
    layers = naive_layers(puzzle, space.origins, space.origin.direction)
    assert space_layers(space) == layers
    again = compile_space(puzzle, origin_of(origin), space.layout_fields())
    assert again.engine == space.engine
    assert again.layout_fields() == space.layout_fields()
    for board in all_boards(puzzle.defined_as(Pegs).holes):
        if space.why_unreachable(board) is not None:
            assert not any(board in layer for layer in layers)


@pytest.mark.parametrize("metric", ["jump", "chain"])
@pytest.mark.parametrize("table", BOARDS.values(), ids=BOARDS)
def test_neighbours_and_codes_are_those_of_the_naive_model(table: str, metric: str) -> None:
    puzzle = puzzle_of(table, metric)
    boards = all_boards(puzzle.defined_as(Pegs).holes)
    forward = Counter((board, name, far) for board in boards for name, far in naive_moves(puzzle, board))
    for origin in ORIGINS:
        space = compile_space(puzzle, origin_of(origin))
        for toward in (True, False):
            found: Counter[tuple[Board, str, Board]] = Counter()
            for name, rows, reached in space.neighbours(np.array(boards, dtype=np.uint8), toward=toward):
                made = (space.origin.direction == "to") == toward
                for row, other in zip(rows.tolist(), map(tuple, reached.tolist()), strict=True):
                    found[(boards[row], str(name), other) if made else (other, str(name), boards[row])] += 1
            assert found == forward
        codes = space.encode(np.array(boards, dtype=np.uint8))
        named = np.flatnonzero(codes != NO_KEY)
        assert space.keys is None or sorted(codes[named].tolist()) == list(range(space.keys))
        assert [boards[row] for row in named] == [tuple(one) for one in space.decode(codes[named]).tolist()]
        assert int(space.encode(np.full((1, space.cells), 255, dtype=np.uint8))[0]) == NO_KEY
        if space.engine == "gather":
            assert gather(space).keys_of(boards) == codes.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["jump", "chain"])
@pytest.mark.parametrize("table", BOARDS.values(), ids=BOARDS)
def test_the_model_of_proofs_has_the_same_codes_and_moves(table: str, metric: str) -> None:
    puzzle = puzzle_of(table, metric)
    boards = np.array(all_boards(puzzle.defined_as(Pegs).holes), dtype=np.uint8)
    for origin in map(origin_of, ORIGINS):
        space = compile_space(puzzle, origin)
        plain = PegModel(puzzle, origin, space.layout_fields())
        assert (plain.keys, plain.code_bytes) == (space.keys, space.code_bytes)
        assert np.array_equal(plain.codes(boards), space.encode(boards))
        assert sorted(map(tuple, plain.origins().tolist())) == space.origins
        rows, reached = plain.successors(boards)
        expected: Counter[tuple[int, Board]] = Counter()
        for _, from_rows, others in space.neighbours(boards, toward=False):
            expected.update(zip(from_rows.tolist(), map(tuple, others.tolist()), strict=True))
        assert Counter(zip(rows.tolist(), map(tuple, reached.tolist()), strict=True)) == expected


def test_bits_are_taken_where_one_class_and_one_number_of_pegs_are_the_origin() -> None:
    engines = {name: compile_space(puzzle_of(table)).engine for name, table in BOARDS.items()}
    assert set(engines.values()) == {"gather"}
    assert compile_space(puzzle_of(BOARDS["square"]), Origin("to", "goal")).engine == "scatter"
    assert compile_space(puzzle_of(BOARDS["cross"]), Origin("to", "goal")).engine == "scatter"
    assert compile_space(puzzle_of(BOARDS["square"], "chain")).engine == "scatter"
    assert compile_space(load("pegs-french")).keys == 2**33
    large = compile_space(puzzle_of(f'start = "{"o" * 7}.{("/" + "o" * 8) * 5}"'))
    assert large.engine == "scatter"
    assert scatter(large).graded
    assert not scatter(compile_space(puzzle_of(BOARDS["cross"]), Origin("to", "goal"))).graded
    english = compile_space(load("pegs-english"))
    assert english.keys == 2**29  # four parities of 33 holes


@for_each("name", ["pegs-english", "pegs-triangle-15", "hoppers"])
def test_parities_never_change(name: str) -> None:
    definition = load(name).defined_as(Pegs)
    changes = tuple(1 << a | 1 << b | 1 << c for a, b, c in definition.jumps)
    kept = parities(definition.holes, changes)
    assert all((change & parity).bit_count() % 2 == 0 for change in changes for parity in kept)
    layout = choose_layout(definition.holes, changes, 0)
    assert len(layout.holes) + len(kept) == definition.holes
    assert len(kept) == {"pegs-english": 4, "pegs-triangle-15": 2, "hoppers": 0}[name]


def test_hoppers_first_jump() -> None:
    """M. Hiroi's answer: 7 moves in all, 18 solutions; and by brute force those without a first jump."""
    for name, depth, ways in [("hoppers-first-jump", 6, 18), ("hoppers", 7, 0)]:
        puzzle = load(name)
        space = compile_space(puzzle)
        counts: Counter[Board] = Counter(space.origins)
        goal = puzzle.defined_as(Pegs).goals[0]
        for depth_now in range(1, depth + 1):
            boards = list(counts)
            following: Counter[Board] = Counter()
            for _, rows, reached in space.neighbours(np.array(boards, dtype=np.uint8), toward=False):
                for row, board in zip(rows.tolist(), map(tuple, reached.tolist()), strict=True):
                    following[board] += counts[boards[row]]
            counts = following
            assert depth_now == depth or goal not in counts
        assert counts[goal] == ways or ways == 0
        assert counts[goal] > 0


def test_the_reasons_why_boards_cannot_be_reached() -> None:
    english = compile_space(load("pegs-english"))
    full = english.why_unreachable([1] * 33)
    assert full is not None
    assert "33 pegs of one of 32" in full
    for origin in ("from start", "to goal"):
        space = compile_space(puzzle_of('start = "oo....."\ngoal = "oooo.oo"'), origin_of(origin))
        reasons = {str(space.why_unreachable(board))[:5] for board in all_boards(7)}
        assert reasons == {"None", "pegs:", "posit"}


def test_wrong_origins_and_layouts() -> None:
    puzzle = puzzle_of('start = "oo."\ngoal = "..o"')
    with pytest.raises(BoardError, match="2 holes, expected 3"):
        compile_space(puzzle, Origin("from", "oo"))
    with pytest.raises(PuzzleError, match="more than 1,000,000 boards"):
        compile_space(puzzle_of(f'start = "{"o" * 20}.."\ngoal = "{"*" * 21}o"'), Origin("to", "goal"))
    fields = compile_space(puzzle).layout_fields()
    with pytest.raises(StorageError, match="version 9"):
        compile_space(puzzle, None, {**fields, "version": 9})
    with pytest.raises(StorageError, match="damaged"):
        compile_space(puzzle, None, {**fields, "dropped": [1]})
    (hole, _, flipped), *others = fields["dropped"]
    for parity in (-1, 1 << len(fields["holes"]), 2**64):
        with pytest.raises(StorageError, match="not one of this board"):
            compile_space(puzzle, None, {**fields, "dropped": [[hole, parity, flipped], *others]})
    with pytest.raises(ValueError, match="out of range"):
        compile_space(puzzle).decode(np.array([8], dtype=np.uint64))


def test_wrong_expanders_are_refused() -> None:
    for move in [(0, 64, 1, 2), (0, 1, 3, 2), (0, 1, 2, 4), (0, 1, 1, 2)]:
        with pytest.raises(ValueError, match=r".+"):
            _kernel.PegExpander([move], True)
    with pytest.raises(ValueError, match="same number"):
        _kernel.PegExpander([(0, 2, 3, 4), (2, 0, 4, 3)], False)


ISAS = _kernel.available_isas()


@pytest.mark.slow
@pytest.mark.parametrize(
    "isa", [*(pytest.param(isa, marks=pytest.mark.night) for isa in ISAS[:-1]), ISAS[-1]]
)
def test_english_board(isa: str) -> None:
    puzzle = load("pegs-english")
    space = gather(compile_space(puzzle))
    kernel = space.compile_kernel(5, isa)
    store = MemoryStore(kernel, space.keys_of(space.origins), distances=False)
    layers = puzzle.known[0].layers or ()
    for depth in range(1, len(layers)):
        step(store, depth, store.begin(depth, range(kernel.shards)), 2)
        assert sum(store.counts(depth).values()) == layers[depth]
