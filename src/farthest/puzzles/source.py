"""The text of a definition and where things stand in it, for messages that name the place."""

import re

from farthest.errors import PuzzleError

_HEADER = re.compile(r"\s*\[{1,2}([^\[\]]+)\]{1,2}\s*(?:#.*)?$")  # no two parts that both take spaces


class Source:
    """The text of a puzzle definition, and what messages call it (usually the path of its file)."""

    def __init__(self, text: str, place: str) -> None:
        self.text = text
        self.place = place

    def error(self, table: str, key: str, problem: str, occurrence: int = 0, *, row: int = 0) -> PuzzleError:
        """The error at a key of a table. An empty table: the top of the file; an empty key: the table.

        ``occurrence`` is the index of the table where several have the same name, ``row`` the number of a line in the
        key's text of several lines, from 1. The line is told where found.
        """
        line = self._line(table, key, occurrence)
        if line is not None and row:
            line += row - 1 + self.text.splitlines()[line - 1].rstrip().endswith(('"""', "'''"))
        numbered = f" {occurrence + 1}" if occurrence or self._tables(table) > 1 else ""
        named = " ".join(part for part in (f"[{table}]{numbered}" if table else "", key) if part)
        return PuzzleError(
            f"{self.place}{f', line {line}' if line else ''}{f', {named}' if named else ''}: {problem}"
        )

    def _tables(self, table: str) -> int:
        matches = (_HEADER.match(line) for line in self.text.splitlines())
        return sum(match is not None and match[1].strip() == table for match in matches)

    def _line(self, table: str, key: str, occurrence: int) -> int | None:
        wanted = re.compile(rf"\s*[\"']?{re.escape(key)}[\"']?\s*=") if key else None
        current, seen, header = "", -1, None
        for number, line in enumerate(self.text.splitlines(), 1):
            match = _HEADER.match(line)
            if match:
                current = match[1].strip().strip("\"'")
                if current == table:
                    seen += 1
                    if seen == occurrence:
                        header = number
            elif wanted and current == table and (not table or seen == occurrence) and wanted.match(line):
                return number
        return header
