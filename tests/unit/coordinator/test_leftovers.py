"""Keys of runs that have ended, in a real Redis: a coordinator without a job removes them."""

from pathlib import Path
from typing import Any

from farthest.coordinator.attempt import attempt_of
from farthest.coordinator.service import Leftovers
from farthest.coordinator.settings import Settings
from farthest.models.database import open_database
from farthest.models.jobs import Jobs
from farthest.models.leases import owner_token
from farthest.puzzles.catalogue import load
from farthest.spaces import compile_space
from farthest.stores.redis import attempts
from farthest.stores.redis.connections import RedisNodes


def test_keys_of_jobs_that_nobody_runs_are_removed(redis_url: str, tmp_path: Path) -> None:
    nodes, space = RedisNodes([redis_url]), compile_space(load("3-puzzle"))
    with open_database(str(tmp_path / "jobs.db"), create=True) as database:
        jobs, left = Jobs(database), {}
        parameters = Settings().parameters(space.origin)
        for status in ("cancelled", "running", "cancelled just now", "of another database"):
            puzzle = space.puzzle
            fields = space.layout_fields()
            number = jobs.add(puzzle.to_json(), puzzle.digest, puzzle.name, parameters, fields, owner_token())
            name = attempt_of(jobs.get(number)) if "database" not in status else "1-00000000"
            if "cancelled" in status:
                jobs.cancel(number)
            run = left[status] = attempts.new_attempt(name)
            attempts.touch(nodes, run)
            if "just now" not in status:
                nodes.main.zincrby(attempts.ATTEMPTS, -2 * attempts.SEEN_SECONDS, run)
            nodes.main.set(f"{attempts.prefix(run)}meta", "kept")
        leftovers = Leftovers(jobs, nodes)
        leftovers.remove()
    gone = attempts.prefix(left.pop("cancelled"))
    assert nodes.main.keys(f"{gone}*") == []
    known: Any = nodes.main.zrange(attempts.ATTEMPTS, 0, -1)
    assert {name.decode() for name in known} == set(left.values())
    kept: Any = nodes.main.keys("farthest:attempt:*")
    assert len(kept) == 3
    nodes.close()
