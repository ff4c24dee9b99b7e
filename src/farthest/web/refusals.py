"""Why a request is not answered: the status and the message, which pages and JSON show alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException

from farthest.errors import (
    BoardError,
    FarthestError,
    ForbiddenCodeError,
    JobError,
    PuzzleError,
    ResourceError,
    SettingError,
    UnavailableError,
)

if TYPE_CHECKING:
    from farthest.models.transactions import Database


class RefusalError(FarthestError):
    """A request that is refused by its form: ``status`` is that of the answer."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class ReaderLeftError(Exception):
    """The reader has gone, or has waited for as long as may be: the question is given up."""


_STATUS = (
    (ForbiddenCodeError, 403),
    (BoardError, 400),
    (JobError, 404),
    (PuzzleError, 404),
    (SettingError, 400),
    (ResourceError, 413),
    (UnavailableError, 503),
)
_MEANINGS = {
    404: "there is no such page",
    405: "this address does not take that kind of request",
}


def status_and_message(error: Exception, database: Database | None = None) -> tuple[int, str]:
    """What an answer says of an error. The place of the database stays with the server: who reads from elsewhere need
    not know it. What is not a FarthestError is told in the log alone."""
    if isinstance(error, RefusalError):
        return error.status, str(error)
    if isinstance(error, ReaderLeftError):
        return 503, "the question took too long, and was given up; ask for less"
    if isinstance(error, FarthestError):
        message = str(error)
        if database is not None:
            message = message.replace(database.place, "the database")
        return next((status for kind, status in _STATUS if isinstance(error, kind)), 500), message
    if isinstance(error, HTTPException):
        return error.status_code, _MEANINGS.get(error.status_code, error.detail)
    return 500, "the server has met an error of its own; its log says which"
