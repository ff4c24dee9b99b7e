"""The page where a puzzle's file, or the generators of a group, are pasted: the text is read as the file would be."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from htpy import button, div, form, label, p, pre, span, textarea
from htpy import input as field

from farthest.errors import ForbiddenCodeError, PuzzleError
from farthest.puzzles import catalogue
from farthest.puzzles.family import families
from farthest.puzzles.reader import read_puzzle
from farthest.web.page import message, own_page, page

if TYPE_CHECKING:
    from farthest.puzzles.puzzle import Puzzle

EXAMPLE = "(1,2,3,4,5,6,7,8,9,10,11); (3,7,11,8)(4,10,5,6)"
MOST_CHARACTERS = 20_000
_TOML = re.compile(r"^[ \t]*family[ \t]*=", re.MULTILINE)
_TWSEARCH = re.compile(r"^[ \t]*(Set|Solved|Move|StartState)\b", re.MULTILINE)


def own_puzzle(text: str, name: str) -> Puzzle:
    """The puzzle of a text: generators as on the command line, or a file's, whose format the text is like.
    ``name``: of a puzzle whose file does not name it. Raises PuzzleError."""
    if len(text) > MOST_CHARACTERS:
        raise PuzzleError(
            f"the text has {len(text):,} characters, at most {MOST_CHARACTERS:,}; give it as a file"
        )
    name, ending = catalogue.plain(name)[:40].strip("-"), ".gap"
    if _TOML.search(text):
        ending = ".toml"
    elif text.lstrip().startswith("{"):
        ending = ".json"
    elif _TWSEARCH.search(text):
        ending = ".tws"
    elif ":=" not in text:
        written = next(filter(None, (each.written(text) for each in families())), None)
        if written is not None:
            return written if not name or name.isdigit() else replace(written, name=name)
    # A folder of its own, so that the text can name no other file.
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"{name or 'mine'}{ending}"
        path.write_text(text.replace("\r\n", "\n"), encoding="utf-8", errors="replace")
        try:
            return read_puzzle(path)
        except ForbiddenCodeError:
            raise
        except PuzzleError as error:
            raise PuzzleError(str(error).replace(f"{path}", "the text").replace(f"{folder}/", "")) from None


def own(text: str, name: str, told: str, *, may_change: bool) -> str:
    """The page. ``told``: why nothing was begun with the text."""
    return page(
        "A puzzle or a group of your own",
        p[
            "Paste generators of a group as GAP prints them, or the text of a puzzle's file: TOML, ",
            "a GAP generator list, twsearch's .tws, or KPuzzle JSON.",
        ],
        message(told) if told else None,
        form(method="post", action=own_page())[
            label(for_="text")["The generators, or the file"],
            textarea(
                id="text",
                name="text",
                rows="12",
                cols="72",
                required=True,
                maxlength=str(MOST_CHARACTERS),
                placeholder=EXAMPLE,
                spellcheck="false",
            )[text],
            label(for_="name")["Its name, where the text has none"],
            field(id="name", name="name", value=name, maxlength="40", autocomplete="off"),
            div(class_="row")[
                button(type="submit", class_="main")["Find the hardest positions"],
                span(class_="small")["Looks at every position."],
            ],
        ]
        if may_change
        else [p["On a command line:"], pre["farthest enumerate ./mine.gap"]],
    )
