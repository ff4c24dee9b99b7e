"""What runs during a soak: enumerations and searches of every engine, and what each must give."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from click.testing import CliRunner

import small_pieces
from farthest.cli.app import cli

Kind = Literal["submitted", "search", "local"]
"""Run by coordinators and workers; a command that lets workers search; a command that does all by itself."""

PIECE_SECONDS = {"search": 0.03, "local": 0.02}
"""How much longer each piece of a search takes, by kind."""
MOST_PIECES = 2000
"""Of a search, so that it takes half a minute. The board that a seed gives may be another one in another version."""
LAYER_SECONDS = 0.15
"""How much longer each layer takes of an enumeration in one process."""
PYTHON = 'name = "{}"\nfamily = "python"\n[python]\nclass = "python_spaces:{}"\n{}'


@dataclass(frozen=True)
class Workload:
    """One command. ``engine``: what the report counts it as."""

    kind: Kind
    engine: str
    words: tuple[str, ...]
    seed: int | None = None  # of the board that is searched

    @property
    def name(self) -> str:
        return " ".join((*self.words, *(() if self.seed is None else (f"({self.seed})",))))

    @property
    def searches(self) -> bool:
        return self.words[0] == "solve"


@dataclass(frozen=True)
class Expected:
    """What a command says at its end when nothing disturbs it: what must be the same however it is disturbed."""

    command: tuple[str, ...]
    answer: dict[str, Any] = field(hash=False)


def _submitted(engine: str, *puzzles: str) -> list[Workload]:
    return [Workload("submitted", engine, ("enumerate", *puzzle.split())) for puzzle in puzzles]


def _local(engine: str, *puzzles: str) -> list[Workload]:
    return [Workload("local", engine, ("enumerate", *puzzle.split())) for puzzle in puzzles]


def _searched(engine: str, seed: int, *words: str) -> list[Workload]:
    kinds: tuple[Kind, ...] = ("search", "local")
    return [Workload(kind, engine, ("solve", *words, "--store"), seed) for kind in kinds]


WORKLOADS: tuple[Workload, ...] = (
    *_submitted("gather: sliding", "8-puzzle", "8-puzzle-slide", "eight-kinds", "two-blanks", "sliding-2x5"),
    *_submitted("gather: sliding", "first-row", "8-puzzle --from start", "sliding-2x5-slide"),
    *_submitted("gather: permutation", "pancake-8", "pancake-9", "lrx-8", "topspin-8-4"),
    *_submitted("gather: permutation", "cube-2x2x2-htm --max-depth 7", "hungarian-rings-small"),
    *_submitted("gather: pegs", "pegs-triangle-15"),
    *_submitted("scatter, dense", "hanoi-4-6", "hanoi-4-8", "lights-4x4", "lights-3x3-c3", "jugs-8-5-3"),
    *_submitted("scatter, dense", "PARALLEL", "RING"),
    *_submitted("scatter, sparse", "rush-hour-51", "rush-hour-60", "pennant"),
    *_submitted("scatter, sparse", "hoppers", "SPARSE", "WIDE", "WORDS", "FROGS"),
    *_submitted("histogram alone", "sliding-2x5 --histogram-only", "hanoi-4-8 --histogram-only"),
    *_submitted("histogram alone", "rush-hour-51 --histogram-only"),
    *_submitted("limited depth", "sliding-2x5 --max-depth 30", "hakoiri-musume-step --max-depth 60"),
    *_submitted("limited depth", "hanoi-4-8 --max-depth 20"),
    *_local("gather, one process", "8-puzzle", "sliding-2x5", "pancake-9", "cube-2x2x2-htm"),
    *_local("scatter, one process", "hanoi-4-8", "hakoiri-musume-step", "SPARSE", "WIDE", "rush-hour-60"),
    *_local("pattern, one process", "15-puzzle@1-5", "15-puzzle@11-15"),
    *_searched("search: sliding", 0, small_pieces.PUZZLE, "--heuristic", "manhattan", "--all"),
    *_searched("search: sliding", 0, small_pieces.PUZZLE, "--heuristic", "manhattan"),
    *_searched("search: arrangement", 3, "topspin-9-4", "--heuristic", "zero", "--all"),
    *_searched("search: arrangement", 1, "pyraminx", "--heuristic", "zero", "--all"),
    *_searched("search: arrangement", 5, "pancake-8", "--heuristic", "zero", "--all"),
    *_searched("search: batches", 3, "lights-4x4", "--heuristic", "zero"),
    *_searched("search: batches", 4, "lights-3x3-c3", "--heuristic", "zero"),
    *_searched("search: batches", 2, "hanoi-4-5", "--algorithm", "iddfs", "--all"),
)

SPACES = {
    "PARALLEL": "n = 120",
    "RING": "n = 200",
    "SPARSE": "",
    "WIDE": "",
    "WORDS": "",
    "FROGS": "each = 5",
}


def write_spaces(folder: Path) -> dict[str, str]:
    """Writes the puzzle files of Python's classes; their paths by the names that stand for them above."""
    files = {}
    for name, options in SPACES.items():
        file = folder / f"{name.lower()}.toml"
        text = f"options = {{ {options} }}\n" if options else ""
        file.write_text(PYTHON.format(name.lower(), name.capitalize(), text))
        files[name] = str(file)
    return files


def expected(workload: Workload, files: dict[str, str], database: Path) -> Expected:
    """Runs a workload in this process, undisturbed. The searches of this process must have been cut smaller."""
    words = [files.get(word, word) for word in workload.words]
    if workload.searches:
        words.insert(2, small_pieces.BOARD if not workload.seed else _board(words[1], workload.seed))
    said = _run([*words, "--json", "--database", str(database)])
    found = answer(json.loads(said.splitlines()[-1]))
    pieces = sum(number for *_, number in found.get("iterations", ()))
    if pieces > MOST_PIECES:
        raise RuntimeError(
            f"farthest {' '.join(words)}: {pieces} pieces, {MOST_PIECES} at most; take another seed"
        )
    return Expected(tuple(words), found)


def answer(document: dict[str, Any]) -> dict[str, Any]:
    """The fields that must be the same."""
    if "layers" in document:
        return {name: document[name] for name in ("digest", "layers", "farthest")}
    found = {name: document[name] for name in ("digest", "length", "solutions", "moves", "nodes")}
    found["iterations"] = [
        [one[name] for name in ("bound", "nodes", "solutions", "pieces")] for one in document["iterations"]
    ]
    return found


def _board(puzzle: str, seed: int) -> str:
    return _run(["random", puzzle, "--seed", str(seed)]).splitlines()[0]


def _run(words: list[str]) -> str:
    done = CliRunner().invoke(cli, words)
    if done.exit_code:
        raise RuntimeError(f"farthest {' '.join(words)} ended with status {done.exit_code}: {done.output}")
    return done.stdout
