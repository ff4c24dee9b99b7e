"""The base of users' classes that are spaces, and whose code may run: the modules from which this process may import
such classes, and its caller's own classes.

The list is that of whoever started the process: FARTHEST_PUZZLE_MODULES, ``--allow-module``, or a call. Files,
databases, Redis and messages name classes; nothing that they hold adds to the list.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, dataclass_transform

from farthest.environment import PUZZLE_MODULES
from farthest.errors import PuzzleError, SettingError


@dataclass_transform(eq_default=False)
class PuzzleSpace:
    """A space written in Python; docs/python.md says what a class derived from this one has.

    Its annotated attributes are its options, as in a dataclass, which it is made: ``n: int = 5`` is an option ``n``,
    5 unless the puzzle's file says otherwise. What is worked out from them belongs into ``__post_init__``. Raises
    TypeError for a class with an ``__init__`` of its own.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__init__" in vars(cls):
            raise TypeError(
                f"{cls.__name__} has an __init__; a farthest.PuzzleSpace has its options as annotated attributes, such "
                "as n: int = 5, and what else __init__ did in __post_init__(self)"
            )
        dataclass(eq=False)(cls)


_NAME = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)

_modules: frozenset[str] = frozenset()
_own: dict[str, type[PuzzleSpace]] = {}


def allow_module(name: str) -> None:
    """Let this process import a module, as ``package.module``, and run the classes of puzzles that are declared in it.

    Other modules, of the same package too, are not allowed by that. Raises SettingError where it is no name.
    """
    global _modules  # noqa: PLW0603 - the one list of this process
    _modules |= {_checked(name, "allow_module")}


@contextmanager
def allowing(names: Iterable[str], place: str) -> Iterator[None]:
    """Allows modules until the end of a ``with`` block. ``place``: where they were named. Raises SettingError."""
    global _modules  # noqa: PLW0603
    before = _modules
    _modules |= {_checked(name, place) for name in names}
    try:
        yield
    finally:
        _modules = before


def allowed_modules() -> frozenset[str]:
    """The modules whose classes this process may run. Raises SettingError for a wrong FARTHEST_PUZZLE_MODULES."""
    return _modules | _listed(PUZZLE_MODULES.text())


def allow_own(own: type[PuzzleSpace]) -> str:
    """Lets a class of the caller's be run; the name by which puzzles name it, ``module:Name``.

    A class of the script that runs is named by the script's file, as which others can import it. Raises PuzzleError
    for one that is not at the top of its module.
    """
    if "." in own.__qualname__:
        raise PuzzleError(
            f"puzzle class {own.__qualname__} is declared inside of {own.__qualname__.rpartition('.')[0]}; "
            "declare it at the top of a module, where its name leads to it"
        )
    module = own.__module__
    if module == "__main__":
        module = _name_of_main()
    reference = f"{module}:{own.__name__}"
    _own[reference] = own
    return reference


def own_class(reference: str) -> type[PuzzleSpace] | None:
    """The caller's class of that name, if there is one."""
    return _own.get(reference)


def _name_of_main() -> str:
    main = sys.modules["__main__"]
    spec = getattr(main, "__spec__", None)
    if spec is not None:  # python -m name
        return str(spec.name)
    stem = os.path.splitext(os.path.basename(getattr(main, "__file__", None) or ""))[0]
    return stem if _NAME.fullmatch(stem) else "__main__"


@lru_cache(maxsize=8)
def _listed(text: str) -> frozenset[str]:
    return frozenset(_checked(name.strip(), PUZZLE_MODULES.name) for name in text.split(",") if name.strip())


def _checked(name: object, place: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name.endswith(".py"):
        stem = os.path.basename(str(name)).removesuffix(".py")
        mend = f"write {stem}" if _NAME.fullmatch(stem) else "write it as an import statement does"
        raise SettingError(
            f"{place}: {str(name)!r} is not the name of a module; expected a name such as frogs or package.frogs; "
            f"{mend}"
        )
    return name
