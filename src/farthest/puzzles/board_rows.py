"""The rows of a board that was given as text, before it is known what the tokens stand for."""

from __future__ import annotations

from collections.abc import Sequence

from farthest.puzzles.grid import WALL
from farthest.puzzles.notation import ROW_TOKEN, WALL_TOKEN
from farthest.wording import counted


def split_rows(
    text: str, places: Sequence[Sequence[int]], row_marks: str, *, single: bool
) -> tuple[list[list[str]], bool]:
    """The tokens of each row that is not empty, and whether the text says where rows end.

    ``places``: the grid's cell numbers; ``row_marks``: characters that end a row; ``single``: every token is one
    character, so that tokens need no spaces between them.
    """
    for mark in row_marks:
        text = text.replace(mark, ROW_TOKEN)
    chunks = [row.replace(",", " ").split() for row in text.split(ROW_TOKEN)]
    chunks = [row for row in chunks if row]
    if not single:
        return chunks, len(chunks) > 1
    if len(chunks) == 1 and len(chunks[0]) > 1:
        longer = sum(len(chunk) > 1 for chunk in chunks[0])
        if longer == len(chunks[0]) or (longer and len(chunks[0]) == len(places)):
            return [list(chunk) for chunk in chunks[0]], True  # spaces end the rows
    # A row is one run of characters, or characters with spaces: a longer chunk among others is no token.
    return [list(row[0]) if len(row) == 1 else row for row in chunks], len(chunks) > 1


def rows_problem(rows: list[list[str]], places: Sequence[Sequence[int]], *, divided: bool) -> str | None:
    """What is wrong with the shape of a board in rows, all walls drawn or none; None when it fits the grid."""
    walled = any(WALL_TOKEN in row for row in rows)
    expected = [list(row) if walled else [cell for cell in row if cell != WALL] for row in places]
    expected = [row for row in expected if row]
    if not divided:
        expected = [[cell for row in expected for cell in row]]
    cells = sum(len(row) for row in expected)
    what = "place" if walled else "cell"
    if not divided and len(rows[0]) != cells:
        return f"{counted(len(rows[0]), what)}, expected {cells}"
    if len(rows) != len(expected):
        return f"{counted(len(rows), 'row')}, expected {len(expected)}"
    for i, (row, numbers) in enumerate(zip(rows, expected, strict=True), 1):
        if len(row) != len(numbers):
            return f"row {i} has {counted(len(row), what)}, expected {len(numbers)}"
    for i, (row, numbers) in enumerate(zip(rows, expected, strict=True), 1):
        for j, (token, cell) in enumerate(zip(row, numbers, strict=True), 1):
            if (token == WALL_TOKEN) != (cell == WALL):
                found, instead = ("wall", "cell") if token == WALL_TOKEN else ("cell", "wall")
                where = f"row {i}, column {j}" if divided else f"place {j}"
                return f"{where} is a {found}, expected a {instead}; write all walls or none"
    return None
