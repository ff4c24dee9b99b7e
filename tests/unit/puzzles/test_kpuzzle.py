"""KPuzzle JSON, in and out: what it means, by a plain model of cubing.js's own rule; what is said of wrong files."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from farthest import Permutations
from farthest.errors import PuzzleError
from farthest.families.permutation.definition import permutation
from farthest.puzzles.catalogue import load
from farthest.puzzles.family import family
from farthest.puzzles.puzzle import Puzzle
from permutations import distances

Json = dict[str, Any]

SMALL: Json = {
    "name": "a small cube",
    "orbits": [
        {"orbitName": "CORNERS", "numPieces": 4, "numOrientations": 3},
        {"orbitName": "MIDDLE", "numPieces": 2, "numOrientations": 4},
    ],
    "defaultPattern": {
        "CORNERS": {"pieces": [0, 1, 2, 2], "orientation": [0, 0, 1, 0]},
        "MIDDLE": {"pieces": [0, 1], "orientation": [0, 0], "orientationMod": [0, 1]},
    },
    "moves": {
        "U": {
            "CORNERS": {"permutation": [1, 2, 0, 3], "orientationDelta": [1, 0, 1, 0]},
            "MIDDLE": {"permutation": [0, 1], "orientationDelta": [1, 0]},
            "ELSEWHERE": {"permutation": [1, 0], "orientationDelta": [0, 0]},
        },
        "y": {
            "CORNERS": {"permutation": [1, 2, 3, 0], "orientationDelta": [0, 0, 0, 0]},
            "MIDDLE": {"permutation": [1, 0], "orientationDelta": [0, 0]},
        },
    },
    "derivedMoves": {"R": "[y: U]", "S2": "[U, y2]", "T": "(S2 U2')2 . // turned\n S2'", "again": "y R y'"},
}


def read(folder: Path, document: Json | str, name: str = "small.kpuzzle.json") -> Puzzle:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return load(path)


def states(document: Json, moves: dict[str, Json]) -> list[int]:
    """States at each depth, by the rule of kpuzzle/combine.ts, from moves and their inverses."""
    orbits = [(each["orbitName"], each["numPieces"], each["numOrientations"]) for each in document["orbits"]]

    def after(state: tuple[Any, ...], move: Json) -> tuple[Any, ...]:
        parts = []
        for (name, count, modulus), (pieces, turns, mods) in zip(orbits, state, strict=True):
            sources, deltas = move[name]["permutation"], move[name]["orientationDelta"]
            parts.append(
                (
                    tuple(pieces[i] for i in sources),
                    tuple(
                        (turns[sources[i]] + deltas[i]) % (mods[sources[i]] or modulus) for i in range(count)
                    ),
                    tuple(mods[i] for i in sources),
                )
            )
        return tuple(parts)

    start = tuple(
        (tuple(each["pieces"]), tuple(each["orientation"]), tuple(each.get("orientationMod", [0] * count)))
        for each, count in ((document["defaultPattern"][name], count) for name, count, _ in orbits)
    )
    found = {start: 0}
    for state in (queue := [start]):
        for move in moves.values():
            power = after(state, move)
            while power != state:
                if power not in found:
                    found[power] = found[state] + 1
                    queue.append(power)
                power = after(power, move)
    return list(Counter(found.values()).values())


def layers(puzzle: Puzzle) -> list[int]:
    return list(Counter(distances(puzzle).values()).values())


def test_what_moves_do(tmp_path: Path) -> None:
    alone = {**SMALL, "derivedMoves": {}}
    puzzle = read(tmp_path, alone)
    assert (puzzle.name, puzzle.title, puzzle.metric) == ("small", "a small cube", "power")
    definition = permutation(puzzle)
    assert definition.format_board(definition.goals[0]) == "0 1 2+1 2 / 0 1"
    first = definition.generators[0]
    assert (first.to, first.delta) == ((2, 0, 1, 3, 4, 5), (1, 1, 0, 0, 1, 0))
    assert layers(puzzle) == states(alone, {"U": SMALL["moves"]["U"]})


def test_derived_moves(tmp_path: Path) -> None:
    definition = permutation(read(tmp_path, SMALL))
    named = {move.name: move for move in definition.generators}
    by_hand = {"U": "U", "R": "y U y'", "S2": "U y2 U' y2", "T": "(S2 U')(S2 U') S2'"}
    plain = permutation(read(tmp_path, {**SMALL, "derivedMoves": {**by_hand, "again": "y2 U y2'"}}))
    assert [move.name for move in definition.generators if "'" not in move.name][:5] == [
        "U",
        "R",
        "S2",
        "T",
        "again",
    ]
    wanted = {move.name: move.effect for move in plain.generators}
    assert {name: named[name].effect for name in ("U", "R", "S2", "again")} == {
        name: wanted[name] for name in ("U", "R", "S2", "again")
    }
    assert named["T"].effect != wanted["T"], "U2' is twice back"


def test_older_files(tmp_path: Path) -> None:
    moves = {
        name: {
            orbit: {"permutation": said["permutation"], "orientation": said["orientationDelta"]}
            for orbit, said in move.items()
        }
        for name, move in SMALL["moves"].items()
    }
    pattern = SMALL["defaultPattern"]
    orbits = {each["orbitName"]: {"numPieces": each["numPieces"]} for each in SMALL["orbits"]}
    wanted = permutation(read(tmp_path, {**SMALL, "derivedMoves": {}}))
    for turned, start, key in (
        ("orientations", "startPieces", "permutation"),
        ("numOrientations", "startStateData", "pieces"),
    ):
        older = {
            "orbits": {name: {**orbits[name], turned: 3 if name == "CORNERS" else 4} for name in orbits},
            start: {
                name: {key: each["pieces"], **{k: v for k, v in each.items() if k != "pieces"}}
                for name, each in pattern.items()
            },
            "moves": moves,
        }
        assert permutation(read(tmp_path, older, "old.json")) == wanted


def test_a_divisor_of_the_orientations(tmp_path: Path) -> None:
    pattern = {"CORNERS": SMALL["defaultPattern"]["CORNERS"]}
    document = {
        **SMALL,
        "defaultPattern": {
            **pattern,
            "MIDDLE": {"pieces": [0, 1], "orientation": [0, 1], "orientationMod": [2, 2]},
        },
        "derivedMoves": {"y": "U"},
    }
    puzzle = read(tmp_path, document)
    assert permutation(puzzle).slot_moduli[4:] == (2, 2)
    assert layers(puzzle) == states(document, {"U": SMALL["moves"]["U"]})


def _changed(path: str, value: object) -> Json:
    document: Json = json.loads(json.dumps(SMALL))
    *keys, last = path.split("/")
    inner: Any = document
    for key in keys:
        inner = inner[int(key) if isinstance(inner, list) else key]
    inner[last] = value
    return document


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "x.json: it is not JSON"),
        ("[1]", "it is not a JSON object; expected a puzzle as cubing.js writes it"),
        ("{}", 'orbits: expected a list of orbits; write [{"orbitName"'),
        (
            _changed("orbits/0/numPieces", "4"),
            "orbits, number 1 (CORNERS): numPieces and numOrientations are whole",
        ),
        (
            _changed("orbits/1/orbitName", "CORNERS"),
            "number 2: orbitName is 'CORNERS', expected a word, each once",
        ),
        ({**SMALL, "moves": {}, "derivedMoves": {}}, "moves: there are none"),
        (_changed("moves", 3), "moves: got 3, expected an object"),
        (_changed("defaultPattern/MIDDLE", None), "defaultPattern, MIDDLE: there is none; add it"),
        (_changed("defaultPattern/CORNERS/pieces", [0, 1]), "CORNERS, pieces: 2 numbers, expected 4 numbers"),
        (
            _changed("defaultPattern/CORNERS/orientation", [0, 0, 3, 0]),
            "orientation: entry 2 is 3, expected 0 to 2",
        ),
        (
            _changed("defaultPattern/MIDDLE/orientationMod", [2, 1]),
            "orientationMod: 1 for some pieces of 4 orient",
        ),
        (
            _changed("defaultPattern/CORNERS/orientationMod", [0, 0, 0, 1]),
            "orientationMod: pieces 2 are alike, but",
        ),
        (_changed("moves/U/MIDDLE/permutation", [1, 1]), "moves, U, MIDDLE, permutation: 1 is there twice"),
        (
            _changed("moves/U/MIDDLE/orientationDelta", [0, True]),
            "orientationDelta: entry 1 is a truth value",
        ),
        (_changed("moves/U/MIDDLE", []), "moves, U, MIDDLE: got an array, expected an object"),
        (_changed("derivedMoves/R", 7), "derivedMoves, R: got 7, expected moves"),
        (_changed("derivedMoves/R", "[y: Q]"), "derivedMoves, R: there is no move 'Q'"),
        (_changed("derivedMoves/R", "[y: U"), "derivedMoves, R: the end after '[y: U'; expected moves"),
        (_changed("derivedMoves/R", "U & y"), "derivedMoves, R: '&' after 'U'; expected moves"),
        (_changed("derivedMoves/R", "S2 again"), "it is made of itself, by way of again"),
        (_changed("derivedMoves/R", "(" * 60), "more than 50 brackets"),
        (_changed("derivedMoves/R", "U " * 20_001), "more than 20,000 products of moves"),
    ],
)
def test_wrong_files(tmp_path: Path, document: Json | str, message: str) -> None:
    with pytest.raises(PuzzleError) as error:
        read(tmp_path, document, "x.json")
    assert message in str(error.value)


@pytest.mark.parametrize(
    "name", ["pancake-5", "burnt-pancake-3", "cube-3x3x3-half-turns-ring", "skewb@centres"]
)
def test_out_and_in(tmp_path: Path, name: str) -> None:
    puzzle = load(name)
    written = family("permutation").kpuzzle(puzzle)
    document = json.loads(written)
    back = read(tmp_path, written)
    assert back.title == name
    assert sum(states(document, document["moves"])) == len(distances(back)) == len(distances(puzzle))
    if puzzle.metric == "power":
        assert layers(back) == layers(puzzle)


def test_what_cannot_be_written() -> None:
    with pytest.raises(PuzzleError, match="KPuzzle JSON is written of puzzles of permutation"):
        family("hanoi").kpuzzle(load("hanoi-3-2"))
    with pytest.raises(PuzzleError, match="not every move of it can be taken back"):
        family("permutation").kpuzzle(Permutations("(1,2,3,4)", inverses=False))
