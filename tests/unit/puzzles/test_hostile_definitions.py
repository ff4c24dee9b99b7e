"""Definitions that others wrote: files, names and stored JSON take little memory and time, whatever they say."""

from __future__ import annotations

import json
import os
import random
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from time import process_time
from typing import Any

import pytest

from bounds import little_memory
from farthest.errors import FarthestError, PuzzleError
from farthest.families.permutation.foreign import parse_foreign
from farthest.puzzles import catalogue
from farthest.puzzles.puzzle import Puzzle
from farthest.puzzles.reader import MOST_BYTES, parse_puzzle, read_puzzle

SECONDS = 5.0
"""Of this process; what is measured here takes a second or two at most, and took minutes before it was bounded."""


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    begun = process_time()
    with little_memory():
        yield
    assert process_time() - begun < SECONDS


# Names


HUGE_NAMES = [
    "sliding-99999999x9999999",
    "sliding-1x" + "9" * 5000,
    "hanoi-1000000-4",
    "hanoi-4-1000000",
    "hanoi-cyclic-" + "9" * 5000 + "-3",
    "lights-1000000x1000000",
    "lights-torus-9x99999999999999999999",
    "lights-3x3-c" + "9" * 5000,
    "pancake-1000000000",
    "burnt-pancake-" + "9" * 5000,
    "topspin-1000000000-4",
    "topspin-9-1000000000",
    "lrx-1000000000",
    "15-puzzle@1-1000000000",
    "15-puzzle@" + "1." * 100_000,
    "15-puzzle" + "@1-7" * 10_000,
    "rush-" + "A" * 10**6,
    "a" * 10**6,
]


@pytest.mark.parametrize("name", HUGE_NAMES, ids=[name[:24] for name in HUGE_NAMES])
def test_a_name_of_a_huge_puzzle_is_refused(name: str) -> None:
    with pytest.raises(PuzzleError) as caught:
        catalogue.load(name)
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize(
    "name",
    [
        "../../x",
        "/etc/passwd",
        "a/b",
        "..",
        ".",
        "",
        "a\0b",
        "\x1b[2J",
        "a\nb",
        "x" * 65,
        "a\\b",
        "a@x/y",
        "a@\x1b",
        "123 ",
    ],
)
def test_a_stored_name_is_no_path(name: str) -> None:
    fields = json.loads(catalogue.load("3-puzzle").to_json())
    with pytest.raises(PuzzleError, match=r"stored puzzle: not a definition .*its name is"):
        Puzzle.from_json(json.dumps({**fields, "name": name}))


def test_names_of_patterns_are_stored() -> None:
    for name in ("8-puzzle@1-3", "8-puzzle@plain:1.5", "eight-kinds@plain:┌.─"):
        assert Puzzle.from_json(catalogue.load(name).to_json()).name == catalogue.load(name).name


# Files


def test_a_large_file_is_not_read_whole(tmp_path: Path) -> None:
    for name in ("a.toml", "a.tws", "a.gap"):
        with (tmp_path / name).open("wb") as file:
            file.truncate(10 * 2**30)  # without taking room on the disk
        with pytest.raises(PuzzleError, match=f"more than {MOST_BYTES} bytes"):
            read_puzzle(tmp_path / name)
    (tmp_path / "endless.toml").symlink_to("/dev/zero")
    with pytest.raises(PuzzleError, match=f"more than {MOST_BYTES} bytes"):
        read_puzzle(tmp_path / "endless.toml")


def test_a_pipe_is_read_to_its_end_like_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where its writer comes late, and writes in parts; for nobody it is waited a while."""
    definition = b'name = "a"\nfamily = "sliding"\n[sliding]\nblank = "."\ngoal = "ab."\n'
    pipe = tmp_path / "pipe.toml"
    os.mkfifo(pipe)

    def write() -> None:
        time.sleep(0.1)
        with pipe.open("wb", buffering=0) as file:
            file.write(definition[:20])
            time.sleep(0.1)
            file.write(definition[20:])

    writer = Thread(target=write)
    writer.start()
    assert read_puzzle(pipe).name == "a"
    writer.join()
    monkeypatch.setattr("farthest.puzzles.reader.PIPE_SECONDS", 0.1)
    with pytest.raises(PuzzleError, match=r"cannot be read \(nothing was written to this pipe for 0\.1 s\)"):
        read_puzzle(pipe)
    readable, writable = os.pipe()
    os.write(writable, definition)
    os.close(writable)
    assert read_puzzle(f"/dev/fd/{readable}").name == "a"
    os.close(readable)


@pytest.mark.parametrize("name", ["/etc/x.tws", "../x.gap", "a/../../x.def", "..\\x.def"])
def test_a_file_that_another_names_is_beside_it(name: str) -> None:
    text = f"name = 'a'\nfamily = 'permutation'\n[permutation]\nfile = '{name}'\n"
    with pytest.raises(PuzzleError, match=r"line 4, .*leads elsewhere, expected a file beside this one"):
        parse_puzzle(text, "a.toml")


HEAD = 'name = "a"\nfamily = "sliding"\n[sliding]\n'
LONG = 40_000
TEXTS = {
    "a key of many parts": (".".join("a" * LONG) + " = 1\n", "nested too deeply"),
    "a table of many parts": ("[" + ". ".join("a" * LONG) + "]\n", "nested too deeply"),
    "quoted parts": ("x = {" + ".".join(["'a'"] * LONG) + " = 1}\n", "nested too deeply"),
    "nested arrays": ("x = " + "[" * LONG, "nested too deeply"),
    "nested tables": ("x = " + "{a=" * LONG, "nested too deeply"),
    "a key after four quotes": (
        'x = {a = """b"""", ' + ".".join("c" * LONG) + ' = 1} # "\n',
        "nested too deeply",
    ),
    "texts that do not end": ('\\"""\n' * LONG, "not valid TOML"),
    "escaped quotes": ('\\"' * LONG, "not valid TOML"),
    "a long number": ("x = " + "1" * LONG, "too many digits"),
    "spaces in a header": (HEAD + 'x = """\n[a' + " " * LONG + 'x\n"""\n', "key 'x' is not known"),
    "an unfinished text": (HEAD + 'goal = "' + "ab" * LONG, "not valid TOML"),
    "many cells": (HEAD + 'goal = "' + "ab/" * LONG + '"', "cells, expected 2 to 64"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_no_toml_takes_much_time_or_memory(name: str) -> None:
    text, told = TEXTS[name]
    with pytest.raises(PuzzleError, match=told) as caught:
        parse_puzzle(text, "a.toml")
    assert len(str(caught.value)) < 1000


def test_dots_in_texts_and_comments_are_no_keys() -> None:
    text = (
        "# "
        + "a." * 100
        + "\n"
        + HEAD.replace("[sliding]", f"title = \"{'a.' * 100}\"\nsource = '{'b.' * 100}'\n[sliding]")
    )
    text += 'goal = """\n1 2\n3 . """ # ' + "c." * 100 + "\nblank = '.'\n"
    assert parse_puzzle(text, "a.toml").title == "a." * 100


BIG = "R := (" + ",".join(map(str, range(1, 900))) + ");;\nS := R"
FOREIGN = {
    "products.gap": (BIG + "*R" * LONG + ";;", "too many products"),
    "powers.gap": (BIG + "^999999999" * (LONG // 10) + ";;", "too many products"),
    "cycles.gap": (
        "S := " + "(1,2)(3,4)(5,6)(7,8)(9,10)" * (LONG // 8) + ";;",
        "too many products|no generators",
    ),
    "generators.gap": (
        "G := Group(" + ",".join(f"({a},{b})" for a in range(1, 100) for b in range(100, 500)) + ");",
        "more than 4096 generators",
    ),
    "points.gap": ("R := (1,1000000000);;", "the point 1000000000 is out of range"),
    "images.gap": (
        "R := PermList([" + ",".join(f"{n + 2},{n + 1}" for n in range(0, 5_000, 2)) + "]);;",
        "images.gap, line 1: the moved points are 5000 pieces; at most 4999 are possible",
    ),
    "brackets.gap": ("R := " + "(" * LONG + ";;", "brackets in each other"),
    "lists.gap": ("R := " + "[" * LONG + ";;", "brackets in each other"),
    "pieces.tws": ("Set A 1000000000 1\n", "expected 1 to 4999"),
    "sets.tws": ("".join(f"Set A{n} 9 1\n" for n in range(LONG // 10)), "at most 4999"),
    "moves.tws": (
        "Set A 2 1\nSolved\nEnd\n" + "".join(f"Move M{n}\nA\n2 1\nEnd\n" for n in range(10_000)),
        "more than 4096",
    ),
    "sequences.tws": (
        "Set A 9 1\nSolved\nEnd\nMove M\nA\n2 3 4 5 1 7 8 9 6\nEnd\n"
        + "".join(f"MoveSequence Q{n} M\n" for n in range(10_000)),
        "moves and powers of moves; leave some out",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FOREIGN)
def test_no_file_of_another_program_takes_much_time_or_memory(name: str) -> None:
    text, told = FOREIGN[name]
    with pytest.raises(PuzzleError, match=told) as caught:
        parse_foreign(text.encode(), name)
    assert len(str(caught.value)) < 1000


def test_what_a_file_of_another_program_is_called_can_be_stored_and_shown() -> None:
    puzzle = parse_foreign(b"R := (1,2,3);; S := (1,2);;", "/x/\x1b[2J\udcff\u202e.gap")
    assert puzzle.title.isprintable()
    assert puzzle.source.isprintable()
    assert Puzzle.from_json(puzzle.to_json()) == puzzle


# Stored JSON

PUZZLES = [
    "eight-kinds",
    "pancake-4",
    "hoppers",
    "hakoiri-musume-move",
    "hanoi-3-3",
    "lights-3x3",
    "8-puzzle@1-3",
    "jugs-8-5-3",
]
HUGE: list[Any] = [255, 256, 2**31, 2**60, 2**64, [2**60] * 3, "x" * 10_000]
VALUES: list[Any] = [
    *HUGE,
    None,
    True,
    -1,
    0,
    1.5,
    "",
    "x",
    "\x1b[2J",
    "\0",
    [],
    [[]],
    {},
    [-1],
    ["a"],
    {"a": 1},
]


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where values stand in JSON; of lists the first few."""
    yield place
    if isinstance(value, dict):
        for key in value:
            yield from places(value[key], (*place, key))
    elif isinstance(value, list):
        for index in range(min(3, len(value))):
            yield from places(value[index], (*place, index))


@pytest.mark.parametrize("name", PUZZLES)
def test_a_stored_definition_that_was_changed_is_refused_or_another_one(name: str) -> None:
    document = catalogue.load(name).to_json()
    rng = random.Random(name)
    known = [place for place in places(json.loads(document)) if place]
    for _ in range(60):
        changed = json.loads(document)
        *way, last = rng.choice(known)
        table = changed
        for key in way:
            table = table[key]
        table[last] = rng.choice(VALUES)
        try:
            found = Puzzle.from_json(json.dumps(changed))
            assert Puzzle.from_json(found.to_json()) == found
            assert found.definition.arrangements() >= 0
            for board in found.definition.origin_boards[0]:
                found.definition.draw_board(board)
        except FarthestError:
            continue


NO_DEFINITIONS = [
    "",
    "null",
    "[]",
    "7",
    '{"version":1}',
    "[" * 10**6,
    '{"version":' * 10**5,
    '{"version":NaN}',
    "9" * 10**5,
]


@pytest.mark.parametrize("document", NO_DEFINITIONS, ids=[document[:24] for document in NO_DEFINITIONS])
def test_what_is_no_definition_is_refused(document: str) -> None:
    with pytest.raises(PuzzleError, match="stored puzzle: not a definition"):
        Puzzle.from_json(document)


def test_a_title_is_bounded(tmp_path: Path) -> None:
    definition = '{}name = "a"\nfamily = "sliding"\n[sliding]\nblank = "."\ngoal = "ab."\n{}'
    long = "x" * 100_000
    for wrong, place in (
        (definition.format(f'title = "{long}"\n', ""), "line 1"),
        (definition.format(f'source = "{long}"\n', ""), "line 1"),
        (definition.format("", f'[[known]]\nstates = 3\nsource = "{long}"\n'), "known"),
    ):
        with pytest.raises(PuzzleError, match="100,000 characters, expected at most 1000") as caught:
            parse_puzzle(wrong, "a.toml")
        assert place in str(caught.value)
        assert len(str(caught.value)) < 200
    assert len(parse_puzzle(definition.format(f'title = "{long[:1000]}"\n', ""), "a.toml").title) == 1000
