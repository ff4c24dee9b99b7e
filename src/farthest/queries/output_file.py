"""Files that are written whole or not at all."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex
from stat import S_ISREG
from typing import TYPE_CHECKING

from farthest.errors import FarthestError

if TYPE_CHECKING:
    from collections.abc import Iterator


class OutputError(FarthestError):
    """A file cannot be written, or not in the format that its name asks for."""


def form_of(file: Path, forms: tuple[str, ...]) -> str:
    """The file's ending in lower case, such as ``.csv``. Raises OutputError unless it is one of ``forms``."""
    ending = file.suffix.lower()
    if ending not in forms:
        known = f"{', '.join(forms[:-1])} or {forms[-1]}"
        raise OutputError(
            f"{file}: a file that ends in {ending or 'nothing'} cannot be written; expected {known}"
        )
    return ending


@contextmanager
def written_file(file: Path, *, force: bool) -> Iterator[Path]:
    """A path in the folder of ``file`` to write to; it is renamed to ``file`` when the block ends without an exception.

    Raises OutputError where ``file`` exists and ``force`` is not given, or cannot be written.
    """
    if file.is_dir():
        raise OutputError(f"{file} is a folder; expected the name of a file")
    if file.exists() and not S_ISREG(
        file.lstat().st_mode
    ):  # such as /dev/stdout: it would be replaced by a file
        raise OutputError(f"{file} is a link or a device; expected the name of a file")
    if file.exists() and not force:
        raise OutputError(f"{file} exists already; choose another name, or --force to replace it")
    if not file.parent.is_dir():
        raise OutputError(f"{file}: there is no folder {file.parent}; make it first")
    # In the same folder, as a rename works only within one file system; with the same ending, as some writers read it.
    # Nobody can have put a link there: the name cannot be guessed, and the file is newly made.
    part = file.with_name(f".{file.stem}.{token_hex(8)}{file.suffix}")
    try:
        part.touch(exist_ok=False)
        try:
            yield part
            part.replace(file)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise OutputError(f"cannot write {file}: {error.strerror or error}") from error
