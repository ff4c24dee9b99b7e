"""The ``[sliding]`` table of a definition: boards, pieces and passages.

blank  = "0"                          # how the blank is written
goal   = ["1 2 3", "4 5 #", "6 7 0"]  # or goals = [...]: a set of boards; # a wall, * any piece
start  = ["7 6 5", "4 3 #", "2 1 0"]  # optional
pieces = "0 1 2 3 4 5 6 7"            # all pieces; needed where each goal holds * and there is no start
edges  = [[0, 1], [1, 2]]             # cells joined both ways: a graph instead of a grid, boards in one row
arcs   = [[2, 0]]                     # a piece may move from the first cell to the second only
"""

from collections import Counter
from collections.abc import Mapping

from farthest.errors import PuzzleError
from farthest.families.sliding.definition import Sliding
from farthest.puzzles.definition import WILDCARD, Board
from farthest.puzzles.drawn import Drawn, check_shapes, read_drawn, read_goals
from farthest.puzzles.grid import Passages, disconnection, grid_edges, number_cells
from farthest.puzzles.notation import WALL_TOKEN, WILDCARD_TOKEN
from farthest.puzzles.passages import read_passages
from farthest.puzzles.source import Source
from farthest.puzzles.tokens import token_problem
from farthest.wording import counted, near_match, shown, times

TABLE = "sliding"
_KEYS = ("blank", "goal", "goals", "start", "pieces", "edges", "arcs")
_LISTED = 6


def read_sliding(table: Mapping[str, object], source: Source) -> Sliding:
    """The definition of family ``sliding``. Raises PuzzleError naming key, line, what was expected and a mend."""
    return _Reader(table, source).read()


class _Reader:
    def __init__(self, table: Mapping[str, object], source: Source) -> None:
        self.table = table
        self.source = source
        self.graph = "edges" in table or "arcs" in table

    def fail(self, key: str, problem: str) -> PuzzleError:
        return self.source.error(TABLE, key, problem)

    def read(self) -> Sliding:
        for key in self.table:
            if key not in _KEYS:
                mend = near_match(key, _KEYS) or f"the keys are {', '.join(_KEYS)}"
                raise self.fail(key, f"key {shown(key)} is not known; {mend}")
        blank = self.blank()
        goals = self.goals()
        start = self.board("start", "start", self.table["start"]) if "start" in self.table else None
        boards = [*goals, start] if start else goals
        check_shapes(boards, self.graph, self.fail)
        for board in boards:
            self.check_blanks(board, blank, goals[0])
        pieces, listed = self.pieces(boards, blank)
        for board in boards:
            self.check_pieces(board, pieces, listed)
        rows, edges, arcs = self.geometry(goals[0])
        drawn = [token for board in boards for token in board.tokens if token != WILDCARD_TOKEN]
        tokens = tuple(dict.fromkeys([blank, *drawn, *pieces]))
        labels = {token: label for label, token in enumerate(tokens)} | {WILDCARD_TOKEN: WILDCARD}
        numbered: dict[Board, str] = {}
        for goal in goals:
            labelled = tuple(labels[token] for token in goal.tokens)
            if labelled in numbered:
                same = numbered[labelled]
                raise self.fail(
                    goal.key, f"{goal.name} is the same board as {same}; expected it once, leave one out"
                )
            numbered[labelled] = goal.name
        return Sliding(
            rows=rows,
            edges=edges,
            arcs=arcs,
            tokens=tokens,
            counts=tuple(pieces[token] for token in tokens),
            goals=tuple(numbered),
            start=tuple(labels[token] for token in start.tokens) if start else None,
        )

    def blank(self) -> str:
        blank = self.table.get("blank", "0")
        if not isinstance(blank, str):
            raise self.fail("blank", f'expected a text, got {shown(blank)}; write blank = "0"')
        problem = token_problem(blank)
        if problem:
            raise self.fail("blank", f'{shown(blank)} {problem}; write another sign, such as blank = "0"')
        return blank

    def goals(self) -> list[Drawn]:
        goals = read_goals(self.table, self.fail, example="1 2/3 0", one_row=self.graph)
        if not goals:
            raise self.fail(
                "", 'no goal; write goal = ["1 2 3", "4 5 6", "7 8 0"], or goals = [...] for a set'
            )
        return goals

    def board(self, key: str, name: str, value: object) -> Drawn:
        return read_drawn(key, name, value, self.fail)

    def check_blanks(self, board: Drawn, blank: str, first: Drawn) -> None:
        blanks, expected = board.tokens.count(blank), first.tokens.count(blank)
        if not blanks:
            usual = [token for token in ("0", "_", ".", "□") if token in board.tokens]
            mend = (
                f'if {usual[0]} is the blank, add blank = "{usual[0]}"' if usual else f"write {blank} there"
            )
            raise self.fail(
                board.key, f"{board.name} has no blank {shown(blank)}, expected at least one; {mend}"
            )
        if blanks == len(board.tokens):
            raise self.fail(
                board.key, f"{board.name} holds only blanks, expected at least one piece; add one"
            )
        if blanks != expected:
            raise self.fail(
                board.key,
                f"{board.name} holds the blank {times(blanks)}, {first.name} {times(expected)}; "
                f"expected the same number of {blank}, correct one of them",
            )

    def pieces(self, boards: list[Drawn], blank: str) -> tuple[Counter[str], str]:
        """How many of each token, and what tells it: ``pieces``, else the first board without ``*``."""
        cells, blanks = len(boards[0].tokens), boards[0].tokens.count(blank)
        if "pieces" in self.table:
            pieces = Counter(self.board("pieces", "pieces", self.table["pieces"]).tokens)
            pieces[blank] = pieces[blank] or blanks  # blanks may be left out of the list
            if pieces.total() != cells or pieces[blank] != blanks:
                found = (
                    f"{counted(pieces.total() - pieces[blank], 'piece')}, {counted(pieces[blank], 'blank')}"
                )
                raise self.fail(
                    "pieces",
                    f"{found}; expected {cells - blanks} and {blanks}, list each as often as it is there",
                )
            return pieces, "pieces"
        for board in boards:
            if WILDCARD_TOKEN not in board.tokens:
                return Counter(board.tokens), board.name
        raise self.fail(
            boards[0].key,
            "each goal holds * (any piece), so the pieces are not known; "
            f'add start, or list them all: pieces = "{blank} 1 2 ..."',
        )

    def check_pieces(self, board: Drawn, pieces: Counter[str], listed: str) -> None:
        held = Counter(board.tokens)
        wild = held.pop(WILDCARD_TOKEN, 0)
        problems = [f"{count} {token} too many" for token, count in (held - pieces).items()]
        if not wild:
            problems += [f"{count} {token} missing" for token, count in (pieces - held).items()]
        if problems:
            raise self.fail(
                board.key,
                f"{board.name} differs from {listed}: {', '.join(problems[:_LISTED])}; "
                "expected the same pieces, correct one of them",
            )

    def geometry(self, drawn: Drawn) -> tuple[tuple[tuple[int, ...], ...], Passages, Passages]:
        """Rows, edges and arcs, of a grid or a graph, with all cells joined."""
        cells = len(drawn.tokens)
        if self.graph:
            edges = read_passages("edges", self.table.get("edges", []), cells, (), self.fail)
            arcs = read_passages("arcs", self.table.get("arcs", []), cells, edges, self.fail)
            apart = disconnection(cells, edges + arcs)
            if apart:
                key = "edges" if "edges" in self.table else "arcs"
                raise self.fail(key, f"{apart}; expected one part, add edges between them")
            return (), edges, arcs
        rows = number_cells([[token == WALL_TOKEN for token in row] for row in drawn.rows])
        edges = grid_edges(rows)
        apart = disconnection(cells, edges)
        if apart:
            raise self.fail(
                drawn.key, f"{apart}; expected one part, open walls or make the cells of others walls"
            )
        return rows, edges, ()
