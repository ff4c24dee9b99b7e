"""Puzzles of classes from strangers, for tests that their code does not run; fixtures, for those who ask for them."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from farthest.families.python import user_class
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import parse_puzzle

FROGS = 'name = "frogs"\nfamily = "python"\n[python]\nclass = "python_spaces:Frogs"\n'

COUNTING = """
import pathlib
pathlib.Path("imported").touch()
from farthest import PuzzleSpace
class Counting(PuzzleSpace):
    n: int = 5
    size = 20
    def initial(self):
        return [0]
    def successors_of(self, state):
        return [state + 1] if state < self.n else []
"""
COUNTING_FILE = (
    'name = "counting"\nfamily = "python"\n[python]\nclass = "counting:Counting"\noptions = { n = 7 }\n'
)


@pytest.fixture
def nothing_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    """No module may be imported for a puzzle."""
    monkeypatch.delenv("FARTHEST_PUZZLE_MODULES")
    monkeypatch.setattr("farthest.families.python.allowed._own", {})


@pytest.fixture
def marker(folder: Path) -> Path:
    """What an attack that works leaves."""
    return folder / "owned"


@pytest.fixture
def attack(folder: Path, marker: Path) -> str:
    """A puzzle file that would run a command."""
    table = f'class = "os:system"\noptions = {{ command = "touch {marker}" }}\n'
    (folder / "attack.toml").write_text(f'name = "attack"\nfamily = "python"\n[python]\n{table}')
    return "attack.toml"


@pytest.fixture
def counting(folder: Path) -> Iterator[Path]:
    """A module in the working folder, a puzzle of its class, and what its import leaves."""
    (folder / "counting.py").write_text(COUNTING)
    (folder / "counting.toml").write_text(COUNTING_FILE)
    yield folder / "imported"
    forget("counting")


def forget(*modules: str) -> None:
    """As in a new process."""
    for name in modules:
        sys.modules.pop(name, None)
    user_class._made.clear()


def hostile(puzzle: Puzzle, marker: Path) -> str:
    """The definition of a puzzle of a class, changed to call a command."""
    fields = json.loads(puzzle.to_json())
    fields["python"] = {"reference": "os:system", "options": json.dumps({"command": f"touch {marker}"})}
    return json.dumps(fields)


def parse_puzzle_allowed(file: str) -> Puzzle:
    """The puzzle of a file of the tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FARTHEST_PUZZLE_MODULES", "python_spaces")
        return parse_puzzle(Path(file).read_text(), file)
