"""Checks of finished jobs without a map: a search by replaying its solutions, a histogram by its figures.

They prove less than the checks of a map: they prove that the solutions are solutions, all of one length, and that the
result is what was stored, but not that there is no shorter solution, nor that the counts of the layers are right.
"""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from farthest.verify.report import PROVES, Check, Report
from farthest.verify.rows import Facts, compare_facts

Moves = Sequence[Any]
Play = Callable[[Moves], bool]
"""Whether moves lead from the board to a target. Raises ValueError where one cannot be made."""


def verify_search(
    puzzle: str,
    asked: dict[str, Any],
    result: dict[str, Any],
    iterations: Sequence[tuple[int, int]],
    paths: Sequence[Moves],
    play: Play,
    *,
    digest: str | None,
    kept: Sequence[Check],
) -> Report:
    """The report of a search. ``asked``, ``result``: of its job. ``iterations``: bound and nodes of each. ``kept``: the
    checks of the stored job."""
    started = time.perf_counter()
    length, solutions = result.get("length"), result.get("solutions")
    found_digest = _search_digest(length, solutions, iterations, paths)
    wrong = [text for path in paths if (text := _problem(path, length, play))]
    if len({json.dumps(path) for path in paths}) != len(paths):
        wrong.append("a solution is listed twice")
    facts = []
    if iterations and result.get("nodes") != sum(nodes for _, nodes in iterations):
        facts.append("nodes: not those of the iterations")
    most = asked.get("limit") if asked.get("all") else 1
    if not isinstance(solutions, int) or not isinstance(most, int) or len(paths) != min(solutions, most):
        facts.append(f"solutions: {solutions} with {len(paths)} listed")
    checks = (
        *kept,
        _check("solutions", len(paths), len(wrong), "; ".join(wrong[:3])),
        _check("result", 2, len(facts), "; ".join(facts)),
        _digest_check(found_digest, digest),
    )
    return Report(
        puzzle=puzzle,
        origin=f"{asked.get('board')} to {asked.get('target')}",
        keys=0,
        arrangements=0,
        states=0,
        layers=(),
        total=f"{len(paths):,} listed solutions were played; that none is shorter is not proved",
        digest=found_digest,
        seconds=time.perf_counter() - started,
        checks=checks,
    )


def verify_layers(
    puzzle: str,
    origin: str,
    layers: Sequence[int],
    facts: Facts,
    rows: Sequence[tuple[int, int, str]],
    *,
    complete: bool,
    digest: str | None,
    kept: Sequence[Check],
) -> Report:
    """The report of an enumeration that keeps only the number of states of each layer. ``rows``: its readable rows,
    which are boards of the last layer."""
    started = time.perf_counter()
    counts = " ".join(map(str, layers))
    found_digest = hashlib.sha256(f"farthest layers 1\n{counts}\n".encode()).hexdigest()
    differing = compare_facts(facts, layers, "", complete) if layers else ["there are no layers"]
    last = len(layers) - 1
    bad = [f"the row of key {key}" for key, distance, _ in rows if distance != last]
    if layers and (len(rows) > layers[-1] or len({board for _, _, board in rows}) != len(rows)):
        bad.append("there are more rows than states, or two of one board")
    checks = (
        *kept,
        _check("job", 3, len(differing), "; ".join(differing)),
        _digest_check(found_digest, digest),
        Check(
            "rows",
            "the readable rows are different boards of the last layer",
            len(rows),
            len(bad),
            "; ".join(bad[:3]),
        ),
    )
    return Report(
        puzzle=puzzle,
        origin=origin,
        keys=0,
        arrangements=0,
        states=sum(layers),
        layers=tuple(layers),
        total=f"{sum(layers):,} states, of which no map was kept; they are not proved",
        digest=found_digest,
        seconds=time.perf_counter() - started,
        checks=checks,
    )


def _problem(path: Moves, length: int | None, play: Play) -> str:
    """What is wrong with a solution, if anything."""
    if len(path) != length:
        return f"a solution of {len(path)} moves, expected {length}"
    try:
        return "" if play(path) else "a solution does not lead to the target"
    except ValueError as error:
        return f"a solution cannot be played: {error}"


def _search_digest(
    length: int | None, solutions: int | None, iterations: Sequence[tuple[int, int]], paths: Sequence[Moves]
) -> str:
    """SHA-256 (hex) of what a search found (docs/chunk-format.md)."""
    said = json.dumps(
        [length, solutions, [list(one) for one in iterations], list(paths)], separators=(",", ":")
    )
    return hashlib.sha256(f"farthest search 1\n{said}".encode()).hexdigest()


def _digest_check(found: str, stored: str | None) -> Check:
    same = found == stored
    return _check("digest", 1, int(not same), "" if same else f"stored {stored}, found {found}")


def _check(name: str, checked: int, failed: int, detail: str) -> Check:
    return Check(name, PROVES[name], checked, failed, detail)
