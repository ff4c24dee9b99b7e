"""What a verification found: a check for each thing proved, and the first state that disproves it."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from farthest.puzzles.puzzle import Puzzle
from farthest.verify.ranking import Distances
from farthest.verify.rows import Facts, compare_facts


@dataclass(frozen=True, slots=True)
class BadState:
    """A state whose stored distance is wrong or disagrees with those of its neighbours, or whose row is wrong.

    ``distance`` is the map's, None where the map says unreachable. ``neighbours`` are the boards one move away in the
    direction of the origin, each with its stored distance.
    """

    key: int
    board: str
    distance: int | None
    neighbours: tuple[tuple[str, int | None], ...]

    def __str__(self) -> str:
        around = ", ".join(f"{board} at {_words(distance)}" for board, distance in self.neighbours)
        return (
            f"key {self.key}, board {self.board}: stored distance {_words(self.distance)}; "
            f"one move toward the origin: {around or 'none'}"
        )


@dataclass(frozen=True, slots=True)
class ForwardState(BadState):
    """The same, with the states that follow it as ``neighbours``: one move farther from the origin."""

    def __str__(self) -> str:
        after = ", ".join(f"{board} at {_words(distance)}" for board, distance in self.neighbours)
        return (
            f"key {self.key}, board {self.board}: stored distance {_words(self.distance)}; "
            f"one move farther from the origin: {after or 'none'}"
        )


@dataclass(frozen=True, slots=True)
class Check:
    """One property of the map: how many states or values were checked, and how many are wrong.

    ``detail`` says what was found, in words. ``first`` is the bad state with the smallest key, if the property is one
    of states.
    """

    name: str
    proves: str
    checked: int
    failed: int
    detail: str = ""
    first: BadState | None = None

    @property
    def ok(self) -> bool:
        return self.failed == 0

    @property
    def note(self) -> str:
        """Why nothing was checked, where users should know."""
        return self.detail if self.checked == 0 and self.ok else ""


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of verifying one map.

    ``keys`` is the size of the key range, or a sparse map's number of states; ``arrangements`` the number of all
    arrangements of the pieces, or another upper bound of the states, ``states`` how many of them the map reaches,
    ``layers`` how many at each distance; ``total`` compares states with arrangements in words. Where a check of the
    layout or the length failed, the states were not checked: ``layers`` is empty and ``digest`` is "". ``unproved``:
    why the distances were not checked against the moves (a user's class that may not run); empty where they were.
    """

    puzzle: str
    origin: str
    keys: int
    arrangements: int
    states: int
    layers: tuple[int, ...]
    total: str
    digest: str
    seconds: float
    checks: tuple[Check, ...]
    unproved: str = ""

    @property
    def ok(self) -> bool:
        return not self.unproved and not self.failures

    @property
    def failures(self) -> tuple[Check, ...]:
        return tuple(check for check in self.checks if not check.ok)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON-able values, with ``ok`` for the whole and for each check."""
        document = {"ok": self.ok, **asdict(self)}
        document["checks"] = [{"ok": check.ok, **asdict(check)} for check in self.checks]
        return document


def _words(distance: int | None) -> str:
    return "unreachable" if distance is None else str(distance)


# --- Checks that every proof makes: layers, digest, job, known answers; and what each check proves.

Progress = Callable[[int, int], None]
"""Called with (keys checked, all keys)."""

CHUNK_KEYS = 2**19
"""Keys that a digest in the map's own is of."""

PROVES = {
    "file": "SQLite finds every page, index and reference of the database file whole",
    "record": "the job's row and all rows that belong to it are those that were stored",
    "layout": "the key layout is one of the puzzle's, and moves and origins stay within its keys",
    "length": "every key has a stored distance",
    "codes": "every state's code is that of its board",
    "origin": "the distance is 0 exactly at the origin",
    "nearer": "every other reached state has a neighbour nearer to the origin",
    "jump": "no neighbour is nearer by more than one",
    "closed": "no reached state has an unreached successor",
    "blocks": "moves of blocks of keys are those of the plain model, by samples of every block and some whole blocks",
    "residues": "each neighbour of a state is one nearer, as near, or has the residue of one farther",
    "unreached": "no key that is not reached has a residue that a reached one could have",
    "recount": "every distance is that of a second search, without the kernel",
    "depth": "no distance exceeds the depth that the map includes",
    "layers": "the stored number of states of each layer is that of the map",
    "digest": "the stored digest is that of the map",
    "job": "the job's states, eccentricity, depth and unit are those of the map",
    "rows": "the readable rows are states of the map with its boards and distances: all, or the last layer's first",
    "solutions": "each listed solution leads from the board to the target; all have one length, none is listed twice",
    "result": "nodes and the number of listed solutions are those of the iterations and the solutions",
    "known": "states, eccentricity, layers, farthest boards and the nearest goal equal the known answers",
}


def make_check(
    name: str, checked: int, failed: int, detail: str = "", first: BadState | None = None
) -> Check:
    """A check with the words for what it proves."""
    return Check(name, PROVES[name], checked, failed, detail, first)


def map_digest(layers: Sequence[int], distances: Distances, stored: str | None = None) -> str:
    """The digest of a dense map: of its layer counts, its unit, and the SHA-256 of each of its chunks.

    Older versions stored a digest of the distances themselves. Where ``stored`` is that of this map, it is given. Both
    cover the same and differ in their first line, so a map that is not what was stored has neither.
    """
    counts = " ".join(map(str, layers))
    data = np.ascontiguousarray(distances, dtype=distances.dtype.newbyteorder("<")).data.cast("B")
    size = CHUNK_KEYS * distances.dtype.itemsize
    whole = hashlib.sha256(f"farthest map 2\n{counts}\n{distances.dtype.name}\n".encode("ascii"))
    for first in range(0, len(data), size):
        whole.update(f"{hashlib.sha256(data[first : first + size]).hexdigest()}\n".encode("ascii"))
    found = whole.hexdigest()
    if stored is None or stored == found:
        return found
    older = hashlib.sha256(f"farthest map 1\n{counts}\n{distances.dtype.name}\n".encode("ascii"))
    older.update(data)
    return stored if stored == older.hexdigest() else found


def compare_layers(counts: tuple[int, ...], stored: tuple[int, ...]) -> Check:
    """Compares the stored layers with those that were found."""
    length = max(len(counts), len(stored))
    found, expected = (list(values) + [0] * (length - len(values)) for values in (counts, stored))
    wrong = [d for d in range(length) if found[d] != expected[d]]
    detail = f"depth {wrong[0]}: stored {expected[wrong[0]]:,}, found {found[wrong[0]]:,}" if wrong else ""
    return make_check("layers", length, len(wrong), detail)


def compare_digest(found: str, stored: str) -> Check:
    """Compares the stored digest with the one that was found."""
    same = stored == found
    return make_check("digest", 1, int(not same), "" if same else f"stored {stored}, found {found}")


def check_facts(facts: Facts, counts: Sequence[int], unit: str, *, complete: bool) -> Check:
    """Compares the stored figures of the job with those that were found."""
    differing = compare_facts(facts, counts, unit, complete)
    return make_check("job", len(fields(Facts)), len(differing), "; ".join(differing))


def compare_known(
    puzzle: Puzzle,
    counts: tuple[int, ...],
    last_boards: Callable[[int], list[str]],
    nearest_goal: Callable[[], int | None],
) -> Check:
    """Compare with every known answer; a difference is reported with the source of the known answer.

    ``last_boards``: gives that many boards of the last layer, or all if there are fewer. ``nearest_goal``: the least
    distance of a goal.
    """
    wrong: list[str] = []
    compared = 0
    for known in puzzle.known:
        farthest = known.farthest and sorted(known.farthest)
        last: list[str] = []
        if farthest and counts:
            last = sorted(last_boards(len(farthest) + 1))
        for what, expected, found in (
            ("states", known.states, sum(counts)),
            ("eccentricity", known.eccentricity, len(counts) - 1),
            ("layers", known.layers, counts),
            ("farthest boards", farthest, last),
            ("nearest goal", known.goal, None if known.goal is None else nearest_goal()),
        ):
            if expected is None or expected == ():
                continue
            compared += 1
            if expected != found:
                wrong.append(f"{what}: found {found}, but {known.source} has {expected}")
    return make_check("known", compared, len(wrong), "; ".join(wrong))
