"""Boards as text: every reasonable form is read, the canonical form is written, and both agree."""

import codecs
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import for_each
from farthest.errors import BoardError
from farthest.families.sliding.definition import Sliding, sliding
from farthest.puzzles.catalogue import load
from farthest.puzzles.grid import RESERVED, Passages, token_problem
from farthest.puzzles.reader import parse_puzzle
from strategies import graphs, grids, make_puzzle, piece_counts

SIGNS = st.characters(exclude_characters=RESERVED, exclude_categories=["C", "Z", "M"])
TOKENS = SIGNS | st.sampled_from("0123456789|_.-─│┌┐└┘□一") | st.text(SIGNS, min_size=1, max_size=3)


@st.composite
def bodies(draw: st.DrawFn, tokens: st.SearchStrategy[str] = TOKENS) -> Sliding:
    """Sliding bodies: grids with walls or graphs, several blanks, equal pieces, tokens of all kinds."""
    rows: list[list[int]] = []
    edges: Passages = ()
    arcs: Passages = ()
    if draw(st.booleans()):
        rows = draw(grids())
        cells = 1 + max(max(row) for row in rows)
    else:
        edges, arcs = draw(graphs())
        cells = 1 + max(map(max, edges + arcs))
    counts = draw(piece_counts(cells, 10**9))
    signs = draw(st.lists(tokens, min_size=len(counts), max_size=len(counts), unique=True))
    goal = draw(st.permutations([label for label, count in enumerate(counts) for _ in range(count)]))
    return sliding(make_puzzle(goals=[goal], rows=rows, edges=edges, arcs=arcs, counts=counts, tokens=signs))


@st.composite
def boards(draw: st.DrawFn) -> tuple[Sliding, tuple[int, ...]]:
    """A body and an arrangement of its pieces."""
    definition = draw(bodies())
    return definition, tuple(draw(st.permutations(definition.goals[0])))


@given(boards())
def test_parse_reads_what_format_writes(case: tuple[Sliding, tuple[int, ...]]) -> None:
    definition, board = case
    text = definition.format_board(board)
    assert "\n" not in text
    assert definition.parse_board(text) == board
    assert definition.parse_boards([text, text + "\n"]) == bytes(board) * 2
    assert definition.check_board(list(board)) == board


@given(boards())
def test_other_forms_mean_the_same(case: tuple[Sliding, tuple[int, ...]]) -> None:
    definition, board = case
    text = definition.format_board(board)
    tokens = [definition.tokens[label] for label in board]
    forms = [" ".join(tokens), ",".join(tokens), ", ".join(tokens), "  ".join(tokens) + " \n"]
    forms += [text.replace("/", mark) for mark in (" / ", "\n", "\r\n", ";", "/\n")]
    forms += [text.replace("#", ""), f"/{text}/"]
    if all(len(token) == 1 for token in definition.tokens):
        forms += ["".join(tokens), text.replace("/", "")]
    if not any("|" in token for token in definition.tokens):
        forms += [text.replace("/", "|"), f"| {text.replace('/', ' | ')} |"]
    for form in forms:
        assert definition.parse_board(form) == board, form
        if "\n" not in form.strip():
            assert definition.parse_boards([form]) == bytes(board), form


@given(boards())
def test_other_blanks_where_no_piece_is_written_so(case: tuple[Sliding, tuple[int, ...]]) -> None:
    definition, board = case
    for blank in "0_.":
        tokens = [definition.tokens[label] if label else blank for label in board]
        if blank not in definition.tokens:
            assert definition.parse_board(" ".join(tokens)) == board
            assert definition.parse_boards([" ".join(tokens)]) == bytes(board)


@given(boards())
def test_template_writes_the_canonical_form(case: tuple[Sliding, tuple[int, ...]]) -> None:
    definition, board = case
    made = definition.line_template()
    if any(len(token) > 1 for token in definition.tokens):
        assert made is None
        return
    assert made is not None
    template, positions, table = made
    row = bytearray(template)
    for position, label in zip(positions, board, strict=True):
        row[position] = label
    assert len(table) == 256
    assert codecs.charmap_decode(bytes(row), "strict", table)[0] == definition.format_board(board) + "\n"


def outcome(read: Callable[[], bytes]) -> bytes | None:
    """The labels that were read, or None where the text was refused."""
    try:
        return read()
    except BoardError:
        return None


@given(boards(), st.text(max_size=40) | st.text("0123456789/ |#*,;\n□", max_size=40))
def test_any_text_is_a_board_or_a_board_error(case: tuple[Sliding, tuple[int, ...]], text: str) -> None:
    definition, _ = case
    assert outcome(lambda: bytes(definition.parse_board(text))) == outcome(
        lambda: definition.parse_boards([text])
    )


@given(bodies(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4).filter(
    lambda token: token_problem(token) is None
)))  # fmt: skip
def test_every_permitted_token_survives(definition: Sliding) -> None:
    board = definition.goals[0]
    assert definition.parse_board(definition.format_board(board)) == board


@for_each(
    "text",
    ["6 4 5 / 2 0 2 / 3 4 1", "645202341", "645/202/341", "645 202 341", "6,4,5;2,0,2;3,4,1", "645|202|341"],
)
def test_forms_of_the_seed(text: str) -> None:
    definition = sliding(
        parse_puzzle(
            'name = "seed"\nfamily = "sliding"\n[sliding]\ngoal = ["1 2 3", "4 0 4", "5 2 6"]', "seed"
        )
    )
    assert definition.format_board(definition.parse_board(text)) == "645/202/341"


@for_each(
    "text",
    ["┘│└/─□─/┐│┌", "┘│└ ─□─ ┐│┌", "┘│└\n─□─\n┐│┌\n", "┘│└─□─┐│┌", "┘ │ └ / ─ _ ─ / ┐ │ ┌", "┘│└|─0─|┐│┌"],
)
def test_forms_of_eight_kinds(text: str) -> None:
    puzzle = load("eight-kinds")
    assert sliding(puzzle).parse_board(text) == sliding(puzzle).start


def test_pieces_drawn_with_bars() -> None:
    text = 'name = "box"\nfamily = "sliding"\n[sliding]\nblank = "."\ngoal = ["+-+", "|.|", "+-+"]'
    definition = sliding(parse_puzzle(text, "box"))
    assert definition.format_board(definition.parse_board("|-+/+0|/+-+")) == "|-+/+.|/+-+"
    assert definition.parse_board("+-+|.|+-+") == definition.goals[0]


def test_walls_written_or_left_out() -> None:
    definition = sliding(load("lozenge"))
    for text in ("#12#/3456/#70#", "12/3456/70", "12345670", "#12#3456#70#", "1 2 / 3 4 5 6 / 7 _"):
        assert definition.format_board(definition.parse_board(text)) == "#12#/3456/#70#"


def test_long_tokens() -> None:
    definition = sliding(load("sliding-3x4"))
    assert definition.format_board(range(12)) == "0 1 2 3 / 4 5 6 7 / 8 9 10 11"
    assert definition.parse_board("0 1 2 3 4 5 6 7 8 9 10 11") == tuple(range(12))


def test_drawings() -> None:
    eight = sliding(load("eight-kinds"))
    assert eight.draw_board(eight.goals[0]) == ["┌─┐", "│□│", "└─┘"]
    large = sliding(load("sliding-3x4"))
    assert large.draw_board(range(12)) == [" 0  1  2  3", " 4  5  6  7", " 8  9 10 11"]
    walls = sliding(load("lozenge"))
    assert walls.draw_board(walls.goals[0]) == ["# 1 2 #", "3 4 5 6", "# 7 0 #"]
    graph = sliding(load("wilson-theta"))
    assert graph.draw_board(graph.goals[0]) == ["cell   0 1 2 3 4 5 6", "piece  1 2 3 4 5 6 0"]
    row = sliding(load("first-row"))
    assert row.draw_board(row.goals[0]) == ["1 2 3", "* * *", "* * 0"]
    wide = 'name = "wide"\nfamily = "sliding"\n[sliding]\ngoal = ["一 a", "b 0"]'
    definition = sliding(parse_puzzle(wide, "wide"))
    assert definition.draw_board(definition.goals[0]) == ["一  a", " b  0"]


@pytest.mark.parametrize("form", ["{}", "{} ", "{}\n"])
def test_many_boards_are_read_fast(form: str) -> None:
    definition = sliding(load("sliding-3x4"))
    lines = [form.format(definition.format_board([*range(k, 12), *range(k)])) for k in range(12)] * 1000
    best = 0.0
    for _ in range(3):
        before = time.thread_time()
        labels = definition.parse_boards(lines)
        best = max(best, len(lines) / (time.thread_time() - before))
    assert len(labels) == 12 * len(lines)
    assert best > 50_000  # four times less than on an idle machine
