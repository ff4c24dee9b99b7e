"""Steps over layers that are blobs, against the naive model of the same moves, and with damaged blobs."""

import random
from collections.abc import Sequence

import numpy
import pytest

from cases import for_each
from farthest import _kernel
from farthest.puzzles.catalogue import load
from farthest.spaces import compile_space
from farthest.spaces.contract import gather
from kernel_samples import Bitmap, make_space

ISAS = _kernel.available_isas()


def stepped(
    space: _kernel.Space,
    stepper: _kernel.UnitStepper,
    frontier: dict[int, bytes],
    known: Sequence[dict[int, bytes]],
) -> dict[int, bytes]:
    """The blobs of the states one step from the frontier that are not known, by shard; each source in a slot of its
    number."""
    space.prepare(list(range(space.shards)))
    stepper.load([(shard, frontier.get(shard, b"")) for shard in range(space.shards)], 2)
    steps = [
        (shard, space.sources(shard), [blobs[shard] for blobs in known if shard in blobs])
        for shard in range(space.shards)
    ]
    fresh = stepper.step(steps, 2)
    assert not any(united for _, _, united in fresh)
    check_united(space, stepper, steps, fresh)
    return {shard: blob for shard, (blob, states, _) in enumerate(fresh) if states}


def check_united(
    space: _kernel.Space,
    stepper: _kernel.UnitStepper,
    steps: list[tuple[int, list[int], list[bytes]]],
    fresh: list[tuple[bytes, int, bytes]],
) -> None:
    """With ``unite`` the step gives the same, and the blob of what is fresh or known."""
    for (shard, _, known), (blob, states, _), again in zip(
        steps, fresh, stepper.step(steps, 2, True), strict=True
    ):
        assert again[:2] == (blob, states)
        keys = {key for one in (blob, *known) for key in stepper.keys_of(one, space.keys)}
        assert stepper.keys_of(again[2], space.keys) == sorted(keys), shard


def layers_of(space: _kernel.Space, origin: int, isa: str) -> list[list[int]]:
    """The keys of each layer, by the stepper."""
    per_shard = space.keys // space.shards
    stepper = _kernel.UnitStepper(space, space.shards, isa)
    first = {origin // per_shard: stepper.blob_of([origin % per_shard])}
    layers, before = [first], dict[int, bytes]()
    while fresh := stepped(space, stepper, layers[-1], [before, layers[-1]]):
        before = layers[-1]
        layers.append(fresh)
    return [
        [
            shard * per_shard + key
            for shard in sorted(layer)
            for key in stepper.keys_of(layer[shard], space.keys)
        ]
        for layer in layers
    ]


def by_bitmaps(space: _kernel.Space, origin: int) -> list[list[int]]:
    """The same by steps over bitmaps of the whole space."""
    space.prepare(list(range(space.shards)))
    layers, before = [Bitmap(space, [origin])], Bitmap(space)
    while True:
        fresh = Bitmap(space)
        exclude = [[before.layer], [layers[-1].layer]]
        counts = _kernel.step(
            space, list(range(space.shards)), [layers[-1].layer], [fresh.layer], exclude, []
        )
        if not any(counts):
            return [layer.keys() for layer in layers]
        before = layers[-1]
        layers.append(fresh)


@for_each("isa", ISAS)
@for_each("puzzle", ["sliding-2x4", "pancake-7", "burnt-pancake-4", "red-and-white", "3-puzzle"])
def test_blobs_give_the_layers_of_bitmaps(puzzle: str, isa: str) -> None:
    space = gather(compile_space(load(puzzle)))
    origin = space.keys_of(space.origins)[0]
    kernel = space.compile_kernel(2, isa)
    assert layers_of(kernel, origin, isa) == by_bitmaps(kernel, origin)


def test_a_shard_of_several_pieces() -> None:
    """A row of 28 slots: shards of 20 million states, 2.5 MB, in pieces of a megabyte."""
    space = make_space([1, 13, 14], shard_classes=1)
    assert _kernel.UnitStepper.slot_bytes(space) > 2**21
    per_shard = space.keys // space.shards
    stepper = _kernel.UnitStepper(space, 1)
    chance = random.Random(3)
    keys = sorted({*chance.sample(range(per_shard), 1000), 0, per_shard - 1})
    blob = stepper.blob_of(keys)
    assert stepper.keys_of(blob, 2**62) == keys
    assert stepper.keys_of(blob, 5) == keys[:5]
    assert stepper.blob_of([]) == b""


@for_each("isa", ISAS)
def test_damaged_blobs_are_refused(isa: str) -> None:
    space = make_space([1, 5, 6], shard_classes=1, isa=isa)
    space.prepare([0, 1])
    per_shard = space.keys // space.shards
    stepper = _kernel.UnitStepper(space, 2, isa)
    chance = random.Random(5)
    blob = stepper.blob_of(chance.sample(range(per_shard), per_shard // 9))
    for _ in range(200):
        damaged = bytearray(blob)
        if chance.random() < 0.3:
            del damaged[chance.randrange(1, len(damaged)) :]
        elif chance.random() < 0.5:
            damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
        else:
            damaged += bytes(chance.randrange(1, 9))
        with pytest.raises(ValueError, match="blob"):
            stepper.load([(0, damaged)])
        with pytest.raises(ValueError, match="blob"):
            stepper.step([(0, [0] * len(space.sources(0)), [damaged])])
        with pytest.raises(ValueError, match="blob"):
            stepper.keys_of(damaged, 5)


def test_what_does_not_fit_the_space_is_refused() -> None:
    space = make_space([1, 2, 3], shard_classes=1)
    stepper = _kernel.UnitStepper(space, 2)
    assert _kernel.UnitStepper.slot_bytes(space) >= space.words_per_shard * 8
    with pytest.raises(ValueError, match="no slot 2"):
        stepper.load([(2, b"")])
    with pytest.raises(ValueError, match="not prepared"):
        stepper.step([(0, [0], [])])
    space.prepare([0])
    with pytest.raises(ValueError, match="do not fit"):
        stepper.step([(0, [0] * 9, [])])
    with pytest.raises(ValueError, match="do not fit"):
        stepper.step([(0, [5] * len(space.sources(0)), [])])
    with pytest.raises(ValueError, match="not prepared"):
        stepper.step([(space.shards, [0], [])])
    with pytest.raises(ValueError, match="no such key"):
        stepper.blob_of([space.keys])


@pytest.mark.parametrize("planes", [1, 2])
def test_blobs_are_marked_in_the_words_of_a_residue_map(planes: int) -> None:
    space = gather(compile_space(load("pancake-6"))).kernel
    stepper = _kernel.UnitStepper(space, 1)
    chance = random.Random(planes)
    words = numpy.zeros(space.words_per_shard * planes, dtype=numpy.uint64)
    expected = words.copy()
    for number in range(2**planes):
        keys = sorted(chance.sample(range(space.keys // space.shards), 20))
        blob = stepper.blob_of(keys)
        stepper.mark(blob, number, planes, words)
        for key in keys:
            group, k = divmod(key, space.bits * space.words_per_group)
            at = list(space.order)[k] if space.order else k
            for plane in range(planes):
                bit = numpy.uint64((number >> plane & 1) << at % 64)
                expected[(group * space.words_per_group + at // 64) * planes + plane] |= bit
    assert (words == expected).all()
    before = words.copy()
    stepper.mark(b"", 1, planes, words)
    assert (words == before).all()
    for wrong in (blob[:-1], blob + b"0", blob[:5]):
        with pytest.raises(ValueError):
            stepper.mark(wrong, 1, planes, words)
    for size in (0, 1, len(words) + 1):
        with pytest.raises(ValueError, match="the words of a shard"):
            stepper.mark(blob, 1, planes, numpy.zeros(size, dtype=numpy.uint64))
    with pytest.raises(ValueError, match="the words of a shard"):
        stepper.mark(blob, 1, 3, words)
