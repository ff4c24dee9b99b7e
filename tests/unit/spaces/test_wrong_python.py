"""Users' classes that are wrong: one message with the class, the line, what was expected and a mend."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from farthest.errors import PuzzleError
from farthest.puzzles.reader import parse_puzzle
from farthest.spaces import compile_space
from farthest.spaces.contract import scatter

GOOD = "    size = 5\n    def initial(self): return [0]\n"
MISSING = ("no_such_module", "no_such.module")
STEP = "    def successors(self, keys): return ((keys + np.uint64(1)) % np.uint64(5))[:, None]\n"


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[object]:
    """Reads, compiles and expands the start of a class given by its text; each in a module of its own."""
    monkeypatch.syspath_prepend(tmp_path)
    names: list[str] = []

    def build(text: str, table: str = "", origin: str = "from start") -> None:
        name = f"wrong_{abs(hash((text, table, str(tmp_path))))}"
        names.append(name)
        spaces = text.replace("class Space:", "class Space(PuzzleSpace):")
        (tmp_path / f"{name}.py").write_text(
            "import numpy as np; from farthest import PuzzleSpace\n" + spaces
        )
        monkeypatch.setenv("FARTHEST_PUZZLE_MODULES", ",".join([name, *MISSING]))
        document = (
            f'name = "p"\nfamily = "python"\norigin = "{origin}"\n[python]\n'
            + (table or 'class = "MODULE:Space"').replace("MODULE", name)
            + "\n"
        )
        space = scatter(compile_space(parse_puzzle(document, "p.toml")))
        space.successors(space.origin_codes(), 1)

    yield build
    for name in names:
        sys.modules.pop(name, None)


DEFINITIONS = [
    (" ", "[python]: no class; write class"),
    ("class = 3", "line 5, [python] class: expected the names of a module and a class in it, got 3"),
    ('class = "MODULE"', "class in it, got 'wrong_"),
    ('class = "a b:C"', "expected the names of a module and a class in it, got 'a b:C'"),
    ('clas = "MODULE:Space"', "key 'clas' is not known; did you mean 'class'?"),
    ('class = "no_such_module:Space"', "puzzle class missing on "),
    (
        'class = "no_such.module:Space"',
        "there is no module no_such for no_such.module:Space; install it wherever",
    ),
    ('class = "MODULE:Spice"', "has no class Spice; did you mean 'Space'?"),
    ('class = "MODULE:np.Space"', "expected the names of a module and a class in it"),
    ('class = "MODULE:Space"\noptions = 3', "line 6, [python] options: expected a table, got 3"),
    (
        'class = "MODULE:Space"\noptions = { d = 2020-01-01 }',
        "options: expected numbers, texts, arrays and tables",
    ),
    (
        'class = "MODULE:Space"\noptions = { n = 3 }',
        "options: 'n' is not an option of Space; its options are none",
    ),
]

CLASSES = [
    ("x = (\nclass Space: pass\n", "raised SyntaxError: '(' was never closed"),
    (
        "import no_such_thing\nclass Space: pass\n",
        "raised ModuleNotFoundError: No module named 'no_such_thing'",
    ),
    ("raise SystemExit(3)\n", "raised SystemExit: 3"),
    ("raise GeneratorExit\n", "raised GeneratorExit ("),
    ("import os; os._exit(0)\n", "raised SystemExit: os._exit(0) ("),
    (
        "class Space:\n"
        + GOOD
        + "    def successors_of(self, state):\n        yield 1\n        raise GeneratorExit\n",
        "successors_of raised GeneratorExit (",
    ),
    (
        "from os import _exit\nclass Space:\n" + GOOD + "    def successors_of(self, state): _exit(0)\n",
        "successors_of raised SystemExit: os._exit(0) (",
    ),
    (
        "class Space:\n    def __post_init__(self): self.x = 1 / 0\n",
        "line 3, in __post_init__: def __post_init__(self): self.x = 1 / 0",
    ),
    (
        "class Space:\n    def __init__(self): pass\n",
        "Space has an __init__; a farthest.PuzzleSpace has its options as",
    ),
    ("class Space:\n    size = 0\n", "size is 0, expected a whole number from 1 to"),
    ("class Space:\n    size = 2.5\n", "size is a decimal number, expected a whole number"),
    ("class Space:\n    size = 5\n    key_bits = 64\n", "more than one of size, key_bits and key_bytes"),
    ("class Space:\n    key_bits = 32\n", "key_bits is 32, expected 64 or 128"),
    ("class Space:\n    key_bytes = 8\n", "key_bytes is 8: such keys are numbers; write key_bits = 64"),
    ("class Space:\n    key_bytes = 2000\n", "key_bytes is 2000, expected a whole number from 1 to 1024"),
    (
        "class Space:\n    size = 5\n    def initial(self): return [0]\n",
        "no ways to find successors, expected one",
    ),
    (
        f"class Space:\n{GOOD}{STEP}    def successors_of(self, state): return []\n",
        "two ways to find successors, expected one",
    ),
    (f"class Space:\n    size = 5\n{STEP}", "no method initial; write def initial(self): return [...]"),
    (f"class Space:\n    size = 5\n    def initial(self): return []\n{STEP}", "initial answered no state"),
    (
        f"class Space:\n    size = 5\n    def initial(self): return 3\n{STEP}",
        "initial answered 3, expected a list",
    ),
    (
        f"class Space:\n    size = 5\n    def initial(self): return [5]\n{STEP}",
        "initial answered 5, expected a number from 0 to 4",
    ),
    (
        f"class Space:\n    size = 5\n    def initial(self): return ['a']\n{STEP}",
        "initial answered 'a', expected a whole number",
    ),
    (
        f"class Space:\n    size = 5\n    def initial(self): return nothing\n{STEP}",
        "initial raised NameError: name 'nothing'",
    ),
    (f"class Space:\n{GOOD}{STEP}    undirected = 1\n", "undirected is 1, expected True or False"),
    (f"class Space:\n{GOOD}{STEP}    moves = 'up'\n", "moves is 'up', expected a list of names"),
    (
        f"class Space:\n{GOOD}{STEP}    def format(self, state): return ''\n",
        "format and parse belong together",
    ),
    (f"class Space:\n{GOOD}{STEP}    def rank(self, state): return 0\n", "rank and unrank belong together"),
    (f"class Space:\n{GOOD}{STEP}    def predecessors_of(self, state): return []\n", "have different forms"),
    (
        f"class Space:\n{GOOD}{STEP}    undirected = True\n",
        "undirected is True, but from 0 a move leads to 1 and none back",
    ),
    (
        f"class Space:\n{GOOD}{STEP}    def predecessors(self, keys): return keys[:, None]\n",
        "predecessors is there, but from 0 a move leads to 1 and none back",
    ),
    (
        f"class Space:\n{GOOD}    def successors(self, keys): return keys\n",
        "an array of shape (1,), expected (1, moves)",
    ),
    (
        f"class Space:\n{GOOD}    def successors(self, keys): return keys[:, None] / 2\n",
        "an array of float64, expected uint64",
    ),
    (
        f"class Space:\n{GOOD}    def successors(self, keys): return keys[:, None] + np.uint64(5)\n",
        "the key 5, expected one from 0 to 4",
    ),
    (
        f"class Space:\n{GOOD}    def successors(self, keys): return keys[:, None].astype(int) - 2\n",
        "the key -2, expected one from 0",
    ),
    (
        f"class Space:\n{GOOD}    def successors(self, keys): return None\n",
        "expected an array (keys, moves), or a list",
    ),
    (f"class Space:\n{GOOD}    def successors(self, keys): return [3]\n", "move 0 is no pair (rows, keys)"),
    (
        f"class Space:\n{GOOD}    def successors(self, keys): return [(np.array([7]), keys)]\n",
        "move 0 has a row outside 0 to 0",
    ),
    (
        f"class Space:\n{GOOD}    def successors(self, keys): return [(np.array([0, 0]), keys)]\n",
        "move 0 is no pair (rows, keys) of equal length",
    ),
    (
        f"class Space:\n{GOOD}    def successors(self, keys):\n        raise ValueError('no\\nway')\n",
        "successors raised ValueError: no way (",
    ),
    (
        (
            f"class Space:\n{GOOD}    n = 0\n    def successors(self, keys):\n        self.n += 1\n"
            "        return keys[:, None] * 0 + np.uint64(self.n % 5)\n"
        ),
        "answered otherwise when asked again",
    ),
    (
        (
            "class Space:\n    size = 5\n    def initial(self): return [0, 1]\n"
            "    def successors(self, keys): return keys[:, None] * 0 + keys.max()\n"
        ),
        "answers otherwise for one state than for several",
    ),
    (
        f"class Space:\n{GOOD}    def successors_of(self, state): return 3\n",
        "successors_of answered 3, expected the states",
    ),
    (
        f"class Space:\n{GOOD}    def successors_of(self, state): return [(1, 2)]\n",
        "expected a whole number as the key of a state",
    ),
    (
        "class Space:\n    def initial(self): return [1]\n    def successors_of(self, state): return ['a']\n",
        "for other states write key and state, or rank and unrank with size",
    ),
    (
        "class Space:\n    def initial(self): return [(1, 2)]\n    def successors_of(self, state): return [{3}]\n",
        "successors_of answered a set, expected a number, a text, bytes, or a tuple of these",
    ),
    (
        (
            "class Space:\n    key_bytes = 2\n    def initial(self): return [b'abc']\n"
            "    def successors_of(self, state): return []\n"
        ),
        "initial answered 3 bytes, expected 2 bytes, not all 255",
    ),
    (
        (
            "class Space:\n    key_bytes = 2\n    def initial(self): return [b'ab']\n"
            "    def successors(self, keys): return keys[:, None].astype(int)\n"
        ),
        "an array of int64, expected uint8",
    ),
    (
        (
            "class Space:\n    def initial(self): return [2]\n    def key(self, s): return s + 1\n"
            "    def state(self, k): return k\n    def successors_of(self, state): return []\n"
        ),
        "key(state(x)) is 4 for x = 3, expected x",
    ),
]


@pytest.mark.parametrize(("table", "message"), DEFINITIONS)
def test_wrong_definitions(compiled, table: str, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(PuzzleError) as raised:
        compiled(f"class Space:\n{GOOD}{STEP}", table)
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(("text", "message"), CLASSES)
def test_wrong_classes(compiled, text: str, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(PuzzleError) as raised:
        compiled(text)
    told = str(raised.value)
    assert message in told
    assert "puzzle class wrong_" in told
    assert "\n" not in told
    if " raised " in message or "in __post_init__" in message:
        assert ".py, line " in told


def test_goal_and_one_way(compiled) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(
        PuzzleError, match='the origin is the goal, but there is none; write origin = "from start"'
    ):
        compiled(f"class Space:\n{GOOD}{STEP}", origin="from goal")
    with pytest.raises(PuzzleError, match="distances to the origin need the states before a state"):
        compiled(f"class Space:\n{GOOD}{STEP}", origin="to start")
