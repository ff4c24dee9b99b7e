"""Questions about stored jobs, asked before and after something is changed: no answer may be wrong."""

import json
from collections.abc import Sequence
from pathlib import Path

from click.testing import CliRunner

from farthest.cli.app import cli

Answer = tuple[int, str]
"""Exit status and what was printed on standard output."""


def asked(file: Path | str, job: int) -> list[list[str]]:
    """The questions about a job that it answers, `verify` the last."""
    number = str(job)
    states = ["states", number, "--farthest", "--json"]
    questions = [["show", number, "--json"], states, ["states", number, "--depth", "2", "--json"]]
    (status, text), _ = ask(states, file)
    if status == 0:
        boards = json.loads(text)["boards"]
        questions += [["distance", number, *boards[:3], "--json"], ["path", number, boards[-1], "--json"]]
    return [words for words in [*questions, ["verify", number, "--json"]] if ask(words, file)[0][0] == 0]


def ask(words: Sequence[str], file: Path | str) -> tuple[Answer, str]:
    """The answer, and a problem: a traceback."""
    found = CliRunner().invoke(cli, [*words, "--database", str(file)])
    problem = ""
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        problem = f"{' '.join(words)}: {type(found.exception).__name__}: {found.exception}"
    text = found.stdout
    if found.exit_code == 0 and words[0] == "verify":
        document = json.loads(text)
        text = json.dumps([document[name] for name in ("ok", "digest", "states", "layers")])
    elif found.exit_code == 0 and words[0] in ("jobs", "show"):
        document = json.loads(text)
        for job in document.get("jobs", [document]):
            del job["verified"]  # the last question, which `verify` answers, changes it
        text = json.dumps(document)
    return (found.exit_code, text), problem


def compared(
    file: Path | str, questions: Sequence[Sequence[str]], answers: Sequence[Answer]
) -> tuple[bool, list[str]]:
    """Asks again: whether `verify` tells of a change, and what is wrong with the other answers. They are to be the same
    or errors."""
    told, problems = False, []
    for words, right in zip(questions, answers, strict=True):
        answer, problem = ask(words, file)
        if problem:
            problems.append(problem)
        elif answer[0] == 0 and answer != right:
            problems.append(f"{' '.join(words)}: {answer[1][:300]!r}")
        elif words[0] == "verify":
            told |= answer[0] != 0
        elif answer[0] not in (0, 2):
            problems.append(f"{' '.join(words)}: exit status {answer[0]}")
    return told, problems
