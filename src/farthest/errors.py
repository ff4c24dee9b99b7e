"""The errors that a user can cause or meet; each message names the place, what was expected and a likely mend."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager

STOPPED_EARLY = 3
"""The status of a process whose enumeration ended before its depth limit, as its memory was used up."""


class FarthestError(Exception):
    """Base of all errors that the command line reports as one message, without a traceback.

    ``str(error)`` is the whole message; ``exit_status`` is the status of the process that reports it.
    """

    exit_status = 2


class PuzzleError(FarthestError):
    """A puzzle's name or definition is wrong."""


class ForbiddenCodeError(PuzzleError):
    """A puzzle is a class that this process may not run: whoever started it has not allowed the class's ``module``."""

    def __init__(self, message: str, module: str = "") -> None:
        super().__init__(message)
        self.module = module


@contextmanager
def named_in(place: str) -> Iterator[None]:
    """The error of a class that is refused in a ``with`` block says where the class was named: a job, an attempt."""
    try:
        yield
    except ForbiddenCodeError as error:
        raise ForbiddenCodeError(f"{place}: {error}", error.module) from None


class BoardError(FarthestError):
    """A board's text is malformed, or the board does not belong to the puzzle."""


class UnreachableError(BoardError):
    """A well-formed board that no sequence of moves joins to the origin."""


class JobError(FarthestError):
    """No such job, or the job cannot do what was asked of it."""


class MissingMapError(JobError):
    """No finished map of a puzzle, of the kind that is needed, is stored."""


class MissingLibraryError(FarthestError):
    """An optional library, which one of the package's extras has, is not installed."""


class StorageError(FarthestError):
    """The database cannot be opened, read or written, or what it holds is damaged."""


class MissingDatabaseError(StorageError):
    """There is no database at the ``place``, and none is to be made; it could be."""

    def __init__(self, message: str, place: str = "") -> None:
        super().__init__(message)
        self.place = place


class UnavailableError(StorageError):
    """A server (Redis, the database) or the place of blobs cannot be reached now; the same may succeed later."""


class AccessError(UnavailableError):
    """A server refuses the user or the password. A running job waits: that may be about to be changed."""


class NoRoomError(StorageError):
    """Memory or disk of a server or of the place of blobs is used up: the same may succeed when there is
    room again."""


def is_full(error: OSError) -> bool:
    """Whether the disk, a user's share of it, or what a process may write is used up."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class RedisFullError(NoRoomError):
    """Redis has no memory left, or is killed and started again and again, as it is where its machine has none."""


class LostStateError(StorageError):
    """The working state of a running job is missing or damaged: it has to be rebuilt from the last checkpoint."""


class DamagedMapError(StorageError):
    """A stored map is not what was found: running the job again does not help, enumerating anew does."""


class NoBaseError(StorageError):
    """A worker sees neither the database nor a copy of the checkpoint that its part of a map is made from."""


class LateStepError(StorageError):
    """A step of a layer that is not under way any more, or of an attempt that has ended: there is nothing to do."""


class BusyError(FarthestError):
    """Work that this process cannot do now: another one may, or this one later."""


class VersionError(FarthestError):
    """Two processes that are to work together are of different versions."""


class SettingError(FarthestError):
    """An environment variable or an option has a value that cannot be used."""


class BatchError(FarthestError):
    """Some boards of a batch are none, or their solutions are not as long as was published; the others were solved."""

    exit_status = 1


class SearchError(FarthestError):
    """A search cannot be done in the way that was asked for."""


class ResourceError(FarthestError):
    """The enumeration needs more memory or disk than it may use."""


class MemoryUsedUpError(ResourceError):
    """The states of a running enumeration take more memory than it is allowed."""


class RedisTooSmallError(ResourceError):
    """Redis may not use as much memory as the enumeration certainly needs."""
