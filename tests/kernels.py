"""Kernels as enumerations do not choose them: other instructions, and more shards than memory asks for."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from farthest.families.pegs.space import PegSpace
from farthest.families.permutation.gather_space import PermutationSpace
from farthest.families.sliding.patterns import PatternSpace
from farthest.spaces.arrangement import ArrangementSpace


@contextmanager
def compiled(isa: str = "", shard_classes: int = 1) -> Iterator[None]:
    """Within the block spaces are compiled for these instructions, and cut at that level at least."""
    with (
        patch.object(ArrangementSpace, "compile_kernel", _cut(ArrangementSpace, isa, shard_classes)),
        patch.object(PermutationSpace, "compile_kernel", _cut(PermutationSpace, isa, shard_classes)),
        patch.object(PegSpace, "compile_kernel", _cut(PegSpace, isa, shard_classes)),
        patch.object(PatternSpace, "compile_kernel", _of_pattern(isa)),
    ):
        yield


def _cut(space: Any, isa: str, least: int) -> Callable[..., Any]:
    compile_kernel = space.compile_kernel

    def compile_so(self: Any, shard_classes: int = 1, chosen: str = "") -> Any:
        return compile_kernel(self, max(shard_classes, least), chosen or isa)

    return compile_so


def _of_pattern(isa: str) -> Callable[..., Any]:
    compile_kernel = PatternSpace.compile_kernel
    return lambda self, chosen="": compile_kernel(self, chosen or isa)
