"""Maps of patterns as heuristics: against distances of patterns found one board at a time."""

from collections import deque
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import naive
from cases import for_each
from farthest.errors import MissingMapError
from farthest.families.sliding.definition import sliding
from farthest.families.sliding.symmetries import pattern_images
from farthest.heuristics.contract import UNREACHABLE, MapTable, PatternMap, PatternTable
from farthest.heuristics.patterns import AdditivePattern
from farthest.heuristics.registry import open_heuristic
from farthest.puzzles.catalogue import load
from farthest.puzzles.definition import Board
from farthest.puzzles.patterns import pattern_of, pattern_of_labels
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.search.engines import kernel_search
from farthest.spaces import compile_space
from strategies import grid_rows, make_puzzle

NAME = "sliding-2x3"
OTHER = 64


def found_map(puzzle: Puzzle, space: Any, distances: NDArray[np.uint8]) -> PatternMap:
    """A map as the database would give it."""
    return PatternMap(puzzle, space, distances, 255 in distances, 1)


class Maps:
    """Maps of the patterns of a puzzle, made by plain searches."""

    def __init__(self, parent: Puzzle) -> None:
        self.parent = parent
        self.asked: list[str] = []

    def __call__(self, puzzle: Puzzle) -> PatternMap:
        self.asked.append(puzzle.name)
        pattern = pattern_of(self.parent, puzzle.name.partition("@")[2])
        if pattern.additive:
            least = pattern_distances(self.parent, pattern.labels)
            places = permutations(range(self.parent.definition.cells), len(pattern.labels))
            distances = np.array([least.get(place, 255) for place in places], dtype=np.uint8)
            return found_map(puzzle, compile_space(puzzle, Origin()), distances)
        space = compile_space(puzzle, Origin("to", "goal"))
        assert space.keys is not None
        distances = np.full(space.keys, 255, dtype=np.uint8)
        for board, distance in naive.distances(puzzle, Origin("to", "goal")).items():
            distances[int(space.encode(np.array([board], dtype=np.uint8))[0])] = distance
        return found_map(puzzle, space, distances)


def pattern_distances(puzzle: Puzzle, labels: tuple[int, ...]) -> dict[tuple[int, ...], int]:
    """For each placement of the labels the fewest moves of theirs to a goal, other moves being free, with the blank
    anywhere."""

    def state(board: Board) -> Board:
        return tuple(label if label in (0, *labels) else OTHER for label in board)

    found = {state(goal): 0 for goal in sliding(puzzle).goals}
    queue = deque(found)
    while queue:
        board = queue.popleft()
        for after, _ in naive.moves(puzzle, board, backward=True):
            cost = int(_moved(board, after) in labels)
            if found[board] + cost < found.get(after, 999):
                found[after] = found[board] + cost
                (queue.append if cost else queue.appendleft)(after)
    least: dict[tuple[int, ...], int] = {}
    for board, distance in found.items():
        place = tuple(board.index(label) for label in labels)
        least[place] = min(distance, least.get(place, 999))
    return least


def _moved(board: Board, after: Board) -> int:
    """The label of the piece that a move moved."""
    (label,) = {after[cell] for cell in range(len(board)) if board[cell] != after[cell]} - {0}
    return label


def every_board(puzzle: Puzzle) -> tuple[list[Board], NDArray[np.uint8], dict[Board, int]]:
    """The boards from which the goal can be reached."""
    truth = naive.distances(puzzle, Origin("to", "goal"))
    return list(truth), np.array(list(truth), dtype=np.uint8), truth


def test_one_additive_pattern() -> None:
    puzzle = load(NAME)
    boards, array, _ = every_board(puzzle)
    for text in ("1", "2.5", "1-3"):
        maps = Maps(puzzle)
        heuristic = open_heuristic(f"@{text}", puzzle, sliding(puzzle).goals, maps)
        labels = pattern_of(puzzle, text).labels
        least = pattern_distances(puzzle, labels)
        expected = [least[tuple(board.index(label) for label in labels)] for board in boards]
        assert heuristic.values(array).tolist() == expected
        assert (heuristic.admissible, heuristic.consistent) == (True, False)
        assert maps.asked == [f"{NAME}@{text}"]


@for_each(
    ("text", "admissible"),
    [
        ("@1-2+@3-5", True),
        ("@1+@2+@3+@4+@5", True),
        ("@1-3", True),
        ("@1-2+@2-3", False),
        ("@1-2+manhattan", False),
        ("@plain:1-2+@3-5", False),
        ("@1-2+@3-5,linear-conflict", True),
        ("@plain:1-2,@plain:4.5", True),
    ],
)
def test_sums(text: str, admissible: bool) -> None:
    """Sums of patterns without a common piece are admissible, and are so."""
    puzzle = load(NAME)
    boards, array, truth = every_board(puzzle)
    heuristic = open_heuristic(text, puzzle, sliding(puzzle).goals, Maps(puzzle))
    assert heuristic.admissible == admissible
    values = heuristic.values(array)
    if admissible:
        assert (values <= np.array([truth[board] for board in boards])).all()
    if text.startswith("@1-2+@3-5"):
        parts = [
            open_heuristic(part, puzzle, sliding(puzzle).goals, Maps(puzzle)) for part in ("@1-2", "@3-5")
        ]
        assert (values >= parts[0].values(array) + parts[1].values(array)).all()


def test_plain_patterns() -> None:
    puzzle = load(NAME)
    boards, array, truth = every_board(puzzle)
    heuristic = open_heuristic("@plain:1-3", puzzle, sliding(puzzle).goals, Maps(puzzle))
    pattern = pattern_of(puzzle, "plain:1-3")
    expected = naive.distances(pattern.puzzle, Origin("to", "goal"))
    assert heuristic.values(array).tolist() == [
        expected[tuple(pattern.relabel[label] for label in board)] for board in boards
    ]
    assert heuristic.consistent
    assert (heuristic.values(array) <= np.array([truth[board] for board in boards])).all()
    terms = heuristic.terms()
    assert terms is not None
    assert isinstance(terms[0][0], MapTable)


def test_mirror_images_look_up_other_pieces() -> None:
    """On 3 x 3 with the blank in a corner, the mirror image of the pattern 1-2 is 3.6."""
    puzzle = load("8-puzzle-blank-first")
    goals = sliding(puzzle).goals
    maps = Maps(puzzle)
    rng = np.random.default_rng(7)
    boards = np.array([rng.permutation(9) for _ in range(300)], dtype=np.uint8)
    text = "@1-2"
    straight, other = (open_heuristic(each, puzzle, goals, maps).values(boards) for each in (text, "@3.6"))
    mirrored = open_heuristic(f"sym:{text}", puzzle, goals, maps)
    assert (mirrored.values(boards) == np.maximum(straight, other)).all()
    terms = mirrored.terms()
    assert terms is not None
    (first,), (second,) = terms
    assert isinstance(first, PatternTable)
    assert isinstance(second, PatternTable)
    assert second.labels == (3, 6)
    assert second.distances is first.distances


@for_each(
    ("name", "tokens", "same"),
    [
        ("sliding-3x3", "1-2", ["1.2", "2.5", "3.6", "5.8", "6.7", "7.8"]),
        ("sliding-3x3", "1.3", ["1.3"]),  # the blank is shut in
        ("sliding-2x3", "3.4", ["1.2", "3.4", "4.5"]),
        ("sliding-1x4", "2", ["2"]),
    ],
)
def test_patterns_that_share_a_map(name: str, tokens: str, same: list[str]) -> None:
    puzzle = load(name)
    definition = sliding(puzzle)
    labels = pattern_of(puzzle, tokens).labels
    images = pattern_images(definition, labels)
    named = [pattern_of_labels(puzzle, image.labels).puzzle.name for image in images]
    assert named == [pattern_of(puzzle, each).puzzle.name for each in same]
    places = list(permutations(range(definition.cells), len(labels)))
    least = pattern_distances(puzzle, labels)
    boards = np.full((len(places), definition.cells), OTHER, dtype=np.uint8)
    for label, cells in zip(labels, zip(*places, strict=True), strict=True):
        boards[np.arange(len(places)), cells] = label
    maps = Maps(puzzle)
    for image in images:
        found = AdditivePattern("", image, maps(pattern_of_labels(puzzle, image.labels).puzzle))
        assert found.labels == labels
        assert found.values(boards).tolist() == [least.get(place, UNREACHABLE) for place in places]


def test_the_first_of_the_maps_that_are_there_is_shared() -> None:
    puzzle = load("sliding-3x3")
    maps = Maps(puzzle)

    def load_map(pattern: Puzzle) -> PatternMap:
        if pattern.name.endswith("@1.2"):
            raise MissingMapError(pattern.name)
        return maps(pattern)

    open_heuristic("sym:@7-8+@3.6", puzzle, sliding(puzzle).goals, load_map)
    assert maps.asked == ["sliding-3x3@2.5"] * 2


@for_each("text", ["@1-2+@3-5", "sym:@1-2,zero", "@1.5,misplaced+manhattan", "sym:linear-conflict"])
def test_the_kernel_has_the_same_values(text: str) -> None:
    puzzle = make_puzzle(goals=[(0, 1, 2, 3, 4, 5, 6, 7, 8)], rows=grid_rows(3, 3))
    if "5" in text:
        puzzle = load(NAME)
    goals = sliding(puzzle).goals
    heuristic = open_heuristic(text, puzzle, goals, Maps(puzzle))
    terms = heuristic.terms()
    assert terms is not None
    search = kernel_search(sliding(puzzle), goals, terms)
    rng = np.random.default_rng(3)
    boards = np.array([rng.permutation(puzzle.definition.cells) for _ in range(200)], dtype=np.uint8)
    assert [search.evaluate(bytes(board)) for board in boards] == heuristic.values(boards).tolist()


@pytest.mark.parametrize("text", ["@plain:1-2", "sym:@plain:1-2"])
def test_what_a_map_table_means(text: str) -> None:
    puzzle = load("8-puzzle-blank-first")
    heuristic = open_heuristic(text, puzzle, sliding(puzzle).goals, Maps(puzzle))
    rng = np.random.default_rng(7)
    boards = np.array([rng.permutation(9) for _ in range(100)], dtype=np.uint8)
    terms = heuristic.terms()
    assert terms is not None
    values = []
    for (component,) in terms:
        assert isinstance(component, MapTable)
        assert isinstance(component.distances, np.ndarray)
        relabelled = np.frombuffer(component.label_of, dtype=np.uint8)[boards[:, component.cell_of]]
        values.append(component.distances[component.space.encode(np.ascontiguousarray(relabelled))])
    assert heuristic.values(boards).tolist() == np.maximum.reduce(values).tolist()
    assert heuristic.values(np.asfortranarray(boards)).tolist() == heuristic.values(boards).tolist()


def test_placements_without_a_way() -> None:
    """On a ring pieces keep their order."""
    puzzle = make_puzzle(goals=[(1, 2, 3, 0)], edges=((0, 1), (1, 2), (2, 3), (0, 3)))
    heuristic = open_heuristic("@1-3", puzzle, sliding(puzzle).goals, Maps(puzzle))
    boards = np.array([(1, 2, 3, 0), (2, 1, 3, 0)], dtype=np.uint8)
    assert heuristic.values(boards).tolist() == [0, UNREACHABLE]
    assert heuristic.terms() is None
    both = open_heuristic("@1-3+@1-3", puzzle, sliding(puzzle).goals, Maps(puzzle))
    assert both.values(boards).tolist() == [0, UNREACHABLE]


def test_a_map_that_is_missing() -> None:
    def missing(puzzle: Puzzle) -> PatternMap:
        raise MissingMapError(f"no map of {puzzle.name}; run `farthest enumerate {puzzle.name}` first")

    puzzle = load(NAME)
    with pytest.raises(MissingMapError, match=f"farthest enumerate {NAME}@1.2"):
        open_heuristic("@1-2", puzzle, sliding(puzzle).goals, missing)
