"""Options of users' classes: plain, bounded, of the types that the fields have."""

import json
from typing import Any, ClassVar, Literal

import numpy
import pytest

from cases import for_each
from farthest import PuzzleSpace
from farthest.errors import PuzzleError
from farthest.families.python.definition import Python
from farthest.families.python.user_options import OptionError, from_text, option_values, options_of, to_text


class Everything(PuzzleSpace):
    n: int
    share: float = 0.5
    name: str = "a"
    twice: bool = False
    sizes: list[int] = ()  # type: ignore[assignment]
    pair: tuple[int, str] = (1, "b")
    row: tuple[int, ...] = ()
    named: dict[str, list[float]] | None = None
    way: Literal["up", "down"] = "up"
    free: list = ()  # type: ignore[assignment,type-arg]
    undirected = True
    count: ClassVar[int] = 0


def test_all_types() -> None:
    given = {
        "n": 3,
        "share": 2,
        "sizes": [1, 2],
        "pair": [4, "c"],
        "row": [1, 2, 3],
        "named": {"x": [1, 0.5]},
        "way": "down",
        "free": [1, "a", [True]],
    }
    values = option_values(Everything, given)
    assert values == {
        **given,
        "share": 2.0,
        "name": "a",
        "twice": False,
        "pair": (4, "c"),
        "row": (1, 2, 3),
    }
    assert type(values["share"]) is float
    made = Everything(**values)
    assert options_of(made) == values
    assert option_values(Everything, from_text(to_text(options_of(made)))) == values


@for_each(
    ("given", "message"),
    [
        ({}, "n is missing, expected a whole number; write options = { n = ... }"),
        ({"n": 3, "m": 4}, "'m' is not an option of Everything"),
        ({"n": 3, "nam": "x"}, "did you mean 'name' or 'named'?"),
        ({"n": 3, "undirected": False}, "'undirected' is not an option"),
        ({"n": 3, "count": 1}, "'count' is not an option"),
        ({"n": "3"}, "n: expected a whole number, got '3'; correct it"),
        ({"n": True}, "n: expected a whole number, got a truth value"),
        ({"n": 3.0}, "n: expected a whole number, got a decimal number"),
        ({"n": 3, "twice": 1}, "twice: expected true or false, got 1"),
        ({"n": 3, "share": "x"}, "share: expected a number, got 'x'"),
        ({"n": 3, "sizes": [1, "x"]}, "sizes[1]: expected a whole number, got a text"),
        ({"n": 3, "pair": [1]}, "pair: expected tuple[int, str], got an array"),
        ({"n": 3, "named": {"x": 1}}, "named[...]: expected an array, got a whole number"),
        ({"n": 3, "way": "left"}, "way: expected typing.Literal['up', 'down'], got 'left'"),
    ],
)
def test_wrong_values(given: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as raised:
        option_values(Everything, given)
    assert message in str(raised.value)


def test_numbers_of_numpy() -> None:
    values = option_values(Everything, {"n": 3, "share": numpy.float64(0.25), "free": [numpy.float64(1.5)]})
    assert (values["share"], values["free"]) == (0.25, [1.5])
    assert type(values["share"]) is float


def test_a_field_that_options_cannot_be() -> None:
    class Wrong(PuzzleSpace):
        n: complex = 1j

    with pytest.raises(
        OptionError, match="field n is of the type <class 'complex'>, which no option can have"
    ):
        option_values(Wrong, {})


@for_each(
    ("options", "message"),
    [
        ({"n": 2**63}, "a number of more than 64 bits"),
        ({"n": float("inf")}, "a number that is not finite"),
        ({"n": [[[[[[[[1]]]]]]]]}, "nested more than 8 deep"),
        ({"n": "x" * 70_000}, "more than 65536 characters"),
        ({"n": b"x"}, "expected numbers, texts, arrays and tables"),
    ],
)
def test_what_is_not_plain_or_too_large(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        to_text(options)


@for_each(
    "text",
    [
        "3",
        "[]",
        "{",
        '{"n": NaN}',
        '{"n": Infinity}',
        '{"n": 1e999}',
        f'{{"n": {10**400}}}',
        '{"n": ' + "9" * 5000 + "}",
        '{"n": ' + "[" * 30_000 + "]" * 30_000 + "}",
        '{"n": ' + "[" * 10 + "]" * 10 + "}",
        json.dumps({"n": "x" * 70_000}),
    ],
)
def test_stored_options_are_bounded(text: str) -> None:
    with pytest.raises(PuzzleError, match="options: "):
        Python("module:Name", text)
    with pytest.raises(PuzzleError, match="expected module:Name"):
        Python("module:" + "N" * 300, "{}")
