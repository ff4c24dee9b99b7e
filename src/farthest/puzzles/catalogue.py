"""The catalogue: puzzles by name, one TOML file each, and plain sliding boards of any size."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from farthest.errors import PuzzleError
from farthest.puzzles.definition import MAX_CELLS, KnownAnswer, Origin, Puzzle, Sliding
from farthest.puzzles.grid import grid_edges, number_cells
from farthest.puzzles.reader import read_puzzle
from farthest.puzzles.wording import near_match, shown

if TYPE_CHECKING:
    from pathlib import Path

_HERE = os.path.dirname(os.path.abspath(__file__))
_FOLDER = os.path.join(_HERE, "catalogue")
_PUBLISHED = os.path.join(_HERE, "published_sliding.json")
_SUFFIX = ".toml"
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SLIDING = re.compile(r"sliding-([0-9]+)x([0-9]+)(?:-(step|slide))?")
_FORM = "sliding-ROWSxCOLUMNS or sliding-ROWSxCOLUMNS-slide"


def names() -> list[str]:
    """The names of the catalogue's puzzles, sorted, without parametric names such as ``sliding-3x4``."""
    return _stems(_FOLDER)


def load(name_or_path: str | Path) -> Puzzle:
    """The puzzle of a catalogue name, a parametric name (``sliding-3x4-slide``) or a ``.toml`` path.

    Reads only that puzzle's file. Raises PuzzleError for an unknown name, an impossible size, or a wrong
    file.
    """
    name = os.fspath(name_or_path)
    if not isinstance(name_or_path, str) or name.endswith(_SUFFIX) or "/" in name or os.sep in name:
        return read_puzzle(name)
    if _NAME.fullmatch(name):
        path = os.path.join(_FOLDER, name + _SUFFIX)
        if os.path.isfile(path):
            return _in_catalogue(path, name)
    size = _SLIDING.fullmatch(name)
    if size:
        return _sliding(name, size[1], size[2], size[3] or "step")
    raise _unknown(name)


def read_folder(folder: Path | str = _FOLDER) -> list[Puzzle]:
    """All puzzles of a folder of definitions, sorted by the names of their files.

    Raises PuzzleError where a file is wrong, or the name of its puzzle is taken, parametric, or not the
    file's.
    """
    puzzles: dict[str, str] = {}
    found = []
    for stem in _stems(folder):
        path = os.path.join(folder, stem + _SUFFIX)
        puzzle = read_puzzle(path)
        if puzzle.name in puzzles:
            raise PuzzleError(
                f"{path}: the name {puzzle.name} is also that of {puzzles[puzzle.name]}; "
                "expected names that differ, change one"
            )
        if _SLIDING.fullmatch(puzzle.name):
            raise PuzzleError(f"{path}: the name {puzzle.name} stands for a plain board; choose another")
        puzzles[puzzle.name] = path
        _check_stem(path, puzzle)
        found.append(puzzle)
    return found


def _stems(folder: Path | str) -> list[str]:
    return sorted(file.removesuffix(_SUFFIX) for file in os.listdir(folder) if file.endswith(_SUFFIX))


def _in_catalogue(path: str, name: str) -> Puzzle:
    puzzle = read_puzzle(path)
    _check_stem(path, puzzle)
    return puzzle


def _check_stem(path: str, puzzle: Puzzle) -> None:
    stem = os.path.basename(path).removesuffix(_SUFFIX)
    if puzzle.name != stem:
        raise PuzzleError(
            f"{path}: the puzzle is called {puzzle.name}, expected {stem} as the file is; rename one of them"
        )


def _unknown(name: str) -> PuzzleError:
    if os.path.isfile(name + _SUFFIX):
        mend = f"for the file, write {name + _SUFFIX}"
    elif name.lower().startswith("sliding"):
        mend = f"a board of any size is called {_FORM}"
    else:
        mend = near_match(name, names()) or f"the puzzles are {', '.join(names())}, and {_FORM}"
    return PuzzleError(
        f"no puzzle is called {shown(name)}; expected a name or the path of a .toml file; {mend}"
    )


def _sliding(name: str, rows_text: str, columns_text: str, metric: str) -> Puzzle:
    # Sizes are compared as texts first: a number of many digits is not worth reading.
    longest = len(str(MAX_CELLS))
    rows_text, columns_text = rows_text.lstrip("0") or "0", columns_text.lstrip("0") or "0"
    absurd = max(len(rows_text), len(columns_text)) > longest
    rows, columns = (0, 0) if absurd else (int(rows_text), int(columns_text))
    if absurd or not 2 <= rows * columns <= MAX_CELLS:
        raise PuzzleError(
            f"{shown(name)}: a board has 2 to {MAX_CELLS} cells; choose a smaller size"
            if absurd or rows * columns > MAX_CELLS
            else f"{shown(name)}: {rows * columns} cells, expected 2 to {MAX_CELLS}; choose a larger size"
        )
    cells = rows * columns
    numbered = number_cells([[False] * columns for _ in range(rows)])
    return Puzzle(
        name=f"sliding-{rows}x{columns}" + ("-slide" if metric == "slide" else ""),
        title=f"Sliding puzzle of {rows} x {columns} cells, blank first",
        source="the plain board of this size",
        family="sliding",
        metric=metric,
        origin=Origin(),
        known=_published(rows, columns, metric),
        body=Sliding(
            rows=numbered,
            edges=grid_edges(numbered),
            arcs=(),
            tokens=tuple(str(label) for label in range(cells)),
            counts=(1,) * cells,
            goals=(tuple(range(cells)),),
            start=None,
        ),
    )


def _published(rows: int, columns: int, metric: str) -> tuple[KnownAnswer, ...]:
    """The published answers for a board and its mirror image in the diagonal, which has the same layers."""
    import json

    with open(_PUBLISHED, encoding="utf-8") as file:
        published = json.load(file)
    turned = " (of the board turned on its side)" if rows > columns else ""
    return tuple(
        KnownAnswer(
            states=answer["states"],
            eccentricity=answer["eccentricity"],
            layers=tuple(answer["layers"]),
            farthest=None,
            source=answer["source"] + turned,
        )
        for answer in published
        if answer["name"] == f"sliding-{min(rows, columns)}x{max(rows, columns)}-{metric}"
    )
