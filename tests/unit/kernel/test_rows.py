"""What the rows of large spaces take, and how soon their shards are linked."""

import pytest

from farthest.puzzles.catalogue import load
from farthest.spaces import compile_space
from farthest.spaces.contract import gather


@pytest.mark.parametrize(
    ("name", "classes", "shards", "most"),
    [
        ("sliding-2x7", 3, 2_184, 1e6),
        ("sliding-3x5", 4, 32_760, 2e6),
    ],
)
def test_rows_of_large_boards_take_megabytes(name: str, classes: int, shards: int, most: float) -> None:
    kernel = gather(compile_space(load(name))).compile_kernel(classes)
    assert kernel.shards == shards
    assert kernel.lines_per_shard * 8 <= kernel.row_bytes <= most
    assert all(kernel.colours[source] != kernel.colours[0] for source in kernel.sources(0))
