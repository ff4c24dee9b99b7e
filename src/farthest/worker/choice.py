"""Which block a worker's process steps next: one whose input it has in memory, of those that nobody has begun.

A message names a block, but any process that has a message may take any block of the layer's *to-do set*: the blocks
that were sent and not begun. One that stepped a block two layers ago still has what is to be subtracted from it now,
and one that stepped its neighbours has its frontier. A wrong choice costs time alone; a block that was taken and not
stepped is sent again, by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from farthest.worker.runs import prefix

if TYPE_CHECKING:
    from farthest.worker.connections import RedisNodes
    from farthest.worker.redis_store import RedisStore

WISHES = 64
"""Most blocks that are named in one request."""

_TAKE = """
for i = 1, #ARGV do
  if redis.call('SREM', KEYS[1], ARGV[i]) == 1 then return ARGV[i] end
end
return redis.call('SPOP', KEYS[1])
"""


def todo_key(run: str, depth: int) -> str:
    """The set of the layer's blocks that were sent and not begun."""
    return f"{prefix(run)}todo:{depth}"


def offer(nodes: RedisNodes, run: str, depth: int, blocks: Iterable[int]) -> None:
    """Makes the to-do set of a layer, in place of that of the layer before."""
    pipe = nodes.main.pipeline()
    pipe.delete(todo_key(run, depth - 1), todo_key(run, depth))
    pipe.sadd(todo_key(run, depth), *map(str, blocks))
    nodes.call(pipe.execute)


class Choice:
    """The choices of one process, for one run."""

    def __init__(self, store: RedisStore) -> None:
        self._store = store
        self._take = store.nodes.main.register_script(_TAKE)
        self._stepped: dict[
            int, dict[int, None]
        ] = {}  # blocks by depth, in the order in which they were stepped

    def next(self, depth: int, named: int) -> int:
        """A block to step, taken from the to-do set; ``named``, the message's, where that set is empty."""
        run, nodes = self._store.run, self._store.nodes
        wishes = [str(block) for block in islice(self._wishes(depth), WISHES)]
        taken = nodes.call(lambda: self._take(keys=[todo_key(run, depth)], args=wishes))
        return named if taken is None else int(taken)

    def named(self, depth: int, block: int) -> int:
        """``block``, which was sent again by its name: taken out of the to-do set, should it be there."""
        run, nodes = self._store.run, self._store.nodes
        nodes.call(lambda: nodes.main.srem(todo_key(run, depth), str(block)))
        return block

    def stepped(self, depth: int, block: int) -> None:
        """Remembers a step that this process has taken."""
        self._stepped.setdefault(depth, {})[block] = None
        for old in [one for one in self._stepped if one < depth - 2]:
            del self._stepped[old]

    def _wishes(self, depth: int) -> Iterator[int]:
        """Blocks that this process has input for, the most first, each once."""
        here, before, two_before = (self._stepped.get(depth - back, {}) for back in range(3))
        asked = dict(here)
        for block in (*two_before, *before, *self._near(before), *self._near(self._near(here))):
            if block not in asked:
                asked[block] = None
                yield block

    def _near(self, blocks: Iterable[int]) -> Iterator[int]:
        for block in blocks:
            yield from self._store.sources_of(block)
