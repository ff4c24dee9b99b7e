"""How many states there are where nobody knows: counted where they are few, else estimated from random walks."""

import json

import pytest
from click.testing import CliRunner

from farthest.cli.app import cli
from farthest.coordinator.enumeration import guess
from farthest.puzzles.catalogue import load
from farthest.spaces import compile_space
from farthest.spaces.contract import scatter


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else the machine does."""
    monkeypatch.setattr(guess, "COUNTED_SECONDS", 60.0)
    monkeypatch.setattr(guess, "WALK_SECONDS", 60.0)


@pytest.mark.parametrize(("name", "states"), [("pancake-8", 40_320)])
def test_walks_that_mix_tell_the_number(name: str, states: int) -> None:
    found = guess._sampled(compile_space(load(name), None))
    assert found is not None
    assert abs(found - states) < states / 10


def test_few_states_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    space = scatter(compile_space(load("pennant"), None))
    assert guess.guessed_states(space) == guess.Guess(1398, guess.COUNTED)
    # Its walks stay near the start for long: fewer states than were counted are no estimate.
    monkeypatch.setattr(guess, "MOST_COUNTED", 500)
    monkeypatch.setattr(guess, "WALK_SECONDS", 0.1)
    found = guess.guessed_states(space)
    assert found.source is None
    assert 500 < found.states < 1398


def test_an_estimate_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def estimated(*words: str) -> str:
        result = CliRunner().invoke(cli, ["estimate", *words], catch_exceptions=False)
        assert result.exit_code == 0
        return result.stdout

    found = json.loads(estimated("pennant", "--to", "goal", "--json"))
    assert (found["states"], found["states_from"], found["states_at_least"]) == (6287, guess.COUNTED, None)
    assert found["memory"] < 2**27
    monkeypatch.setattr(guess, "MOST_COUNTED", 500)
    monkeypatch.setattr(guess, "WALK_SECONDS", 0.1)
    assert "more than " in (said := estimated("diabolical-box"))
    assert "grows with the states found" in said
