"""How spaces are cut for workers: messages of a layer, colours of blocks."""

import pytest

from farthest.puzzles.catalogue import load
from farthest.spaces import compile_space
from farthest.spaces.contract import gather
from farthest.stores.blocks import ENOUGH_BLOCKS, GROWTH, MOST_BLOCKS, Blocks, Cut, cut, cut_for_workers

MIB = 2**20


def made(name: str, size: int) -> Cut:
    return cut_for_workers(gather(compile_space(load(name))), size)


def blocks_of_layers(of: Cut) -> list[int]:
    """The blocks of a layer of either colour; without colours all blocks."""
    blocks = Blocks(of.kernel.shards, of.per_block)
    colours = of.kernel.colours
    if not colours:
        return [blocks.count]
    return [len(blocks.of(shard for shard, one in enumerate(colours) if one == colour)) for colour in (0, 1)]


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("sliding-2x5", 1024),
        ("sliding-2x7", 4 * MIB),
        pytest.param("sliding-3x4", 1024, marks=pytest.mark.slow),
        pytest.param("sliding-4x4", 4 * MIB, marks=pytest.mark.slow),
        pytest.param("pancake-14", MIB // 4, marks=pytest.mark.slow),
    ],
)
def test_a_layer_has_not_too_many_blocks(name: str, size: int) -> None:
    assert max(blocks_of_layers(made(name, size))) <= MOST_BLOCKS


@pytest.mark.parametrize("name", ["sliding-2x7", "sliding-3x5"])
def test_blocks_have_one_colour(name: str) -> None:
    of = made(name, 4 * MIB)
    colours, blocks = of.kernel.colours, Blocks(of.kernel.shards, of.per_block)
    assert of.per_block > 1
    for block in range(blocks.count):
        assert len({colours[shard] for shard in blocks.shards(block)}) == 1


def test_blocks_are_larger_where_there_are_enough() -> None:
    plain, of = cut(gather(compile_space(load("sliding-2x7"))), 4 * MIB), made("sliding-2x7", 4 * MIB)
    assert plain.per_block < of.per_block <= GROWTH * plain.per_block
    assert min(blocks_of_layers(of)) >= ENOUGH_BLOCKS
    few = made("sliding-3x4", 4 * MIB)
    assert few.per_block == 1
