"""The catalogue, and a puzzle: what one can do with it here, its boards, its definition, what is known of it."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING

from htpy import Node, a, details, div, fragment, h2, li, p, pre, section, span, summary, ul
from markupsafe import Markup

from farthest.documents.puzzles import estimate_rows, known_rows, named_boards, puzzle_rows, states_text
from farthest.puzzles import catalogue
from farthest.puzzles.definition import WILDCARD, Board, MoveName
from farthest.puzzles.move_text import move_text
from farthest.web.page import (
    board,
    box_page,
    captioned,
    facts,
    job_page,
    known_source,
    own_page,
    page,
    post_form,
    puzzle_page,
    puzzles_page,
    rows_of,
    search_form,
    short_title,
    worded,
)
from farthest.web.pages.solve import solve_form
from farthest.wording import seconds_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from farthest.coordinator.settings import Estimate
    from farthest.models.records import JobRecord
    from farthest.puzzles.puzzle import Puzzle


@dataclass(frozen=True, slots=True)
class Kind:
    """Puzzles that people look for together. ``families``: of the program; ``words``: how names of others of them
    begin."""

    key: str
    title: str
    families: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()


KINDS = (
    Kind("blocks", "Sliding blocks: Klotski, Rush Hour", ("blocks",)),
    Kind("sliding", "Sliding tiles", ("sliding",), sizes=("sliding-3x4", "sliding-2x5", "sliding-3x3-slide")),
    Kind(
        "twisty",
        "Cubes and other twisty puzzles",
        words=("cube", "cuboid", "dino", "fto", "megaminx", "pyraminx", "skewb", "square"),
        sizes=("cube-3x3x3<U,R,F>", "cube-3x3x3@edges"),
    ),
    Kind("pegs", "Peg solitaire", ("pegs",)),
    Kind("hanoi", "Towers of Hanoi", ("hanoi",), sizes=("hanoi-3-7", "hanoi-4-6", "hanoi-cyclic-3-5")),
    Kind("lights", "Lights Out", ("lights",), sizes=("lights-3x3", "lights-5x5", "lights-torus-4x4")),
    Kind("jugs", "Jugs of water", ("jugs",)),
    Kind(
        "groups",
        "Pancakes, rings and groups",
        ("permutation", "python"),
        sizes=("pancake-7", "burnt-pancake-5", "topspin-9-4", "lrx-8"),
    ),
)
"""Each puzzle is of the first that fits. ``sizes``: some names of other sizes."""


def _kind_of(puzzle: Puzzle) -> Kind:
    first = puzzle.name.partition("-")[0]
    named = next((kind for kind in KINDS if first in kind.words), None)
    return named or next(kind for kind in KINDS if puzzle.family in kind.families)


def puzzles(wanted: str) -> str:
    """``wanted``: words of names and titles, or empty."""
    names = catalogue.search(wanted) if wanted else catalogue.names()
    other = catalogue.search_forms(wanted) if wanted else {}
    return page(
        f"Puzzles: {wanted}" if wanted else "Puzzles",
        search_form(puzzles_page(), wanted, "Which puzzle have you got?"),
        p["No puzzle of the catalogue has these words."] if not names and not other else None,
        p["Write a size into the name: ", ", ".join(other), "."] if other else None,
        [_of_kind(kind, members, sizes=not wanted) for kind, members in _by_kind(tuple(names)).items()],
    )


@lru_cache(maxsize=256)
def _by_kind(names: Iterable[str]) -> dict[Kind, list[Puzzle]]:
    """Puzzles of the catalogue, which does not change while the server runs, in the order of ``KINDS``."""
    found: dict[Kind, list[Puzzle]] = {kind: [] for kind in KINDS}
    for name in names:
        loaded = catalogue.load(name)
        found[_kind_of(loaded)].append(loaded)
    return found


def _of_kind(kind: Kind, members: Sequence[Puzzle], *, sizes: bool) -> Node:
    shown = sizes and kind.sizes
    if not (members or shown):
        return None
    alike: dict[str, list[Puzzle]] = defaultdict(list)
    for each in members:
        alike[short_title(each)].append(each)
    return section(id=kind.key, aria_labelledby=f"{kind.key}-title")[
        h2(id=f"{kind.key}-title")[kind.title],
        ul(class_="catalogue")[(_card(title, tuple(some)) for title, some in alike.items())],
        p(class_="small")[
            "Other sizes: ",
            (
                (", " if number else "", a(href=puzzle_page(name))[name])
                for number, name in enumerate(kind.sizes)
            ),
        ]
        if shown
        else None,
        p(class_="small")[a(href=box_page())["Draw a box of your own"]] if kind.key == "blocks" else None,
        p(class_="small")[a(href=own_page())["Paste a group of your own"]] if kind.key == "groups" else None,
    ]


MOST_VARIANTS = 3


@lru_cache(maxsize=256)
def _card(title: str, alike: tuple[Puzzle, ...]) -> Markup:
    """A puzzle and its variants as HTML."""
    first = min(alike, key=lambda each: (len(each.name), each.name))
    shared = _shared_words([each.name for each in alike])
    others = [each for each in alike if each is not first]
    links = [
        li[
            a(href=puzzle_page(each.name), title=each.title)[
                each.name.removeprefix(f"{first.name}-").removeprefix(shared)
            ]
        ]
        for each in others
    ]
    variants = ul(class_="variants small")[links]
    if len(others) > MOST_VARIANTS:
        variants = details(class_="small")[summary[f"{len(others)} variants"], variants]
    card = li[
        a(href=puzzle_page(first.name))[_picture(first), span(class_="name")[title]],
        div(class_="small")[f"States: {states_text(first)}"],
        variants if others else None,
    ]
    return Markup(str(card))


def _shared_words(names: Sequence[str]) -> str:
    """The words that all names begin with, and the hyphen after them."""
    words = takewhile(
        lambda each: len(set(each)) == 1, zip(*(name.split("-") for name in names), strict=False)
    )
    return "".join(f"{word}-" for word, *_ in words)


def card(name: str, title: str, text: str) -> Node:
    """One puzzle as an item of a list."""
    found = catalogue.find_or_refuse(name)
    return li[
        a(href=puzzle_page(name))[_picture(found), span(class_="name")[title]], div(class_="small")[text]
    ]


def _picture(puzzle: Puzzle) -> Node:
    goals, start = puzzle.definition.origin_boards
    first = start if start is not None else next(iter(goals), None)
    return None if first is None else board(puzzle, first, puzzle.definition.format_board(first))


GOALS_DRAWN = 12


@dataclass(frozen=True, slots=True)
class PuzzleFound:
    """``moves``: those on the puzzle's first board. ``needs``: the estimate, or why there is none. ``jobs``: newest
    first. ``may_change``: whether the reader may start jobs."""

    puzzle: Puzzle
    moves: Sequence[tuple[MoveName, Board]]
    needs: Estimate | str
    jobs: Sequence[JobRecord]
    may_change: bool


def puzzle(found: PuzzleFound) -> str:
    """The page of one puzzle."""
    shown = found.puzzle
    kind = _kind_of(shown)
    rows = [("name", shown.name), *puzzle_rows(shown), *([("source", shown.source)] if shown.source else [])]
    return page(
        shown.title or shown.name,
        div(class_="two")[
            _drawn(shown),
            section[
                fragment[h2["Solve a position"], solve_form(shown, may_change=found.may_change)]
                if shown.definition.has_moves and shown.definition.has_origin("goal")
                else None,
                _hardest(found),
            ],
        ],
        fragment[h2["Known answers"], _known(shown)] if shown.known else None,
        fragment[h2["Moves from the first board"], _moves(shown, found.moves)] if found.moves else None,
        h2["Definition"],
        facts(rows),
        details[
            summary["What an enumeration needs on this machine"],
            p[worded(found.needs)] if isinstance(found.needs, str) else facts(estimate_rows(found.needs)),
        ],
        p[
            a(href=puzzles_page(family=kind.key))[f"More of its kind: {kind.title}"],
            " · ",
            a(href=f"/api/puzzles/{shown.name}")["The definition as JSON"],
        ],
    )


def _hardest(found: PuzzleFound) -> Node:
    """The jobs that have looked at every state, and a way to begin one."""
    needs, name = found.needs, found.puzzle.name
    problem = needs if isinstance(needs, str) else needs.problem
    if problem and not found.jobs:
        text = "too many to look at each of them on this machine"
        return fragment[
            h2["All positions"],
            p[f"The number of states is {states_text(found.puzzle)}: {text}."],
            post_form("/jobs", "Queue it for a coordinator elsewhere", puzzle=name)
            if found.may_change and not isinstance(needs, str)
            else None,
        ]
    whole = any(each.complete and each.has_map for each in found.jobs)
    took = (
        ""
        if isinstance(needs, str) or needs.seconds is None
        else f" Takes about {seconds_text(needs.seconds)}."
    )
    begin = (
        None
        if problem
        else post_form(
            "/jobs",
            "Find the hardest positions",
            f"Looks at every state; their number is {states_text(found.puzzle)}.{took}",
            main=True,
            puzzle=name,
        )
        if found.may_change
        else fragment[p["To look at every position:"], pre[f"farthest enumerate {name}"]]
    )
    return fragment[h2["All positions"], _jobs(found.jobs) if found.jobs else None, None if whole else begin]


def _jobs(jobs: Sequence[JobRecord]) -> Node:
    return ul[
        (
            li[
                a(href=job_page(each.id))[
                    f"{each.states:,} states, the hardest {each.depth} moves away"
                    if each.complete and each.states is not None
                    else f"Job {each.id}"
                ],
                f" (job {each.id}, {each.state_now})" if each.complete else f": {each.state_now}",
            ]
            for each in jobs
        )
    ]


def first_board(found: Puzzle) -> Board | None:
    """The start, else the first goal without wildcards: what is shown of a puzzle."""
    goals, start = found.definition.origin_boards
    if start is not None:
        return start
    return next((goal for goal in goals if WILDCARD not in goal), None)


def _drawn(found: Puzzle) -> Node:
    named = named_boards(found)[:GOALS_DRAWN]
    return div(class_="boards large")[(captioned(found, each, name) for name, each in named)]


def _moves(found: Puzzle, moves: Sequence[tuple[MoveName, Board]]) -> Node:
    return div(class_="boards")[(captioned(found, after, move_text(move)) for move, after in moves)]


def _known(found: Puzzle) -> Node:
    rows = [
        (name, value, known_source(known))
        for known in found.known
        for name, value in known_rows(found, known)
    ]
    return rows_of(("figure", "value", "source"), rows)
