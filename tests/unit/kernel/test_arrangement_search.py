"""Searches of boards in the kernel: what they refuse, whatever they are given."""

import random
from typing import Any

import numpy
import pytest

from farthest import _kernel

RIGHT: dict[str, Any] = {
    "slots": 3,
    "labels": 3,
    "moduli": [],
    "ignored": [],
    "moves": [([1, 0, 2], 0, 0, []), ([2, 0, 1], 0, 0, []), ([1, 2, 0], 0, 0, [])],
    "goals": [[0, 1, 2]],
    "tables": [(1, bytes(9), 1)],
    "gaps": [(1, bytes(9), bytes(3))],
    "maps": [],
    "terms": [[0], [1]],
}


def made(**changed: Any) -> _kernel.WalkProblem:
    return _kernel.WalkProblem(**(RIGHT | changed))


def test_wrong_arguments_are_refused() -> None:
    problem = made()
    wrong: dict[str, Any]
    for wrong in (
        {"slots": 1},
        {"labels": 0},
        {"moduli": [1, 2]},
        {"ignored": [0]},
        {"moves": []},
        {"moves": [([1, 1, 2], 0, 0, [])]},
        {"moves": [([1, 0, 300], 0, 0, [])]},
        {"moves": [([1, 0, 2], 0, 0, [1])]},
        {"goals": []},
        {"goals": [[0, 1]]},
        {"goals": [[0, 1, -1]]},
        {"tables": [(1, bytes(8), 1)]},
        {"tables": [(0, bytes(9), 1)]},
        {"tables": [(2, bytes(18), 1)]},
        {"tables": [(1, bytes(9), 0)]},
        {"gaps": [(1, bytes(8), bytes(3))]},
        {"gaps": [(0, bytes(9), bytes(3))]},
        {"maps": [None]},
        {"terms": [[2]]},
    ):
        with pytest.raises(ValueError, match=r"must|expected|gaps|moduli|turns"):
            made(**wrong)
    for board in (b"", b"\0\1", b"\0\1\3"):
        with pytest.raises(ValueError, match="board must"):
            problem.bound(board)
        with pytest.raises(ValueError, match="board must"):
            problem.walk(board, 0, -1, [], 3, 10, False, 1)
        with pytest.raises(ValueError, match="board must"):
            _kernel.GraphSearch(problem, "best", board, 1000)
    with pytest.raises(ValueError, match="last move"):
        problem.walk(bytes([0, 1, 2]), 0, 3, [], 3, 10, False, 1)
    with pytest.raises(ValueError, match="last move"):
        problem.walk(bytes([0, 1, 2]), 1, 0, [3], 3, 10, False, 1)
    with pytest.raises(ValueError, match="order must"):
        _kernel.GraphSearch(problem, "worst", bytes([0, 1, 2]), 1000)
    table = _kernel.DistanceTable(bytes(2), 2)
    with pytest.raises(ValueError, match="distance for each key"):
        made(maps=[_kernel.BoardMap(None, bytes(3), [], [], [], [0, 0, 0], table)])
    with pytest.raises(ValueError, match="cells of the board"):
        made(maps=[_kernel.BoardMap(None, bytes(3), [], [], [(0, 3, 2)], [0, 0, 0], table)])


def test_tables_by_representatives() -> None:
    """Of the map of three labels: digits 3, 2 and 1."""
    first = numpy.array([0, 2, 0], dtype=numpy.uint64)
    lists = numpy.array([0, 0, 1], dtype=numpy.uint32)
    terms = numpy.array([0, 1, 1, 0], dtype=numpy.uint32)
    digits = [(3, 0), (2, 1), (1, 0)]
    kept = _kernel.Representatives(digits, 4, first, lists, [terms])
    assert (kept.keys, kept.entries) == (6, 4)
    table = _kernel.DistanceTable(bytes([0x10, 0xF2]), 4, 4, representatives=kept)
    bounds = numpy.empty(7, dtype=numpy.int32)
    table.bounds(numpy.arange(7, dtype=numpy.uint64), bounds)
    assert bounds.tolist() == [0, 1, 2, 2**28, 1, 0, 2**28]
    with pytest.raises(ValueError, match="bound of each key"):
        table.bounds(numpy.arange(6, dtype=numpy.uint64), bounds)
    with pytest.raises(ValueError, match="no such list"):
        _kernel.Representatives(digits, 4, first, lists + numpy.uint32(1), [terms])
    with pytest.raises(ValueError, match="distance for each entry"):
        _kernel.DistanceTable(bytes(6), 6, representatives=kept)
    space = _kernel.ArrangementSpace(3, [1, 1, 1], [], [])

    def problem(representatives: _kernel.Representatives) -> _kernel.WalkProblem:
        table = _kernel.DistanceTable(bytes([0, 1, 2, 3]), 4, representatives=representatives)
        map_ = _kernel.BoardMap(space, bytes([0, 1, 2]), [0, 1, 2], [], [], [0, 0, 0], table)
        return made(maps=[map_], terms=[[2]])

    assert problem(kept).bound(bytes([2, 1, 0])) > 0
    with pytest.raises(ValueError, match="digits of the map's layout"):
        problem(_kernel.Representatives(digits[:2], 4, first, lists, [terms]))


def test_what_is_not_of_the_kind_asked_for() -> None:
    for wrong in ({"slots": "3"}, {"moves": [1]}, {"goals": None}, {"tables": [9]}, {"terms": [["a"]]}):
        with pytest.raises(TypeError):
            made(**wrong)
    with pytest.raises(TypeError):
        made().bound("abc")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        made().walk(b"abc", 0, -1, [], 3, -1, False, 1)
    with pytest.raises(TypeError):
        made().walk(b"abc", 0, -1, ["R"], 3, 1, False, 1)  # type: ignore[list-item]


def test_a_map_keeps_its_distances() -> None:
    space = _kernel.ArrangementSpace(3, [1, 1, 1], [], [])
    distances = bytearray(range(6))
    map_ = _kernel.BoardMap(
        space, bytes([0, 1, 2]), [0, 1, 2], [], [], [0, 0, 0], _kernel.DistanceTable(distances, 6)
    )
    problem = made(maps=[map_], terms=[[2]])
    del map_, space
    with pytest.raises(BufferError):
        distances.append(1)
    bounds = {problem.bound(bytes(board)) for board in ([0, 2, 1], [1, 0, 2], [2, 1, 0])}
    assert bounds <= set(range(1, 6))
    assert len(bounds) == 3


def test_searches_find_what_there_is() -> None:
    problem = made(terms=[])
    assert problem.walk(bytes([1, 0, 2]), 0, -1, [], 1, 10, False, 5) == (3, 1, [[0]], 2, [])
    for order in ("breadth", "depth", "best"):
        search = _kernel.GraphSearch(problem, order, bytes([2, 1, 0]), 2**20)
        assert search.moves() == []
        while search.advance(1) == "open":
            assert search.moves() == []
        assert search.advance(5) == "found"
        assert len(search.moves()) == 2 or order == "depth"
        assert 0 < search.stored <= 6
        assert search.bytes <= 2**20


def test_whatever_it_is_given() -> None:
    """Nothing but ValueError and TypeError, and what is taken can be searched."""
    rng = random.Random(1)

    def any_bytes(size: int) -> bytes:
        return bytes(rng.randrange(3) for _ in range(size + rng.choice([0] * 20 + [1, -1])))

    taken = 0
    for _ in range(1000):
        slots, labels = rng.randint(1, 5), rng.randint(2, 4)
        turned = rng.random() < 0.5
        cells = slots * (1 + turned)
        modulus = rng.randint(1, 3)
        moves = [
            (
                rng.sample(range(slots), slots),
                *(
                    rng.choice([(1, (1 << slots) - 2), (rng.randrange(40), rng.randrange(40))])
                    if rng.random() < 0.1
                    else (0, 0)
                ),
                [rng.randrange(4) for _ in range(slots)] if turned else [],
            )
            for _ in range(rng.randint(1, 3))
        ]
        board = any_bytes(cells)
        turns = modulus if turned else 1
        contents = labels * turns
        try:
            problem = _kernel.WalkProblem(
                slots,
                labels,
                [modulus] * slots if turned else [],
                [rng.randrange(2) for _ in range(labels)],
                moves,
                [list(any_bytes(cells)), [rng.choice([0, 1, 255]) for _ in range(cells)]],
                [(turns, any_bytes(contents * slots), rng.randint(1, 3))],
                [(turns, any_bytes(contents**2), any_bytes(contents))],
                [],
                [[rng.randrange(3)], [0, 1]],
            )
            problem.bound(board)
            problem.walk(board, rng.randrange(3), rng.randrange(-1, 4), [], rng.randrange(6), 20, False, 3)
            _kernel.GraphSearch(problem, "best", board, 2**18).advance(50)
            taken += 1
        except ValueError:
            continue
    assert taken > 20


def test_maps_of_any_kind_are_refused_or_searched() -> None:
    """Keys by coordinates lie within the map, whatever cells it is read from and whatever the moves are."""
    rng = random.Random(9)
    taken = 0
    for _ in range(400):
        slots, modulus = rng.randint(2, 6), rng.randint(1, 3)
        counts = [1] * slots if rng.random() < 0.5 else [1] * (slots - 2) + [2]
        if len(counts) < 2:
            continue
        twisted = [j for j, count in enumerate(counts) if count == 1 and modulus > 1 and rng.random() < 0.7]
        space = _kernel.ArrangementSpace(
            slots, counts, [], [], orbits=[((1 << slots) - 1, modulus)], twisted=twisted
        )
        cells = list(range(slots))
        rng.shuffle(cells)
        places = cells if rng.random() < 0.7 else [rng.randrange(slots) for _ in range(slots)]
        turns = [slots + place for place in places] if twisted else []
        moves = []
        for _ in range(rng.randint(1, 5)):
            to = list(range(slots))
            rng.shuffle(to)
            moves.append((to, 0, 0, [rng.randrange(3) for _ in range(slots)] if modulus > 1 else []))

        def some_board(slots: int = slots, modulus: int = modulus, *, distinct: bool = True) -> bytes:
            labels = rng.sample(range(slots), slots) if distinct else rng.choices(range(slots), k=slots)
            turns = rng.choices(range(modulus), k=slots) if modulus > 1 else []
            return bytes([*labels, *turns])

        labels = [min(label, len(counts) - 1) for label in range(slots)]
        map_ = _kernel.BoardMap(
            space,
            bytes(labels),
            places,
            turns,
            [],
            [0] * slots,
            _kernel.DistanceTable(bytes(rng.choices(range(4), k=space.keys)), space.keys),
        )
        moduli = [modulus] * slots if modulus > 1 else []
        problem = _kernel.WalkProblem(
            slots,
            slots,
            moduli,
            [],
            moves,
            [list(some_board())],
            [],
            [],
            [map_],
            [[0]],
            shortest=rng.random() < 0.5,
        )
        nodes, *_ = problem.walk(some_board(), 0, -1, [], 6, 200, False, 3)
        problem.walk(some_board(distinct=False), 0, -1, [], 6, 200, False, 3)
        taken += nodes > 0
    assert taken > 20
