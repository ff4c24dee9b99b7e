"""What both stores over files have in common: the layer under way, a thread that writes behind the steps, the end."""

from __future__ import annotations

import threading
from abc import abstractmethod
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from farthest.errors import LostStateError, StorageError
from farthest.stores.contract import JobStore

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from farthest.stores.folder.journal import EnumerationFolder
    from farthest.stores.folder.layer_files import LayerFiles
    from farthest.stores.folder.run_files import RunFiles


Files = TypeVar("Files", "LayerFiles", "RunFiles")


class StoreInFiles(JobStore, Generic[Files]):
    """``JobStore`` over files, which are gone on with, not maps. ``open_files`` opens them, and
    writes the layer 0 where there is none. A layer is committed block by block: these are units of a plan, or single
    shards. ``poll`` is called now and then while a layer is expanded; it may raise an exception."""

    shards: int = 0
    _files: Files

    def __init__(self, folder: EnumerationFolder, shards: int, open_files: Callable[[], None]) -> None:
        self.folder = folder
        self.shards = shards
        self.poll: Callable[[], None] = lambda: None
        self._lock = threading.RLock()  # held while what is committed is changed
        self._threads = [ThreadPoolExecutor(1, "farthest-write")]
        self._behind: list[Future[None]] = []  # files that are being written
        self._under_way = 0  # the depth of the layer that is stepped
        self._begun: set[int] = set()  # its blocks
        self._committed: set[int] = set()  # those of them that are written, or being written
        try:
            open_files()
            self._counts = {self._files.depth: self._files.states(self._files.depth)}
        except LostStateError:
            self.drop()
            raise
        except BaseException:
            self._end_threads()
            self.folder.close()
            raise

    # ShardStore

    def begin(self, depth: int, shards: Sequence[int]) -> list[int]:
        """Whole blocks."""
        self._settle()
        if depth == self._files.depth + 2:
            self._complete(depth - 1)
        if depth != self._files.depth + 1:
            raise StorageError(
                f"layer {depth} cannot begin: layer {self._files.depth} is the last complete one"
            )
        if depth != self._under_way:
            self._under_way = depth
            self._begun = set()
            self._files.begin(depth)
            self._committed = self._files.committed(depth)
            self._forget_inputs()
        self._begun.update(self._blocks(depth, shards))
        return [shard for block in sorted(self._begun) for shard in self.shards_of(depth, block)]

    @abstractmethod
    def units(self, depth: int, shards: Iterable[int]) -> Iterable[list[int]]:
        """The shards as they are stepped together, unit by unit, with those that belong to their blocks."""

    @abstractmethod
    def _blocks(self, depth: int, shards: Iterable[int]) -> Iterable[int]:
        """The blocks of a layer that are stepped for the shards."""

    @abstractmethod
    def shards_of(self, depth: int, block: int) -> Sequence[int]:
        """The shards of a block, in its order."""

    def _forget_inputs(self) -> None:
        """What was read ahead for another layer is of no use any more."""
        return None

    def _check_stepped(self, depth: int) -> None:
        """Raises StorageError where the layer is not under way."""
        if depth != self._files.depth + 1 or depth != self._under_way:
            raise StorageError(f"depth {depth} is not being stepped; depth {self._under_way} is")

    def _commit_blocks(self, depth: int, blocks: Sequence[int], *written: Any) -> None:
        """Commits blocks that share a file, unless they are: it is written while the next ones are stepped."""
        if depth != self._files.depth + 1:
            raise StorageError(f"depth {depth} is not being stepped any more")
        with self._lock:
            self._settle()
            if self._committed.isdisjoint(blocks):
                self._committed.update(blocks)
                write = self._threads[0].submit(self._files.write, depth, blocks[0], *written)
                self._behind.append(write)

    def counts(self, depth: int) -> dict[int, int]:
        """The last three depths are there."""
        self._settle()
        if depth == self._files.depth + 1 == self._under_way:
            self._complete(depth)
        return self._counts[depth]

    def classes(self, depth: int) -> int | None:
        return self.folder.layers[depth].classes

    def _complete(self, depth: int) -> None:
        missing = self._begun - self._files.committed(depth)
        if missing:
            raise StorageError(
                f"layer {depth} is not complete: {len(missing)} of its blocks are not committed"
            )
        self._counts[depth] = self._files.states(depth)
        self._counts.pop(depth - 3, None)
        self._files.complete(depth)

    def _settle(self) -> None:
        """Waits until what is being written is on the disk."""
        while self._behind:
            self._behind.pop().result()

    @contextmanager
    def _damage(self, what: str) -> Iterator[None]:
        """Turns ValueError of the kernel into LostStateError: a file of ``what`` is damaged."""
        try:
            yield
        except ValueError as error:
            raise LostStateError(f"{self.folder.path}: a file of {what} is damaged: {error}") from error

    # The end

    def leave(self) -> None:
        """Ends the attempt; the layers stay in the folder. Raises StorageError where the last cannot be written."""
        self._end_threads()
        try:
            self._files.flush()
        finally:
            self.folder.close()

    def drop(self) -> None:
        """The folder goes."""
        self._end_threads()
        self.folder.drop()

    def _end_threads(self) -> None:
        for thread in self._threads:
            thread.shutdown(wait=True, cancel_futures=True)
