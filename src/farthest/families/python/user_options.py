"""The options of a user's class: plain values of bounded size, checked against the class's fields."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, get_type_hints

from farthest.errors import PuzzleError
from farthest.families.python.allowed import PuzzleSpace
from farthest.untrusted_json import read_json_object
from farthest.wording import near_match, shown

MAX_CHARACTERS = 1 << 16
"""Of the options as JSON."""

MAX_DEPTH = 8
"""Of tables and arrays in each other."""

_LARGEST = 2**63

_CALLED = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "str": "a text",
    "array": "an array",
    "list": "an array",
    "tuple": "an array",
    "object": "a table",
    "dict": "a table",
    "null": "nothing",
}
_TYPES = re.compile(r"Expected `(.+)`, got `(.+)`")
"""What msgspec says of a value of another type."""


class OptionError(PuzzleError):
    """An option's value is not plain, or not what the class's field is."""


def to_text(options: Mapping[str, Any]) -> str:
    """Options as JSON, equal for equal values. Raises OptionError for what is not plain, or too large."""
    _check_plain(options, MAX_DEPTH)
    text = json.dumps(options, sort_keys=True)
    if len(text) > MAX_CHARACTERS:
        raise OptionError(f"more than {MAX_CHARACTERS} characters; expected fewer, let the class read a file")
    return text


def from_text(text: str) -> dict[str, Any]:
    """Inverse of ``to_text``. Raises OptionError where that has not made it."""
    if len(text) > MAX_CHARACTERS:
        raise OptionError(f"more than {MAX_CHARACTERS} characters")
    try:
        options = read_json_object(text, MAX_CHARACTERS)
    except ValueError as error:
        raise OptionError(f"not a JSON object: {error}") from None
    _check_plain(options, MAX_DEPTH)
    return options


def _check_plain(value: object, depth: int) -> None:
    if isinstance(value, Mapping | list | tuple):
        if depth == 0:
            raise OptionError(
                f"nested more than {MAX_DEPTH} deep; expected fewer tables and arrays in each other"
            )
        if isinstance(value, Mapping) and not all(isinstance(key, str) for key in value):
            raise OptionError("a table has a key that is not a text; write texts as keys")
        for each in value.values() if isinstance(value, Mapping) else value:
            _check_plain(each, depth - 1)
    elif type(value) is int:
        if not -_LARGEST <= value < _LARGEST:
            raise OptionError("a number of more than 64 bits; write a smaller one, or a text")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise OptionError("a number that is not finite; write a finite one")
    elif not isinstance(value, str | bool | None):
        raise OptionError(
            f"expected numbers, texts, arrays and tables, got {shown(value)}; write dates as texts"
        )


def option_values(made: type[PuzzleSpace], given: Mapping[str, Any]) -> dict[str, Any]:
    """The value of each option of a class: what was given, checked and as the field's type has it, or the default.

    Raises OptionError for an unknown, missing or wrong option, or a field that options cannot be.
    """
    options = {field.name: field for field in fields(made) if field.init}  # type: ignore[arg-type]
    kinds = get_type_hints(made)
    for name in given:
        if name not in options:
            mend = near_match(name, options) or f"its options are {', '.join(options) or 'none'}"
            raise OptionError(f"{shown(name)} is not an option of {made.__name__}; {mend}")
    values = {}
    for name, field in options.items():
        if name not in given and field.default is MISSING and field.default_factory is MISSING:
            raise OptionError(
                f"{name} is missing, expected {_called(kinds[name])}; write options = {{ {name} = ... }}"
            )
        values[name] = _fitted(name, kinds[name], given[name] if name in given else _default(field))
    return values


def options_of(space: PuzzleSpace) -> dict[str, Any]:
    """The options with which an object like this one is made. Raises OptionError."""
    given = {field.name: getattr(space, field.name) for field in fields(space) if field.init}  # type: ignore[arg-type]
    return option_values(type(space), given)


def _default(field: Field[Any]) -> Any:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _fitted(name: str, kind: Any, value: Any) -> Any:
    """The value as a value of the kind. Raises OptionError."""
    import msgspec

    try:
        _check_plain(value, MAX_DEPTH)
        # Numbers of numpy, which the caller's own objects may have, become Python's.
        return msgspec.convert(json.loads(json.dumps(value)), kind)
    except msgspec.ValidationError as error:
        problem, _, place = str(error).partition(" - at `$")
        types = _TYPES.fullmatch(problem)
        wanted = " or ".join(map(_called, types[1].split(" | "))) if types else _called(kind)
        got = _called(types[2]) if types and place else shown(value)
        raise OptionError(f"{name}{place.rstrip('`')}: expected {wanted}, got {got}; correct it") from None
    except (TypeError, OptionError) as error:
        raise OptionError(
            f"field {name} is of the type {kind!r}, which no option can have ({error}); expected int, float, bool, "
            "str, or list, tuple or dict of these; or ClassVar for an attribute that is not an option"
        ) from None


def _called(kind: Any) -> str:
    """What messages call a type, or the name that msgspec has for it."""
    return _CALLED.get(kind.__name__ if isinstance(kind, type) else kind, str(kind))
