"""Moves that cannot be made on every board: bandaged and shape-shifting puzzles, against a naive model."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farthest
from cases import for_each
from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Settings
from farthest.errors import BoardError, PuzzleError
from farthest.families.permutation.definition import Permutation, permutation
from farthest.families.permutation.foreign import read_foreign
from farthest.families.permutation.guards import possible
from farthest.families.permutation.moves import Move
from farthest.families.permutation.symmetries import symmetries
from farthest.puzzles.catalogue import load
from farthest.puzzles.family import board_given
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.search.solvable import random_boards, why_unsolvable
from farthest.spaces import compile_space
from farthest.spaces.contract import scatter
from farthest.verify.models import model_of
from permutations import Board, moved, unmoved

HEAD = 'name = "sample"\nfamily = "permutation"\n'
"""The first two lines of a file."""


@dataclass(frozen=True)
class Rules:
    """``illegal``: by slot, the pieces that may not stand there. ``blocks``: pieces that are joined."""

    definition: Permutation
    illegal: dict[int, str]
    blocks: Sequence[str]

    def slots_of(self, board: Board, pieces: str) -> set[int]:
        tokens = [self.definition.tokens[label] for label in board[: self.definition.slots]]
        return {tokens.index(piece) for piece in pieces.split()}

    def legal(self, board: Board) -> bool:
        tokens = [self.definition.tokens[label] for label in board[: self.definition.slots]]
        return not any(tokens[slot] in pieces.split() for slot, pieces in self.illegal.items())

    def can(self, board: Board, move: Move) -> bool:
        changed = {slot for slot, to in enumerate(move.to) if to != slot or move.delta[slot]}
        whole = [self.slots_of(board, block) for block in self.blocks]
        kept = all(slots <= changed or not slots & changed for slots in whole)
        return kept and self.legal(moved(self.definition, move, board))

    def neighbours(self, board: Board, direction: str) -> list[tuple[str, Board]]:
        """The boards from which moves lead to this one, or to which they lead from it, with the moves' names."""
        found = []
        for move in self.definition.generators:
            there = (unmoved if direction == "to" else moved)(self.definition, move, board)
            before = there if direction == "to" else board
            if self.legal(before) and self.can(before, move):
                found.append((move.name, there))
        return found

    def distances(self, direction: str) -> dict[Board, int]:
        found = dict.fromkeys(self.definition.goals, 0)
        queue = list(found)
        for board in queue:
            for _, after in self.neighbours(board, direction):
                if after not in found:
                    found[after] = found[board] + 1
                    queue.append(after)
        return found


def bandaged(of: str, *blocks: str) -> tuple[Puzzle, Rules]:
    """A puzzle of the catalogue of which some pieces are joined."""
    own = permutation(load(of))
    rows = ""
    for block in blocks:
        sets: dict[str, list[str]] = {}
        for piece in block.split():
            name = own.orbit_names[own.label_orbit[own.tokens.index(piece)]]
            sets.setdefault(name or "pieces", []).append(piece)
        rows += "[[permutation.blocks]]\n"
        rows += "".join(f'{name} = "{" ".join(pieces)}"\n' for name, pieces in sets.items())
    text = f'{HEAD}metric = "{load(of).metric}"\n[permutation]\nof = "{of}"\n{rows}'
    puzzle = parse_puzzle(text, "sample.toml")
    return puzzle, Rules(permutation(puzzle), {}, blocks)


def shapes(metric: str, *, inverses: bool = True) -> tuple[Puzzle, Rules]:
    """Two rings of six that halves can be exchanged of, where no X stands before the cut, as in Square-1."""
    lines = "R = '(1 2 3 4 5 6)'\nL = '(7 8 9 10 11 12)'\nS = '(1 7+1)(2 8)(3 9)'\n"
    one_way = "" if inverses else "inverses = false\n"
    goal = "goal = 'a X b c Y d e X f g Y h'\nmodulus = 2\nignore = 'a X'\n"
    illegal = "[[permutation.illegal]]\nslots = [3, 6, 9]\npieces = 'X Y'\n"
    text = (
        f"{HEAD}metric = '{metric}'\n[permutation]\n{goal}{one_way}[permutation.generators]\n{lines}{illegal}"
    )
    puzzle = parse_puzzle(text, "sample.toml")
    return puzzle, Rules(permutation(puzzle), dict.fromkeys((2, 5, 8), "X Y"), ())


COLUMNS = ("URF FR DFR", "UFL FL DLF", "ULB BL DBL", "UBR BR DRB", "UF DF", "UB DB")
SAMPLES: dict[str, Callable[[], tuple[Puzzle, Rules]]] = {
    "2x2x2": lambda: bandaged("cube-2x2x2-htm", "UFL ULB", "URF UBR"),
    "2x2x3": lambda: bandaged("cuboid-2x2x3", "UFL UFR", "DFL DFR"),
    "3x3x3": lambda: bandaged("cube-3x3x3", "URF UR UBR", "ULB UL UFL", "DFR DR DRB", "DBL DL DLF", "FL UF"),
    "a ring with a pair": lambda: bandaged("topspin-7-4", "1 2"),
}
STATES = {"2x2x2": 84, "2x2x3": 960, "3x3x3": 36, "a ring with a pair": 840, "columns": 11_520}
SLOW: dict[str, Callable[[], tuple[Puzzle, Rules]]] = {"columns": lambda: bandaged("cube-3x3x3", *COLUMNS)}


@pytest.mark.parametrize(
    ("name", "direction"),
    [
        ("2x2x2", "to"),
        ("2x2x3", "from"),
        ("3x3x3", "to"),
        ("a ring with a pair", "from"),
        pytest.param("columns", "from", marks=pytest.mark.night),
    ],
)
def test_a_whole_space_is_that_of_the_naive_model(tmp_path: Path, name: str, direction: Any) -> None:
    puzzle, rules = {**SAMPLES, **SLOW}[name]()
    expected = rules.distances(direction)
    assert len(expected) == STATES[name] < permutation(puzzle).arrangements()
    origin = Origin(direction, "goal")
    job = farthest.enumerate(replace(puzzle, origin=origin), database=tmp_path / "maps.db")
    counts = Counter(expected.values())
    assert list(job.layers) == [counts[depth] for depth in range(len(counts))]
    boards = list(expected)
    texts = [puzzle.definition.format_board(board) for board in boards]
    assert job.distances(texts).tolist() == list(expected.values())
    assert job.verify().ok
    chosen = random.Random(1).sample(boards, 20)
    for board in chosen:
        path = job.path(puzzle.definition.format_board(board))
        assert len(path.moves) == expected[board]
        steps = [puzzle.definition.parse_board(text) for text in path]
        for before, move, after in zip(steps, path.moves, steps[1:], strict=False):
            assert (move, after) in rules.neighbours(before, "from")
    others = [board for board in all_boards(puzzle, 200) if board not in expected]
    wrong = job.distances([puzzle.definition.format_board(board) for board in others])
    assert (np.asarray(wrong) < 0).all()


def all_boards(puzzle: Puzzle, count: int) -> list[Board]:
    """Some boards that the moves would make if all could be made."""
    definition, rng = permutation(puzzle), random.Random(2)
    board, found = definition.goals[0], []
    for _ in range(count):
        board = moved(definition, rng.choice(definition.generators), board)
        found.append(board)
    return found


@for_each("inverses", [True, False])
@for_each("direction", ["to", "from"])
def test_successors_and_those_of_the_plain_model(direction: Any, inverses: bool) -> None:
    puzzle, rules = shapes("generator", inverses=inverses)
    assert permutation(puzzle).symmetric == inverses
    space = compile_space(puzzle, Origin(direction, "goal"))
    assert space.undirected == inverses
    assert space.layout_fields()["kind"] == "packed"
    boards = np.array([board for board in all_boards(puzzle, 300) if rules.legal(board)], dtype=np.uint8)
    expected = Counter(
        (row, name, there)
        for row, board in enumerate(boards.tolist())
        for name, there in rules.neighbours(tuple(board), direction)
    )
    assert len(expected) > len(boards)
    found = Counter(
        (int(row), name, tuple(board))
        for name, rows, after in space.neighbours(boards, toward=False)
        for row, board in zip(rows, after.tolist(), strict=True)
    )
    assert found == expected
    model = model_of(puzzle, Origin(direction, "goal"), space.layout_fields())
    rows, after = model.successors(boards)
    plain = Counter((row, tuple(board)) for row, board in zip(rows.tolist(), after.tolist(), strict=True))
    assert plain == Counter((row, board) for row, _, board in expected.elements())
    given = space.encode(boards)
    codes = np.frombuffer(bytes(scatter(space).successors(given.tobytes(), 1)), dtype=given.dtype)
    assert Counter(codes.tolist()) == Counter(space.encode(after).tolist())


CENTRES = """
Name faces that turn two centres
Set CORNERS 4 3
Set MIDDLE 1 1
Solved
End
Move R
CORNERS
2 3 1 4
0 1 2 0
MIDDLE
1
1
End
Move L
CORNERS
1 3 4 2
End
Block
CORNERS
1
MIDDLE
1
End
Block
CORNERS
3 4
End
"""


def test_a_piece_without_orientations_that_a_move_turns_is_moved() -> None:
    # As in the Bicube of ksolve: R turns the middle, to which corner 1 is fixed, in each of its powers; L does not.
    definition = read_foreign(CENTRES.encode(), "centres.def", "power")[1]
    corner, middle = (definition.tokens.index("1"), definition.label_orbit.index(definition.slot_orbits[4]))
    third, fourth = definition.tokens.index("3"), definition.tokens.index("4")
    seen = set()
    for number, move in enumerate(definition.generators):
        guards = definition.guards_of(number)
        for labels in {(corner, third, fourth, 1), (third, corner, fourth, 1), (third, 1, fourth, corner)}:
            board = np.array([[*labels, middle]])
            turned = move.name[0] == "R"
            changed = {0, 1, 2, 4} if turned else {1, 2, 3}
            at = {slot for slot, label in enumerate(labels) if label == corner} | {4}
            pair = {slot for slot, label in enumerate(labels) if label in (third, fourth)}
            can = all(slots <= changed or not slots & changed for slots in (at, pair))
            assert (
                bool(possible(guards, board)[0])
                == can
                == all(guard.holds_on(board[0].tolist()) for guard in guards)
            )
            seen.add((move.name, can))
    assert len(seen) > 4
    assert definition.symmetric


def test_square_1_has_the_published_layers() -> None:
    puzzle = load("square-1")
    first = next(known.first_layers for known in puzzle.known if known.first_layers)
    outcome = enumerate_puzzle(puzzle, None, Settings(histogram_only=True, max_depth=5))
    assert outcome.layers == tuple(first[:6]) == (1, 15, 69, 212, 1141, 3933)


@pytest.mark.parametrize("algorithm", ["ida", "astar"])
def test_solutions_are_shortest_ones_of_moves_that_can_be_made(algorithm: Any) -> None:
    puzzle, rules = SAMPLES["2x2x3"]()
    expected = rules.distances("to")
    for board in random.Random(3).sample(list(expected), 4):
        found = farthest.solve(puzzle, puzzle.definition.format_board(board), algorithm=algorithm)
        assert found.length == expected[board]
        for move in found.moves or ():
            board = dict(rules.neighbours(board, "from"))[str(move)]
        assert board in permutation(puzzle).goals


def test_moves_as_people_write_them() -> None:
    puzzle, rules = SAMPLES["2x2x3"]()
    goal = permutation(puzzle).goals[0]
    possible_moves = [move for move, _ in rules.neighbours(goal, "from")]
    blocked = next(move.name for move in rules.definition.generators if move.name not in possible_moves)
    assert board_given(puzzle, f"moves: {possible_moves[0]}") == rules.neighbours(goal, "from")[0][1]
    with pytest.raises(BoardError, match="it is blocked on this board"):
        board_given(puzzle, f"moves: {blocked}")


def test_symmetries_keep_the_blocks() -> None:
    plain = permutation(load("cuboid-2x2x3"))
    puzzle, rules = SAMPLES["2x2x3"]()
    distances = rules.distances("to")
    every, kept = (symmetries(each, each.goals[0]) for each in (plain, permutation(puzzle)))
    assert 1 < len(kept.maps) < len(every.maps)
    assert every.inversion is not None
    assert kept.inversion is None
    boards = np.array(list(distances), dtype=np.uint8)
    for each in kept.maps:
        images = [tuple(board) for board in each.images(boards).tolist()]
        assert [distances[image] for image in images] == list(distances.values())


TURNED_APART = """Set A 3 3
Set B 3 1
Solved
A
1 2 3
B
1 2 3
End
Move T
A
1 2 3
1 0 0
B
2 1 3
End
Move V
A
1 2 3
0 1 0
B
2 1 3
End
Block
A
1 2
End
"""


def test_moves_that_differ_in_turns_alone_have_blocks_of_their_own() -> None:
    definition = read_foreign(TURNED_APART.encode(), "apart.tws", "generator")[1]
    found = symmetries(definition, definition.goals[0]).maps
    goal = np.array([definition.goals[0]], dtype=np.uint8)
    assert len(found) > 1
    assert all(each.images(goal).tolist() == goal.tolist() for each in found)


def test_one_piece_is_no_block() -> None:
    text = TURNED_APART.replace("A\n1 2\nEnd\n", "A\n1\nEnd\n")
    with pytest.raises(PuzzleError, match="line 23: Block: expected two pieces or more"):
        read_foreign(text.encode(), "apart.tws", "generator")


def test_what_blocked_moves_leave_undecided_or_refused() -> None:
    puzzle, rules = SAMPLES["2x2x2"]()
    expected = rules.distances("to")
    board = next(board for board in all_boards(puzzle, 200) if board not in expected)
    assert why_unsolvable(puzzle, board, permutation(puzzle).goals)
    assert why_unsolvable(puzzle, max(expected), permutation(puzzle).goals) is None
    assert set(random_boards(puzzle, 50, 1)) <= set(expected)
    assert permutation(puzzle).reachable(permutation(puzzle).goals) is None
    assert Puzzle.from_json(puzzle.to_json()) == puzzle
    text = f'{HEAD}metric = "power"\n[permutation]\nof = "square-1<U,S>"\n'
    with pytest.raises(PuzzleError, match="cannot be made on every board"):
        parse_puzzle(text, "sample.toml")


WRONG = [
    ("[[permutation.blocks]]\npieces = '1 9'\n", 9, "there is no piece 9"),
    ("[[permutation.blocks]]\npieces = '1'\n", 8, "expected two pieces or more"),
    ("[[permutation.blocks]]\npieces = '1 3'\n", 9, "2 pieces are called 3"),
    ("[[permutation.blocks]]\ncorners = '1'\n", 9, "there is no set 'corners'"),
    ("[[permutation.illegal]]\nslots = [5]\npieces = '1'\n", 9, "expected slots from 1 to 4"),
    ("[[permutation.illegal]]\nslots = [1]\npieces = '1'\n", 10, "piece 1 is there in the solved state"),
    ("[[permutation.illegal]]\nslots = [2]\n", 8, "no pieces"),
    ("[[permutation.illegal]]\norbit = 'a'\nslots = [2]\npieces = '1'\n", 9, "there is no set 'a'"),
]


@for_each(("table", "line", "expected"), WRONG)
def test_wrong_tables(table: str, line: int, expected: str) -> None:
    head = f"{HEAD}metric = 'power'\n[permutation]\ngoal = '1 2 3 3'\n[permutation.generators]\nR = '(1 2 3 4)'\n"
    with pytest.raises(PuzzleError, match=rf"sample.toml, line {line}\b.*{expected}"):
        parse_puzzle(head + table, "sample.toml")
