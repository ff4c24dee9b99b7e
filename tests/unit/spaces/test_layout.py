"""The key layouts that spaces choose: their form, when parity halves them, and what they refuse."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import naive
from arrangements import arrangement_space
from cases import for_each
from farthest.errors import ResourceError, StorageError
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Origin
from farthest.spaces.arrangement import Layout
from farthest.spaces.contract import NO_KEY
from strategies import grid_rows, make_puzzle, puzzles


@given(puzzles(most=720))
def test_chosen_layouts_give_every_reachable_board_a_key(puzzle: Any) -> None:
    space = arrangement_space(puzzle)
    layout = space.layout.to_dict()
    assert layout["version"] == 1
    assert sorted(layout["slots"]) == list(range(puzzle.definition.cells))
    assert layout["classes"][0] == 0
    assert sorted(layout["classes"]) == list(range(len(puzzle.definition.counts)))
    assert list(layout["counts"]) == [puzzle.definition.counts[label] for label in layout["classes"]]
    assert Layout.from_dict(layout, puzzle.definition.counts) == space.layout
    reached = np.array(list(naive.distances(puzzle)), dtype=np.uint8)
    keys = space.encode(reached)
    assert keys.max() < space.keys
    assert (space.decode(keys) == reached).all()
    boards = naive.boards_in_key_order(layout)
    assert len(boards) == space.keys == space.kernel.keys
    assert [
        tuple(board) for board in space.decode(np.arange(0, space.keys, 7, dtype=np.uint64)).tolist()
    ] == boards[::7]
    assert space.keys_of(boards[::7]) == list(range(0, space.keys, 7))


@for_each(
    ("name", "halved"),
    [
        ("8-puzzle", True),
        ("8-puzzle-slide", True),
        ("sliding-2x3", True),
        ("sliding-4x4", True),
        ("eight-kinds", False),  # identical pieces
        ("two-blanks", False),
        ("wilson-theta", False),  # has rings of five cells
        ("lozenge", True),
    ],
)
def test_parity_is_found_where_every_move_has_a_known_sign(name: str, halved: bool) -> None:
    assert (arrangement_space(load(name)).layout.parity is not None) == halved


def test_an_odd_ring_joins_both_halves() -> None:
    odd = make_puzzle(edges=((0, 1), (0, 2), (1, 2), (2, 3)), goals=[(0, 1, 2, 3)])
    assert arrangement_space(odd).layout.parity is None
    even = make_puzzle(edges=((0, 1), (0, 3), (1, 2), (2, 3)), goals=[(0, 1, 2, 3)])
    assert arrangement_space(even).layout.parity is not None


def test_goals_of_both_halves_leave_no_parity() -> None:
    rows = grid_rows(2, 2)
    one = make_puzzle(rows=rows, goals=[(0, 1, 2, 3), (1, 0, 2, 3)])
    assert arrangement_space(one).layout.parity is not None
    both = make_puzzle(rows=rows, goals=[(0, 1, 2, 3), (0, 2, 1, 3)])
    assert arrangement_space(both).layout.parity is None
    assert arrangement_space(both, Origin("to", "0 1 / 2 3".replace("0", "□"))).layout.parity is not None


def test_two_cells_have_no_parity() -> None:
    assert arrangement_space(make_puzzle(rows=[[0, 1]], goals=[(0, 1)])).layout.parity is None


def test_why_unreachable_names_parity() -> None:
    space = arrangement_space(load("8-puzzle"))
    solved = space.origins[0]
    swapped = (solved[1], solved[0], *solved[2:])
    assert space.why_unreachable(solved) is None
    reason = space.why_unreachable(swapped)
    assert reason is not None
    assert "parity" in reason
    keys = space.keys_of([swapped, solved])
    assert keys[0] == NO_KEY
    assert keys[1] < space.keys


def test_why_unreachable_says_nothing_where_nothing_is_known() -> None:
    space = arrangement_space(load("eight-kinds"))
    assert space.why_unreachable(space.origins[0]) is None
    assert space.why_unreachable(space.origins[0][::-1]) is None


def test_a_stored_layout_is_used_again() -> None:
    puzzle = load("3-puzzle")
    own = arrangement_space(puzzle).layout
    other = replace(own, slots=own.slots[::-1], parity=None, classes=(0, 3, 1, 2))
    space = arrangement_space(puzzle, layout=other.to_dict())
    assert space.layout == other
    assert space.keys == 24


@for_each(
    "damage",
    [{"version": 2}, {"version": None}, {"slots": None}, {"counts": 7}, {"parity": 3}],
)
def test_damaged_layouts_are_refused(damage: dict[str, Any]) -> None:
    puzzle = load("3-puzzle")
    fields = arrangement_space(puzzle).layout.to_dict() | damage
    with pytest.raises(StorageError, match="layout"):
        arrangement_space(puzzle, layout=fields)
    del fields["version"]
    with pytest.raises(StorageError, match="layout"):
        arrangement_space(puzzle, layout=fields)


@pytest.mark.parametrize("name", ["sliding-5x5", "sliding-8x8"])
def test_too_many_arrangements_are_refused(name: str) -> None:
    space = arrangement_space(load(name))
    with pytest.raises(ResourceError, match="too large"):
        space.compile_kernel()


def test_shards_are_never_cut_finer_than_possible() -> None:
    space = arrangement_space(load("sliding-3x3"))
    levels = space.kernel.shard_levels
    assert levels > 1
    assert space.compile_kernel(levels).shards > space.compile_kernel(1).shards == 9
    assert space.compile_kernel(1000).shards == space.compile_kernel(levels).shards


def test_rows_of_text_are_written_in_place() -> None:
    space = arrangement_space(load("3-puzzle"))
    for keys in (range(space.keys), [11, 0, 5]):
        rows = bytearray(b"#????#" * len(keys))
        space.write_boards(keys, rows, [1, 2, 3, 4])
        for i, key in enumerate(keys):
            assert (
                list(rows[6 * i + 1 : 6 * i + 5])
                == space.decode(np.array([key], dtype=np.uint64))[0].tolist()
            )
            assert rows[6 * i] == rows[6 * i + 5] == ord("#")


@for_each("key", [12, 2**63, NO_KEY])
def test_keys_out_of_range_are_refused(key: int) -> None:
    space = arrangement_space(load("3-puzzle"))
    assert space.keys == 12
    with pytest.raises(ValueError, match="key"):
        space.write_boards([key], bytearray(4), range(4))
    with pytest.raises(ValueError, match="key"):
        space.decode(np.array([0, key], dtype=np.uint64))
