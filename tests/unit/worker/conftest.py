"""Redis without keys, and runs in it. The blobs are on two nodes: two databases of one server."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import scatter_cases
from farthest.stores.redis import attempts
from farthest.stores.redis.gather_attempt import GatherAttempt
from run_cases import Nodes, begin_run
from store_cases import Case

Begin = Callable[..., GatherAttempt]


@pytest.fixture
def connect(redis_url: str) -> Iterator[Callable[..., Nodes]]:
    """Makes connections, as one process has them; ``times``: see Nodes."""
    made: list[Nodes] = []

    def connect_again(times: int = 1) -> Nodes:
        made.append(Nodes([redis_url, redis_url.removesuffix("/0") + "/1"], times))
        return made[-1]

    yield connect_again
    for nodes in made:
        nodes.close()


@pytest.fixture
def spaces_of_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers can make the spaces of scatter_cases, too."""
    monkeypatch.setattr(attempts, "compile_space", scatter_cases.compiled)


@pytest.fixture
def nodes(connect: Callable[..., Nodes]) -> Nodes:
    return connect()


@pytest.fixture
def begin(nodes: Nodes) -> Iterator[Begin]:
    """Begins runs (see ``begin_run``) over ``nodes``, or others, and drops them at the end."""
    made: list[GatherAttempt] = []

    def begin_one(of: Case, over: Nodes | None = None, per_block: int = 2, **kept: Any) -> GatherAttempt:
        made.append(begin_run(of, over or nodes, per_block=per_block, **kept))
        return made[-1]

    yield begin_one
    for run in made:
        run.drop()
