"""Runs the notebooks of docs/notebooks as Jupyter does; as a program, writes their outputs into the files:

.venv/bin/python tests/notebooks.py docs/notebooks/*.ipynb
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from traitlets.config import Config

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"

Output = dict[str, Any]


def run_notebook(file: Path, changes: Mapping[str, str] | None = None) -> list[list[Output]]:
    """The outputs of each cell of code, run in the working folder, in the form in which notebooks store them.
    ``changes``: what is in the cells, and what takes its place. Raises what a cell raises."""
    make: Any = InteractiveShell
    shell = make(config=Config({"HistoryManager": {"enabled": False}}))
    found: list[list[Output]] = []
    for source in codes(file):
        for old, new in (changes or {}).items():
            source = source.replace(old, new)
        with capture_output() as captured:
            result = shell.run_cell(source)
        result.raise_error()
        outputs: list[Output] = []
        if captured.stdout and result.result is None:
            outputs.append({"output_type": "stream", "name": "stdout", "text": captured.stdout})
        if result.result is not None:
            data, _ = shell.display_formatter.format(result.result)
            count = len(found) + 1
            outputs.append(
                {"output_type": "execute_result", "data": data, "metadata": {}, "execution_count": count}
            )
        found.append(outputs)
    return found


def codes(file: Path) -> list[str]:
    """The cells of code."""
    cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def write_outputs(file: Path) -> None:
    """Runs a notebook in an empty folder, and stores its outputs in it."""
    notebook = json.loads(file.read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        outputs = run_notebook(file)
        os.chdir(file.parent)
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, some) in enumerate(zip(cells, outputs, strict=True), 1):
        cell["execution_count"], cell["outputs"] = number, some
    file.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    for notebook in [Path(name).resolve() for name in sys.argv[1:]]:
        write_outputs(notebook)
