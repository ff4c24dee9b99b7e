"""Malformed definitions: every message names the place, what was expected, and a mend."""

from pathlib import Path

import pytest

from cases import for_each
from farthest.errors import PuzzleError
from farthest.puzzles.reader import parse_puzzle, read_puzzle

HEAD = 'name = "made-up"\nfamily = "sliding"\n'
GOOD = HEAD + '[sliding]\ngoal = ["1 2", "3 0"]\nstart = ["3 1", "2 0"]\n'


def sliding(*lines: str) -> str:
    """A definition whose table [sliding], from line 4 on, has these lines."""
    return HEAD + "[sliding]\n" + "\n".join(lines) + "\n"


def known(*lines: str) -> str:
    """A good definition with a known answer, whose keys begin at line 7."""
    return GOOD + "[[known]]\n" + "\n".join(lines) + "\n"


# (id, text, place after the file's name, what is wrong or expected, mend)
CASES = [
    ("empty", "", ", name:", "no name; expected", 'name = "eight-kinds"'),
    ("toml-syntax", 'name = "a"\nfamily sliding\n',
     ", line 2, column 8: not valid TOML", "Expected '='", "quotes"),
    ("toml-unclosed", sliding('goal = ["1 2", "3 0"'),
     ", line 5", "not valid TOML: Unclosed array", "brackets"),
    ("toml-key-twice", HEAD + 'name = "b"\n', ", line 3", "Cannot overwrite a value", "give each key once"),
    ("toml-table-twice", GOOD + "[sliding]\n", ", line 6", "not valid TOML", "give each key once"),
    ("toml-deep", "a = " + "[" * 5000, "", "expected", "rows of pieces"),
    ("toml-long-number", "a = " + "1" * 5000, ":", "a number has too many digits", "write a smaller one"),
    ("unknown-key", 'titel = "x"\n' + GOOD,
     ", line 1, titel:", "key 'titel' is not known", "did you mean 'title'?"),
    ("strange-key", "zzz = 1\n" + GOOD, ", line 1, zzz:", "not known", "the keys are name, title"),
    ("unknown-sliding-key", sliding("gaol = []"),
     ", line 4, [sliding] gaol:", "not known", "did you mean 'goal'"),
    ("no-name", GOOD.replace('name = "made-up"\n', ""),
     ", name:", "no name; expected", 'name = "eight-kinds"'),
    ("name-type", "name = 3\n",
     ", line 1, name:", "letters and digits, - _ or . between, got 3", 'write name = "eight-kinds"'),
    ("name-words", 'name = "my puzzle"\n',
     ", line 1, name:", "expected at most 64 letters and digits", "title"),
    ("name-slash", 'name = "../x"\n', ", line 1, name:", "expected at most 64 letters and digits", "title"),
    ("name-digits", 'name = "12"\n', ", line 1, name:", "the number of a job", "add a word"),
    ("name-long", f'name = "{"x" * 65}"\n',
     ", line 1, name:", "expected at most 64", "put other words into title"),
    ("no-family", 'name = "a"\n', ", family:", "no family; expected", 'family = "sliding"'),
    ("family", 'name = "a"\nfamily = "chess"\n',
     ", line 2, family:", "'chess' is not known", "write one of them"),
    ("metric", 'metric = "slid"\n' + GOOD,
     ", line 1, metric:", 'expected "step" or "slide"', "did you mean 'slide'?"),
    ("metric-type", "metric = true\n" + GOOD,
     ", line 1, metric:", "expected a text, got a truth value", "write"),
    ("title-lines", 'title = "a\\nb"\n' + GOOD,
     ", line 1, title:", "expected a text of one line", "leave out"),
    ("no-table", HEAD, ", sliding:", "no table [sliding]", "goal = [...]"),
    ("table-type", HEAD + "sliding = 3\n",
     ", line 3, sliding:", "expected a table, got 3", "write [sliding]"),
    ("no-goal", sliding('start = "1 0"'), ", line 3, [sliding]:", "no goal", "write goal ="),
    ("goal-and-goals", sliding('goal = "1 0"', 'goals = ["1 0"]'),
     ", line 5, [sliding] goals:", "expected one", "put"),
    ("goal-type", sliding("goal = 10"),
     ", line 4, [sliding] goal:", "array of rows or a text, got 10", "write goal"),
    ("goal-empty", sliding("goal = []"),
     ", line 4, [sliding] goal:", "goal is empty; expected rows", '"1 2"'),
    ("goal-empty-text", sliding('goal = " "'),
     ", line 4, [sliding] goal:", "is empty; expected rows", "such as"),
    ("goal-row-type", sliding('goal = ["1 2", 30]'),
     ", line 4", "row 2: expected a text or an array, got 30", "write"),
    ("goal-token-type", sliding("goal = [[1, 2.5]]"),
     ", line 4", "expected texts or whole numbers", "write rows"),
    ("goals-type", sliding('goals = "1 0"'),
     ", line 4, [sliding] goals:", "expected an array of boards", "write"),
    ("goals-empty", sliding("goals = []"),
     ", line 4, [sliding] goals:", "got an empty array", "write goals ="),
    ("goals-are-rows", sliding('goals = ["1 2", "3 0"]'),
     ", line 4", "each text is a board", "goal = [...] for one"),
    ("ragged", sliding('goal = ["1 2 3", "4 0"]'),
     ", line 4", "goal, row 2 has 2 places, row 1 has 3", "write #"),
    ("empty-row", sliding('goal = ["1 2", "", "3 0"]'),
     ", line 4", "row 2 has 0 places, row 1 has 2", "write #"),
    ("ten", sliding('goal = ["123", "4510", "067"]'),
     ", line 4", "row 2 has 4 places", "spaces between pieces"),
    ("start-rows", sliding('goal = "12/30"', 'start = "123/450"'),
     ", line 5", "start, row 1 has 3 places", "expected"),
    ("start-height", sliding('goal = "12/30"', 'start = "12/30/45"'),
     ", line 5", "start has 3 rows, goal has 2", "draw"),
    ("walls-move", sliding('goal = ["#12", "340"]', 'start = ["12#", "340"]'),
     ", line 5", "row 1, column 1", "write #"),
    ("one-cell", sliding('goal = "0"'), ", line 4", "has 1 cell, expected 2 to 64", "a piece beside it"),
    ("all-walls", sliding('goal = ["##", "##"]'),
     ", line 4", "has 0 cells, expected 2 to 64", "needs a blank"),
    ("too-large", sliding(f'goal = ["{"1" * 65}"]'),
     ", line 4", "has 65 cells, expected 2 to 64", "smaller"),
    ("huge", sliding("goal = [" + f"'{'1 ' * 100}'," * 100 + "]"),
     ", line 4", "has 10,000 cells, expected 2", "smaller"),
    ("no-blank", sliding('goal = ["1 2", "3 4"]'),
     ", line 4", "no blank '0', expected at least one", "write 0"),
    ("other-blank", sliding('goal = ["1 2", "3 _"]'), ", line 4", "no blank '0'", 'add blank = "_"'),
    ("only-blanks", sliding('goal = ["0 0"]'),
     ", line 4", "only blanks, expected at least one piece", "add one"),
    ("blank-type", sliding("blank = 0", 'goal = "10"'),
     ", line 4, [sliding] blank:", "expected a text, got 0", "write"),
    ("blank-space", sliding('blank = " "', 'goal = "10"'),
     ", line 4", "U+0020, which cannot be seen", "such as"),
    ("blank-wall", sliding('blank = "#"', 'goal = "10"'),
     ", line 4", "'#', which has a meaning of its own", "write"),
    ("blank-empty", sliding('blank = ""', 'goal = "10"'), ", line 4", "'' is empty", "write another sign"),
    ("blank-count", sliding('goal = "1200"', 'start = "1230"'),
     ", line 5", "start holds the blank once, goal twice", "correct one"),
    ("goal-blank-count", sliding('goals = ["12/00", "12/30"]'),
     ", line 4", "goal 2 holds the blank once", "correct one"),
    ("reserved-token", sliding('goal = ["a;b 0"]'),
     ", line 4", "row 1, column 1: 'a;b' holds ';'", "another sign"),
    ("wall-token", sliding('goal = ["#1 0"]'), ", line 4", "'#1' holds '#'", "write another sign"),
    ("invisible-token", sliding('goal = ["a\\u200Bb 0"]'),
     ", line 4", "U+200B, which cannot be seen", "another sign"),
    ("combining-mark", sliding('goal = "e\\u03010"'), ", line 4", "combining mark U+0301", "with spaces"),
    ("long-token", sliding(f'goal = "{"x" * 33} 0"'),
     ", line 4", "has 33 characters; at most 32", "another sign"),
    ("start-wildcard", sliding('goal = "10"', 'start = "*0"'),
     ", line 5", "expected in goals only", "another sign"),
    ("start-pieces", sliding('goal = "12/30"', 'start = "12/40"'),
     ", line 5", "start differs from goal: 1 4 too many, 1 3 missing; expected the same", "correct one"),
    ("goals-pieces", sliding('goals = ["12/30", "11/30"]'),
     ", line 4", "goal 2 differs from goal 1", "correct one"),
    ("wild-extra", sliding('goals = ["12/30", "11/*0"]'), ", line 4", "1 1 too many", "correct one"),
    ("goals-twice", sliding('goals = ["12/30", "12/30"]'),
     ", line 4", "goal 2 is the same board as goal 1", "leave one"),
    ("wild-unknown", sliding('goal = ["1 *", "* 0"]'),
     ", line 4", "the pieces are not known", 'pieces = "0 1 2 ..."'),
    ("pieces-few", sliding('goal = ["1 *", "* 0"]', 'pieces = "1 2"'),
     ", line 5", "2 pieces, 1 blank; expected 3", "list"),
    ("pieces-blanks", sliding('goal = "1**0"', 'pieces = "1200"'),
     ", line 5", "2 pieces, 2 blanks; expected 3", "list"),
    ("pieces-other", sliding('goal = "1**0"', 'pieces = "234"'),
     ", line 4", "goal differs from pieces: 1 1", "correct"),
    ("pieces-type", sliding('goal = "1*0"', "pieces = 12"),
     ", line 5", "array of rows or a text, got 12", "write pieces"),
    ("pieces-wild", sliding('goal = "1*0"', 'pieces = "1*"'),
     ", line 5", "expected in goals only", "another sign"),
    ("parts", sliding('goal = ["1 # 2", "3 # 0"]'),
     ", line 4", "2 parts with no passage between them: {0 2}, {1 3}", "open walls"),
    ("graph-parts", sliding('goal = "1230"', "edges = [[0, 1], [2, 3]]"),
     ", line 5, [sliding] edges:", "2 parts with no passage between them: {0 1}, {2 3}", "add edges"),
    ("no-edges", sliding('goal = "1230"', "edges = []"), ", line 5", "4 parts", "add edges"),
    ("edges-type", sliding('goal = "120"', "edges = 3"),
     ", line 5", "array of pairs of cells, got 3", "write edges"),
    ("edges-pair", sliding('goal = "120"', "edges = [[0, 1], [1]]"),
     ", line 5", "pair 2: expected two cells", "write"),
    ("edges-triple", sliding('goal = "120"', "edges = [[0, 1, 2]]"),
     ", line 5", "got [0, 1, 2]", "write edges"),
    ("edges-text", sliding('goal = "120"', 'edges = [["0", "1"]]'),
     ", line 5", "expected two cells", "write edges"),
    ("edges-bool", sliding('goal = "120"', "edges = [[true, 1]]"),
     ", line 5", "got [a truth value, 1]", "write edges"),
    ("edges-range", sliding('goal = "120"', "edges = [[0, 3]]"),
     ", line 5", "no cell 3, expected 0 to 2", "write edges"),
    ("edges-negative", sliding('goal = "120"', "edges = [[-1, 1]]"),
     ", line 5", "no cell -1, expected 0", "write edges"),
    ("edges-huge", sliding('goal = "120"', f"edges = [[0, 1{'0' * 90}]]"),
     ", line 5", "a huge number", "write edges"),
    ("edges-loop", sliding('goal = "120"', "edges = [[1, 1]]"),
     ", line 5", "joins a cell with itself", "leave it out"),
    ("edges-twice", sliding('goal = "120"', "edges = [[0, 1], [1, 0]]"),
     ", line 5", "pair 2 [1, 0] appears twice", "leave"),
    ("arcs-twice", sliding('goal = "120"', "arcs = [[0, 1], [0, 1]]"),
     ", line 5, [sliding] arcs:", "twice", "leave one"),
    ("arcs-both", sliding('goal = "120"', "arcs = [[0, 1], [1, 0]]"),
     ", line 5", "opposite", "the edge [0, 1] instead"),
    ("arcs-edge", sliding('goal = "120"', "edges = [[0, 1]]", "arcs = [[1, 0]]"),
     ", line 6", "also an edge", "leave one"),
    ("arcs-loop", sliding('goal = "120"', "arcs = [[2, 2]]"),
     ", line 5", "expected two different cells", "leave it out"),
    ("graph-rows", sliding('goal = "12/30"', "edges = [[0, 1]]"),
     ", line 4", "goal has 2 rows; with edges or arcs", "one row"),
    ("graph-wall", sliding('goal = "12#0"', "edges = [[0, 1]]"),
     ", line 4", "has a wall (#)", "in cell order"),
    ("graph-slide", 'metric = "slide"\n' + sliding('goal = "120"', "edges = [[0, 1], [1, 2]]"),
     ", line 1, metric:", "the slide metric needs the rows of a grid", 'use metric = "step"'),
    ("origin-type", "origin = []\n" + GOOD,
     ", line 1, origin:", "expected a text, got an array", "write origin"),
    ("origin-word", 'origin = "goal"\n' + GOOD,
     ", line 1, origin:", 'expected "to goal"', "write one of these"),
    ("origin-start", 'origin = "from start"\n' + sliding('goal = "12/30"'),
     ", line 1", "there is none", "add start"),
    ("origin-board", 'origin = "to 12/3"\n' + GOOD,
     ", line 1, origin:", "row 2 has 1 cell, expected 2", "like '31/20'"),
    ("origin-moves", 'origin = "from moves: 7"\n' + GOOD,
     ", line 1, origin:", "move 1, '7'", "expected"),
    ("known-type", "known = 3\n" + GOOD, ", line 1, known:", "expected tables, got 3", "write [[known]]"),
    ("known-key", known('source = "x"', "layer = [1]"),
     ", line 8, [known] layer:", "not known", "did you mean 'layers'?"),
    ("known-source", known("states = 12"),
     ", line 6, [known]:", "no source; expected who found it", 'source = "..."'),
    ("known-nothing", known('source = "x"'), ", line 6, [known]:", "no answer; expected some of", "layers"),
    ("known-oeis", known('source = "x"', 'oeis = "A1234"', "states = 12"),
     ", line 8, [known] oeis:", "A and six digits or more, got 'A1234'", 'like "A080601"'),
    ("known-oeis-alone", known('source = "x"', 'oeis = "A080601"'),
     ", line 6, [known]:", "no answer; expected some of", "layers"),
    ("known-states", known('source = "x"', "states = 0"), ", line 8", "at least 1, got 0", "correct it"),
    ("known-layers", known('source = "x"', "layers = [1, 0]"),
     ", line 8", "whole numbers of at least 1", "write layers"),
    ("known-first-layers", known('source = "x"', "first_layers = 3"),
     ", line 8", "whole numbers of at least 1", "write first_layers"),
    ("known-sum", known('source = "x"', "layers = [1, 2]", "states = 4"),
     ", line 9", "the layers give 3", "correct one"),
    ("known-depth", known('source = "x"', "layers = [1, 2]", "eccentricity = 2"),
     ", line 9", "give 1", "correct one"),
    ("known-far-type", known('source = "x"', "farthest = [3]"), ", line 8", "array of boards", "as a text"),
    ("known-far-board", known('source = "x"', 'farthest = ["12/33"]'),
     ", line 8", "piece 3 appears twice", "0 is missing"),
    ("known-far-twice", known('source = "x"', 'farthest = ["12/30", "1230"]'),
     ", line 8", "listed twice", "leave one"),
    ("known-far-many", known('source = "x"', "layers = [1]", 'farthest = ["12/30", "12/03"]'),
     ", line 9", "2 boards, but the last layer has 1", "correct one"),
    ("known-second", known('source = "x"', "states = 12", "[[known]]", "states = 3"),
     ", line 9, [known] 2:", "no source", 'source = "..."'),
]  # fmt: skip


@for_each(("text", "place", "problem", "mend"), [c[1:] for c in CASES])
def test_message_names_place_problem_and_mend(text: str, place: str, problem: str, mend: str) -> None:
    with pytest.raises(PuzzleError) as raised:
        parse_puzzle(text, "wrong.toml")
    message = str(raised.value)
    assert message.startswith(f"wrong.toml{place}")
    assert problem in message
    assert mend in message
    assert message.isprintable()
    assert len(message) < 500


def test_ids_differ() -> None:
    assert len({case[0] for case in CASES}) == len(CASES)


def test_good_definition_is_read() -> None:
    assert parse_puzzle(GOOD, "good.toml").name == "made-up"


class TestFiles:
    """Files that cannot be read as text."""

    def wrong(self, path: Path) -> str:
        with pytest.raises(PuzzleError) as raised:
            read_puzzle(path)
        return str(raised.value)

    def test_missing(self, tmp_path: Path) -> None:
        assert self.wrong(tmp_path / "no.toml").endswith("no.toml: there is no such file; check the path")

    def test_directory(self, tmp_path: Path) -> None:
        assert "is a directory, expected a puzzle file" in self.wrong(tmp_path)

    def test_unreadable(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(*_: object, **_options: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr("builtins.open", refuse)
        assert "may not be read; check the file's permissions" in self.wrong(tmp_path / "secret.toml")

    def test_part_of_path_is_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        assert "cannot be read (Not a directory)" in self.wrong(tmp_path / "file" / "a.toml")

    def test_null_character_in_path(self) -> None:
        message = self.wrong(Path("a\0.toml"))
        assert "cannot be read" in message
        assert message.isprintable()

    def test_not_utf8(self, tmp_path: Path) -> None:
        path = tmp_path / "latin.toml"
        path.write_bytes('name = "a"\ntitle = "é"\n'.encode("latin-1"))
        assert self.wrong(path).endswith("latin.toml, line 2: byte 0xE9 is not UTF-8; save the file in UTF-8")

    def test_utf16(self, tmp_path: Path) -> None:
        path = tmp_path / "wide.toml"
        path.write_text(GOOD, encoding="utf-16")
        assert "line 1: byte 0xFF is not UTF-8; save the file in UTF-8" in self.wrong(path)

    def test_byte_order_mark_is_welcome(self, tmp_path: Path) -> None:
        path = tmp_path / "mark.toml"
        path.write_text(GOOD, encoding="utf-8-sig")
        assert read_puzzle(path).name == "made-up"

    def test_too_long(self, tmp_path: Path) -> None:
        path = tmp_path / "long.toml"
        path.write_bytes(b"#" * (1 << 20) + b"\n")
        assert "more than 1048576 bytes, expected a puzzle definition; is it the right file?" in self.wrong(
            path
        )
