"""Pieces of data put together from parts in any order, in memory and in a temporary file."""

import random
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from farthest.errors import StorageError
from farthest.map_files.objects import Pieces


@given(size=st.integers(1, 300), each=st.integers(1, 50), part=st.integers(1, 60), seed=st.integers())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_each_piece_comes_once_when_it_is_complete(
    tmp_path: Path, size: int, each: int, part: int, seed: int
) -> None:
    rng = random.Random(seed)
    data = rng.randbytes(size)
    starts = list(range(0, size, part))
    rng.shuffle(starts)
    missing = {
        number: set(range(number * each, min(size, (number + 1) * each)))
        for number in range(-(-size // each))
    }
    pieces = Pieces(size, each, tmp_path)
    for at in starts:
        put = data[at : at + part]
        for found in missing.values():
            found.difference_update(range(at, at + len(put)))
        complete = {number for number, found in missing.items() if not found}
        given = dict(pieces.put(at, memoryview(put)))
        assert set(given) == complete
        for number, piece in given.items():
            assert piece == data[number * each : (number + 1) * each]
            del missing[number]
    pieces.close()
    assert not missing
    assert not list(tmp_path.iterdir())


def test_what_does_not_wait_makes_no_file(tmp_path: Path) -> None:
    pieces = Pieces(100, 10, tmp_path / "none")
    for at in range(0, 100, 5):
        assert [number for number, _ in pieces.put(at, memoryview(bytes(5)))] == (
            [at // 10] if at % 10 else []
        )


def test_a_folder_that_cannot_be_used_is_told(tmp_path: Path) -> None:
    pieces = Pieces(100, 10, tmp_path / "none")
    for at in (0, 10):
        assert not list(pieces.put(at, memoryview(bytes(5))))
    with pytest.raises(StorageError, match=r"none: the parts of the map that wait .* --scratch"):
        list(pieces.put(20, memoryview(bytes(5))))
