"""What a verification found: a check for each thing proved, and the first state that disproves it."""

from dataclasses import asdict, dataclass
from typing import Any


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
