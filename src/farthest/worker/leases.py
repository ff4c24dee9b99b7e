"""Leases of the items of a work: who does them now.

A lease ends by itself soon after its holder stops renewing it.

A lease saves work and never guards data: a step that runs twice changes nothing. So leases may be wrong for a while:
that costs only time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from farthest.errors import StorageError
from farthest.stores.redis.attempts import prefix

if TYPE_CHECKING:
    from farthest.stores.redis.connections import RedisNodes

LONGEST_SECONDS = 60.0
"""No lease lasts longer without renewal, or longer than ten times ``seconds`` if that is more: the setting of the
workers may be so much longer than that of the coordinator."""

# KEYS: lease, what the holder does. ARGV: holder, milliseconds, attempt, depth, item, kind. A lease of the same holder
# is renewed: the client repeats a command when it has not seen the answer. A full Redis renews leases, and gives none.
_TAKE = """
local held = redis.call('GET', KEYS[1])
if held and held ~= ARGV[1] then return 0 end
if held then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  redis.call('PEXPIRE', KEYS[2], ARGV[2])
  return 1
end
local work = {attempt = ARGV[3], depth = tonumber(ARGV[4]), block = tonumber(ARGV[5])}
work.kind = ARGV[6]
work.since = tonumber(redis.call('TIME')[1])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('SET', KEYS[2], cjson.encode(work), 'PX', ARGV[2])
return 1
"""
# KEYS: leases. ARGV: milliseconds. No lease lasts longer than that from now. A server's clock may be set back, and the
# lease of a dead holder would last for that time in addition.
_SHORTEN = """
for _, key in ipairs(KEYS) do
  if redis.call('PTTL', key) > tonumber(ARGV[1]) then redis.call('PEXPIRE', key, ARGV[1]) end
end
return 1
"""
_RELEASE = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1], KEYS[2])
"""


def working_key(holder: str) -> str:
    """The key of what a holder does now: JSON with attempt, depth, block (the item), kind, and since (by
    Redis's clock)."""
    return f"farthest:working:{holder}"


def holder_name(worker: str, pid: int) -> str:
    """The name by which a worker's process holds leases."""
    return f"{worker}/{pid}"


class Leases:
    """The leases of one attempt's work of one kind. They last ``seconds`` from their last renewal. All methods raise
    what ``RedisNodes.errors`` does."""

    def __init__(self, nodes: RedisNodes, attempt: str, kind: str, seconds: float) -> None:
        self.seconds = seconds
        self._kind = kind
        self._nodes = nodes
        self._attempt = attempt
        self._milliseconds = max(1, round(seconds * 1000))
        self._longest = max(10 * self._milliseconds, round(LONGEST_SECONDS * 1000))
        self._take = nodes.main.register_script(_TAKE)
        self._release = nodes.main.register_script(_RELEASE)
        self._shorten = nodes.main.register_script(_SHORTEN)

    def take(self, depth: int, item: int, holder: str) -> bool:
        """Takes or renews the lease unless another holds it. Returns whether ``holder`` has it now."""
        arguments: list[str | int] = [holder, self._milliseconds, self._attempt, depth, item, self._kind]
        with self._nodes.errors():
            return bool(self._take(self._keys(depth, item, holder), arguments))

    def release(self, depth: int, item: int, holder: str) -> None:
        """Ends the lease if ``holder`` has it."""
        with self._nodes.errors():
            self._release(self._keys(depth, item, holder), [holder])

    def held(self, depth: int, items: Sequence[int]) -> dict[int, str]:
        """The holders of the items that are being worked on. Shortens leases that last too long."""
        if not items:
            return {}
        with self._nodes.errors():
            holders: list[Any] = self._nodes.main.mget([self._key(depth, item) for item in items])
            held = {
                item: holder.decode(errors="replace")
                for item, holder in zip(items, holders, strict=True)
                if holder
            }
            if held:
                self._shorten([self._key(depth, item) for item in held], [self._longest])
        return held

    def _key(self, depth: int, item: int) -> str:
        return f"{prefix(self._attempt)}lease:{self._kind}:{depth}:{item}"

    def _keys(self, depth: int, item: int, holder: str) -> list[str]:
        return [self._key(depth, item), working_key(holder)]


@contextmanager
def renewed(leases: Leases, depth: int, item: int, holder: str) -> Iterator[None]:
    """Renews a lease that was taken during the block, and releases it at the end. If Redis cannot be reached, it
    lapses."""
    done = threading.Event()
    heart = threading.Thread(
        target=_renew_until,
        args=(done, leases, depth, item, holder),
        name="farthest-lease",
        daemon=True,
    )
    heart.start()
    try:
        yield
    finally:
        done.set()
        heart.join(leases.seconds)  # it may be waiting for Redis; it does not renew a later lease
        with suppress(StorageError):  # then it ends by itself
            leases.release(depth, item, holder)


def _renew_until(done: threading.Event, leases: Leases, depth: int, item: int, holder: str) -> None:
    while not done.wait(leases.seconds / 3):
        try:
            # A lease that lapsed while this process or Redis was stopped is taken again unless another process has it.
            if not leases.take(depth, item, holder):
                return
        except StorageError:
            continue
