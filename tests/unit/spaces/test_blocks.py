"""Sliding blocks: the space and the proof's model against pieces that are sets of squares, in every metric."""

from collections import Counter, defaultdict
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each
from farthest.errors import PuzzleError, StorageError
from farthest.families.blocks.definition import Blocks
from farthest.puzzles.catalogue import load, names
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import PACKED, Space, scatter
from farthest.verify.models import model_of
from space_battery import check_sparse

METRICS = ("step", "slide", "move")
WAYS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}

TABLES = {
    "one-piece": 'start = ["A..", "...", ".#."]',
    "walls": 'start = ["A.#", "A..", "#BB"]',
    "interchangeable": 'start = ["AB.", "AB.", "..C"]',
    "touching": 'start = ["7770", "7700"]\nshapes = { 7 = "7" }',
    "distinct": 'start = ["AB.", "AB."]\ndistinct = true',
    "one-distinct": 'start = ["12", "3.", ".."]\ndistinct = ["2"]',
    "bent": 'start = ["AA..", "ABB.", "...."]',
    "holed": 'start = ["AAA.", "ABA.", "AAA.", "...."]',
    "apart": 'start = ["A.A.", ".BB."]\nshapes = { A = "A.A" }',
    "exit": 'start = ["AB+", "C.#"]\nexits = { "+" = ["A"] }',
    "two-exits": 'start = ["-AB+", "-C.#"]\nexits = { "+" = ["A", "C"], "-" = "B" }',
    "on-an-exit": 'start = [".BA", "..#"]\ntray = ["..+", "..#"]\nexits = { "+" = ["A"] }',
    "along": 'start = ["AA.B", "C..B", "CDD."]\nalong = true',
    "some-along": 'start = ["AA.", ".BB", "..."]\nalong = ["A"]',
    "full": 'start = ["AB", "CC"]',
    "words": 'start = ["red red .", "blue . ."]',
    "apart-parts": 'start = ["A.#B.", "..#.."]',
}
WIDE = (
    'start = ["A#B#C#D#", "#E#F#G#H", "I#J#K#L#", "#M#N#O#P", "Q#R#ST.."]\ndistinct = true\n'
    'goal = ["*#*#*#*#", "#*#*#*#*", "*#*#*#*#", "#*#*#*#*", "*#*#**ST"]'
)
"""Codes of more than 64 bits."""


def packed_table() -> str:
    """Of more than 128 bits: 32 pieces on 34 cells, and only two of them can move."""
    signs = iter("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefgh")
    rows = ["".join("#" if (row + column) % 2 else next(signs) for column in range(8)) for row in range(7)]
    rows.append("#" * 4 + next(signs) + next(signs) + "..")
    return f"start = {rows}\ndistinct = true"


def puzzle_of(table: str, metric: str = "step", origin: str = "from start") -> Puzzle:
    head = f'name = "b"\nsource = "a test"\nfamily = "blocks"\nmetric = "{metric}"\norigin = "{origin}"\n'
    return parse_puzzle(f"{head}[blocks]\n{table}\n", "b.toml")


class Naive:
    """Pieces as sets of squares that are tried in all places."""

    def __init__(self, puzzle: Puzzle) -> None:
        self.definition, self.metric = puzzle.defined_as(Blocks), puzzle.metric
        self.cell_at = {
            (r, c): n for r, row in enumerate(self.definition.rows) for c, n in enumerate(row) if n >= 0
        }

    def piece(self, label: int, first: tuple[int, int]) -> frozenset[tuple[int, int]]:
        return frozenset((first[0] + r, first[1] + c) for r, c in self.definition.kinds[label - 1].shape)

    def may_stand(self, label: int, squares: frozenset[tuple[int, int]]) -> bool:
        kind = self.definition.kinds[label - 1]
        open_to = {"", *kind.exits}
        if kind.line >= 0 and {square[kind.ways == 3] for square in squares} != {kind.line}:
            return False
        return all(s in self.cell_at and self.definition.signs[self.cell_at[s]] in open_to for s in squares)

    def pieces(self, board: Board) -> list[tuple[int, frozenset[tuple[int, int]]]]:
        """In reading order."""
        left, found = dict(zip(self.cell_at, board, strict=True)), []
        for square in self.cell_at:
            if left[square]:
                found.append((left[square], self.piece(left[square], square)))
                for part in found[-1][1]:
                    left[part] = 0
        return found

    def board(self, pieces: list[tuple[int, frozenset[tuple[int, int]]]]) -> Board:
        labels = [0] * len(self.cell_at)
        for label, squares in pieces:
            for square in squares:
                labels[self.cell_at[square]] = label
        return tuple(labels)

    def moves(self, board: Board) -> list[tuple[str, Board]]:
        found = []
        pieces = self.pieces(board)
        for i, (label, squares) in enumerate(pieces):
            others = {square for j, (_, other) in enumerate(pieces) if j != i for square in other}
            same = [other for kind, other in pieces if kind == label]
            tokens = self.definition.kinds[label - 1].tokens
            token = tokens[same.index(squares)]
            if tokens.count(token) > 1:
                token += f" at {min(squares)[0] + 1},{min(squares)[1] + 1}"
            for after in self.reached(label, squares, others):
                down, right = (b - a for a, b in zip(min(squares), min(after), strict=True))
                words = [token]
                for distance, name in ((-down, "up"), (down, "down"), (-right, "left"), (right, "right")):
                    words += [name] * (distance > 0) + [str(distance)] * (distance > 1)
                found.append((" ".join(words), self.board([*pieces[:i], *pieces[i + 1 :], (label, after)])))
        return found

    def reached(
        self, label: int, squares: frozenset[tuple[int, int]], others: set[tuple[int, int]]
    ) -> set[frozenset[tuple[int, int]]]:
        open_ways = [
            way for i, way in enumerate(WAYS.values()) if self.definition.kinds[label - 1].ways >> i & 1
        ]

        def one_step(
            piece: frozenset[tuple[int, int]], way: tuple[int, int]
        ) -> frozenset[tuple[int, int]] | None:
            after = frozenset((r + way[0], c + way[1]) for r, c in piece)
            return after if self.may_stand(label, after) and not after & others else None

        found = set()
        if self.metric == "slide":
            for way in open_ways:
                piece = one_step(squares, way)
                while piece:
                    found.add(piece)
                    piece = one_step(piece, way)
            return found
        found = {after for way in open_ways if (after := one_step(squares, way))}
        while self.metric == "move":
            more = {after for piece in found for way in open_ways if (after := one_step(piece, way))} - found
            if not more:
                return found - {squares}
            found |= more
        return found

    def layers(self, origins: set[Board]) -> list[set[Board]]:
        layers, seen = [origins], set(origins)
        while layers[-1]:
            layers.append({after for board in layers[-1] for _, after in self.moves(board)} - seen)
            seen |= layers[-1]
        return layers[:-1]

    def matching(self, goal: Board) -> set[Board]:
        """All boards with the goal's pieces, from all sets of places."""
        labels = range(1, len(self.definition.kinds) + 1)
        sets = []
        for label in labels:
            places = [p for s in self.cell_at if self.may_stand(label, p := self.piece(label, s))]
            count = len(self.definition.kinds[label - 1].tokens)
            sets.append([[(label, p) for p in chosen] for chosen in combinations(places, count)])
        found = set()
        for chosen in product(*sets):
            pieces = [piece for part in chosen for piece in part]
            if len(frozenset().union(*(p for _, p in pieces))) == sum(len(p) for _, p in pieces):
                board = self.board(pieces)
                if all(wanted in (WILDCARD, label) for wanted, label in zip(goal, board, strict=True)):
                    found.add(board)
        return found


def layers_of(space: Any) -> list[Any]:
    """The codes of each layer."""
    layer = np.unique(np.frombuffer(space.origin_codes(), dtype=space.code_dtype))
    before, layers = layer[:0], []
    while layer.size:
        layers.append(layer)
        found = np.unique(np.frombuffer(space.successors(layer.tobytes(), 2), dtype=space.code_dtype))
        before, layer = layer, np.setdiff1d(found, np.concatenate([before, layer]), assume_unique=True)
    return layers


def boards_of(space: Space, codes: Any) -> list[Board]:
    return [tuple(board) for board in space.decode(codes).tolist()]


def check(puzzle: Puzzle, origin: Origin | None = None) -> list[int]:
    """Asserts that the space and the proof's model are the naive one; the sizes of the layers."""
    origin = origin or puzzle.origin
    space, naive = scatter(compile_space(puzzle, origin)), Naive(puzzle)
    layers = layers_of(space)
    expected = naive.layers(set(space.origins))
    assert [set(boards_of(space, layer)) for layer in layers] == expected
    codes = np.concatenate(layers)
    boards = space.decode(codes)
    assert len({tuple(board) for board in boards.tolist()}) == len(codes)
    assert space.encode(boards).tolist() == codes.tolist()
    listed = [tuple(board) for board in boards.tolist()]
    forward = Counter((board, name, after) for board in listed for name, after in naive.moves(board))
    for toward in (True, False):
        found: Counter[tuple[Board, Any, Board]] = Counter()
        for name, rows, reached in space.neighbours(boards, toward=toward):
            for row, after in zip(rows.tolist(), reached.tolist(), strict=True):
                pair = (listed[row], tuple(after))
                a, b = pair if (origin.direction == "to") == toward else pair[::-1]
                found[a, name, b] += 1
        assert found == forward
    model = model_of(puzzle, origin, space.layout_fields())
    assert (model.keys, model.code_bytes) == (None, space.code_bytes)
    assert {tuple(board) for board in model.origins().tolist()} == set(space.origins)
    assert model.codes(boards).tolist() == codes.tolist()
    assert np.array_equal(model.boards(codes), boards)
    rows, after = model.successors(boards)
    pairs: dict[Board, set[Board]] = defaultdict(set)
    for row, board in zip(rows.tolist(), after.tolist(), strict=True):
        pairs[listed[row]].add(tuple(board))
    assert {(a, b) for a in pairs for b in pairs[a]} == {(a, b) for a, _, b in forward}
    none = np.full((1, space.cells), 255, dtype=np.uint8)
    assert space.encode(none).tobytes() == model.codes(none).tobytes() == b"\xff" * space.code_bytes
    restored = compile_space(puzzle, origin, space.layout_fields())
    assert restored.encode(boards).tolist() == codes.tolist()
    check_sparse(puzzle, origin, boards, [after for _, _, after in forward.elements()])
    assert puzzle.definition.texts(boards) == [puzzle.definition.format_board(board) for board in listed]
    assert puzzle.definition.parse_boards(puzzle.definition.texts(boards)) == boards.tobytes()
    assert puzzle.definition.first_wrong(boards) is None
    for board in listed:
        assert puzzle.definition.parse_board(puzzle.definition.format_board(board)) == board
        assert puzzle.definition.check_board(board) == board
    return [len(layer) for layer in layers]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("table", TABLES.values(), ids=list(TABLES))
def test_naive(table: str, metric: str) -> None:
    check(puzzle_of(table, metric))


@for_each("metric", METRICS)
def test_naive_with_codes_of_16_bytes(metric: str) -> None:
    puzzle = puzzle_of(WIDE, metric)
    space = scatter(compile_space(puzzle))
    assert space.code_bytes == 16
    assert sum(check(puzzle)) == 30
    assert puzzle.definition.arrangements() > 2**64
    codes = [bytes(code).ljust(16, b"\0") for code in np.concatenate(layers_of(space)).tolist()]
    model = model_of(puzzle, puzzle.origin, space.layout_fields())
    as_text = model.codes(space.decode(np.array(codes, dtype="S16")))
    assert as_text.tobytes() == b"".join(codes)


def test_packed_codes_where_numbers_are_too_few() -> None:
    puzzle = puzzle_of(packed_table(), "slide")
    space = scatter(compile_space(puzzle))
    assert puzzle.definition.arrangements() >= 2**128
    assert (space.code_bytes, space.layout_fields()) == (20, PACKED)
    assert sum(check(puzzle)) == 30


@for_each("direction", ["to", "from"])
@for_each(
    "table",
    [
        'start = ["AB.", "AC."]\ngoal = ["..A", "..A"]',
        'start = ["ABC", "...", "..."]\ngoals = ["B../.../...", "*A*/***/***"]\ndistinct = ["A"]',
        'start = ["AB+"]\nexits = { "+" = ["A"] }\ngoal = ["..A"]',
        'start = ["7700", "0077"]\nshapes = { 7 = "7" }\ngoal = [".77.", "...."]',
        'goal = ["AB.", "A.."]',
    ],
)
def test_goals_stand_for_all_boards_that_match(table: str, direction: Any) -> None:
    puzzle = puzzle_of(table, "slide", "to goal")
    origin = Origin(direction, "goal")
    space = compile_space(puzzle, origin)
    naive = Naive(puzzle)
    goals, _ = puzzle.definition.origin_boards
    assert set(space.origins) == {board for goal in goals for board in naive.matching(goal)}
    assert puzzle.definition.at_goal(np.array(space.origins, dtype=np.uint8)).all()
    check(puzzle, origin)


def test_origin_of_a_board() -> None:
    puzzle = puzzle_of('start = ["AB.", "AC."]')
    assert check(puzzle, Origin("to", ".AB/.AC")) == check(puzzle, Origin("from", ".AB/.AC"))


@pytest.mark.slow
@given(st.data())
def test_random_boards(data: st.DataObject) -> None:
    """Any drawing of small letters is a puzzle; its three metrics are the naive ones."""
    columns, size = data.draw(st.sampled_from([(2, 4), (3, 6), (3, 9), (4, 8)]))
    cells = data.draw(st.lists(st.sampled_from("..#AAB12"), min_size=size, max_size=size))
    rows = ["".join(cells[i : i + columns]) for i in range(0, len(cells), columns)]
    try:
        puzzle = puzzle_of(f"start = {rows}", data.draw(st.sampled_from(METRICS)))
    except PuzzleError:
        return
    check(puzzle)


def test_the_nineteen_boards() -> None:
    """S2: boards up to level 2 of hakoiri-musume, as people draw them."""
    near = {}
    for metric, sizes in (("step", [1, 4, 10]), ("slide", [1, 6, 12]), ("move", [1, 8, 10])):
        puzzle = load(f"hakoiri-musume-{metric}")
        space = compile_space(puzzle)
        layers = layers_of(space)[:3]
        assert [len(layer) for layer in layers] == sizes
        near[metric] = [
            puzzle.definition.format_board(board) for layer in layers for board in boards_of(space, layer)
        ]
    assert near["move"][0] == "2113/2113/4665/4775/7007"
    assert set(near["move"]) == set(near["slide"])
    assert len(set(near["slide"])) == 19
    assert set(near["step"]) < set(near["slide"])
    assert {"2113/2113/4665/4775/0077", "2113/2113/4665/4705/7077", "2113/2113/4665/4075/7707"} < set(
        near["step"]
    )
    assert "2113/2113/4665/4005/7777" in near["slide"]


SLOW = {
    "red-donkey": pytest.mark.night,
    "diabolical-box": pytest.mark.slow,
    "trapped-treasure": pytest.mark.slow,
}
KNOWN = [name for name in names() if load(name).family == "blocks"]


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[SLOW[name]] if name in SLOW else []) for name in KNOWN]
)
def test_published_answers(name: str) -> None:
    """The numbers of states and the depths of the nearest goals that others have found."""
    puzzle = load(name)
    space = compile_space(puzzle)
    layers = layers_of(space)
    goal = next(d for d, layer in enumerate(layers) if puzzle.definition.at_goal(space.decode(layer)).any())
    assert puzzle.known
    for known in puzzle.known:
        assert known.states in (None, sum(map(len, layers)))
        assert known.goal in (None, goal)


def test_pieces_never_leave_their_lines() -> None:
    """So that all boards that match the goal of a Rush Hour board are few."""
    puzzle = load("rush-hour-60")
    sizes = [len(layer) for layer in layers_of(compile_space(puzzle, Origin("to", "goal")))]
    space = compile_space(puzzle)
    assert sizes[0] < 100_000
    assert len(sizes) > 60
    assert puzzle.definition.arrangements() == 75_000_000
    assert space.why_unreachable(space.origins[0]) is None


def test_limits_are_told() -> None:
    many = 'start = ["7777....", "7777....", "7777....", "...A...."]\nshapes = { 7 = "7" }\ngoal = ' + str(
        ["A.......", "........", "........", "........"]
    )
    with pytest.raises(PuzzleError, match="stand for more than 1,000,000 boards"):
        compile_space(puzzle_of(many), Origin("to", "goal"))
    with pytest.raises(PuzzleError, match="no room; correct the goal"):
        compile_space(
            puzzle_of('start = ["AA.", "AA.", "..B"]\ngoal = ["...", ".B.", "..."]'), Origin("to", "goal")
        )
    with pytest.raises(StorageError, match="version 2, expected 1"):
        compile_space(load("pennant"), None, {"version": 2})
    space = compile_space(load("pennant"))
    with pytest.raises(ValueError, match="no state"):
        space.decode(np.array([2**64 - 1], dtype=np.uint64))
    with pytest.raises(ValueError, match="no board"):
        list(space.neighbours(np.zeros((1, space.cells), dtype=np.uint8), toward=True))
