"""Digests of whole maps against committed ones, for every way to compute them."""

import json
from pathlib import Path
from typing import Any

import pytest

from farthest import _kernel
from farthest.puzzles.catalogue import load
from farthest.spaces import compile_space
from signature.renew import renew
from signature.workload import DIGESTS, WORKLOAD, Work

pytestmark = pytest.mark.signature

COMMITTED: dict[str, str] = json.loads(DIGESTS.read_text(encoding="utf-8"))

WAYS = [(threads, isa, classes) for isa in _kernel.available_isas() for threads, classes in ((1, 1), (2, 3))]
WAYS.append((5, "", 2))


def test_every_work_has_a_digest() -> None:
    assert sorted(COMMITTED) == sorted(work.name for work in WORKLOAD)


def cases() -> list[Any]:
    """Spaces given by their successors have neither instruction sets nor classes of shards."""
    found = []
    for work in WORKLOAD:
        scattered = compile_space(load(work.puzzle)).engine == "scatter"
        for way in [(1, "", 1), (2, "", 1)] if scattered else WAYS:
            found.append(pytest.param(work, *way, id="-".join(map(str, [work.name, *way]))))
    return found


@pytest.mark.parametrize(("work", "threads", "isa", "shard_classes"), cases())
def test_digest(work: Work, threads: int, isa: str, shard_classes: int) -> None:
    outcome = work.run(threads=threads, isa=isa, shard_classes=shard_classes)
    assert outcome.digest == COMMITTED[work.name]


def test_renewing_tells_what_changed(tmp_path: Path) -> None:
    file = tmp_path / "digests.json"
    file.write_text(json.dumps({"3-puzzle": "0", "lozenge": COMMITTED["lozenge"], "former": "1"}))
    assert renew(file, [Work("3-puzzle"), Work("roundabout", "to"), Work("lozenge")]) == [
        f"3-puzzle: 0 -> {COMMITTED['3-puzzle']}",
        f"roundabout to goal: new, {COMMITTED['roundabout to goal']}",
        "former: gone",
    ]
    names = ("3-puzzle", "roundabout to goal", "lozenge")
    assert json.loads(file.read_text()) == {name: COMMITTED[name] for name in names}
    assert renew(file, [Work("3-puzzle"), Work("roundabout", "to"), Work("lozenge")]) == []
