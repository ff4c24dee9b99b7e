"""The table of figures in docs/metrics.md: `python -m figure_table` writes what the program says of them, and leaves
the last column."""

from __future__ import annotations

from pathlib import Path

from farthest import metrics
from farthest.documents.figures import READ
from farthest.metrics import COUNTED, Figure

PAGE = Path(__file__).parents[1] / "docs/metrics.md"
HEAD = "| --- | --- | --- | --- | --- |\n"
OF_WORKERS = (metrics.WORK_SECONDS, metrics.PROCESSES, metrics.BUSY)
OF_COORDINATORS = (metrics.LEASES_LOST, metrics.RESENT, metrics.CHECKPOINT_SECONDS)


def cells(figure: Figure) -> list[str]:
    """All but the last column."""
    if figure in READ:
        by = "coordinator, serve"
    elif figure in OF_WORKERS:
        by = "worker"
    elif figure in OF_COORDINATORS:
        by = "coordinator"
    else:
        by = "serve" if figure is metrics.SOLVE_SECONDS else "worker, coordinator"
    labels = ", ".join(f"`{label}`" for label in figure.labels)
    return [f"`{figure.full_name}`", labels, by, figure.meaning]


def told(text: str) -> dict[str, list[str]]:
    """The rows of the page, by the first cell."""
    table = text.partition(HEAD)[2].partition("\n\n")[0]
    rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines())
    return {row[0]: row for row in rows}


def renewed(text: str) -> str:
    """The page with the table that the program's figures make."""
    before, head, rest = text.partition(HEAD)
    rows, after = told(text), rest.partition("\n\n")[2]
    lines = []
    for figure in (*READ, *COUNTED):
        row = cells(figure)
        lines.append(f"| {' | '.join([*row, rows.get(row[0], [''])[-1]])} |".replace("|  |", "| |"))
    return f"{before}{head}{chr(10).join(lines)}\n\n{after}"


if __name__ == "__main__":
    PAGE.write_text(renewed(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
