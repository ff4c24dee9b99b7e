"""The page on which people draw a box of sliding blocks of their own: the result is the text of a puzzle's file, which
is read as any other."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from htpy import (
    a,
    button,
    details,
    div,
    figure,
    form,
    fragment,
    label,
    noscript,
    option,
    p,
    pre,
    select,
    span,
    summary,
    textarea,
)
from htpy import input as field

from farthest.documents.puzzles import named_boards
from farthest.errors import PuzzleError
from farthest.families.blocks.definition import Blocks
from farthest.puzzles import catalogue
from farthest.puzzles.picture import COLOURS
from farthest.puzzles.puzzle import MAX_NAME, NAME, Puzzle
from farthest.puzzles.reader import parse_puzzle
from farthest.web.page import box_page, captioned, message, page
from farthest.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from htpy import Node

    from farthest.coordinator.settings import Estimate

FILE = "/box/puzzle.toml"

METRICS = {
    "move": "one piece, any way through free cells",
    "slide": "one piece, straight over any free cells",
    "step": "one piece, one cell",
}
ORIGINS = {
    "to goal": "to the goal, from any position",
    "from start": "from the start, to any position",
}

_PLACE = re.compile(r"^.*?\[blocks\](?: \w+)?: ")
"""Where in the file an error is: nobody has seen the file."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """What the form holds. ``start``, ``goal``: rows of the board, a letter for each piece, ``.`` for an empty cell and
    ``#`` for a wall; of the goal only the pieces that must be somewhere. ``along``: pieces move only along their
    length. ``origin``: what distances are counted to or from; to the goal only where there is one."""

    title: str = ""
    start: str = ""
    goal: str = ""
    metric: str = "move"
    origin: str = "to goal"
    along: bool = False

    @property
    def to_goal(self) -> bool:
        """Whether distances are counted to the goal."""
        return bool(self.goal) and self.origin == "to goal"

    @classmethod
    def of(cls, fields: Mapping[str, str]) -> Drawn:
        """The fields of a request."""

        def rows(name: str) -> str:
            lines = (line.strip() for line in fields.get(name, "").splitlines())
            return "\n".join(line for line in lines if line)

        title = "".join(filter(str.isprintable, fields.get("title", ""))).strip()
        metric, origin = fields.get("metric", "move"), fields.get("origin", "to goal")
        return cls(title, rows("start"), rows("goal"), metric, origin, along=bool(fields.get("along")))

    def fields(self) -> dict[str, str]:
        """For an address."""
        texts = {**asdict(self), "along": "yes" if self.along else ""}
        return {name: text for name, text in texts.items() if text}

    @property
    def name(self) -> str:
        """The puzzle's."""
        name = f"my-{catalogue.plain(self.title).removeprefix('my-')}"
        return name if len(name) <= MAX_NAME and NAME.fullmatch(name) else "my-box"

    def toml(self) -> str:
        """The text of the puzzle's file, in which a piece that has a goal is no other of its shape."""

        def rows(text: str) -> str:
            return "".join(f"\n  {_quoted(row)}," for row in text.split("\n"))

        aims = ", ".join(map(_quoted, sorted({*self.goal} & {*self.start} - set(".0_*#\n "))))
        lines = [
            f"name   = {_quoted(self.name)}",
            f"title  = {_quoted(self.title or 'A box of sliding blocks')}",
            'family = "blocks"',
            f"metric = {_quoted(self.metric)}",
            f'origin = "{"to goal" if self.to_goal else "from start"}"',
            "\n[blocks]",
            f"start = [{rows(self.start)}\n]",
            *([f"goal = [{rows(self.goal)}\n]"] if self.goal else []),
            *([f"distinct = [{aims}]"] if aims else []),
            *(["along = true"] if self.along else []),
        ]
        return "\n".join(lines) + "\n"

    def puzzle(self) -> Puzzle:
        """The puzzle of that file. Raises PuzzleError."""
        try:
            return parse_puzzle(self.toml(), "the box")
        except PuzzleError as error:
            raise PuzzleError(_PLACE.sub("", str(error))) from None


def _quoted(text: str) -> str:
    # DEL alone is written as it is in JSON, and not allowed so in TOML.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


EXAMPLES = {
    "Klotski": Drawn("Klotski", "BAAC\nBAAC\nDEEF\nDGHF\nI..J", "....\n....\n....\n.AA.\n.AA.", "move"),
    "Rush Hour": Drawn(
        "Rush Hour",
        "IBB#..\nI..LDD\nJAAL..\nJ.KEEM\nFFK..M\nGGHHHM",
        "...#..\n......\n....AA\n......\n......\n......",
        "slide",
        along=True,
    ),
    "An empty box": Drawn("", "....\n....\n....\n...."),
}


@dataclass(frozen=True, slots=True)
class BoxFound:
    """``puzzle``: that of the form; None: there is none, and ``told`` says why. ``needs``: the estimate of its
    enumeration, for who may start it, or why there is none."""

    drawn: Drawn
    puzzle: Puzzle | None
    told: str
    needs: Estimate | str
    may_change: bool


def box(found: BoxFound) -> str:
    """The page."""
    drawn = found.drawn
    examples = (
        (" · " if number else "", a(href=box_page(example.fields()))[name])
        for number, (name, example) in enumerate(EXAMPLES.items())
    )
    return page(
        "Draw a sliding-block puzzle",
        p["Draw the box that you have got, and see how hard it is. Begin with ", examples, "."],
        form(
            method="get", action=box_page(), class_="state box", data_colours=" ".join(c for _, c in COLOURS)
        )[
            button(type="submit", hidden=True)["Show"],  # the first one: Enter in a field presses it
            figure(data_box=True, hidden=True),
            div(class_="beside")[
                div(class_="row")[
                    label(for_="title")["Its name"],
                    field(id="title", name="title", value=drawn.title, maxlength="60", autocomplete="off"),
                ],
                _choice("metric", "A move is", METRICS, drawn.metric),
                _choice("origin", "Moves are counted", ORIGINS, drawn.origin),
                label(class_="row")[
                    field(type="checkbox", name="along", value="yes", checked=drawn.along),
                    span["Pieces move only along their length, as cars do"],
                ],
                div(data_part="verdict", aria_live="polite")[_verdict(found)],
                _texts(drawn),
            ],
        ],
        scripts=["box.js"],
    )


def _choice(name: str, called: str, texts: Mapping[str, str], chosen: str) -> Node:
    return div(class_="row")[
        label(for_=name)[called],
        select(id=name, name=name)[
            (option(value=value, selected=value == chosen)[text] for value, text in texts.items())
        ],
    ]


def _texts(drawn: Drawn) -> Node:
    rows = str(max(4, 1 + max(drawn.start.count("\n"), drawn.goal.count("\n"))))
    return details(open=True, data_texts=True)[
        summary["The box as text"],
        p(class_="small")["Rows of letters: one for each piece. A dot is an empty cell, # a wall."],
        div(class_="texts")[
            (
                div[
                    label(for_=name)[called],
                    textarea(id=name, name=name, rows=rows, cols="10", maxlength="1000", spellcheck="false")[
                        text
                    ],
                ]
                for name, called, text in (
                    ("start", "Start", drawn.start),
                    ("goal", "Goal: the pieces that must be somewhere", drawn.goal),
                )
            )
        ],
        noscript[button(type="submit")["Show"]],
    ]


def _verdict(found: BoxFound) -> Node:
    """What the server says of the box, and what can be done with it."""
    drawn, puzzle, needs = found.drawn, found.puzzle, found.needs
    if not any(sign.isalnum() for sign in drawn.start):
        return p["Drag over cells to make a piece."]
    if puzzle is None:
        return message(found.told)
    problem = needs if isinstance(needs, str) else needs.problem
    kinds = puzzle.defined_as(Blocks).kinds
    pieces = sum(len(kind.tokens) for kind in kinds)
    begin = "Find the hardest positions" if drawn.to_goal else "Find the positions farthest from the start"
    can = found.may_change and not problem
    return fragment[
        noscript[
            div(class_="boards")[(captioned(puzzle, each, name) for name, each in named_boards(puzzle))]
        ],
        p[
            f"{counted(pieces, 'piece')} of {counted(len(kinds), 'kind')}.",
            None if drawn.along else " Pieces of one shape are alike, but for one that has a goal.",
        ],
        message(problem) if problem else None,
        None if drawn.goal else p["Choose Goal, and drag a piece to where it must go."],
        div(class_="row")[
            button(type="submit", class_="main", formmethod="post")[begin],
            span(class_="small")["Looks at every position."],
        ]
        if can
        else None,
        p[a(href=box_page(drawn.fields(), FILE), download=True)["Download the puzzle's file"]],
        None
        if found.may_change
        else fragment[p["To look at every position:"], pre[f"farthest enumerate {drawn.name}.toml"]],
    ]
