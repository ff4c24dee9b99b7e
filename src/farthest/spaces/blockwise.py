"""Successors that numpy finds, some codes at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Buffer

    from farthest.spaces.contract import Codes

BLOCK = 1 << 15
"""Codes at a time: their arrays stay in the cache."""


def in_blocks(expand: Callable[[Codes], Codes], codes: Codes, threads: int) -> Buffer:
    """What ``expand`` finds for all codes, by so many threads: numpy lets them work beside each other."""
    import numpy as np

    blocks = [codes[first : first + BLOCK] for first in range(0, codes.size, BLOCK)]
    if threads > 1 and len(blocks) > 1:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(threads) as pool:
            found = list(pool.map(expand, blocks))
    else:
        found = [expand(block) for block in blocks]
    return np.concatenate(found).view(np.uint8).data if found else b""
