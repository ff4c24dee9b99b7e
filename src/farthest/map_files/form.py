"""What the bits of a residue map mean: where a key's bits are, and which residue of the distance they tell.

The states of the map are the keys of a dense space in which every move can be taken back. Of each key the map has a
*number* of one bit or two:

    modulus 4   one bit. Moves join keys of two colours, and all origins have one colour, so the colour of a key is the
                lowest bit of its distance; the number tells the other bit of the distance modulo 4.
    modulus 3   two bits: the distance modulo 3, plus 1; 0 where the key is not reached.

A neighbour of a state at distance d is at d - 1, d or d + 1, at d - 1 or d + 1 where there are colours. So the residues
of a state and its neighbour tell which is nearer, and the length of any walk from neighbour to nearer neighbour is the
distance.

Modulo 4 a key that is not reached has the number 0, as many that are have. Still the walk tells it: within such keys it
ends after one step at most, at a key that is no origin; for it could go on only from one value of the number to the
other. If the map is complete, moves join such keys only to each other. If it ends at a depth D, ``ones`` are chosen so
that the number 0 is that of the layer D + 1: a walk from layer D never turns away from the origin, and a walk that
begins beyond layer D is longer than D.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from farthest.untrusted_json import read_json_object

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from typing_extensions import Buffer


WORD_BITS = 64
LOW, HIGH = (0, 1), (2, 3)
"""The two halves of the residues modulo 4."""


@dataclass(frozen=True, slots=True)
class WordOrder:
    """Where the bit of a key is among words of 64 bits.

    ``keys_per_group`` keys follow each other in each group of ``words_per_group`` words: ``bits`` in each word, from
    the lowest bit on. Key k of a group is at ``order[k]``, word * 64 + bit; where ``order`` is empty, at k.
    """

    keys: int
    bits: int = WORD_BITS
    words_per_group: int = 1
    order: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if not all(type(one) is int for one in (self.keys, self.bits, self.words_per_group, *self.order)):
            raise ValueError("an order of keys in words is made of whole numbers")
        group = self.words_per_group * self.bits
        fits = 1 <= self.bits <= WORD_BITS and 1 <= self.words_per_group <= 4 and 1 <= self.keys < 2**62
        if not fits or ((self.words_per_group > 1 or self.order) and len(self.order) != group):
            raise ValueError("no order of keys in words")
        places = {word * WORD_BITS + bit for word in range(self.words_per_group) for bit in range(self.bits)}
        if self.order and set(self.order) != places:
            raise ValueError("the order of keys in a group does not name each place once")

    @property
    def keys_per_group(self) -> int:
        return self.words_per_group * self.bits

    @property
    def words(self) -> int:
        """The words of all keys."""
        return -(-self.keys // self.keys_per_group) * self.words_per_group

    def places(self, keys: NDArray[np.uint64]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
        """The word of each key, and its bit there."""
        import numpy as np

        groups, within = np.divmod(keys.astype(np.int64), self.keys_per_group)
        at = np.array(self.order, dtype=np.int64)[within] if self.order else within
        return groups * self.words_per_group + at // WORD_BITS, (at % WORD_BITS).astype(np.uint64)


@dataclass(frozen=True, slots=True)
class ResidueForm:
    """See the module. Raises ValueError for what is no form.

    ``ones``: modulo 4, the residues whose number is 1. ``colours``: modulo 4, ``0`` or ``1`` for each of equally long
    ranges of keys, the lowest bit of the distances there.
    """

    modulus: int
    order: WordOrder
    ones: tuple[int, ...] = HIGH
    colours: str = ""

    def __post_init__(self) -> None:
        if type(self.modulus) is not int or type(self.colours) is not str:
            raise ValueError("no form of residues")
        if self.modulus == 4:
            right = bool(self.colours) and set(self.colours) <= {"0", "1"} and self.ones in (LOW, HIGH)
            right = right and self.order.keys % len(self.colours) == 0
        else:
            right = self.modulus == 3 and not self.colours and self.ones == HIGH
        if not right:
            raise ValueError("no form of residues")

    @property
    def planes(self) -> int:
        """Bits of a key's number."""
        return 1 if self.modulus == 4 else 2

    @property
    def words(self) -> int:
        """Words of the whole map. Word i of plane p is word ``i * planes + p``."""
        return self.order.words * self.planes

    def number(self, depth: int) -> int:
        """The number of the states at a depth."""
        return int(depth % 4 in self.ones) if self.modulus == 4 else depth % 3 + 1

    def colours_of(self, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The colour of each key; modulus 4."""
        import numpy as np

        digits = np.frombuffer(self.colours.encode(), dtype=np.uint8) - ord("0")
        return digits[(keys // np.uint64(self.order.keys // len(self.colours))).astype(np.int64)].astype(
            np.int64
        )

    def residues(self, keys: NDArray[np.uint64], words: NDArray[np.uint64]) -> NDArray[np.int64]:
        """The residue of each key, -1 where its number says that it is not reached. ``words``: of the whole map."""
        import numpy as np

        places, bits = self.order.places(keys)
        numbers = np.zeros(len(keys), dtype=np.int64)
        for plane in range(self.planes):
            numbers |= ((words[places * self.planes + plane] >> bits) & np.uint64(1)).astype(
                np.int64
            ) << plane
        if self.modulus == 3:
            return numbers - 1
        high = numbers if self.ones == HIGH else 1 - numbers
        return 2 * high + self.colours_of(keys)

    def fields(self) -> dict[str, Any]:
        """As JSON."""
        return {
            **asdict(self.order),
            **asdict(self),
            "order": list(self.order.order),
            "ones": list(self.ones),
        }

    @classmethod
    def from_fields(cls, fields: Mapping[str, Any]) -> ResidueForm:
        """Inverse of ``fields``, of which there may be more. Raises ValueError, KeyError or TypeError."""
        order = WordOrder(fields["keys"], fields["bits"], fields["words_per_group"], tuple(fields["order"]))
        return cls(fields["modulus"], order, tuple(fields["ones"]), fields["colours"])


def ones_for(max_depth: int | None) -> tuple[int, int]:
    """Modulo 4, the residues whose number is 1 in a map that ends at a depth, or nowhere."""
    return LOW if max_depth is not None and (max_depth + 1) % 4 in HIGH else HIGH


# The parts of a map file: header, data, checksums of the data's pages.
#
#     header     `farthest residues 1 BYTES`, a line of JSON, zero bytes up to BYTES, a multiple of a page
#     data       the words of the map, 8 bytes each, the lowest first
#     checksums  the CRC-32 of each page of the data, 4 bytes each, the lowest first; the last page may be shorter
#
# The checksum of the file, which the database has, is the SHA-256 of header and checksums: it covers every byte.

PAGE = 4096
CHECKSUM = 4
SECTION = 2**20
"""Bytes of data that a digest in the map's own is of."""

_MAGIC = b"farthest residues 1 "
_MOST_HEADER = 2**20


def header_of(form: ResidueForm, facts: dict[str, Any]) -> bytes:
    """The header of a map of a form; ``facts``: what tells the job, JSON."""
    text = json.dumps({**facts, **form.fields()}, sort_keys=True, separators=(",", ":")).encode("ascii")
    size = -(-(len(_MAGIC) + 8 + len(text)) // PAGE) * PAGE
    return b"%s%d\n%s\n" % (_MAGIC, size, text) + bytes(size - len(_MAGIC) - len(str(size)) - len(text) - 2)


def header_bytes(start: bytes) -> int:
    """The bytes of the header that begins so. Raises ValueError for another file's."""
    line, newline, _ = start.partition(b"\n")
    digits = line.removeprefix(_MAGIC)
    if not (newline and line.startswith(_MAGIC) and digits.isdigit() and len(digits) < 8):
        raise ValueError("it does not begin as a map file does")
    size = int(digits)
    if size % PAGE or not 0 < size <= _MOST_HEADER:
        raise ValueError("its header has no possible length")
    return size


def read_header(header: bytes) -> tuple[ResidueForm, dict[str, Any]]:
    """The form and the facts of a whole header. Raises ValueError."""
    fields = read_json_object(header.split(b"\n", 2)[1].decode("ascii"))
    try:
        form = ResidueForm.from_fields(fields)
    except (KeyError, TypeError) as error:
        raise ValueError(f"its header lacks {error}") from None
    own = form.fields()
    return form, {name: value for name, value in fields.items() if name not in own}


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the parts of a file are. ``header``, ``data``: their bytes."""

    header: int
    data: int

    @property
    def pages(self) -> int:
        """Pages of data."""
        return -(-self.data // PAGE)

    @property
    def checksums(self) -> int:
        """Where the checksums begin."""
        return self.header + self.data

    @property
    def bytes(self) -> int:
        """Of the whole file."""
        return self.checksums + CHECKSUM * self.pages


def parts_of(header: bytes, form: ResidueForm) -> Parts:
    """The parts of the file with this header."""
    return Parts(len(header), 8 * form.words)


def file_bytes(form: ResidueForm) -> int:
    """The bytes of the file of a map of this form, about: headers differ by little."""
    return Parts(PAGE + len(form.colours) // PAGE * PAGE, 8 * form.words).bytes


def section_sums(data: Buffer) -> tuple[bytes, str]:
    """The checksums of the pages of a section of data, and its digest."""
    view = memoryview(data)
    pages = (zlib.crc32(view[at : at + PAGE]) for at in range(0, len(view), PAGE))
    return b"".join(page.to_bytes(CHECKSUM, "little") for page in pages), hashlib.sha256(view).hexdigest()


def file_checksum(header: bytes, checksums: bytes) -> str:
    """The checksum of a file."""
    return hashlib.sha256(header + checksums).hexdigest()


def layout_digest(layout: Mapping[str, Any]) -> str:
    """The digest of a job's key layout."""
    text = json.dumps(layout, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def map_digest(layers: tuple[int, ...], form: ResidueForm, sections: list[str]) -> str:
    """The digest of a residue map: of the states of each layer, the form, and the SHA-256 of each section of data."""
    counts = " ".join(map(str, layers))
    fields = json.dumps(form.fields(), sort_keys=True, separators=(",", ":"))
    digest = hashlib.sha256(f"farthest residues 1\n{counts}\n{fields}\n".encode("ascii"))
    for section in sections:
        digest.update(f"{section}\n".encode("ascii"))
    return digest.hexdigest()
