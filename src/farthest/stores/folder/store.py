"""What both stores over files have in common: the layer under way, a thread that writes behind the steps, the end."""

from __future__ import annotations

from abc import abstractmethod
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Generic, TypeVar

from farthest.errors import LostStateError, StorageError
from farthest.stores.contract import JobStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from farthest.stores.folder.journal import EnumerationFolder, LayerFigures
    from farthest.stores.folder.layer_files import LayerFiles
    from farthest.stores.folder.run_files import RunFiles


Files = TypeVar("Files", "LayerFiles", "RunFiles")


class StoreInFiles(JobStore, Generic[Files]):
    """``JobStore`` over files, which only counts: files are gone on with, not maps. ``open_files`` opens them, and
    writes the layer 0 where there is none."""

    shards: int = 0
    _files: Files

    def __init__(self, folder: EnumerationFolder, shards: int, open_files: Callable[[], None]) -> None:
        self.folder = folder
        self.shards = shards
        self._threads = [ThreadPoolExecutor(1, "farthest-write")]
        self._behind: list[Future[None]] = []  # files that are being written
        self._committed: set[int] = set()  # of the layer under way, also what is being written
        try:
            open_files()
            self._counts = {self._files.depth: self._files.states(self._files.depth)}
        except LostStateError:
            self.drop()
            raise
        except BaseException:
            self.leave()
            raise

    @property
    def kept(self) -> list[LayerFigures]:
        """The complete layers in the folder, from the first on."""
        return self.folder.layers

    def _check_next(self, depth: int) -> None:
        """Completes the layer before, and checks that ``depth`` is the next one."""
        self._settle()
        if depth == self._files.depth + 2:
            self._complete(depth - 1)
        if depth != self._files.depth + 1:
            raise StorageError(
                f"layer {depth} cannot begin: layer {self._files.depth} is the last complete one"
            )

    def _check_under_way(self, depth: int) -> None:
        if depth != self._files.depth + 1:
            raise StorageError(f"depth {depth} is not being stepped any more")

    def counts(self, depth: int) -> dict[int, int]:
        """The last three depths are kept."""
        self._settle()
        if depth == self._files.depth + 1 and self._is_begun(depth):
            self._complete(depth)
        return self._counts[depth]

    def _complete(self, depth: int) -> None:
        if missing := self._missing(depth):
            raise StorageError(f"layer {depth} is not complete: {missing} are not committed")
        self._counts[depth] = self._files.states(depth)
        self._counts.pop(depth - 3, None)
        self._files.complete(depth)

    @abstractmethod
    def _is_begun(self, depth: int) -> bool:
        """Whether any step of a layer has begun."""

    @abstractmethod
    def _missing(self, depth: int) -> str:
        """How much of a layer is not committed, in words; empty: nothing."""

    def _write_behind(self, action: Callable[..., None], *arguments: object) -> None:
        self._behind.append(self._threads[0].submit(action, *arguments))

    def _settle(self) -> None:
        """Waits until what is being written is on the disk."""
        while self._behind:
            self._behind.pop().result()

    def leave(self) -> None:
        """Ends the attempt; the layers stay in the folder."""
        self._end_threads()
        self.folder.close()

    def drop(self) -> None:
        """The folder goes."""
        self._end_threads()
        self.folder.drop()

    def _end_threads(self) -> None:
        for thread in self._threads:
            thread.shutdown(wait=True, cancel_futures=True)
