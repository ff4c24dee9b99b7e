"""Bytes of databases changed one at a time: what each is, whether `verify` tells it, and whether any answer is wrong.

    .venv/bin/python tests/flips.py 1000 [SEED]

makes so many changes in databases of all kinds of job, half of them anywhere in the file, half in what it uses.
"""

import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from questions import Answer, ask, asked, compared
from sqlite_pages import Pages

KINDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "dense": (("enumerate", "sliding-2x3"), ("enumerate", "3-puzzle")),
    "deep": (("enumerate", "eight-kinds"),),
    "sparse": (("enumerate", "hoppers"),),
    "pattern": (("enumerate", "8-puzzle@1-2"),),
    "search": (
        ("solve", "8-puzzle", "867254301", "--all", "--store"),
        ("solve", "3-puzzle", "21/30", "--algorithm", "bfs", "--store"),
    ),
    "histogram": (("enumerate", "8-puzzle", "--histogram-only"),),
}
"""Kinds of job, and the commands that store them."""


def always(_old: int, _new: int) -> bool:
    """Whatever the byte was and is."""
    return True


UNREAD: dict[str, tuple[str, Callable[[int, int], bool]]] = {
    "free": ("belongs to no cell and no page", always),
    "header: change counter": ("tells other processes that the file has changed", always),
    "header: version valid for": ("the change counter when the file's size was written", always),
    "header: pages": ("0 is none: SQLite asks for the file's size", lambda _, new: new == 0),
    "header: schema cookie": ("tells other connections that the schema has changed", always),
    "header: schema format, not read": ("the upper three of four bytes", always),
    "header: schema format": ("0 to 4 are read alike", lambda _, new: new <= 4),
    "header: cache size": ("a suggestion", always),
    "header: encoding, not read": ("the upper three of four bytes", always),
    "header: encoding": ("all but the lowest two bits", lambda old, new: (old ^ new) & 3 in (0, 1)),
    "header: user version": ("the user's own", always),
    "header: application id": ("the user's own", always),
    "header: for expansion": ("nothing yet", always),
    "header: library version": ("which SQLite wrote last", always),
    "header: write version": (
        "above 2 the file is read but not written, which a command that writes says",
        always,
    ),
    "header: read version": (
        "below 2 the file is in no WAL mode: it is set on opening",
        lambda _, new: new < 2,
    ),
    "sqlite_schema.sql": (
        "names of constraints, letter case, spaces: what SQLite makes of the text is told",
        always,
    ),
    "sqlite_schema: row id": ("any order will do", always),
    "sqlite_sequence: row id": ("any order will do", always),
    "sqlite_sequence.seq": ("a greater number leaves numbers of jobs out", lambda old, new: old < new < 128),
}
"""Labels of bytes whose change need not be told: why, and from what to what. Answers stay the same."""

UNREAD_PARTS: dict[str, tuple[str, Callable[[int, int], bool]]] = {
    ": type of id": (
        "of a column that is the row id itself: of no length, nothing is read",
        lambda _, new: new in (8, 9, 10, 12, 13),
    ),
    ": type of ": ("null by another number", lambda old, new: {old, new} == {0, 10}),
    "verification": (
        "a mark that is not what was stored does not count, and a proof makes a new one",
        always,
    ),
    ": separator": ("of a table's inner pages: any number between its neighbours will do", always),
}
"""The same for all labels that hold these texts."""


def reason(label: str, old: int, new: int) -> str:
    """Why a change of a byte with this label need not be told; empty where it must be."""
    parts = [found for part, found in UNREAD_PARTS.items() if part in label]
    found = [UNREAD[label]] if label in UNREAD else parts
    return next((why for why, holds in found if holds(old, new)), "")


@dataclass(frozen=True)
class Flip:
    """A changed byte and what came of it."""

    kind: str
    place: int
    label: str
    old: int
    new: int
    told: bool
    problem: str

    def __str__(self) -> str:
        told = "told" if self.told else "not told"
        return f"{self.kind} byte {self.place} ({self.label}) {self.old:#04x} to {self.new:#04x}: {told} {self.problem}"


class Subject:
    """The database of a kind of job, its right answers, and what its bytes are."""

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind = kind
        self.file = folder / f"{kind}.db"
        self.copy = folder / "changed.db"
        self.questions: list[list[str]] = [["jobs", "--json"]]
        for number, words in enumerate(KINDS[kind], 1):
            (status, text), problem = ask(words, self.file)
            assert status == 0, (words, text, problem)
            self.questions += asked(self.file, number)
        shutil.copyfile(self.file, self.copy)  # under the name that answers tell
        self.answers = [self._right(words) for words in self.questions]
        self.pages = Pages(self.file)

    def _right(self, words: list[str]) -> Answer:
        answer, problem = ask(words, self.copy)
        assert answer[0] == 0, (words, answer, problem)
        return answer

    def flip(self, place: int, new: int) -> Flip:
        """Changes a byte, asks everything, and judges the answers."""
        for suffix in ("", "-wal", "-shm"):
            self.copy.with_name(self.copy.name + suffix).unlink(missing_ok=True)
        data = bytearray(self.pages.data)
        label, old = self.pages.of[place], data[place]
        data[place] = new
        self.copy.write_bytes(data)
        told, problems = compared(self.copy, self.questions, self.answers)
        if not told and not reason(label, old, new):
            problems.append("verify passes it")
        return Flip(self.kind, place, label, old, new, told, "; ".join(problems))

    def places(self, rng: random.Random) -> Iterator[int]:
        """Bytes to change, by turns: any of the file, and one of a label that is drawn first."""
        by_label: dict[str, list[int]] = {}
        for place, label in enumerate(self.pages.of):
            by_label.setdefault(label, []).append(place)
        labels = sorted(by_label)
        while True:
            yield rng.randrange(len(self.pages.of))
            yield rng.choice(by_label[rng.choice(labels)])


def flips(
    count: int,
    seed: int,
    folder: Path,
    kinds: Sequence[str] = tuple(KINDS),
    done: Callable[[Flip], None] = lambda flip: None,
) -> list[Flip]:
    """So many changes, spread over the kinds of job."""
    rng = random.Random(seed)
    found = []
    for i, kind in enumerate(kinds):
        subject = Subject(kind, folder)
        places = subject.places(rng)
        for _ in range(count * (i + 1) // len(kinds) - count * i // len(kinds)):
            place = next(places)
            old = subject.pages.data[place]
            new = rng.choice([old ^ 1 << rng.randrange(8), rng.randrange(256)])
            found.append(subject.flip(place, new if new != old else old ^ 0xFF))
            done(found[-1])
    return found


def _main() -> None:
    count, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1

    def show(flip: Flip) -> None:
        if flip.problem:
            print(flip, flush=True)

    with tempfile.TemporaryDirectory(prefix="flips-") as folder:
        found = flips(count, seed, Path(folder), done=show)
    unread = Counter(
        f"{flip.label}: {reason(flip.label, flip.old, flip.new)}" for flip in found if not flip.told
    )
    wrong = sum(bool(flip.problem) for flip in found)
    print(
        f"{len(found)} changed bytes (seed {seed}): {sum(flip.told for flip in found)} told by verify, "
        f"{sum(unread.values())} in what nothing reads, {wrong} wrong"
    )
    for line, number in unread.most_common():
        print(f"  {number:5} {line}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    _main()
