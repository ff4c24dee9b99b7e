"""Tests of many small cases: a table of wrong inputs is one test, which is collected, begun and told once."""

import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

Test = Callable[..., None]


def for_each(names: str | Sequence[str], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Runs a test with one case after the other, as `pytest.mark.parametrize` makes a test of each.

    All cases are run; the failure of each is told with the case. Fixtures are shared by the cases.
    """
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    table = [dict(zip(arguments, case if len(arguments) > 1 else (case,), strict=True)) for case in cases]
    assert table, "a test without cases finds nothing"

    def decorate(test: Test) -> Test:
        def all_cases(**fixtures: Any) -> None:
            failed: list[BaseException] = []
            for case in table:
                try:
                    test(**case, **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note(f"case: {case}")
                    failed.append(error)
                except pytest.skip.Exception:
                    if failed:  # which a skip must not hide
                        break
                    raise
            if len(failed) == 1:
                raise failed[0]
            if failed:
                raise BaseExceptionGroup(f"{len(failed)} of {len(table)} cases", failed)

        signature = inspect.signature(test)
        kept = [each for name, each in signature.parameters.items() if name not in arguments]
        all_cases.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        all_cases.pytestmark = getattr(test, "pytestmark", [])  # type: ignore[attr-defined]
        all_cases.__name__, all_cases.__doc__ = test.__name__, test.__doc__
        return all_cases

    return decorate
