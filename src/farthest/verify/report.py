"""The report of a verification: a check for each thing proved, and the first state that disproves it.

Every proof makes its report with a ``Proof``, which compares what is stored beside the distances: layers, digest,
facts, readable rows, known answers. Finished jobs without a map are checked here as well, a search by replaying its
solutions, a histogram by its figures. That shows that the solutions are solutions, all of one length, and that the
result is what was stored, but not that there is no shorter solution, nor that the counts of the layers are right.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from farthest.puzzles.puzzle import Origin, Puzzle
from farthest.verify.rows import Facts, Rows, RowsFinding, compare_facts


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
    where: ClassVar[str] = "toward the origin"

    def __str__(self) -> str:
        around = ", ".join(f"{board} at {_words(distance)}" for board, distance in self.neighbours)
        return (
            f"key {self.key}, board {self.board}: stored distance {_words(self.distance)}; "
            f"one move {self.where}: {around or 'none'}"
        )


@dataclass(frozen=True, slots=True)
class ForwardState(BadState):
    """A bad state whose ``neighbours`` are the states that follow it, one move farther from the origin."""

    where = "farther from the origin"


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
        """Whether nothing is wrong."""
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
        """Whether all was checked, and nothing is wrong."""
        return not self.unproved and not self.failures

    @property
    def failures(self) -> tuple[Check, ...]:
        """The checks that found something wrong."""
        return tuple(check for check in self.checks if not check.ok)

    def to_json(self) -> dict[str, Any]:
        """The report as JSON-able values, with ``ok`` for the whole and for each check."""
        document = {"ok": self.ok, **asdict(self)}
        document["checks"] = [{"ok": check.ok, **asdict(check)} for check in self.checks]
        return document


def _words(distance: int | None) -> str:
    return "unreachable" if distance is None else str(distance)


PROVES = {
    "file": "SQLite finds every page, index and reference of the database file whole",
    "record": "the job's row and all rows that belong to it are those that were stored",
    "layout": "the key layout is one of the puzzle's, and moves and origins stay within its keys",
    "length": "every key has a stored distance",
    "codes": "every state's code is that of its board",
    "symmetries": "each symmetry takes the successors of a board to those of its image, and the origin to itself",
    "classes": "boards and their successors are images of the board of their code",
    "members": "each code stands for as many states as boards have it that symmetries make of its own",
    "complete": "all codes together stand for as many states as there are",
    "reached": "as many states are reached as the moves' group takes the origin to",
    "alike": "boards that symmetries take to each other have one distance",
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


@dataclass(frozen=True, slots=True)
class Stored:
    """A job with a map, and what is stored of it besides the distances; None is not compared.

    ``depth``: the last layer of a map that stops there though more may be reachable, None for a complete map. ``rows``:
    the readable rows (key, distance, board) in key order, read once the distances are proved.
    """

    puzzle: Puzzle
    layout: Mapping[str, Any]
    origin: Origin
    layers: Sequence[int] | None = None
    digest: str | None = None
    depth: int | None = None
    facts: Facts | None = None
    rows: Rows | None = None


class Proof:
    """A proof under way. ``counts``: the states of each layer; the rest as in Report."""

    def __init__(self, puzzle: str, origin: str) -> None:
        self._started = time.perf_counter()
        self._puzzle = puzzle
        self._origin = origin
        self.checks: list[Check] = []
        self.counts: tuple[int, ...] = ()
        self.keys = self.arrangements = 0
        self.digest = self.unproved = ""

    def check(
        self,
        name: str,
        checked: int,
        failed: int = 0,
        detail: str = "",
        first: BadState | None = None,
        proves: str = "",
    ) -> bool:
        """Adds a check; whether it is right."""
        self.checks.append(Check(name, proves or PROVES[name], checked, failed, detail, first))
        return not failed

    def compare(self, stored: Stored, unit: str) -> None:
        """Compares layers, digest and facts with those that were found, a map of a unit."""
        if stored.layers is not None:
            length = max(len(self.counts), len(stored.layers))
            found, expected = (
                [*counts, *[0] * (length - len(counts))] for counts in (self.counts, stored.layers)
            )
            wrong = [d for d in range(length) if found[d] != expected[d]]
            detail = (
                f"depth {wrong[0]}: stored {expected[wrong[0]]:,}, found {found[wrong[0]]:,}" if wrong else ""
            )
            self.check("layers", length, len(wrong), detail)
        if stored.digest is not None:
            self.compare_digest(stored.digest)
        if stored.facts is not None:
            differing = compare_facts(stored.facts, self.counts, unit, stored.depth is None)
            self.check("job", len(fields(Facts)), len(differing), "; ".join(differing))

    def compare_digest(self, stored: str | None) -> None:
        """Compares the stored digest with the one that was found."""
        same = self.digest == stored
        self.check("digest", 1, int(not same), "" if same else f"stored {stored}, found {self.digest}")

    def rows(self, found: RowsFinding, first: BadState | None = None) -> None:
        """Adds what was found of the readable rows."""
        self.check("rows", found.checked, found.failed, found.detail, first)

    def compare_known(
        self,
        stored: Stored,
        last_boards: Callable[[int], list[str]],
        nearest_goal: Callable[[], int | None],
    ) -> None:
        """Compares a complete map with every known answer; a difference is told with the source of the known answer.

        ``last_boards``: gives that many boards of the last layer, or all if there are fewer. ``nearest_goal``: the
        least distance of a goal.
        """
        if stored.depth is not None or stored.origin != stored.puzzle.origin or not stored.puzzle.known:
            return
        wrong: list[str] = []
        compared = 0
        for known in stored.puzzle.known:
            farthest = known.farthest and sorted(known.farthest)
            last: list[str] = []
            if farthest and self.counts:
                last = sorted(last_boards(len(farthest) + 1))
            for what, expected, found in (
                ("states", known.states, sum(self.counts)),
                ("eccentricity", known.eccentricity, len(self.counts) - 1),
                ("layers", known.layers, self.counts),
                ("farthest boards", farthest, last),
                ("nearest goal", known.goal, None if known.goal is None else nearest_goal()),
            ):
                if expected is None or expected == ():
                    continue
                compared += 1
                if expected != found:
                    wrong.append(f"{what}: found {found}, but {known.source} has {expected}")
        self.check("known", compared, len(wrong), "; ".join(wrong))

    def report(self, total: str) -> Report:
        """What was found. ``total``: see Report."""
        return Report(
            puzzle=self._puzzle,
            origin=self._origin,
            keys=self.keys,
            arrangements=self.arrangements,
            states=sum(self.counts),
            layers=self.counts,
            total=total,
            digest=self.digest,
            seconds=time.perf_counter() - self._started,
            checks=tuple(self.checks),
            unproved=self.unproved,
        )

    def wrong_layout(self, error: str) -> Report:
        """The report where the key layout is none of the puzzle's."""
        self.check("layout", 1, 1, error)
        return self.report("not counted: the key layout is wrong")


Moves = Sequence[Any]


def verify_search(
    puzzle: str,
    asked: Mapping[str, Any],
    result: Mapping[str, Any],
    iterations: Sequence[tuple[int, int]],
    paths: Sequence[Moves],
    play: Callable[[Moves], bool],
    digest: str | None,
) -> Report:
    """The report of a search. ``asked``, ``result``: of its job. ``iterations``: bound and nodes of each. ``play``:
    whether moves lead from the board to a target; raises ValueError where one cannot be made."""
    proof = Proof(puzzle, f"{asked.get('board')} to {asked.get('target')}")
    length, solutions = result.get("length"), result.get("solutions")
    wrong = [text for path in paths if (text := _problem(path, length, play))]
    if len({json.dumps(path) for path in paths}) != len(paths):
        wrong.append("a solution is listed twice")
    proof.check("solutions", len(paths), len(wrong), "; ".join(wrong[:3]))
    facts = []
    if iterations and result.get("nodes") != sum(nodes for _, nodes in iterations):
        facts.append("nodes: not those of the iterations")
    most = asked.get("limit") if asked.get("all") else 1
    if not isinstance(solutions, int) or not isinstance(most, int) or len(paths) != min(solutions, most):
        facts.append(f"solutions: {solutions} with {len(paths)} listed")
    proof.check("result", 2, len(facts), "; ".join(facts))
    found = [length, solutions, [list(one) for one in iterations], list(paths)]
    said = json.dumps(found, separators=(",", ":"))
    proof.digest = hashlib.sha256(f"farthest search 1\n{said}".encode()).hexdigest()
    proof.compare_digest(digest)
    return proof.report(f"{len(paths):,} listed solutions were played; that none is shorter is not proved")


def _problem(path: Moves, length: int | None, play: Callable[[Moves], bool]) -> str:
    """What is wrong with a solution, if anything."""
    if len(path) != length:
        return f"a solution of {len(path)} moves, expected {length}"
    try:
        return "" if play(path) else "a solution does not lead to the target"
    except ValueError as error:
        return f"a solution cannot be played: {error}"


def verify_layers(
    puzzle: str,
    origin: str,
    layers: Sequence[int],
    facts: Facts,
    rows: Sequence[tuple[int, int, str]],
    *,
    complete: bool,
    digest: str | None,
) -> Report:
    """The report of an enumeration that keeps only the number of states of each layer. ``rows``: its readable rows,
    which are boards of the last layer."""
    proof = Proof(puzzle, origin)
    proof.counts = tuple(layers)
    differing = compare_facts(facts, layers, "", complete) if layers else ["there are no layers"]
    proof.check("job", 3, len(differing), "; ".join(differing))
    counts = " ".join(map(str, layers))
    proof.digest = hashlib.sha256(f"farthest layers 1\n{counts}\n".encode()).hexdigest()
    proof.compare_digest(digest)
    bad = [f"the row of key {key}" for key, distance, _ in rows if distance != len(layers) - 1]
    if layers and (len(rows) > layers[-1] or len({board for _, _, board in rows}) != len(rows)):
        bad.append("there are more rows than states, or two of one board")
    proves = "the readable rows are different boards of the last layer"
    proof.check("rows", len(rows), len(bad), "; ".join(bad[:3]), proves=proves)
    return proof.report(f"{sum(layers):,} states, of which no map was kept; they are not proved")
