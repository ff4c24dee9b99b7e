"""Residue maps as stores make them: of which spaces, in which form, and from distances."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from farthest.map_files.form import WORD_BITS, ResidueForm, WordOrder, ones_for
from farthest.models.chunks import UNREACHED, Chunk
from farthest.spaces.contract import Space, gather, scatter
from farthest.stores.blocks import searches_in_place

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer


BLOCK_WORDS = 2**20
"""Words of each plane that are given at a time."""


def residue_problem(space: Space) -> str | None:
    """Why a space has no residue map; None where it has one."""
    if space.engine == "pattern":
        return "the moves of other pieces cost nothing in an additive pattern, so neighbours do not tell its distances"
    if space.keys is None:
        return "its states have no numbers without gaps (the map is sparse)"
    both_ways = gather(space).kernel.reversible if space.engine == "gather" else scatter(space).undirected
    if not both_ways:
        return "not every move can be taken back, so residues do not tell which neighbour is nearer"
    if not space.moves_both_ways:
        return "the moves that lead to a state are not known"
    return None


def residue_form(space: Space, max_depth: int | None) -> ResidueForm:
    """The form of the residue map of a space that has one. It does not depend on how finely shards are cut."""
    if space.engine == "scatter":
        assert space.keys is not None, "a sparse space has no residue map"
        return ResidueForm(3, WordOrder(space.keys))
    kernel, origins = gather(space).kernel, gather(space).keys_of(space.origins)
    order = WordOrder(kernel.keys, kernel.bits, kernel.words_per_group, tuple(kernel.order))
    if not searches_in_place(kernel, origins):
        return ResidueForm(3, order)
    colours = kernel.colours
    of_origins = colours[origins[0] // (kernel.keys // kernel.shards)]
    return ResidueForm(4, order, ones_for(max_depth), "".join(str(one ^ of_origins) for one in colours))


def words_of_distances(
    chunks_of: Callable[[int], Iterator[Chunk]], form: ResidueForm
) -> Iterator[tuple[int, Buffer]]:
    """The words of a residue map whose words are in the order of keys: (the first word's number, words), some at a
    time. ``chunks_of``: gives all distances, so many keys a chunk."""
    for chunk in chunks_of(BLOCK_WORDS * WORD_BITS // 8):
        _, words = marks_of(chunk, form.planes, form.number)
        yield chunk.first // WORD_BITS * form.planes, words.data


def marks_of(chunk: Chunk, planes: int, number: Callable[[int], int]) -> tuple[int, NDArray[np.uint64]]:
    """Of a chunk's keys those whose number is not 0, so many, and the words of all; ``number``: by depth."""
    import numpy as np

    distances = chunk.distance_array()
    unreached = UNREACHED[chunk.unit]
    table = np.zeros(unreached + 1, dtype=np.uint8)
    for depth in np.unique(distances).tolist():
        table[depth] = 0 if depth == unreached else number(depth)
    numbers = table[distances]
    words = np.zeros((-(-len(numbers) // WORD_BITS), planes), dtype=np.uint64)
    for plane in range(planes):
        packed = np.packbits(numbers >> plane & 1, bitorder="little")
        words[:, plane] = np.frombuffer(packed.tobytes().ljust(8 * len(words), b"\0"), dtype="<u8")
    return int(np.count_nonzero(numbers)), words.reshape(-1)
