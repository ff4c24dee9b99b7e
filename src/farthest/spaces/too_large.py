"""What is said of a puzzle with more states than can be numbered, or than the kernel can step."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from farthest import _kernel
from farthest.errors import ResourceError
from farthest.puzzles.puzzle import Puzzle

MAX_KEYS = 2**62


def check_keys(puzzle: Puzzle, keys: int, mend: str, *, what: str = "arrangements") -> None:
    """Raises ResourceError where there are more keys than can be numbered. ``mend``: what makes them fewer."""
    if keys > MAX_KEYS:
        raise too_large(puzzle, keys, "more than the 4.6e18 that keys can number", mend, what=what)


@contextmanager
def kernel_limits(puzzle: Puzzle, keys: int, mend: str) -> Iterator[None]:
    """Turns a limit of the kernel into a ResourceError."""
    try:
        yield
    except _kernel.LimitError as error:
        raise too_large(puzzle, keys, f"more than the kernel can step ({error})", mend) from None


def too_large(
    puzzle: Puzzle, keys: int, limit: str, mend: str, *, what: str = "arrangements"
) -> ResourceError:
    """The error: what there is, what the limit is, what can be done."""
    return ResourceError(
        f"puzzle {puzzle.name}: {keys:.2e} {what}, {limit}; it is too large to enumerate: {mend}, or search for "
        "solutions of single boards with `farthest solve`"
    )
