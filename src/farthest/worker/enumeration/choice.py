"""Which block a worker's process steps next: of those that nobody has begun, one whose input it has in memory.

A message names a block, but a process that has a message may take any block of the layer's *to-do set*: the blocks that
were sent and not begun. A process that stepped a block two layers ago still has the states to be subtracted now, and
one that stepped its neighbours has its frontier. A wrong choice costs only time; a block that was taken and not stepped
is sent again, by name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from farthest.stores.redis.attempts import prefix
from farthest.stores.redis.records import numbers

if TYPE_CHECKING:
    from farthest.stores.redis.attempt_steps import AttemptSteps
    from farthest.stores.redis.connections import RedisNodes
    from farthest.stores.redis.records import WorkKind

WISHES = 64
"""Most blocks that are named in one request."""

_TAKE = """
for i = 1, #ARGV do
  if redis.call('SREM', KEYS[1], ARGV[i]) == 1 then return ARGV[i] end
end
return redis.call('SPOP', KEYS[1])
"""


def todo_key(attempt: str, depth: int, kind: WorkKind = "step") -> str:
    """The set of the layer's blocks, or of the map's parts, that were sent and not begun."""
    return f"{prefix(attempt)}todo:{'part:' if kind == 'part' else ''}{depth}"


def offer(nodes: RedisNodes, attempt: str, depth: int, items: Iterable[int], kind: WorkKind = "step") -> None:
    """Makes the to-do set of a layer, in place of that of the layer before, or of a map."""
    key = todo_key(attempt, depth, kind)
    pipe = nodes.main.pipeline()
    pipe.delete(todo_key(attempt, depth - 1, kind), key)
    pipe.sadd(key, *map(str, items))
    nodes.call(pipe.execute)


class PartChoice:
    """The parts that one process makes: neighbours, as they have blocks in common."""

    def __init__(self, nodes: RedisNodes, attempt: str) -> None:
        self._nodes = nodes
        self._attempt = attempt
        self._take = nodes.main.register_script(_TAKE)
        self._last = -1

    def next(self, depth: int, named: int, again: bool) -> int:
        """A part to make, taken from the to-do set: the one after the last, or any; ``named``, the one in the message,
        where that was sent ``again`` or the set is empty."""
        key = todo_key(self._attempt, depth, "part")
        if again:
            self._nodes.call(lambda: self._nodes.main.srem(key, str(named)))
            taken = None
        else:
            wishes = [str(self._last + 1)]
            taken = self._nodes.call(lambda: self._take(keys=[key], args=wishes))
        self._last = named if taken is None else numbers([taken], key)[0]
        return self._last


class Choice:
    """The choices of one process, for one attempt."""

    def __init__(self, store: AttemptSteps[Any]) -> None:
        self._store = store
        self._take = store.nodes.main.register_script(_TAKE)
        self._stepped: dict[int, dict[int, None]] = {}  # by depth, in the order in which they were stepped
        self._depth = -1
        self._wishes: dict[int, None] = {}  # for that depth, the blocks with the most input in memory first

    def next(self, depth: int, named: int) -> int:
        """A block to step, taken from the to-do set; ``named``, the one in the message, where that set is empty."""
        attempt, nodes = self._store.attempt, self._store.nodes
        self._wish(depth)
        wishes = list(islice(self._wishes, WISHES))
        taken = nodes.call(
            lambda: self._take(keys=[todo_key(attempt, depth)], args=[str(wish) for wish in wishes])
        )
        chosen = named if taken is None else numbers([taken], todo_key(attempt, depth))[0]
        for wish in wishes:  # other processes have taken those before the one that was given, or all
            del self._wishes[wish]
            if wish == chosen:
                break
        return chosen

    def named(self, depth: int, block: int) -> int:
        """Takes ``block``, which was sent again by name, out of the to-do set if it is there, and returns it."""
        attempt, nodes = self._store.attempt, self._store.nodes
        nodes.call(lambda: nodes.main.srem(todo_key(attempt, depth), str(block)))
        return block

    def stepped(self, depth: int, block: int) -> None:
        """Remembers a step that this process has taken."""
        self._stepped.setdefault(depth, {})[block] = None
        for old in [one for one in self._stepped if one < depth - 2]:
            del self._stepped[old]

    def _wish(self, depth: int) -> None:
        """Fills the list of wishes, with each block once: at a new depth the blocks that this process has input for,
        later those near the block that it stepped last."""
        here, before, two_before = (self._stepped.get(depth - back, {}) for back in range(3))
        if depth != self._depth:
            self._depth = depth
            self._wishes = dict.fromkeys((*two_before, *before, *self._near(before)))
        if not self._wishes:
            last = list(here)[-1:]
            self._wishes = dict.fromkeys(one for one in self._near(self._near(last)) if one not in here)

    def _near(self, blocks: Iterable[int]) -> Iterator[int]:
        for block in blocks:
            yield from self._store.sources_of(block)
