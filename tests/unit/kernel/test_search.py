"""What the kernel's search takes from Python: buffers of any kind, and nothing that does not fit."""

import array
import gc
import random

import pytest

from farthest import _kernel

SOURCES = [[1, 3], [0, 2, 4], [1, 5], [0, 4], [1, 3, 5], [2, 4]]  # 2x3
GOAL = [0, 1, 2, 3, 4, 5]
COUNTS = [1] * 6
TABLE = bytes(
    0 if label == 0 else abs(label // 3 - cell // 3) + abs(label % 3 - cell % 3)
    for label in range(6)
    for cell in range(6)
)
START = bytes([4, 5, 0, 1, 2, 3])


Part = _kernel.CellTable | _kernel.PatternTable | _kernel.LinearConflict | _kernel.Matching


def search(*terms: list[Part]) -> _kernel.SlidingSearch:
    return _kernel.SlidingSearch(SOURCES, COUNTS, [GOAL], list(terms) or [[_kernel.CellTable(TABLE)]])


def test_a_search_from_python() -> None:
    found = search()
    assert (
        found.evaluate(START) == found.evaluate(memoryview(START)) == found.evaluate(array.array("B", START))
    )
    bound: int | None = found.evaluate(START)
    lengths = []
    while bound is not None:
        nodes, solutions, ways, next_bound, rest = found.run(START, 0, -1, bound, -1, False, 100)
        assert nodes > 0
        assert not rest
        if solutions:
            assert len(ways) == solutions
            lengths = [len(way) for way in ways]
            break
        bound = next_bound
    assert lengths == [bound] * len(lengths)
    _, _, _, _, rest = found.run(START, 3, 1, 30, 10, False, 0)
    for board, depth, last, way in rest:
        assert len(board) == 6
        assert depth == 3 + len(way)
        assert board[way[-1]] == 0
        assert last in range(6)


def test_tables_are_shared_and_kept() -> None:
    table = array.array("B", bytes(30))
    found = search([_kernel.PatternTable([3, 5], table, range(6))])
    assert found.evaluate(START) == 0
    place = 5 * 5 + 1  # piece 3 in cell 5, piece 5 in cell 1
    table[place] = 77
    assert found.evaluate(START) == 77
    with pytest.raises(BufferError):
        table.append(0)
    del table
    gc.collect()
    assert found.evaluate(START) == 77


def test_pages_are_zeroed_and_writable() -> None:
    for size in (0, 1, 4097, 3 << 20):
        held = _kernel.pages(size)
        assert len(held) == size
        assert not any(bytes(held)[:5000])
        if size:
            held[size - 1] = 7
            assert held[size - 1] == 7
    with pytest.raises(MemoryError):
        _kernel.pages(2**62)
    with pytest.raises(MemoryError):
        _kernel.pages(2**64 - 1)


def test_wrong_arguments() -> None:
    found = search()
    for board in (b"", START[:5], START + b"\0", bytes(6), b"\xff" * 6):
        with pytest.raises(ValueError, match="board"):
            found.evaluate(board)
        with pytest.raises(ValueError, match="board"):
            found.run(board, 0, -1, 5, 100, False, 0)
    for depth, last, bound in ((-1, -1, 5), (0, -2, 5), (0, 6, 5), (0, -1, -1), (2**31 - 1, -1, 5)):
        with pytest.raises(ValueError, match=r"depth|last"):
            found.run(START, depth, last, bound, 100, False, 0)
    with pytest.raises(TypeError):
        found.evaluate(1)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        found.run(START, 0, -1, 5, 100, False, -1)
    with pytest.raises(TypeError):
        search([object()])  # type: ignore[list-item]
    with pytest.raises((TypeError, ValueError)):
        search([None])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="placement"):
        search([_kernel.PatternTable([1, 2], bytes(29), range(6))])
    with pytest.raises(TypeError):
        _kernel.PatternTable([1, 2], array.array("H", bytes(60)), range(6))
    with pytest.raises(ValueError, match="table"):
        search([_kernel.CellTable(TABLE[1:])])


def test_anything_is_searched_or_refused() -> None:
    rng = random.Random(5)

    def some(low: int, high: int, most: int) -> list[int]:
        return [rng.randint(low, high) for _ in range(rng.randint(0, most))]

    made = 0
    for _ in range(3000):
        sources = [sorted(set(some(0, 3, 3)) - {cell}) for cell in range(4)]
        counts = rng.choice([[1, 1, 1, 1], [1, 2, 1], [1, 3], some(0, 3, 4)])
        goals = [rng.choice([[0, 1, 2, 3], [1, 0, -1, -1], some(-1, 4, 5)])]
        part: Part = _kernel.CellTable(bytes(rng.choice([16, 12, 8, 3])))
        if rng.random() < 0.5:
            part = _kernel.PatternTable(
                some(0, 4, 2), bytes(rng.choice([4, 12])), rng.choice([range(4), some(0, 4, 4)])
            )
        elif rng.random() < 0.5:
            part = _kernel.LinearConflict(
                [some(-1, 4, 2), some(-1, 4, 2)], rng.choice([[0, 1, 2, 3], some(0, 4, 4)])
            )
        elif rng.random() < 0.5:
            part = _kernel.Matching([some(0, 4, 4) for _ in range(4)], [0, 1, 2, 3])
        try:
            found = _kernel.SlidingSearch(sources, counts, goals, [[part]])
            made += 1
            found.run(
                bytes(some(0, 3, 5)), 0, rng.randint(-1, 3), 6, rng.randint(-2, 50), rng.random() < 0.5, 3
            )
        except ValueError:
            continue
    assert made > 20
