"""Which questions test_net.py asks, and the answers without what differs from run to run."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import small_pieces
from farthest.cli.app import cli

FOLDER = Path(__file__).parent
PUZZLES = FOLDER / "puzzles"
ARCHIVE = FOLDER / "data.tar.xz"
ANSWERS = FOLDER / "answers.json"
"""By folder of the archive: each command with its answer, in the order in which they are given."""

UNFINISHED: dict[str, tuple[str, ...]] = {
    "dense": ("layer 6", "enumerate", "sliding-2x3"),
    "sparse": ("layer 4", "enumerate", "pennant"),
    "residues": ("layer 6", "enumerate", "sliding-2x3", "--map", "residues"),
    "residues-mod-3": ("layer 3", "enumerate", "pancake-5", "--map", "residues"),
    "python": ("layer 4", "enumerate", "doubling.toml"),
    "layers": ("layer 4", "enumerate", "hanoi-4-3", "--map", "none"),
    "files": ("file 40", "enumerate", "pancake-9", "--map", "none", "--memory", str(80 * 2**20 + 105_000)),
    "files-of-residues": (
        "file 40",
        "enumerate",
        "pancake-9",
        "--map",
        "residues",
        "--memory",
        str(80 * 2**20 + 105_000),
    ),
    "runs-in-files": (
        "file 6",
        "enumerate",
        "corner-step.toml",
        "--map",
        "none",
        "--memory",
        "90MiB",
        "--scratch",
        ".",
    ),
    "search": (
        "pieces 60",
        "solve",
        "15-puzzle",
        "0 8 1 6 / 5 2 11 3 / 13 10 12 4 / 14 9 7 15",
        "--all",
        "--heuristic",
        "manhattan",
        "--threads",
        "1",
        "--store",
    ),
}
"""Runs that are interrupted: after a layer, or so many transactions (of a
search that is cut smaller), or files put on the disk."""

DIFFERENT = {
    "seconds", "layer_seconds", "created", "started", "finished", "database", "version", "verified", "layer_files",
    "figures", "layers_digest", "machine", "nodes_a_second",
}  # fmt: skip
"""Fields of JSON that are not compared: times, places, the version of the program, and what is told since."""

SINCE = {"classes", "tables"}
"""Fields that are told since, null for what an older version has made."""

NEWER = {"goal", "machine"}
"""Of the results of enumerations."""

LONG = 1000
"""Characters of an answer that is kept as it is; of a longer one the SHA-256."""


def commands_of(folder: Path) -> list[list[str]]:
    """What is asked of a folder with a database."""
    begun = UNFINISHED.get(folder.name.removeprefix("unfinished-"))
    if begun:
        asked = [["jobs", "--json"], [*begun[1:], "--json"], ["show", "1", "--json"]]
        # That proof takes seconds.
        return asked if folder.name == "unfinished-files-of-residues" else [*asked, ["verify", "1", "--json"]]
    listed = json.loads(said(folder, ["jobs", "--json"]))["jobs"]
    found: list[list[str]] = [["jobs", "--json"]]
    for job in listed:
        number = str(job["job"])
        found.append(["show", number, "--json"])
        if job["status"] == "finished":
            found += [["verify", number, "--json"], *_questions(folder, number, job)]
    return found


def _questions(folder: Path, number: str, job: dict[str, Any]) -> list[list[str]]:
    if not job["has_map"]:
        return []
    states = ["states", number, "--farthest", "--limit", "3"]
    board = said(folder, states).splitlines()[0]
    found = [
        states,
        ["distance", number, board],
        ["path", number, board, "--json"],
        ["export", number, "--format", "csv", "-"],
    ]
    if job["puzzle"] in ("red-and-white", "sliding-2x3", "coxeter-h3", "cube-3x3x3-slices", "plus-jump"):
        found.append(["symmetry", number, "--json"])
    return found


def said(folder: Path, given: Sequence[str]) -> str:
    """What a command prints in a folder, or how it failed."""
    with chdir(folder), pytest.MonkeyPatch.context() as patch:
        if folder.name == "unfinished-search":  # it goes on only if it is cut as it was
            small_pieces.cut(small_pieces.FEWER, patch.setattr)
        result = CliRunner().invoke(cli, in_full(given), prog_name="farthest")
    if result.exit_code > 1 or not (result.exception is None or isinstance(result.exception, SystemExit)):
        return f"status {result.exit_code}: {result.output}"
    return result.stdout


def in_full(given: Sequence[str]) -> list[str]:
    """A command with the names of puzzle files in full."""
    return [str(PUZZLES / one) if one.endswith(".toml") else one for one in given]


def answered(folder: Path, given: Sequence[str]) -> Any:
    """The answer to a command that is run in a folder."""
    text = said(folder, given)
    if "--json" in given and text.startswith("{"):
        text = json.dumps(_steady(json.loads(text)), sort_keys=True, ensure_ascii=False)
    text = text.replace(os.fspath(folder), "FOLDER")
    return text if len(text) <= LONG else hashlib.sha256(text.encode()).hexdigest()


def _steady(value: Any) -> Any:
    """The same without what differs from run to run."""
    if isinstance(value, dict):
        return {
            # What is known of the goal and of the machine is told since, and was null.
            name: None if name == "result" and isinstance(one, dict) and one.keys() <= NEWER else _steady(one)
            for name, one in value.items()
            if name not in DIFFERENT and not (name in SINCE and one is None)
            if not (name == "bound" and "length" in value)  # which results of searches tell since
        }
    return [_steady(one) for one in value] if isinstance(value, list) else value
