"""Digests of whole maps against committed ones, for every way to compute them."""

import json

import pytest

from farthest import _kernel
from signature.workload import DIGESTS, WORKLOAD, Work

pytestmark = pytest.mark.signature

COMMITTED: dict[str, str] = json.loads(DIGESTS.read_text(encoding="utf-8"))

WAYS = [(threads, isa, 1) for threads in (1, 2, 5) for isa in _kernel.available_isas()]
WAYS += [(2, isa, classes) for isa in _kernel.available_isas() for classes in (2, 3)]


def test_every_work_has_a_digest() -> None:
    assert sorted(COMMITTED) == sorted(work.name for work in WORKLOAD)


@pytest.mark.parametrize(("threads", "isa", "shard_classes"), WAYS)
@pytest.mark.parametrize("work", WORKLOAD, ids=lambda work: work.name)
def test_digest(work: Work, threads: int, isa: str, shard_classes: int) -> None:
    outcome = work.run(threads=threads, isa=isa, shard_classes=shard_classes)
    assert outcome.digest == COMMITTED[work.name]
