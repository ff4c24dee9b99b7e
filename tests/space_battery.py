"""A dense space against a naive model: every key, every move both ways, and the layers of a search in dictionaries."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from farthest.puzzles.definition import Board
from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import NO_KEY, PACKED, scatter
from farthest.verify.models import model_of

Moves = Callable[[Board], Iterable[tuple[str, Board]]]
"""The player's moves from a board: each with its name and the board that it leads to."""


def naive_layers(puzzle: Puzzle, origin: Origin, boards: Iterable[Board], moves: Moves) -> list[set[Board]]:
    """The boards at each distance, by a breadth-first search along the moves, or against them."""
    links: dict[Board, set[Board]] = defaultdict(set)
    for board in boards:
        for _, reached in moves(board):
            a, b = (board, reached) if origin.direction == "from" else (reached, board)
            links[a].add(b)
    layers = [set(compile_space(puzzle, origin).origins)]
    seen = set(layers[0])
    while layers[-1]:
        fresh = {reached for board in layers[-1] for reached in links[board]} - seen
        seen |= fresh
        layers.append(fresh)
    return layers[:-1]


def space_layers(puzzle: Puzzle, origin: Origin) -> list[set[Board]]:
    """The same, along the space's own successors."""
    space = scatter(compile_space(puzzle, origin))
    layer = {int(code) for code in np.frombuffer(memoryview(space.origin_codes()), dtype=np.uint64)}
    seen, layers = set(layer), []
    while layer:
        codes = np.array(sorted(layer), dtype=np.uint64)
        layers.append({tuple(board) for board in space.decode(codes).tolist()})
        found = np.frombuffer(memoryview(space.successors(codes.data, 2)), dtype=np.uint64)
        layer = set(found.tolist()) - seen
        seen |= layer
    return layers


def check_dense(puzzle: Puzzle, moves: Moves, origin: Origin | None = None) -> list[int]:
    """Asserts that the space is the naive model's in every respect; the sizes of its layers."""
    origin = origin or puzzle.origin
    space = scatter(compile_space(puzzle, origin))
    assert space.keys is not None
    codes = np.arange(space.keys, dtype=np.uint64)
    boards = space.decode(codes)
    assert boards.dtype == np.uint8
    assert boards.shape == (space.keys, space.cells)
    assert np.array_equal(space.encode(boards), codes)
    assert len({tuple(board) for board in boards.tolist()}) == space.keys
    assert int(space.encode(np.full((1, space.cells), 255, dtype=np.uint8))[0]) == NO_KEY
    listed = [tuple(board) for board in boards.tolist()]
    forward: Counter[tuple[Board, str, Board]] = Counter()
    for board in listed:
        for name, reached in moves(board):
            forward[board, name, reached] += 1
    for toward in (True, False):
        found: Counter[tuple[Board, str, Board]] = Counter()
        made_forward = (origin.direction == "to") == toward
        for move, rows, reached_boards in space.neighbours(boards, toward=toward):
            assert isinstance(move, str)
            for row, reached in zip(rows.tolist(), reached_boards.tolist(), strict=True):
                a, b = (listed[row], tuple(reached)) if made_forward else (tuple(reached), listed[row])
                found[a, move, b] += 1
        assert found == forward
    successors = np.frombuffer(memoryview(space.successors(codes.data, 2)), dtype=np.uint64)
    away = [b if origin.direction == "from" else a for a, _, b in forward.elements()]
    number = {board: i for i, board in enumerate(listed)}
    assert Counter(successors.tolist()) == Counter(number[board] for board in away)
    pairs = {(a, b) for a, _, b in forward}
    if space.undirected:
        assert all((b, a) in pairs for a, b in pairs)
    expected = naive_layers(puzzle, origin, listed, moves)
    assert space_layers(puzzle, origin) == expected
    check_model(puzzle, origin)
    check_sparse(puzzle, origin, boards, away)
    restored = compile_space(puzzle, origin, space.layout_fields())
    assert np.array_equal(restored.encode(boards), codes)
    return [len(layer) for layer in expected]


def check_sparse(puzzle: Puzzle, origin: Origin, boards: NDArray[np.uint8], away: list[Board]) -> None:
    """Asserts that the space that depth-limited runs take where there are too many keys has the same boards, and the
    boards ``away`` as their successors, and that its model says the same."""
    space = scatter(compile_space(puzzle, origin, dict(PACKED)))
    assert space.keys is None
    codes = space.encode(boards)
    assert len(np.unique(codes)) == len(boards)
    assert np.array_equal(space.decode(codes), boards)
    width = space.code_bytes
    none = space.encode(np.full((1, space.cells), 255, dtype=np.uint8))
    assert none.tobytes() == b"\xff" * width
    found = space.decode(np.frombuffer(memoryview(space.successors(codes.tobytes(), 2)), dtype=codes.dtype))
    assert Counter(map(tuple, found.tolist())) == Counter(away)
    model = model_of(puzzle, origin, space.layout_fields())
    assert (model.keys, model.code_bytes) == (None, width)
    assert model.codes(boards).tobytes() == codes.tobytes()
    assert np.array_equal(model.boards(codes), boards)
    restored = compile_space(puzzle, origin, space.layout_fields())
    assert restored.keys is None


def check_model(puzzle: Puzzle, origin: Origin) -> None:
    """Asserts that the model of ``farthest verify``, which is worked out apart, says the same as the space."""
    space = scatter(compile_space(puzzle, origin))
    model = model_of(puzzle, origin, space.layout_fields())
    assert (model.keys, model.code_bytes) == (space.keys, space.code_bytes)
    codes = np.arange(model.keys or 0, dtype=np.uint64)
    boards = model.boards(codes)
    assert np.array_equal(boards, space.decode(codes))
    assert np.array_equal(model.codes(boards), codes)
    assert int(model.codes(np.full((1, space.cells), 255, dtype=np.uint8))[0]) == NO_KEY
    assert {tuple(board) for board in model.origins().tolist()} == set(space.origins)
    rows, reached = model.successors(boards)
    found = set(zip(rows.tolist(), model.codes(reached).tolist(), strict=True))
    expected = {
        (row, code)
        for _, made, away in space.neighbours(boards, toward=False)
        for row, code in zip(made.tolist(), space.encode(away).tolist(), strict=True)
    }
    assert {(a, b) for a, b in found if a != b} == {(a, b) for a, b in expected if a != b}


def distance(layers: list[set[Board]], board: Board) -> int:
    """The number of the layer that holds the board."""
    return next(depth for depth, layer in enumerate(layers) if board in layer)
