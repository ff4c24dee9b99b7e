"""The folder of one enumeration: its header, its lock, the journal of its complete layers, and files of units.

header     JSON: the enumeration, and how its space is cut; whoever goes on must have the same
journal    JSON lines: a complete layer each, with the units that have a file
lock       held by the process that uses the folder
L*.*, V*.*, O*.*
           files of units: the blobs of the states that a unit's shards have at a depth

A file of a unit:

    magic     16 bytes
    blobs     of the shards, in the unit's order (kernel/include/farthest/unit_step.hpp)
    table     for each shard two uint64: bytes of its blob, number of its states; where the magic is that of counted
              files, a uint64: the classes of all these states by symmetries
    trailer   BLAKE2b (16 bytes) of table and place; the place: depth, unit and shards, uint64 each, 16 bytes that
              tell the enumeration (its folder's header), and the kind, 8 bytes

All numbers little endian. A file gets its name once it is complete and on the disk: a file with that name is the
commit of its unit. Blobs have checksums of their own.

Small files, and the journal's lines of their layers, are held in memory for a second at most, or until they are
HELD_BYTES: of thousands of thin layers most files are of no use any more by then, and are never written. Files that the
journal on the disk needs are removed only once it has been written again.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import sys
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from threading import RLock
from time import monotonic, perf_counter, process_time
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from farthest.errors import LostStateError, NoRoomError, StorageError, is_full
from farthest.typed import convert
from farthest.untrusted_json import read_json_object
from farthest.wording import shown

if TYPE_CHECKING:
    from typing_extensions import Buffer


MAGIC, COUNTED = b"farthest layer 1", b"farthest layer 2"
"""Of files without and with classes."""
PLACE = struct.Struct("<QQQ16s8s")
KINDS = ("L", "V", "O")
"""Files of a layer's states, of all states up to a depth, of what is sent to the shards of the layer at a depth."""
DIGEST_BYTES = 16
Count = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
AT_ONCE = 512
"""Buffers that are written in one call of the system, which takes 1024 at most."""


@dataclass(frozen=True, slots=True)
class UnitPlace:
    """Which file: the unit of the layer at a depth, of the enumeration that ``key`` stands for (16 bytes). ``kind``:
    one of KINDS."""

    depth: int
    unit: int
    key: bytes
    kind: str = "L"

    @property
    def name(self) -> str:
        """The file's name."""
        return f"{self.kind}{self.depth}.{self.unit}"

    def packed(self, shards: int) -> bytes:
        """As the trailer has it."""
        return PLACE.pack(self.depth, self.unit, shards, self.key, self.kind.encode())


@dataclass(frozen=True, slots=True)
class UnitTable:
    """What a unit's file holds: for each shard the first byte and the bytes of its blob, and its states; the
    ``classes`` of all these, None where they are not counted."""

    starts: tuple[int, ...]
    sizes: tuple[int, ...]
    states: tuple[int, ...]
    classes: int | None = None

    @property
    def end(self) -> int:
        """The first byte behind the blobs."""
        return self.starts[-1] + self.sizes[-1]

    @property
    def total(self) -> int:
        """The unit's states."""
        return sum(self.states)

    @property
    def file_bytes(self) -> int:
        """Bytes of the whole file."""
        counted = 8 * (self.classes is not None)
        return self.end - len(MAGIC) + file_bytes(len(self.sizes)) + counted


def file_bytes(shards: int) -> int:
    """Bytes of a file of a unit of so many shards, besides their blobs and the number of classes."""
    return len(MAGIC) + 16 * shards + DIGEST_BYTES + PLACE.size


def table_of(sizes: Sequence[int], states: Sequence[int], classes: int | None = None) -> UnitTable:
    """The table of a file with blobs of these sizes."""
    starts, at = [], len(MAGIC)
    for size in sizes:
        starts.append(at)
        at += size
    return UnitTable(tuple(starts), tuple(sizes), tuple(states), classes)


def unit_file(
    place: UnitPlace, shards: Sequence[tuple[bytes, int]], classes: int | None = None
) -> tuple[UnitTable, list[bytes]]:
    """A unit's file, of each shard the blob and its states: what it holds, and its bytes, piece by piece."""
    blobs = [blob for blob, _ in shards]
    table = table_of([len(blob) for blob in blobs], [states for _, states in shards], classes)
    numbers = [n for blob, states in shards for n in (len(blob), states)]
    numbers += [] if classes is None else [classes]
    packed = struct.pack(f"<{len(numbers)}Q", *numbers)
    trailer = place.packed(len(shards))
    digest = blake2b(packed + trailer, digest_size=DIGEST_BYTES).digest()
    return table, [MAGIC if classes is None else COUNTED, *blobs, packed, digest, trailer]


def write_unit(folder: Path, name: str, pieces: Sequence[bytes]) -> None:
    """Writes a unit's file, and waits until it is on the disk. Raises OSError; then there is no such file."""
    final = folder / name
    unfinished = final.with_suffix(f"{final.suffix}.part")
    file = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o644)
    try:
        try:
            _write_all(file, pieces)
            os.fdatasync(file) if hasattr(os, "fdatasync") else os.fsync(file)
        finally:
            os.close(file)
        unfinished.rename(final)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def _write_all(file: int, buffers: Sequence[Buffer]) -> None:
    rest = [memoryview(buffer).cast("B") for buffer in buffers if memoryview(buffer).nbytes]
    while rest:
        written = os.writev(file, rest[:AT_ONCE])
        done = 0
        while done < len(rest) and written >= rest[done].nbytes:
            written -= rest[done].nbytes
            done += 1
        rest = rest[done:]
        if written:
            rest[0] = rest[0][written:]


def read_table(folder: Path, place: UnitPlace, shards: int | None) -> UnitTable:
    """The table of a unit's file, which has so many shards, or with None as many as it says. Raises LostStateError
    where it is damaged or another's, FileNotFoundError where there is none, and OSError."""
    path = folder / place.name
    with path.open("rb", buffering=0) as file:
        whole = os.fstat(file.fileno()).st_size
        if shards is None:
            last = os.pread(file.fileno(), PLACE.size, max(whole - PLACE.size, 0))
            said = PLACE.unpack(last)[2] if len(last) == PLACE.size else 0
            shards = max(1, min(said, whole // 16))
        trailer = place.packed(shards)
        counted = os.pread(file.fileno(), len(COUNTED), 0) == COUNTED
        end = 16 * shards + 8 * counted
        size = end + DIGEST_BYTES + len(trailer)
        found = os.pread(file.fileno(), size, max(whole - size, 0))
    packed, digest = found[:end], found[end : end + DIGEST_BYTES]
    if found[end + DIGEST_BYTES :] != trailer or (
        blake2b(packed + trailer, digest_size=DIGEST_BYTES).digest() != digest
    ):
        raise LostStateError(f"{path}: the file is damaged, cut off, or of another enumeration")
    numbers = struct.unpack(f"<{end // 8}Q", packed)
    table = table_of(numbers[: 2 * shards : 2], numbers[1 : 2 * shards : 2], numbers[-1] if counted else None)
    if table.file_bytes != whole:
        raise LostStateError(f"{path}: the file has {whole:,} bytes, expected {table.file_bytes:,}")
    return table


SLAB = 2**23
"""Bytes that memory is asked for at once, as a rule; longer pieces have memory of their own size."""


class Room:
    """Memory for what is read, used again unit by unit: the system would clear new memory each time. It is
    given out until ``clear`` takes all of it back. ``slab``: bytes that are asked for at once."""

    def __init__(self, slab: int = SLAB) -> None:
        self._size = slab
        self._slabs: list[memoryview] = []
        self._slab = 0
        self._used = 0

    def take(self, size: int) -> memoryview:
        """``size`` bytes that hold anything."""
        while self._slab < len(self._slabs):
            rest = self._slabs[self._slab][self._used :]
            if len(rest) >= size:
                self._used += size
                return rest[:size]
            self._slab += 1
            self._used = 0
        self._slabs.append(memoryview(bytearray(max(size, self._size))))
        self._used = size
        return self._slabs[-1][:size]

    def clear(self) -> None:
        """All that was given out is used no more."""
        self._slab = self._used = 0


@dataclass(frozen=True, slots=True)
class LayerFigures:
    """A complete layer, and what it took. ``units``: those that have a file. Bytes: of what was read and written, of
    all files there at its end (``disk``), and of memory, the most that the process has had (``memory``). Times in
    seconds, ``processor`` of all threads; of a layer that was gone on with, since then. ``classes``: of
    states that symmetries take to each other, where they are counted."""

    depth: int
    states: int
    units: list[int]
    seconds: float
    processor: float
    read: int
    written: int
    disk: int
    memory: int
    classes: int | None = None

    def document(self) -> dict[str, Any]:
        """As stored with the job: without the units and classes."""
        fields = asdict(self)
        del fields["units"], fields["classes"]
        return fields


class EnumerationFolder:
    """A folder that this process alone uses. ``layers``: those that are complete, of which the journal may not have the
    last ones yet; ``units``: of a layer, as it was begun. ``key`` (16 bytes) tells the enumeration.

    Raises StorageError where another process uses it, it is of another enumeration, or it cannot be used;
    LostStateError where it is damaged.
    """

    def __init__(self, path: Path, identity: Mapping[str, Any], units: int) -> None:
        self.path = path
        self.units = units
        self._journal_bytes = self._journal_layers = 0
        with self.errors():
            path.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            self._take_lock()
            with self.errors():
                self.layers = self._opened(identity)
        except BaseException:
            os.close(self._lock)
            raise

    def _take_lock(self) -> None:
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StorageError(
                f"{self.path}: another process uses this folder ({error.strerror}); wait until it has ended, or name "
                "another folder with --scratch"
            ) from error

    def _opened(self, identity: Mapping[str, Any]) -> list[LayerFigures]:
        header = self.path / "header"
        wanted = json.dumps({**identity, "units": self.units}, sort_keys=True)
        if not header.exists():
            unfinished = self.path / "header.part"
            unfinished.write_text(wanted)
            unfinished.rename(header)
        text = header.read_text(errors="replace")
        try:
            found = read_json_object(text)
            self.units = convert(found.get("units"), Count)
        except ValueError as error:
            raise LostStateError(f"{header}: the file is damaged: {error}") from error
        if not same_identity(found, identity):
            raise StorageError(
                another_format(self.path, found, identity)
                or f"{header}: the layers in this folder are of another enumeration, or of another version of "
                "farthest; name another folder with --scratch, or remove this one"
            )
        self.key = blake2b(text.encode(), digest_size=16).digest()
        return list(self._journal())

    def _journal(self) -> Iterator[LayerFigures]:
        with suppress(FileNotFoundError):
            lines = (self.path / "journal").read_bytes().split(b"\n")
            for depth, line in enumerate(
                lines[:-1]
            ):  # what follows the last line's end was not written to its end
                yield _figures(line, depth, self.path)
                self._journal_bytes += len(line) + 1
                self._journal_layers += 1

    @property
    def is_behind(self) -> bool:
        """Whether the journal does not have all complete layers."""
        return self._journal_layers < len(self.layers)

    def write_journal(self) -> None:
        """Adds the complete layers that the journal does not have. Raises StorageError."""
        lines = b"".join(map(_line, self.layers[self._journal_layers :]))
        with self.errors(), (self.path / "journal").open("ab") as journal:
            # A line that was cut off by a crash has no end: it would spoil these.
            journal.truncate(self._journal_bytes)
            journal.write(lines)
            journal.flush()
            os.fsync(journal.fileno())
        self._journal_bytes += len(lines)
        self._journal_layers = len(self.layers)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turns errors of the system into StorageError, NoRoomError where the disk is full."""
        try:
            yield
        except OSError as error:
            if is_full(error):
                raise NoRoomError(
                    f"{self.path}: there is no room for the layers ({error.strerror}); make room and give the same "
                    "command again, which goes on from here"
                ) from error
            raise StorageError(
                f"{self.path}: the layers cannot be kept there ({error.strerror}); name another folder with --scratch"
            ) from error

    def remove(self, name: str) -> None:
        """Removes a file, if it is there."""
        with self.errors(), suppress(FileNotFoundError):
            (self.path / name).unlink()

    def close(self) -> None:
        """Lets others use the folder."""
        if self._lock >= 0:
            os.close(self._lock)
        self._lock = -1

    def drop(self) -> None:
        """Removes what is farthest's in the folder, the folder if nothing else is in it, and closes it."""
        remove_layers(self.path)
        self.close()


def remove_layers(folder: Path) -> int:
    """Removes what is farthest's in a folder of layers, and the folder if nothing else is in it; the bytes that this
    gave back. What cannot be removed stays."""
    freed = 0
    for pattern in (*(f"{kind}*.*" for kind in KINDS), "journal", "header.part", "header", "lock"):
        for file in folder.glob(pattern):
            with suppress(OSError):
                size = file.stat().st_size
                file.unlink()
                freed += size
    with suppress(OSError):
        folder.rmdir()
    return freed


def same_identity(header: Mapping[str, Any], identity: Mapping[str, Any]) -> bool:
    """Whether a folder's header is of that enumeration, in however many units."""
    found = {name: value for name, value in header.items() if name != "units"}
    return json.dumps(found, sort_keys=True) == json.dumps(dict(identity), sort_keys=True)


def another_format(folder: Path, header: Mapping[str, Any], identity: Mapping[str, Any]) -> str | None:
    """Why layers of the same enumeration cannot be gone on with that another version has left in a folder, and what is
    to be done; None where the header is no such one."""
    number, ours = header.get("format"), identity["format"]
    if number == ours or not same_identity(header, {**identity, "format": number}):
        return None
    return (
        f"{folder} has layers of this enumeration that another version of farthest wrote, in format {shown(number)}; "
        f"this version goes on with format {ours} alone: finish with the version that began, or remove the folder"
    )


def _line(layer: LayerFigures) -> bytes:
    return json.dumps(asdict(layer)).encode() + b"\n"


def _figures(line: bytes, depth: int, path: Path) -> LayerFigures:
    try:
        fields = read_json_object(line.decode())
        layer = LayerFigures(**fields)
        if layer.depth != depth or not all(isinstance(unit, int) for unit in layer.units):
            raise ValueError(f"it tells of depth {layer.depth}")
    except (TypeError, ValueError) as error:
        raise LostStateError(f"{path / 'journal'}: line {depth + 1} is damaged: {error}") from error
    return layer


HELD_BYTES, HELD_SECONDS = 2**20, 1.0
"""How much, and how long, small files and the journal's lines are held in memory."""


class UnitFiles:
    """The files of units of one enumeration: what they hold, and what was read and written of them.

    ``depth``: of the last complete layer, -1 at first; ``tables[d][u]``: what the file of unit u of layer d holds;
    ``counts_classes``: whether files tell the classes of their states.
    Methods raise StorageError, LostStateError where a file is missing or damaged."""

    def __init__(self, folder: EnumerationFolder) -> None:
        self.folder = folder
        self.tables: dict[int, dict[int, UnitTable]] = {}
        self.depth = -1
        self._started = (0.0, 0.0)
        self._read = self._written = 0
        self.counts_classes = False
        self._kept_bytes = 0  # of files that are not in `tables` any more
        self._held: dict[str, bytes] = {}  # by name, files that are not on the disk yet
        self._unwanted: list[str] = []  # files that go once the journal is written
        self._flushed = monotonic()
        self._flushing = RLock()

    def begin(self, depth: int) -> None:
        """The layer ``depth`` is stepped from now on."""
        self.tables.setdefault(depth, {})
        self._started = (perf_counter(), process_time())
        self._read = self._written = 0

    def all_tables(self) -> Iterator[UnitTable]:
        """The tables of all files that are there."""
        return (table for tables in self.tables.values() for table in tables.values())

    def note_complete(self, depth: int) -> None:
        """Notes that all units of the layer are committed."""
        tables = self.tables[depth]
        wall, processor = self._started
        self.folder.layers.append(
            LayerFigures(
                depth=depth,
                states=sum(table.total for table in tables.values()),
                units=sorted(tables),
                seconds=round(perf_counter() - wall, 3),
                processor=round(process_time() - processor, 3),
                read=self._read,
                written=self._written,
                disk=self._kept_bytes + sum(table.file_bytes for table in self.all_tables()),
                memory=getrusage(RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024),
                classes=sum(table.classes or 0 for table in tables.values()) if self.counts_classes else None,
            )
        )
        self.depth = depth
        self._flush_if_due()

    def check_last(self) -> None:
        """Raises LostStateError where the files of the last complete layer do not have its states."""
        found = sum(table.total for table in self.tables[self.depth].values())
        expected = self.folder.layers[self.depth].states
        if found != expected:
            raise LostStateError(
                f"{self.folder.path}: the files of layer {self.depth} have {found:,} states, its journal says "
                f"{expected:,}"
            )

    # Single files

    def names(self) -> set[str]:
        """The names of all files in the folder."""
        return {file.name for file in os.scandir(self.folder.path)}

    def remove_others(self, names: Iterable[str], needed: Container[str]) -> None:
        """Removes those of the files of layers that are not needed: they were to be removed, or were not written to
        their end, when the process was killed."""
        for name in names:
            if name[0] in KINDS and name not in needed:
                self.folder.remove(name)

    def place(self, depth: int, unit: int, kind: str = "L") -> UnitPlace:
        """Where a file is; ``kind``: see UnitPlace."""
        return UnitPlace(depth, unit, self.folder.key, kind)

    def write_file(
        self, place: UnitPlace, shards: Sequence[tuple[bytes, int]], classes: int = 0
    ) -> UnitTable:
        """Writes a file, of each shard the blob and the states, and in those of a layer the classes of all these."""
        counted = self.counts_classes and place.kind == KINDS[0]
        table, pieces = unit_file(place, shards, classes if counted else None)
        if table.file_bytes <= HELD_BYTES:
            self._held[place.name] = b"".join(pieces)
            self._flush_if_due()
        else:
            self.flush()
            with self.folder.errors():
                write_unit(self.folder.path, place.name, pieces)
        self._written += table.file_bytes
        return table

    def _flush_if_due(self) -> None:
        held = sum(map(len, list(self._held.values())))
        if held > HELD_BYTES or monotonic() - self._flushed > HELD_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Writes the files and the lines of the journal that are held, and waits until they are on the disk."""
        with self._flushing, self.folder.errors():
            for name, data in list(self._held.items()):
                write_unit(self.folder.path, name, [data])
                self._held.pop(name, None)
            if self.folder.is_behind:
                self.folder.write_journal()
            while self._unwanted:
                self.folder.remove(self._unwanted.pop())
            self._flushed = monotonic()

    def table_of_file(self, place: UnitPlace, shards: int | None = None) -> UnitTable:
        """The table of a file; ``shards``: so many it must have."""
        if place.name in self._held:
            self.flush()
        try:
            return read_table(self.folder.path, place, shards)
        except FileNotFoundError:
            raise LostStateError(f"{self.folder.path / place.name}: the file is missing") from None

    def remove_file(self, place: UnitPlace) -> None:
        """Removes a file, if it is there."""
        with self._flushing:
            if self._held.pop(place.name, None) is not None:
                return
            self._unwanted.append(place.name)
            if not self._held and not self.folder.is_behind:
                self.flush()

    @contextmanager
    def opened(self, place: UnitPlace) -> Iterator[int | bytes]:
        """The descriptor of a file, to be read, or its bytes."""
        held = self._held.get(place.name)
        if held is not None:
            yield held
            return
        path = self.folder.path / place.name
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            raise LostStateError(f"{path}: the file is missing") from None
        try:
            yield file
        finally:
            os.close(file)

    def bytes_at(self, file: int | bytes, start: int, size: int, room: Room) -> memoryview:
        """``size`` bytes of a file from ``start`` on, in ``room`` where it is on the disk."""
        if isinstance(file, bytes):
            return memoryview(file)[start : start + size]
        view = room.take(size)
        got = 0
        while got < len(view):
            part = os.preadv(file, [view[got:]], start + got)
            if not part:
                raise LostStateError(f"{self.folder.path}: a file of a layer is cut off")
            got += part
        self._read += got
        return view
