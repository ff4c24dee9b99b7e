"""Residue maps of stores in memory: which spaces have one, its form, and its words block by block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from farthest.map_files.form import WORD_BITS, ResidueForm, WordOrder, ones_for
from farthest.models.chunks import UNREACHED, WIDTHS
from farthest.models.sparse import SparsePiece
from farthest.spaces.contract import gather, scatter
from farthest.stores.memory.gather_store import MemoryStore, searches_in_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from typing_extensions import Buffer

    from farthest.models.pieces import DensePiece, Piece
    from farthest.spaces.contract import GatherSpace, Space
    from farthest.stores.contract import JobStore

BLOCK_WORDS = 2**20


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


def gathered_form(space: GatherSpace, max_depth: int | None) -> ResidueForm:
    """The form of the residue map of a space of bitmaps. It does not depend on how finely shards are cut."""
    kernel, origins = space.kernel, space.keys_of(space.origins)
    order = WordOrder(kernel.keys, kernel.bits, kernel.words_per_group, tuple(kernel.order))
    if not searches_in_place(kernel, origins):
        return ResidueForm(3, order)
    colours = kernel.colours
    of_origins = colours[origins[0] // (kernel.keys // kernel.shards)]
    return ResidueForm(4, order, ones_for(max_depth), "".join(str(one ^ of_origins) for one in colours))


def scattered_form(keys: int) -> ResidueForm:
    """The form of the residue map of a dense space of runs."""
    return ResidueForm(3, WordOrder(keys))


def residue_blocks(
    store: JobStore, form: ResidueForm, depth: int, threads: int
) -> Iterator[tuple[int, Buffer]]:
    """The words of the map up to ``depth``: (the first word's number, words), some at a time."""
    if isinstance(store, MemoryStore):
        yield from _words_of_planes(store, form)
    else:
        yield from _words_of_distances(store, form, depth, threads)


def _words_of_planes(store: MemoryStore, form: ResidueForm) -> Iterator[tuple[int, Buffer]]:
    import numpy as np

    for first in range(0, form.order.words, BLOCK_WORDS):
        planes = store.residue_words(first, BLOCK_WORDS)
        if len(planes) == 1:
            yield first, planes[0]
        else:
            yield (
                first * len(planes),
                np.stack([np.asarray(plane) for plane in planes], axis=1).reshape(-1).data,
            )


def _words_of_distances(
    store: JobStore, form: ResidueForm, depth: int, threads: int
) -> Iterator[tuple[int, Buffer]]:
    """Of a store that has distances in key order, and a form whose words are in that order."""
    import numpy as np

    keys = BLOCK_WORDS * WORD_BITS // 8
    for first, _, kind, data in map(_dense, store.chunks(depth, keys, threads)):
        distances = np.frombuffer(memoryview(data), dtype=f"<u{WIDTHS[kind]}")
        numbers = np.where(distances == UNREACHED[kind], 0, distances % form.modulus + 1).astype(np.uint8)
        words = np.zeros((-(-len(numbers) // WORD_BITS), form.planes), dtype=np.uint64)
        for plane in range(form.planes):
            packed = np.packbits(numbers >> plane & 1, bitorder="little")
            words[:, plane] = np.frombuffer(packed.tobytes().ljust(8 * len(words), b"\0"), dtype="<u8")
        yield first // WORD_BITS * form.planes, words.reshape(-1).data


def _dense(piece: Piece) -> DensePiece:
    assert not isinstance(piece, SparsePiece), "the space is dense"
    return piece
