"""States that have no key: hashes of 128 bits stand for them, and the states of the layers at hand are kept beside.

Only the states of two layers are kept: those that are expanded, and those that this leads to. A hash that belongs to
neither cannot be given back.
"""

from __future__ import annotations

import marshal
from hashlib import blake2b
from typing import Any

HASH_BYTES = 16
BITS = 8 * HASH_BYTES


class StateHashes:
    """States by their hashes."""

    def __init__(self) -> None:
        self._now: dict[bytes, Any] = {}
        self._next: dict[bytes, Any] = {}

    def forget(self) -> None:
        """Before an enumeration: no states are known."""
        self._now, self._next = {}, {}

    def code(self, state: Any) -> bytes | None:
        """The hash of a state, which is kept; None where it is no number, text, bytes or tuple of such."""
        if not _plain(state):
            return None
        code = blake2b(marshal.dumps(state, 2), digest_size=HASH_BYTES).digest()
        self._next[code] = state
        return code

    def state(self, code: bytes) -> Any:
        """The state of a hash, or None. The first that was found lately begins a layer: those before are forgotten."""
        if code not in self._now and code in self._next:
            self._now, self._next = self._next, {}
        return self._now.get(code)

    def look(self, code: bytes) -> Any:
        """The same, and nothing is forgotten."""
        return self._now.get(code, self._next.get(code))


def collision_probability(states: int) -> float:
    """At most so probable is it that among so many states two have the same hash: n^2 / 2 of 2^128."""
    return min(1.0, states * states / 2 / 2.0**BITS)


def _plain(state: Any) -> bool:
    kind = type(state)
    if kind is tuple:
        return all(map(_plain, state))
    return kind in (int, str, bytes, bool) or state is None
