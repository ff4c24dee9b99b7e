"""The parts of a map file: header, data, checksums of the data's pages.

    header     `farthest residues 1 BYTES`, a line of JSON, zero bytes up to BYTES, a multiple of a page
    data       the words of the map, 8 bytes each, the lowest first
    checksums  the CRC-32 of each page of the data, 4 bytes each, the lowest first; the last page may be shorter

The checksum of the file, which the database has, is the SHA-256 of header and checksums: it covers every byte.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farthest.map_files.form import ResidueForm
from farthest.untrusted_json import read_json_object

if TYPE_CHECKING:
    from typing_extensions import Buffer

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
