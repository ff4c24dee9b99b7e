"""The module of a user's class: found and imported where that is allowed, and its errors told with their lines."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from socket import gethostname
from types import ModuleType

from farthest.errors import ForbiddenCodeError, PuzzleError
from farthest.families.python.allowed import allowed_modules
from farthest.families.python.puzzle_space import PuzzleSpace
from farthest.wording import near_match


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


class HereFinder(MetaPathFinder):
    """Finds modules in the working folder, which need not be on Python's path: those of ``names``, or the packages that
    hold them."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = {name.partition(".")[0] for name in names}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See importlib."""
        if path is not None or fullname not in self.names:
            return None
        return PathFinder.find_spec(fullname, [""])


def found_class(reference: str) -> type[PuzzleSpace]:
    """The class ``module:Name``, of a module that this process may import: an installed one, else one that lies in the
    working folder, where nothing but allowed modules is found.

    Raises ForbiddenCodeError where the module is not allowed; PuzzleError where it cannot be imported, or does not
    declare a class of that name which is derived from PuzzleSpace.
    """
    module_name, _, name = reference.partition(":")
    allowed = allowed_modules()
    if module_name not in allowed:
        raise refusal(reference)
    finder = HereFinder(allowed)
    sys.meta_path.append(finder)
    try:
        module = import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not (module_name + ".").startswith(error.name + "."):
            if error.name is not None and HereFinder([error.name]).find_spec(error.name, None):
                raise PuzzleError(
                    f"puzzle class {reference}: its module imports {error.name}, which lies in the working folder and "
                    f"is not allowed; if you trust it, add --allow-module {error.name} too"
                ) from None
            with mended(reference, f"importing {module_name}"):
                raise
        raise PuzzleError(
            f"puzzle class missing on {gethostname()}: there is no module {error.name} for {reference}; "
            "install it wherever farthest and its workers run (pip install, or its folder in PYTHONPATH), then start "
            "them again"
        ) from None
    except (Exception, SystemExit):
        with mended(reference, f"importing {module_name}"):
            raise
    finally:
        sys.meta_path.remove(finder)
    return _declared(reference, module, name)


def _declared(reference: str, module: ModuleType, name: str) -> type[PuzzleSpace]:
    """The class of that name, if the module itself declares it as a space."""
    found = vars(module).get(name)
    spaces = [
        key for key, value in vars(module).items() if _is_space(value) and value.__module__ == module.__name__
    ]
    told = f"puzzle class {reference}: module {module.__name__} ({getattr(module, '__file__', None)})"
    if found is None:
        mend = near_match(name, spaces) or f"its classes of spaces are {', '.join(spaces) or 'none'}"
        raise PuzzleError(f"{told} has no class {name}; {mend}")
    if not _is_space(found):
        raise PuzzleError(
            f"{told}: {name} is not a class derived from farthest.PuzzleSpace; write class {name}(farthest.PuzzleSpace)"
        )
    if found.__module__ != module.__name__:
        raise PuzzleError(
            f"{told} does not declare {name}, but imports it; name it {found.__module__}:{found.__qualname__}, and "
            f"allow {found.__module__}"
        )
    declared: type[PuzzleSpace] = found
    return declared


def _is_space(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, PuzzleSpace) and value is not PuzzleSpace


def refusal(reference: str) -> ForbiddenCodeError:
    """What is said of a class that this process may not run, with the file that would be run."""
    module = reference.partition(":")[0]
    allowed = sorted(allowed_modules())
    listed = ",".join([*allowed, module])
    which = f"only {', '.join(allowed)} {'is' if len(allowed) == 1 else 'are'}" if allowed else "no module is"
    return ForbiddenCodeError(
        f"puzzle class {reference} was not run on {gethostname()}: it is code of {_module_file(module)}, and {which} "
        f"allowed here; if you trust it, add --allow-module {module}, or set FARTHEST_PUZZLE_MODULES={listed}, for "
        "each command, coordinator and worker that is to run it"
    )


def _module_file(name: str) -> str:
    """Which file an import would run, in words; found without running anything."""
    finders = [*sys.meta_path, HereFinder([name])]
    parts, path = name.split("."), None
    spec: ModuleSpec | None = None
    for end in range(1, len(parts) + 1):
        full, spec = ".".join(parts[:end]), None
        with suppress(Exception):  # of finders that are not Python's own
            spec = next(filter(None, (finder.find_spec(full, path) for finder in finders)), None)
        if spec is None or (end < len(parts) and spec.submodule_search_locations is None):
            return "a module that is not found here"
        path = spec.submodule_search_locations
    return f"the file {spec.origin}" if spec is not None and spec.has_location else f"the module {name}"
