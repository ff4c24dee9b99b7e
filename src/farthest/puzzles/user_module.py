"""The module of a user's class: found and imported, and its errors told with the line that raised them."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from farthest.errors import PuzzleError
from farthest.puzzles.wording import near_match


@contextmanager
def mended(reference: str, what: str) -> Iterator[None]:
    """Turns what ``what``, the user's code, raises into a PuzzleError with the line that raised it."""
    try:
        yield
    except PuzzleError:
        raise
    except (Exception, SystemExit) as error:
        message = " ".join(str(error).split())
        raise PuzzleError(
            f"puzzle class {reference}: {what} raised {type(error).__name__}{': ' if message else ''}{message}"
            f"{_place(error)}"
        ) from None


def _place(error: BaseException) -> str:
    """Where the user's code raised it: file, line, the line's text."""
    if isinstance(error, SyntaxError) and error.filename:
        return f" ({error.filename}, line {error.lineno}); correct it there"
    frames = traceback.extract_tb(error.__traceback__)
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    theirs = [frame for frame in frames if not frame.filename.startswith((own, "<frozen"))]
    # Rather the line that called a library than one inside of it.
    theirs = [frame for frame in theirs if not frame.filename.startswith(sys.prefix)] or theirs
    if not theirs:
        return "; look at its arguments: options in the puzzle's file are the keyword arguments of the class"
    text = f": {theirs[-1].line}" if theirs[-1].line else ""
    return f" ({theirs[-1].filename}, line {theirs[-1].lineno}, in {theirs[-1].name}{text}); correct it there"


def found_class(reference: str) -> Any:
    """The class ``module:Name``; modules in the current directory are found too, after those installed.

    Raises PuzzleError where it is missing, or its module cannot be imported.
    """
    module_name, _, name = reference.partition(":")
    here = os.getcwd()
    sys.path.append(here)
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not (module_name + ".").startswith(error.name + "."):
            with mended(reference, f"importing {module_name}"):
                raise
        import socket

        raise PuzzleError(
            f"puzzle class missing on {socket.gethostname()}: there is no module {error.name} for {reference}; "
            "install it wherever farthest and its workers run (pip install, or its folder in PYTHONPATH), then start "
            "them again"
        ) from None
    except (Exception, SystemExit):
        with mended(reference, f"importing {module_name}"):
            raise
    finally:
        sys.path.remove(here)
    found = getattr(module, name, None)
    if not callable(found):
        classes = [key for key, value in vars(module).items() if isinstance(value, type)]
        mend = near_match(name, classes) or f"its classes are {', '.join(classes) or 'none'}"
        raise PuzzleError(
            f"puzzle class {reference}: module {module_name} ({getattr(module, '__file__', None)}) has no class "
            f"{name}; {mend}"
        )
    return found
