"""Code from strangers does not run: of the classes that puzzle files name, only what the operator allows."""

import subprocess
import sys
from pathlib import Path

import pytest

import farthest
import python_spaces
from farthest.errors import ForbiddenCodeError, PuzzleError
from farthest.puzzles.reader import parse_puzzle
from integration.conftest import Run
from strangers import COUNTING, COUNTING_FILE, FROGS, forget

pytestmark = pytest.mark.usefixtures("nothing_allowed")

# A file


@pytest.mark.parametrize(
    "words",
    [
        ["enumerate"],
        ["submit"],
        ["solve"],
        ["random"],
        ["compare"],
        ["puzzles"],
        ["draw"],
        ["enumerate", "--allow-module", "os"],
        ["enumerate", "--allow-module", "posix"],
    ],
    ids=" ".join,
)
def test_a_file_runs_nothing(run: Run, attack: str, marker: Path, words: list[str]) -> None:
    error = run(words[0], attack, *words[1:], status=2).stderr
    assert error.startswith("Error: attack.toml, line 4, [python] class: puzzle class os:system")
    assert not marker.exists()
    if words[-1] == "os":
        assert "system is not a class derived from farthest.PuzzleSpace" in error
    else:
        assert "was not run on " in error
        assert "if you trust it, add --allow-module os, or set FARTHEST_PUZZLE_MODULES=" in error


# Modules


def test_a_module_of_the_working_folder(run: Run, counting: Path, folder: Path) -> None:
    error = run("enumerate", "counting.toml", status=2).stderr
    assert f"it is code of the file {folder}/counting.py, and no module is allowed here" in error
    run("enumerate", "counting.toml", "--allow-module", "count", status=2)
    assert not counting.exists()
    told = run("enumerate", "counting.toml", "--allow-module", "counting").stdout
    assert "counting: 8 states" in told
    assert "farthest distance 1 '7' --allow-module counting\n" in told
    assert counting.exists()
    assert sys.path.count(str(folder)) == 0


def test_nothing_else_of_the_working_folder(
    run: Run, folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed module looks for one that may be there; a stranger has put it into the working folder."""
    installed = tmp_path_factory.mktemp("installed")
    optional = "try:\n    import faster\nexcept ImportError:\n    pass\n"
    (installed / "counting.py").write_text(optional + COUNTING)
    (folder / "faster.py").write_text("import pathlib\npathlib.Path('strange').touch()\n")
    (folder / "counting.py").write_text("import faster")  # after the installed one
    (folder / "counting.toml").write_text(COUNTING_FILE)
    monkeypatch.syspath_prepend(installed)
    run("enumerate", "counting.toml", "--allow-module", "counting")
    (installed / "counting.py").write_text("import faster\n" + COUNTING)
    forget("counting")
    error = run("enumerate", "counting.toml", "--allow-module", "counting", status=2).stderr
    assert "its module imports faster, which lies in the working folder and is not allowed" in error
    assert not (folder / "strange").exists()
    run("enumerate", "counting.toml", "--allow-module", "counting", "--allow-module", "faster")
    assert (folder / "strange").exists()
    forget("counting", "faster")


def test_a_package_does_not_allow_its_modules(run: Run, folder: Path) -> None:
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("")
    (folder / "package" / "inner.py").write_text(COUNTING)
    (folder / "inner.toml").write_text(COUNTING_FILE.replace("counting:", "package.inner:"))
    error = run("enumerate", "inner.toml", "--allow-module", "package", status=2).stderr
    assert f"the file {folder}/package/inner.py, and only package is allowed here" in error
    assert "FARTHEST_PUZZLE_MODULES=package,package.inner" in error
    assert not (folder / "imported").exists()
    run("enumerate", "inner.toml", "--allow-module", "package.inner")
    forget("package", "package.inner")


@pytest.mark.parametrize(
    ("module", "message"),
    [
        (
            "from python_spaces import Ring as Counting",
            "does not declare Counting, but imports it; name it python_spaces:Ring, and allow python_spaces",
        ),
        (
            "from farthest import PuzzleSpace as Counting",
            "Counting is not a class derived from farthest.PuzzleSpace",
        ),
        ("def Counting(n): open('owned', 'w')", "Counting is not a class derived from farthest.PuzzleSpace"),
        ("class Counting:\n    n = 7", "Counting is not a class derived from farthest.PuzzleSpace"),
        (
            "def __getattr__(name): open('owned', 'w')",
            "has no class Counting; its classes of spaces are none",
        ),
    ],
)
def test_what_an_allowed_module_does_not_declare(
    run: Run, folder: Path, marker: Path, module: str, message: str
) -> None:
    (folder / "counting.py").write_text(module)
    (folder / "counting.toml").write_text(COUNTING_FILE)
    assert message in run("enumerate", "counting.toml", "--allow-module", "counting", status=2).stderr
    assert not marker.exists()
    forget("counting")


@pytest.mark.parametrize(
    ("name", "mend"), [("frogs.py", "write frogs"), ("a b", "write it as"), ("*", "write it")]
)
def test_wrong_names(run: Run, monkeypatch: pytest.MonkeyPatch, name: str, mend: str) -> None:
    error = run("enumerate", "3-puzzle", "--allow-module", name, status=2).stderr
    assert error.startswith(
        f"Error: --allow-module: {name!r} is not the name of a module; expected a name such as frogs"
    )
    assert mend in error
    monkeypatch.setenv("FARTHEST_PUZZLE_MODULES", f"python_spaces, {name}")
    for words in (["distance", "1", "3"], ["worker"], ["coordinator"]):
        if words[0] == "distance":
            Path("frogs.toml").write_text(FROGS)
            words = ["enumerate", "frogs.toml"]
        assert f"FARTHEST_PUZZLE_MODULES: {name!r} is not the name" in run(*words, status=2).stderr


# In Python


def test_an_object_of_ones_own(folder: Path) -> None:
    with farthest.enumerate(python_spaces.Ring(n=5)) as made:
        assert made.layers == (1, 2, 2)
        assert made.puzzle.name == "ring"
        assert made.distance("3") == 2
        text = (
            'name = "ring"\nfamily = "python"\n[python]\nclass = "python_spaces:Ring"\noptions = { n = 5 }\n'
        )
        assert made.puzzle.digest == parse_puzzle(text, "ring.toml").digest
    with farthest.open_map("ring") as stored:
        assert stored.farthest() == ["2", "3"]
    assert farthest.histogram(python_spaces.Frogs(each=2)).states == 23
    assert len(farthest.copies(python_spaces.Ring(), "3")) == 2
    with pytest.raises(PuzzleError, match=r"Ring is a class, expected an object of it; write Ring\(\)"):
        farthest.enumerate(python_spaces.Ring)  # type: ignore[arg-type]
    with pytest.raises(PuzzleError, match="options: n: expected a whole number, got 'x'"):
        farthest.enumerate(python_spaces.Ring(n="x"))  # type: ignore[arg-type]

    class Inner(farthest.PuzzleSpace):
        size = 1

    with pytest.raises(PuzzleError, match="declare it at the top of a module"):
        farthest.enumerate(Inner())


@pytest.mark.slow
def test_a_script_of_ones_own(run: Run, folder: Path) -> None:
    """Its class is named as others can import it."""
    own = (
        "if __name__ == '__main__':\n    import farthest\n    print(farthest.enumerate(Counting()).layers)\n"
    )
    (folder / "counting.py").write_text(COUNTING + own)
    told = subprocess.run(
        [sys.executable, "counting.py"], stdout=subprocess.PIPE, check=True, encoding="utf-8"
    ).stdout
    assert told == f"{(1,) * 6}\n"
    assert run("distance", "counting", "3", "--allow-module", "counting").stdout == "3\n"
    forget("counting")


def test_a_module_allowed_by_a_call(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("farthest.families.python.allowed._modules", frozenset())
    with pytest.raises(ForbiddenCodeError):
        parse_puzzle(FROGS, "frogs.toml")
    farthest.allow_module("python_spaces")
    assert parse_puzzle(FROGS, "frogs.toml").name == "frogs"
    with pytest.raises(farthest.SettingError, match=r"allow_module: 'frogs.py' is not the name of a module"):
        farthest.allow_module("frogs.py")
