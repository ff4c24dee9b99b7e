"""The examples of the documents, run as they stand."""

import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import farthest
from arrangements import arrangement_space
from farthest.families.sliding.definition import sliding
from farthest.families.sliding.space import moves_of
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Origin
from farthest.puzzles.reader import parse_puzzle
from farthest.queries.distance_map import DistanceMap
from farthest.spaces import compile_space
from integration.conftest import Run

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FARTHEST_DATABASE_URL", raising=False)


def fenced(document: str, language: str) -> list[str]:
    text = (ROOT / document).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


def test_a_chunk_is_read_without_the_program() -> None:
    farthest.enumerate("3-puzzle").close()
    text = (ROOT / "docs/chunk-format.md").read_text(encoding="utf-8")
    example = text.split("## Example", 1)[1]
    code = "\n".join(line[4:] for line in example.splitlines() if line.startswith("    "))
    assert code.count("assert") == 6
    exec(compile(code, "chunk-format.md", "exec"), {})


def test_pictures_are_shown_and_small() -> None:
    images = {file.name: file.stat().st_size for file in (ROOT / "docs/images").iterdir()}
    shown = re.findall(r"docs/images/([\w.-]+)", (ROOT / "README.md").read_text(encoding="utf-8"))
    for page in (ROOT / "docs").glob("*.md"):
        shown += re.findall(r"\]\(images/([\w.-]+)", page.read_text(encoding="utf-8"))
    assert set(shown) == set(images)
    assert sum(images.values()) < 600_000


def run_lines(document: str, code: str) -> dict[str, object]:
    """Runs an example line by line; a number behind an expression is its value. Returns the names that it makes."""
    names: dict[str, object] = {}
    for line in code.splitlines():
        expression, _, said = line.partition("#")
        if said.strip().isdigit():
            assert eval(expression, names) == int(said), (document, line)
        else:
            exec(expression, names)
    return names


@pytest.mark.slow
def test_the_python_of_the_page_on_pictures() -> None:
    (code,) = fenced("docs/pictures.md", "python")
    names = run_lines("docs/pictures.md", code)
    assert isinstance(names["path"], farthest.BoardPath)
    names["m"].close()  # type: ignore[attr-defined]
    assert Path("strip.svg").read_text(encoding="utf-8").count('class="c"') == 32
    assert "@keyframes" in Path("cube.svg").read_text(encoding="utf-8")


def test_the_python_of_the_readme() -> None:
    (code,) = fenced("README.md", "python")
    names = run_lines("README.md", code)
    assert isinstance(names["m"], farthest.DistanceMap)
    assert len(names["m"].path("867254301")) == 32
    assert names["m"].layers[:5] == (1, 2, 4, 8, 16)
    assert len(names["m"].farthest()) == 2
    names["m"].close()


@pytest.mark.slow
def test_the_functions_that_are_shown() -> None:
    code = fenced("docs/python.md", "python")[0]
    assert code.count("  # 31\n") == 1
    run_lines("docs/python.md", code)


def test_the_permutations_that_are_shown() -> None:
    run_lines("docs/python.md", fenced("docs/python.md", "python")[1])


def test_every_public_name_is_described() -> None:
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    words = set(re.findall(r"\w+", text))
    assert set(farthest.__all__) <= words
    of_maps = {name for name in vars(DistanceMap) if not name.startswith("_")}
    assert of_maps - {"named", "solutions_of", "solution_graph", "way"} <= words
    assert {name for name in vars(farthest.Survey) if not name.startswith("_")} - {"stored"} <= words


@pytest.mark.slow
@pytest.mark.usefixtures("all_rows")
def test_statements_that_are_shown_ask_one_of_several_maps() -> None:
    with farthest.enumerate("8-puzzle") as first:
        boards = sorted(first.farthest())
    farthest.enumerate("8-puzzle", origin=Origin("from", "start")).close()
    database = sqlite3.connect("farthest.db")
    for document in ("README.md", "docs/formats.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        shown = re.findall(r'^    (?:\$ )?sqlite3 farthest\.db "(.*)"\n(?:    (\d+)$)?', text, re.MULTILINE)
        assert shown, document
        for statement, count in shown:
            values = sorted(value for (value,) in database.execute(statement))
            assert values == ([int(count)] if count else boards), (document, statement)
    database.close()


@pytest.mark.parametrize("document", ["README.md", "docs/puzzles.md", "docs/recipes.md"])
def test_puzzle_files_that_are_shown_are_valid(document: str) -> None:
    shown = [text for text in fenced(document, "toml") if "family" in tomllib.loads(text)]
    assert shown
    for text in shown:
        assert parse_puzzle(text, document).definition.cells


def test_the_box_of_the_recipes_can_be_solved(run: Run) -> None:
    (text,) = fenced("docs/recipes.md", "toml")
    Path("box.toml").write_text(text, encoding="utf-8")
    assert "goal first reached at depth 15, in 1 board" in run("enumerate", "box.toml").stdout
    assert run("path", "box", "goal").stdout.startswith("15 moves, ")


def test_worked_examples_of_keys() -> None:
    text = (ROOT / "docs/key-layout.md").read_text(encoding="utf-8")
    eight = load("eight-kinds")
    space = arrangement_space(eight)
    assert str(list(space.layout.slots)) in text
    assert str(list(space.layout.classes)) in text
    start = sliding(eight).start
    assert start is not None
    assert space.keys_of([start]) == [43907]
    assert "= 43907" in text
    assert "so the key is 11," in text
    assert arrangement_space(load("3-puzzle")).keys_of([(3, 2, 1, 0), (2, 3, 1, 0)]) == [11, 2**64 - 1]


@pytest.mark.parametrize(
    ("metric", "name", "to"),
    [("step", (5, 4), (0, 1, 2, 3, 5, 4, 6, 7, 8)), ("slide", (3, 5), (0, 1, 2, 4, 5, 3, 6, 7, 8))],
)
def test_worked_examples_of_moves(metric: str, name: tuple[int, int], to: tuple[int, ...]) -> None:
    moves = {move.name: move.to for move in moves_of(sliding(load("8-puzzle")), metric)}
    assert moves[name] == to
    assert f"to      = {to}" in (ROOT / "docs/permutations.md").read_text(encoding="utf-8")


def test_the_worked_example_of_a_pattern() -> None:
    text = (ROOT / "docs/key-layout.md").read_text(encoding="utf-8")
    puzzle = load("8-puzzle@1-4")
    board = np.array([puzzle.definition.parse_board("··1/234/···")], dtype=np.uint8)
    space = compile_space(puzzle)
    assert space.encode(board).tolist() == [770]
    assert space.layout_fields() == {"version": 1, "kind": "placements"}
    assert "= 770 of 3024" in text


def test_the_worked_example_of_turned_slots() -> None:
    text = (ROOT / "docs/key-layout.md").read_text(encoding="utf-8")
    puzzle = load("pyraminx@UL=UR=UB.turns:edges")
    board = puzzle.definition.parse_board("· UL+1 UL · · UL+1 / · · · ·")
    space = compile_space(puzzle)
    assert space.encode(np.array([board], dtype=np.uint8)).tolist() == [392]
    assert space.keys == 640
    assert space.layout_fields()["turned"] == [0, 1, 2, 3, 4]
    assert "12 * 32 + 8 = 392 of 640" in text


def test_patterns_that_are_shown(run: Run) -> None:
    text = (
        (ROOT / "docs/patterns.md")
        .read_text(encoding="utf-8")
        .partition("## Patterns of permutation puzzles")[2]
    )
    phase_one, *others = re.findall(r"^    farthest (.*)$", text.partition("Such patterns")[0], re.MULTILINE)
    assert len(others) == 4
    assert load(shlex.split(phase_one)[1]).definition.arrangements() == 495 * 2**12 * 3**8
    searching = (ROOT / "docs/searching.md").read_text(encoding="utf-8")
    shown = re.findall(r"^    farthest (.* cube-2x2x2-htm.*)$", searching, re.MULTILINE)
    assert len(shown) == 3
    others += shown
    for line in others:
        assert run(*shlex.split(line)).exit_code == 0


def test_the_classes_that_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for code in fenced("docs/python.md", "python")[2:]:
        name = code.partition("\n")[0].removeprefix("# ")
        (tmp_path / name).write_text(code)
    (definition,) = fenced("docs/python.md", "toml")
    (tmp_path / "frogs.toml").write_text(definition)
    monkeypatch.setenv("FARTHEST_PUZZLE_MODULES", "frogs,ring")
    with farthest.enumerate("frogs.toml") as frogs:
        assert (frogs.states, frogs.eccentricity) == (72, 15)
        assert len(frogs.path("FFF.TTT")) == 16
    ring = parse_puzzle(
        'name = "ring"\nfamily = "python"\n[python]\nclass = "ring:Ring"\noptions = { size = 1000 }',
        "ring.toml",
    )
    with farthest.enumerate(ring) as ring_map:
        assert ring_map.layers == (1, *[2] * 499, 1)
    for module in ("frogs", "ring"):
        monkeypatch.delitem(sys.modules, module)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler: cc")
def test_the_compiled_function_that_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (source,) = fenced("docs/python.md", "c")
    Path("rolling.c").write_text(source)
    Path("rolling_cubes.py").write_text(fenced("docs/python.md", "python")[-1])
    text = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    (command,) = re.findall(r"^    (cc .*)$", text, re.MULTILINE)
    subprocess.run([*shlex.split(command), "-Wall", "-Wextra", "-Werror"], check=True)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("FARTHEST_PUZZLE_MODULES", "rolling_cubes")
    table = '[python]\nclass = "rolling_cubes:RollingCubes"\n'
    puzzle = parse_puzzle(f'name = "cubes"\nfamily = "python"\n{table}', "cubes.toml")
    with farthest.enumerate(puzzle) as cubes:
        assert (cubes.states, cubes.layers[49], cubes.eccentricity) == (15_116_544, 12, 49)
        assert cubes.distance("DDDD.DDDD") == 36
    monkeypatch.delitem(sys.modules, "rolling_cubes")


def test_the_worked_example_of_codes_of_blocks() -> None:
    text = (ROOT / "docs/blocks.md").read_text(encoding="utf-8")
    space = compile_space(load("hakoiri-musume-move"))
    code = space.encode(np.array(space.origins, dtype=np.uint8))
    assert int(code[0]) == ((389 * 12 + 1) * 15 + 7) * 4845 + 4540 == 339358030
    assert "= 339358030" in text
    assert space.layout_fields() == {"version": 1}
