"""Pieces of a dense or sparse map before they are stored: checked, encoded, and added to one digest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.models.chunks import (
    WIDTHS,
    MapDigest,
    Payload,
    SparseDigest,
    SparsePiece,
    Unit,
    encode_chunk,
    encode_piece,
)

if TYPE_CHECKING:
    from typing_extensions import Buffer

    DensePiece = tuple[int, int, Unit, Buffer]
    """First key, last key (included), unit, and the distances of these keys."""

    Piece = DensePiece | SparsePiece


@dataclass(frozen=True, slots=True)
class EncodedPiece:
    """A piece as it is stored."""

    first: int
    last: int
    unit: Unit
    payload: Payload


def checked(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Passes pieces on that follow each other from key 0, all of one kind and unit. Raises ValueError where one does
    not. Of a single piece only the length is checked; ``encode`` checks the rest.
    """
    expected, kind_of_all, last_code = 0, None, b""
    for piece in pieces:
        if isinstance(piece, SparsePiece):
            first, last, unit, width, size = piece.first, piece.last, piece.unit, piece.width, None
        else:
            first, last, unit, distances = piece
            width, size = 0, memoryview(distances).nbytes
        if first != expected or last < first or size not in (None, (last - first + 1) * WIDTHS[unit]):
            raise ValueError(
                f"chunk of keys {first} to {last} ({unit}, {size} bytes): expected it from key {expected}"
            )
        kind = f"codes{width}:{unit}" if width else unit
        if kind_of_all not in (None, kind):
            raise ValueError(f"chunk of keys {first} to {last} is {kind}, those before it {kind_of_all}")
        if isinstance(piece, SparsePiece):
            codes = piece.written_codes()
            if last_code and codes[0].tobytes() <= last_code:
                raise ValueError(
                    f"chunk of states {first} to {last}: its codes do not follow those before it"
                )
            last_code = codes[-1].tobytes()
        expected, kind_of_all = last + 1, kind
        yield piece


def encode(piece: Piece) -> EncodedPiece:
    """Compresses a piece. Raises ValueError for an invalid sparse piece."""
    if isinstance(piece, SparsePiece):
        return EncodedPiece(piece.first, piece.last, piece.unit, encode_piece(piece))
    first, last, unit, distances = piece
    return EncodedPiece(first, last, unit, encode_chunk(distances, unit))


class PieceDigest:
    """The digest of a map of either kind (see ``MapDigest`` and ``SparseDigest``), fed with pieces in order.

    ``layers``: the states of each layer.
    """

    def __init__(self, layers: Sequence[int]) -> None:
        self._layers = layers
        self._digest: MapDigest | SparseDigest | None = None

    def passed(self, pieces: Iterable[Piece]) -> Iterator[Piece]:
        """Passes the pieces on, each after it was added to the digest."""
        for piece in pieces:
            self.add(piece)
            yield piece

    def add(self, piece: Piece) -> None:
        """Adds the keys that follow."""
        if isinstance(piece, SparsePiece):
            if self._digest is None:
                self._digest = SparseDigest(self._layers, piece.unit, piece.width)
            assert isinstance(self._digest, SparseDigest)
            self._digest.update(piece)
            return
        if self._digest is None:
            self._digest = MapDigest(self._layers, piece[2])
        assert isinstance(self._digest, MapDigest)
        self._digest.update(piece[3])

    def hexdigest(self) -> str:
        """The digest of all that was added, a whole map."""
        assert self._digest is not None
        return self._digest.hexdigest()


def digest_of(layers: Sequence[int], pieces: Iterable[Piece]) -> str:
    """The digest of a whole map, given piece by piece in order."""
    digest = PieceDigest(layers)
    for piece in pieces:
        digest.add(piece)
    return digest.hexdigest()
