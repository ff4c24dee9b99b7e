"""Animated SVG documents: their rules, read as a browser reads them, give the picture of each board in its time."""

import re
from xml.etree import ElementTree

from cases import for_each
from farthest.drawing.path import FIRST, GLIDE, LAST, SECONDS, animated_svg, tracks
from farthest.drawing.svg import CELL
from farthest.families.user_input import drawn_board
from farthest.puzzles import catalogue
from farthest.puzzles.family import board_picture
from farthest.puzzles.picture import Picture

SVG = "{http://www.w3.org/2000/svg}"
PATHS = {"8-puzzle": "D D R U", "mississippi": "D R R", "hanoi-3-3": "2→0 2→1 0→1", "pancake-7": "3 7 2"}


def pictures_of(name: str) -> list[Picture]:
    """The goal, and the boards after each of the moves."""
    puzzle = catalogue.load(name)
    moves = PATHS[name].split()
    texts = ["goal", *("moves: " + " ".join(moves[: i + 1]) for i in range(len(moves)))]
    return [board_picture(puzzle, drawn_board(puzzle, text)) for text in texts]


def at(rules: str, number: int, percent: float) -> tuple[float, float]:
    """Where a piece is at a time of the cycle."""
    found = re.search(rf"@keyframes p{number}{{((?:[^{{}}]*{{[^{{}}]*}})*)}}", rules)
    if found is None:
        place = re.search(rf"\.p{number}{{transform:translate\(([^p]+)px,([^p]+)px\)", rules)
        assert place
        return float(place[1]), float(place[2])
    steps = re.findall(r"([\d.]+)%{transform:translate\(([^p]+)px,([^p]+)px\);visibility:visible}", found[1])
    last = max((float(time), i) for i, (time, _, _) in enumerate(steps) if float(time) <= percent)[1]
    return float(steps[last][1]), float(steps[last][2])


@for_each("name", PATHS)
def test_pieces_are_where_each_board_has_them(name: str) -> None:
    drawn = pictures_of(name)
    document = animated_svg([(str(i), picture) for i, picture in enumerate(drawn)], name)
    root = ElementTree.fromstring(document)
    rules = root.findtext(f"{SVG}style") or ""
    pieces = [group for group in root.iter(f"{SVG}g") if (group.get("class") or "").startswith("p")]
    units = FIRST + len(drawn) - 2 + LAST
    assert f"{units * SECONDS:g}s" in rules
    for number, picture in enumerate(drawn):
        units_before = FIRST + number - 1 if number else 0
        percent = 100 * (units_before + (GLIDE if number else 0)) / units + 0.01
        found = [(*at(rules, i, percent), piece.findtext(f"{SVG}text")) for i, piece in enumerate(pieces)]
        expected = [(s.x * CELL, s.y * CELL, s.text) for s in picture.shapes if s.glides]
        assert {(round(x, 2), round(y, 2), text) for x, y, text in found} == {
            (round(x, 2), round(y, 2), text) for x, y, text in expected
        }
        assert len(found) == len(expected)


def test_only_the_tile_that_moves_glides() -> None:
    drawn = pictures_of("mississippi")  # it has tiles that look alike
    for before, after in zip(range(len(drawn)), range(1, len(drawn)), strict=False):
        moved = [t for t in tracks(drawn) if t.places[before] != t.places[after]]
        assert len(moved) == 1


def test_boards_without_gliding_pieces_are_shown_in_turn() -> None:
    puzzle = catalogue.load("cube-2x2x2-htm")
    boards = [drawn_board(puzzle, text) for text in ("goal", "moves: R", "moves: R U2")]
    document = animated_svg([("", board_picture(puzzle, board)) for board in boards], "<cube>")
    root = ElementTree.fromstring(document)
    shown = [g for g in root.iter(f"{SVG}g") if (g.get("class") or "").startswith("f")]
    assert [g.get("style") for g in shown] == [None, *(f"animation-delay:{n * SECONDS:g}s" for n in (2, 3))]
    assert "prefers-reduced-motion" in document
    assert "<script" not in document
    assert root.findtext(f"{SVG}title") == "<cube>"


def test_one_board_alone() -> None:
    picture = board_picture(catalogue.load("8-puzzle"), (1, 2, 3, 4, 5, 6, 7, 8, 0))
    assert "keyframes p" not in animated_svg([("start", picture)], "8-puzzle")
