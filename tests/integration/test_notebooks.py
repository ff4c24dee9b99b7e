"""The notebooks of docs/notebooks, cell by cell; what they show is what is stored in them."""

import json
import re
from pathlib import Path

import pytest

from notebooks import FOLDER, codes, run_notebook

CHANGING = re.compile(r"'?seconds'?.*|job</th>.*|<style.*?</style>|base64,[^\"]*", re.DOTALL)
"""What differs from run to run, or depends on fonts and libraries."""


ALL = re.compile(".+", re.DOTALL)
"""What a network has learnt differs with the processor."""
LESS = {"per_layer=15_000": "per_layer=500", "range(12)": "range(2)", "(careful)": "(careful, sample=20_000)"}
"""And so it learns for a short time only, and is judged by some boards."""


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["ninety-thousand-boards", "heuristics-against-the-truth", "a-network-and-the-truth"]
)
def test_a_notebook(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changing = ALL if name == "a-network-and-the-truth" else CHANGING
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FARTHEST_DATABASE_URL", raising=False)
    file = FOLDER / f"{name}.ipynb"
    assert changing is not ALL or all(text in "".join(codes(file)) for text in LESS)
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    stored = [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]
    found = run_notebook(file, LESS if changing is ALL else {})
    assert [[*map(sorted, map(_data, some))] for some in found] == [
        [*map(sorted, map(_data, some))] for some in stored
    ]
    for now, then in zip(found, stored, strict=True):
        for one, other in zip(now, then, strict=True):
            assert changing.sub("", _data(one)["text/plain"]) == changing.sub("", _data(other)["text/plain"])
    shown = "".join(text for some in found for one in some for text in _data(one).values())
    assert shown.count("<img ") >= 1
    assert "Error" not in shown


def _data(output: dict[str, dict[str, str]]) -> dict[str, str]:
    return output["data"]
