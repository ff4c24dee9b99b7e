"""The verifier accepts every map that the naive model makes, and finds every kind of damage."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import naive
from cases import for_each
from farthest.errors import BoardError, NoRoomError, StorageError
from farthest.families.sliding.definition import sliding
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import KnownAnswer, Origin, Puzzle
from farthest.verify import maps
from farthest.verify import sliding as verifier
from farthest.verify.local import GatheredMap, Means
from farthest.verify.models import NO_KEY, LayoutError
from farthest.verify.models.ranking import Ranking
from farthest.verify.models.sliding import SlidingModel
from farthest.verify.models.sliding import ranking as ranking_of
from farthest.verify.report import Report, Stored
from strategies import grid_rows, layouts, make_puzzle, parity_bits, puzzles

Map = NDArray[Any]
Layout = dict[str, Any]

UNREACHABLE = 255


def verify_map(
    puzzle: Puzzle,
    layout: Layout,
    origin: Origin,
    distances: Map | Iterable[bytes],
    unit: str = "",
    **stored: Any,
) -> Report:
    """The proof of an array of distances, or of chunks of them."""
    unit = unit or (distances.dtype.name if isinstance(distances, np.ndarray) else "uint8")
    chunks = [distances] if isinstance(distances, np.ndarray) else distances
    pieces = ((None, chunk) for chunk in chunks)
    means = Means(2**28, Path(), 2)
    return maps.verify_map(Stored(puzzle, layout, origin, **stored), pieces, means, unit=unit, length=0)


def map_digest(layers: Sequence[int], distances: Map, stored: str | None = None) -> str:
    return GatheredMap(None, distances, None).digest(layers, stored)


def plain_layout(puzzle: Puzzle, parity: bool = False) -> Layout:
    """Slots in cell order, classes in label order."""
    layout: Layout = {
        "version": 1,
        "slots": list(range(puzzle.definition.cells)),
        "classes": list(range(len(sliding(puzzle).counts))),
        "counts": list(sliding(puzzle).counts),
        "parity": None,
    }
    return {**layout, "parity": parity_bits(puzzle, layout)} if parity else layout


def make_map(puzzle: Puzzle, layout: Layout, depth: int | None = None, unit: str = "uint8") -> Map:
    """The naive model's distances in key order."""
    found = naive.distances(puzzle, max_depth=depth)
    none = int(np.iinfo(unit).max)
    return np.array([found.get(board, none) for board in naive.boards_in_key_order(layout)], dtype=unit)


def count_layers(distances: Map) -> list[int]:
    reached = distances[distances != np.iinfo(distances.dtype).max]
    return [int(count) for count in np.bincount(reached)]


def failed(report: Report) -> set[str]:
    return {check.name for check in report.failures}


@pytest.fixture(scope="module")
def puzzle() -> Puzzle:
    """2x4 with six kinds of piece, 10,080 states in one component."""
    return make_puzzle(rows=grid_rows(2, 4), goals=[[1, 2, 3, 4, 0, 5, 2, 1]])


@pytest.fixture(scope="module")
def layout(puzzle: Puzzle) -> Layout:
    return plain_layout(puzzle)


@pytest.fixture(scope="module")
def boards(layout: Layout) -> list[naive.Board]:
    """The fixture puzzle's boards in key order."""
    return naive.boards_in_key_order(layout)


@pytest.fixture(scope="module")
def undamaged(puzzle: Puzzle, layout: Layout) -> Map:
    return make_map(puzzle, layout)


@pytest.fixture
def good(undamaged: Map) -> Map:
    """The right map, to be damaged as a test likes."""
    return undamaged.copy()


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifier, "BLOCK_KEYS", 1000)


@pytest.mark.usefixtures("small_blocks")
def test_a_good_map_passes_every_check(puzzle: Puzzle, layout: Layout, good: Map) -> None:
    layers = count_layers(good)
    report = verify_map(
        puzzle,
        layout,
        puzzle.origin,
        good,
        layers=layers,
        digest=map_digest(layers, good),
    )
    assert report.ok
    assert [check.name for check in report.checks] == [
        *("layout", "length", "origin", "nearer", "jump", "closed", "layers", "digest")
    ]
    assert (report.states, report.keys, report.arrangements) == (10_080, 10_080, 10_080)
    assert report.layers == tuple(layers)
    assert report.total == "10,080 states: all arrangements of the pieces"
    assert json.loads(json.dumps(report.to_json()))["ok"] is True


@pytest.mark.slow
@given(st.data(), puzzles(most=2_000))
def test_naive_maps_of_all_kinds_of_puzzle_pass(data: st.DataObject, puzzle: Puzzle) -> None:
    layout = data.draw(layouts(puzzle))
    distances = make_map(puzzle, layout, unit=data.draw(st.sampled_from(["uint8", "uint16"])))
    layers = count_layers(distances)
    report = verify_map(puzzle, layout, puzzle.origin, distances, layers=layers)
    assert report.ok, report.failures
    assert report.layers == tuple(layers)
    assert report.states == len(naive.distances(puzzle))


@pytest.mark.slow
@given(st.data(), puzzles(most=500))
def test_maps_of_limited_depth_pass_only_as_such(data: st.DataObject, puzzle: Puzzle) -> None:
    layout = data.draw(layouts(puzzle))
    last = max(naive.distances(puzzle).values())
    depth = data.draw(st.integers(0, last))
    distances = make_map(puzzle, layout, depth)
    assert verify_map(puzzle, layout, puzzle.origin, distances, depth=depth).ok
    assert verify_map(puzzle, layout, puzzle.origin, distances).ok == (depth == last)
    if depth:
        assert not verify_map(puzzle, layout, puzzle.origin, distances, depth=depth - 1).ok


@pytest.mark.slow
@given(st.data(), puzzles(most=500))
def test_one_wrong_distance_anywhere_is_found(data: st.DataObject, puzzle: Puzzle) -> None:
    layout = data.draw(layouts(puzzle))
    distances = make_map(puzzle, layout)
    key = data.draw(st.integers(0, len(distances) - 1))
    right = int(distances[key])
    distances[key] = data.draw(st.integers(0, 255).filter(lambda wrong: wrong != right))
    report = verify_map(puzzle, layout, puzzle.origin, distances)
    states = [check for check in report.failures if check.first is not None]
    assert states
    board = sliding(puzzle).format_board(naive.boards_in_key_order(layout)[key])
    for check in states:
        assert check.first is not None
        boards = [check.first.board, *(board for board, _ in check.first.neighbours)]
        assert board in boards, "the bad state is named, or a neighbour that it puts in the wrong"


# What is done to the map of the fixture, and the checks that must notice it.
Damage = Callable[[Map], Map]


def put(value: int, at: Callable[[Map], Any]) -> Damage:
    """Store a value at one key (the first that ``at`` marks) or at all keys of a slice."""

    def damage(good: Map) -> Map:
        where = at(good)
        good[int(np.argmax(where)) if isinstance(where, np.ndarray) else where] = value
        return good

    return damage


DAMAGES: dict[str, tuple[Damage, set[str]]] = {
    "origin not at 0": (put(2, lambda good: good == 0), {"origin"}),
    "origin unreachable": (put(UNREACHABLE, lambda good: good == 0), {"origin"}),
    "a second origin": (put(0, lambda good: good == 9), {"origin"}),
    "one too far": (put(20, lambda good: good == 10), {"nearer"}),
    "one too near": (put(8, lambda good: good == 10), {"nearer"}),
    "one odd": (put(11, lambda good: good == 10), {"nearer"}),
    "a farthest state lost": (put(UNREACHABLE, lambda good: good == good.max()), {"closed"}),
    "a middle state lost": (put(UNREACHABLE, lambda good: good == 7), {"closed"}),
    "a page of zeros": (put(0, lambda good: slice(4096, 8192)), {"origin", "jump"}),
    "a page unreachable": (put(UNREACHABLE, lambda good: slice(4096, 8192)), {"closed"}),
    "all unreachable": (put(UNREACHABLE, lambda good: slice(None)), {"origin", "layers"}),
    "all one more": (lambda good: good + np.uint8(1), {"origin"}),
    "last layers lost": (
        lambda good: np.where(good > 15, UNREACHABLE, good).astype(np.uint8),
        {"closed", "layers"},
    ),
    "two ranges of keys exchanged": (
        lambda good: np.concatenate([good[5000:], good[:5000]]),
        {"origin", "nearer", "jump"},
    ),
    "shifted by one key": (lambda good: np.roll(good, 1), {"origin", "nearer"}),
    "two states exchanged": (
        lambda good: good[[*range(17), 18, 17, *range(19, len(good))]],
        {"nearer", "jump"},
    ),
    "too short": (lambda good: good[:-1], {"length"}),
    "too long": (lambda good: np.append(good, good[:1]), {"length"}),
    "empty": (lambda good: good[:0], {"length"}),
    "wrong type": (lambda good: good.astype(np.int32), {"length"}),
}


@pytest.mark.parametrize("kind", DAMAGES)
@pytest.mark.usefixtures("small_blocks")
def test_damage_is_found(
    puzzle: Puzzle, layout: Layout, boards: list[naive.Board], undamaged: Map, kind: str
) -> None:
    damage, expected = DAMAGES[kind]
    bad = damage(undamaged.copy())
    report = verify_map(puzzle, layout, puzzle.origin, bad, layers=count_layers(undamaged))
    assert not report.ok
    assert expected <= failed(report)
    key_of = {sliding(puzzle).format_board(board): key for key, board in enumerate(boards)}
    for check in report.failures:
        if check.first is None:
            assert check.detail
            continue
        named = check.first
        assert key_of[named.board] == named.key
        assert named.distance == (None if bad[named.key] == UNREACHABLE else bad[named.key])
        suspects = [named.key, *(key_of[board] for board, _ in named.neighbours)]
        assert any(bad[key] != undamaged[key] for key in suspects)


def test_the_first_bad_state_is_named_with_its_neighbours(
    puzzle: Puzzle, layout: Layout, boards: list[naive.Board], good: Map
) -> None:
    key = int(np.argmax(good == good.max()))
    good[key] = UNREACHABLE
    report = verify_map(puzzle, layout, puzzle.origin, good)
    (check,) = report.failures
    assert (check.name, check.failed) == ("closed", 1)
    assert check.first is not None
    assert (check.first.key, check.first.distance) == (key, None)
    assert set(check.first.neighbours) == {
        (sliding(puzzle).format_board(other), int(good[boards.index(other)]))
        for other, _ in naive.moves(puzzle, boards[key])
    }
    text = (
        f"key {key}, board {sliding(puzzle).format_board(boards[key])}: stored distance unreachable; one move"
    )
    assert str(check.first).startswith(text)


def test_an_unreachable_part_given_distances_is_found() -> None:
    puzzle = make_puzzle(rows=grid_rows(2, 3), goals=[[1, 2, 3, 4, 5, 0]])
    layout = plain_layout(puzzle)
    distances = make_map(puzzle, layout)
    assert verify_map(puzzle, layout, puzzle.origin, distances).total == (
        "360 states: half of the 720 arrangements of the pieces"
    )
    swapped = replace(puzzle, definition=replace(sliding(puzzle), goals=((2, 1, 3, 4, 5, 0),)))
    other_half = make_map(swapped, layout) + np.uint8(1)
    both = np.where(distances == UNREACHABLE, other_half, distances)
    report = verify_map(puzzle, layout, puzzle.origin, both)
    assert failed(report) == {"nearer"}
    (check,) = report.failures
    assert check.failed == 1, "the other half's nearest state alone gives it away"


def test_the_map_of_another_origin_metric_or_direction_is_found() -> None:
    puzzle = make_puzzle(rows=[[0, 1, 2], [3, -1, 4], [5, 6, 7]], goals=[[0, 1, 1, 2, 2, 3, 3, 3]])
    layout = plain_layout(puzzle)
    right = make_map(puzzle, layout)
    elsewhere = Origin("to", sliding(puzzle).format_board((1, 0, 1, 2, 2, 3, 3, 3)))
    assert failed(verify_map(puzzle, layout, elsewhere, right)) >= {"origin"}
    assert failed(verify_map(replace(puzzle, metric="slide"), layout, puzzle.origin, right)) >= {"jump"}
    one_way = make_puzzle(arcs=((0, 1), (1, 2), (2, 0)), edges=((2, 3),), goals=[[0, 1, 2, 3]])
    layout = plain_layout(one_way)
    right = make_map(one_way, layout)
    assert verify_map(one_way, layout, Origin("to", "goal"), right).ok
    assert not verify_map(one_way, layout, Origin("from", "goal"), right).ok


def test_wrong_layers_and_digest_are_found(puzzle: Puzzle, layout: Layout, good: Map) -> None:
    layers = count_layers(good)
    digest = map_digest(layers, good)

    def check(layers: list[int], digest: str = digest) -> set[str]:
        return failed(verify_map(puzzle, layout, puzzle.origin, good, layers=layers, digest=digest))

    assert check(layers) == set()
    assert check(layers[:-1]) == {"layers"}
    assert check([*layers, 1]) == {"layers"}
    assert check([*layers[:5], layers[5] + 1, *layers[6:]]) == {"layers"}
    assert check(layers, digest[::-1]) == {"digest"}
    report = verify_map(puzzle, layout, puzzle.origin, good, layers=[*layers[:5], 7, *layers[6:]])
    assert report.failures[0].detail == f"depth 5: stored 7, found {layers[5]}"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_digest_is_the_documented_one() -> None:
    distances = np.array([1, 0, 255, 1], dtype=np.uint8)
    chunk = sha256(b"\x01\x00\xff\x01")
    assert map_digest([1, 2], distances) == sha256(f"farthest map 2\n1 2\nuint8\n{chunk}\n".encode())
    wide = np.array([1, 0, 65535, 258], dtype=np.uint16)
    chunk = sha256(b"\x01\x00\x00\x00\xff\xff\x02\x01")
    assert map_digest([1, 2], wide) == sha256(f"farthest map 2\n1 2\nuint16\n{chunk}\n".encode())
    many = np.arange(2**20 + 3, dtype=np.uint32).astype(np.uint16)
    chunks = "".join(sha256(many[first : first + 2**19].tobytes()) + "\n" for first in (0, 2**19, 2**20))
    assert map_digest([1, 2], many) == sha256(f"farthest map 2\n1 2\nuint16\n{chunks}".encode())


def test_the_digest_that_older_versions_stored_is_accepted_for_the_map_that_it_names_alone() -> None:
    distances = np.array([1, 0, 255, 1], dtype=np.uint8)
    older = sha256(b"farthest map 1\n1 2\nuint8\n\x01\x00\xff\x01")
    assert map_digest([1, 2], distances, older) == older
    found = map_digest([1, 2], distances)
    assert map_digest([1, 2], distances, found) == found
    for changed in (map_digest([2, 1], distances, older), map_digest([1, 2], distances[::-1].copy(), found)):
        assert changed not in (older, found)
    assert map_digest([1, 2], distances[[1, 0, 2, 3]], older) != older


@pytest.mark.parametrize(
    ("codes", "written"),
    [
        (np.array([1, 258], dtype=np.uint64), bytes([*[0] * 7, 1, *[0] * 6, 1, 2])),
        (np.array([b"a\0\0", b"b\0c"]), b"a\0\0b\0c"),
    ],
)
def test_the_same_of_a_sparse_map(codes: NDArray[Any], written: bytes) -> None:
    def digest(codes: NDArray[Any], distances: Map, stored: str) -> str:
        return GatheredMap(codes, distances, None).digest([1, 1], stored)

    distances = np.array([0, 1], dtype=np.uint8)
    lines = f"{len(written) // 2}\n{sha256(written)}\n{sha256(bytes(distances))}\n"
    older = sha256(f"farthest sparse map 1\n1 1\nuint8\n{lines}".encode())
    assert digest(codes, distances, older) == older
    assert older not in (digest(codes[::-1], distances, older), digest(codes, distances[::-1], older))


def test_a_sparse_map_of_no_states_fails() -> None:
    pennant, means = load("pennant"), Means(2**28, Path(), 2)
    stored = Stored(pennant, {"version": 1}, pennant.origin)
    assert failed(maps.verify_map(stored, [], means, unit="uint8", length=0)) == {"known", "origin"}


def test_known_answers_are_compared(
    puzzle: Puzzle, layout: Layout, boards: list[naive.Board], good: Map
) -> None:
    layers = tuple(count_layers(good))
    last = [boards[key] for key in np.flatnonzero(good == good.max())]
    right = KnownAnswer(
        states=10_080,
        eccentricity=len(layers) - 1,
        layers=layers,
        farthest=tuple(sliding(puzzle).format_board(board) for board in last),
        source="naive model",
    )
    for known, expected in (
        (right, set()),
        (replace(right, states=10_081), {"known"}),
        (replace(right, eccentricity=3), {"known"}),
        (replace(right, layers=(*layers, 1)), {"known"}),
        (replace(right, farthest=()), set()),
        (replace(right, farthest=(sliding(puzzle).format_board(sliding(puzzle).goals[0]),)), {"known"}),
    ):
        report = verify_map(replace(puzzle, known=(known,)), layout, puzzle.origin, good)
        assert failed(report) == expected
    assert "naive model has 10081" in verify_map(
        replace(puzzle, known=(replace(right, states=10_081),)), layout, puzzle.origin, good
    ).failures[0].detail.replace(",", "")


@pytest.mark.slow
def test_the_seeds_puzzle_passes_with_its_published_answers() -> None:
    puzzle = load("eight-kinds")
    layout = plain_layout(puzzle)
    report = verify_map(puzzle, layout, puzzle.origin, make_map(puzzle, layout))
    assert report.ok, report.failures
    assert "known" in {check.name for check in report.checks}
    assert report.states == 90_720


@pytest.mark.parametrize("unit", ["uint8", "uint16"])
def test_maps_come_in_chunks_of_any_size(puzzle: Puzzle, layout: Layout, good: Map, unit: str) -> None:
    wide = good.astype(np.dtype(unit).newbyteorder("<"))  # no state of this puzzle is unreachable
    chunks = [wide[first : first + 777].tobytes() for first in range(0, len(wide), 777)]
    assert verify_map(puzzle, layout, puzzle.origin, iter(chunks), unit=unit).ok
    for damaged in (chunks[:-1], [*chunks, b"\0\0"], [*chunks, chunks[0]], [], chunks[1:]):
        report = verify_map(puzzle, layout, puzzle.origin, damaged, unit=unit)
        assert failed(report) == {"length"}
        assert report.failures[0].detail


def test_a_map_that_cannot_be_read_is_neither_proved_nor_disproved(
    puzzle: Puzzle, layout: Layout, good: Map
) -> None:
    def chunks() -> Iterator[bytes]:
        yield good[:100].tobytes()
        raise StorageError("job 1, keys 100 to 199: checksum differs; enumerate again")

    with pytest.raises(StorageError, match="checksum differs"):
        verify_map(puzzle, layout, puzzle.origin, chunks())


def test_chunks_of_another_type_fail_the_report(puzzle: Puzzle, layout: Layout, good: Map) -> None:
    for unit, chunk in (("float32", good.tobytes()), ("uint16", good.tobytes() + b"\0")):
        assert failed(verify_map(puzzle, layout, puzzle.origin, [chunk], unit=unit)) == {"length"}


BAD_LAYOUTS: dict[str, dict[str, Any]] = {
    "of another version": {"version": 2},
    "without slots": {"slots": None},
    "a slot twice": {"slots": [0, 1, 2, 3, 4, 4]},
    "a slot missing": {"slots": [0, 1, 2, 3, 4]},
    "slots not numbers": {"slots": ["a", "b", "c", "d", "e", "f"]},
    "blank not first": {"classes": [1, 0, 2, 3, 4, 5]},
    "a class missing": {"classes": [0, 1, 2, 3, 4]},
    "other counts": {"counts": [1, 1, 1, 1, 2]},
    "too few parity bits": {"parity": [0, 1, 0]},
    "parity bits not bits": {"parity": [0, 1, 0, 1, 0, 7]},
    "parity that moves change": {"parity": [0, 0, 0, 0, 0, 0]},
    "parity of the other half": {"parity": [0, 1, 0, 1, 0, 1]},
}


@for_each("kind", BAD_LAYOUTS)
def test_bad_layouts_are_found(kind: str) -> None:
    puzzle = make_puzzle(rows=grid_rows(2, 3), goals=[[0, 1, 2, 3, 4, 5]])
    right = plain_layout(puzzle, parity=True)
    assert right["parity"] == [0, 1, 0, 1, 0, 1]
    wrong = {**right, **BAD_LAYOUTS[kind]}
    if kind == "parity of the other half":
        puzzle = replace(puzzle, definition=replace(sliding(puzzle), goals=((0, 2, 1, 3, 4, 5),)))
    report = verify_map(puzzle, wrong, puzzle.origin, np.zeros(360, dtype=np.uint8))
    assert failed(report) == {"layout"}
    assert report.failures[0].detail


def test_parity_bits_with_identical_pieces_or_wildcards_are_found() -> None:
    twins = make_puzzle(rows=grid_rows(2, 2), goals=[[0, 1, 1, 2]])
    layout = {**plain_layout(twins), "parity": [0, 1, 1, 0]}
    assert failed(verify_map(twins, layout, twins.origin, np.zeros(6, dtype=np.uint8))) == {"layout"}
    wild = make_puzzle(rows=grid_rows(2, 2), goals=[[0, 1, -1, -1]], counts=[1, 1, 1, 1])
    layout = {**plain_layout(wild), "parity": [0, 1, 1, 0]}
    assert failed(verify_map(wild, layout, wild.origin, np.zeros(12, dtype=np.uint8))) == {"layout"}


def test_errors_that_are_not_the_maps(puzzle: Puzzle, layout: Layout, good: Map) -> None:
    with pytest.raises(BoardError):
        verify_map(puzzle, layout, Origin("to", "no board"), good)
    huge = make_puzzle(rows=grid_rows(4, 4), goals=[list(range(16))])
    with pytest.raises(NoRoomError, match=r"the working files of the proof, 19\.0 TiB"):
        verify_map(huge, plain_layout(huge), huge.origin, [b""])
    eight_by_eight = make_puzzle(
        rows=grid_rows(8, 8), goals=[[*range(20)] * 3 + [1, 2, 3, 4]], tokens=[chr(65 + i) for i in range(20)]
    )
    assert failed(verify_map(eight_by_eight, plain_layout(eight_by_eight), Origin(), good)) == {"layout"}


@pytest.mark.slow
@given(st.data(), puzzles(most=2_000))
def test_keys_and_boards_are_those_of_the_documented_order(data: st.DataObject, puzzle: Puzzle) -> None:
    layout = data.draw(layouts(puzzle))
    boards = naive.boards_in_key_order(layout)
    model = SlidingModel(puzzle, puzzle.origin, layout)
    ranking = model.ranking
    assert ranking.keys == len(boards)
    assert [tuple(board) for board in ranking.boards(np.arange(len(boards))).tolist()] == boards
    assert model.codes(np.array(boards, dtype=np.uint8)).tolist() == list(range(len(boards)))
    others = sorted(set(naive.arrangements(sliding(puzzle).counts)) - set(boards))
    if others:
        assert (model.codes(np.array(others, dtype=np.uint8)) == NO_KEY).all()
    first = data.draw(st.integers(0, len(boards) - 1))
    slots = ranking.slots(np.arange(first, len(boards)))
    assert decode(ranking, slots) == boards[first:]
    assert ranking.rank(slots[: ranking.ranked]).tolist() == list(range(first, len(boards)))


def decode(ranking: Ranking, slots: NDArray[np.uint8]) -> list[tuple[int, ...]]:
    """Labels per cell, from the slots of the pieces."""
    label_of_piece = np.repeat(ranking.classes, ranking.counts)
    boards = np.empty(slots.T.shape, dtype=int)
    cells = np.array(ranking.orbits[0])[slots]
    np.put_along_axis(boards, cells.T, np.broadcast_to(label_of_piece, slots.T.shape), axis=1)
    return [tuple(board) for board in boards.tolist()]


def exact_key(ranking: Ranking, board: Sequence[int]) -> int | None:
    """The key of a board by plain numbers of any size, None if its parity is the one without keys."""
    free = list(range(ranking.cells))
    full = digit_sum = 0
    for label, radix in zip(ranking.classes, ranking.radices, strict=True):
        places = [place for place, slot in enumerate(free) if board[ranking.orbits[0][slot]] == label]
        digit = sum(comb(place, i) for i, place in enumerate(places, 1))
        full = full * radix + digit
        digit_sum += digit
        free = [slot for slot in free if board[ranking.orbits[0][slot]] != label]
    if ranking.parity is None:
        return full
    right = ranking.parity[ranking.slot_of_cell[list(board).index(0)]]
    return full >> 1 if digit_sum % 2 == right else None


LARGE = {
    "15-puzzle, parity": ([1] * 16, [0, 1, 0, 1, 1, 0, 1, 0] * 2),
    "15-puzzle": ([1] * 16, None),
    "many blanks": ([14, 14], None),
    "few blanks among many cells": ([3, 1, 2, 58], None),
    "nearly all blanks": ([62, 2], None),
    "nearly 2**63 keys": ([1] * 15 + [2, 2, 2], None),
    "just over 2**32": ([6, 6, 6, 2], None),
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", LARGE)
@given(data=st.data())
def test_large_spaces_are_ranked_exactly(kind: str, data: st.DataObject) -> None:
    counts, parity = LARGE[kind]
    layout = {
        "version": 1,
        "slots": list(range(sum(counts))),
        "classes": list(range(len(counts))),
        "counts": counts,
        "parity": parity,
    }
    ranking = ranking_of(layout, counts)
    first = data.draw(st.integers(0, ranking.keys - 1))
    last = min(first + 3, ranking.keys)
    slots = ranking.slots(np.arange(first, last, dtype=np.uint64))
    assert ranking.rank(slots[: ranking.ranked]).tolist() == list(range(first, last))
    assert [exact_key(ranking, board) for board in decode(ranking, slots)] == list(range(first, last))


def test_too_large_spaces_are_refused() -> None:
    counts = [1] * 20 + [2, 2]
    layout = {
        "version": 1,
        "slots": list(range(24)),
        "classes": list(range(22)),
        "counts": counts,
        "parity": None,
    }
    with pytest.raises(LayoutError, match="fewer than"):
        ranking_of(layout, counts)
    with pytest.raises(LayoutError, match="cells"):
        ranking_of({**layout, "slots": list(range(300))}, [1, 299])
