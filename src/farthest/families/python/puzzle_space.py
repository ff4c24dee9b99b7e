"""The base of users' classes that are spaces; `import farthest` offers it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, dataclass_transform


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
