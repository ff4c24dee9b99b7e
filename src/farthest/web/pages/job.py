"""A job: its layers as a chart and a table, its farthest boards, what is known of it, and files to take along."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from htpy import Node, a, button, details, div, form, fragment, h2, label, li, p, pre, span, summary, ul
from htpy import input as field
from markupsafe import Markup

from farthest.documents.jobs import LAYER, asked_rows, layer_rows, map_text, progress_rows, result_rows
from farthest.drawing.chart import Chart
from farthest.models.records import CANCELLED, FAILED, FINISHED, INTERRUPTED, QUEUED, RUNNING
from farthest.models.stored_job import stored_answers
from farthest.puzzles.definition import WILDCARD
from farthest.queries.citation import citation_of
from farthest.safe_text import safe
from farthest.web.page import (
    above,
    board_of,
    boards,
    facts,
    job_page,
    known_source,
    layer_page,
    live,
    message,
    page,
    post_form,
    puzzle_link,
    random_state,
    rows_of,
    state_page,
    worded,
)
from farthest.wording import counted, seconds_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farthest.models.records import JobRecord, LayerRecord
    from farthest.puzzles.puzzle import Puzzle


MOST_STATES = 20_000_000
"""Of maps that are written as files here."""

EXPORT = "use `farthest export`"


def map_forms() -> tuple[str, ...]:
    """The forms of maps that can be written with what is installed here."""
    return ("csv", "npz", "parquet") if find_spec("pyarrow") else ("csv", "npz")


def why_no_map(record: JobRecord, puzzle: Puzzle) -> str:
    """Why the map of a finished job is not written here; empty where it is."""
    if puzzle.definition.module:
        return f"this server does not run the puzzle's Python class; {EXPORT}"
    if (record.states or 0) > MOST_STATES:
        return f"it has {record.states or 0:,} states; {EXPORT}"
    return ""


def files(record: JobRecord, puzzle: Puzzle, *, layers: bool) -> Node:
    """The list of files. ``layers``: whether some are known."""
    here = job_page(record.id)

    def link(name: str) -> Node:
        return a(href=f"{here}/{name}", download=True)[name]

    def line(names: list[str], text: str) -> Node:
        return li[((", " if number else "", link(name)) for number, name in enumerate(names)), f": {text}"]

    of_layers = ["layers.csv", *(f"layers.{form}" for form in map_forms()[1:])]
    pictures = ["layers.svg", *(["layers.png"] if find_spec("matplotlib") else [])]
    return fragment[
        h2["Files"],
        ul[
            line(["puzzle.json"], "the puzzle's definition"),
            line(of_layers, "states at each depth") if layers else None,
            line(pictures, "the chart") if layers else None,
            _map_file(
                record, puzzle, line([f"map.{form}" for form in map_forms()], "every state and its distance")
            ),
            li[a(href=f"/api{here}")["the job as JSON"]],
        ],
    ]


def _map_file(record: JobRecord, puzzle: Puzzle, line: Node) -> Node:
    if not record.has_map or record.status != FINISHED:
        return None
    refused = why_no_map(record, puzzle)
    return li[worded(f"The map cannot be downloaded here: {refused}.")] if refused else line


def cite(record: JobRecord, puzzle: Puzzle) -> Node:
    """How to cite a finished enumeration."""
    if record.status != FINISHED:
        return None
    citation = citation_of(record, puzzle)
    return fragment[
        h2["How to cite"],
        p[citation.text],
        details[summary["BibTeX"], pre(tabindex="0")[citation.bibtex]],
        p[a(href=f"{job_page(record.id)}/cite.bib", download=True)["cite.bib"]],
    ]


ENDABLE = (QUEUED, RUNNING)
RESUMABLE = (CANCELLED, INTERRUPTED, FAILED)


@dataclass(frozen=True, slots=True)
class JobFound:
    """What the page is made of. ``farthest``: canonical texts, the first of the last layer. ``may_change``: whether
    this reader may cancel and resume jobs. ``waits_for``: of a queued job."""

    record: JobRecord
    puzzle: Puzzle
    layers: Sequence[LayerRecord]
    farthest: Sequence[str]
    may_change: bool = False
    waits_for: str = ""

    @property
    def asked(self) -> bool:
        """Whether there is a map that can be asked."""
        return self.record.has_map and self.record.status == FINISHED


def job(found: JobFound, scale: str) -> str:
    """``scale``: ``log`` or ``linear``."""
    record = found.record
    unfinished = record.state_now in ENDABLE
    return page(
        f"Job {record.id}: {record.name}",
        p(class_="lead")[puzzle_link(found.puzzle)],
        None if found.asked else facts(_facts(found)),
        live(record.id, progress_rows(record)) if unfinished else None,
        _farthest(found),
        _ask(found) if found.asked else None,
        fragment[h2["States at each depth"], chart_of(found, scale)] if found.layers or unfinished else None,
        fragment[h2["This job"], facts(_facts(found))] if found.asked else None,
        fragment[h2(id="known")["Published figures"], known_answers(found)] if found.puzzle.known else None,
        files(record, found.puzzle, layers=bool(found.layers)),
        cite(record, found.puzzle),
        _layer_table(found) if found.layers else None,
        _changes(found),
        scripts=["live.js"] if unfinished else [],
    )


MOST_LINKED = 60
"""Bars of a chart beside boards, so that each is a link; the page of the job has them all."""


def chart_of(found: JobFound, scale: str, marked: int | None = None, here: str | None = None) -> Node:
    """The chart, and a link to that of the other scale. ``marked``: a depth; ``here``: the address of the page."""
    log = scale != "linear"
    number = found.record.id
    other = "linear" if log else "log"
    address = job_page(number, scale=other) if here is None else f"{here}&scale={other}"
    link = (lambda depth: layer_page(number, depth)) if found.asked else None
    layers = [layer.states for layer in found.layers]
    brief = here is not None and len(layers) > MOST_LINKED
    saved = (("csv", "Save as CSV"), (f"svg?scale={scale}", "Save as SVG")) if layers else ()
    drawn = Markup(Chart(layers, log, marked, link, brief=brief).part_of_page()) if layers else None
    kept_up = log and found.record.state_now in ENDABLE
    return fragment[
        div(class_="wide", id="live-chart" if kept_up else None)[drawn],
        p(class_="small ways")[
            span[f"{'Logarithmic' if log else 'Linear'} scale"],
            a(href=address)[f"{'Linear' if log else 'Logarithmic'} scale"],
            [a(href=f"{job_page(number)}/layers.{form}", download=True)[name] for form, name in saved],
        ],
    ]


def board_form(number: int, value: str = "") -> Node:
    """The form for a board, which leads to its page."""
    return form(method="get", action=f"/jobs/{number}/state")[
        label(for_="board")["Board"],
        field(id="board", name="board", value=value, required=True, maxlength="4000", autocomplete="off"),
        button(type="submit")["Show"],
    ]


def known_answers(found: JobFound) -> Node:
    """Published figures beside what was found."""
    rows = [
        (what, shown, "agrees" if agrees else "differs", source)
        for what, shown, source, agrees in _compared(found)
    ]
    if not rows and found.record.state_now in ENDABLE:
        return p["They are compared with those of this job when it has ended."]
    if not rows:
        return p[
            "The published figures are for the whole map, counted from the puzzle's own origin. This job counted "
            "something else."
        ]
    return rows_of(("figure", "published", "this job", "source"), rows, numbers=(1,))


def _compared(found: JobFound) -> list[tuple[str, str, Node, bool]]:
    """Published figures: which, as text, their source, and whether they agree. Only those of the puzzle's own origin
    can be compared."""
    record, puzzle = found.record, found.puzzle
    own = (record.parameters.get("direction"), record.parameters.get("where")) == (
        puzzle.origin.direction,
        puzzle.origin.where,
    )
    if not (own and record.complete and record.status == FINISHED):
        return []
    layers = tuple(layer.states for layer in found.layers)
    return [
        (
            what,
            f"{published:,}" if isinstance(published, int) else f"{len(published)} layers",
            known_source(known),
            published == ours,
        )
        for known in puzzle.known
        for what, published, ours in (
            ("states", known.states, record.states),
            ("eccentricity", known.eccentricity, record.eccentricity),
            ("states at each depth", known.layers, layers),
        )
        if published is not None
    ]


def record_facts(record: JobRecord) -> list[tuple[str, Node]]:
    """What pages say of any job: what was asked, how far it is, and what it has found."""
    return [
        ("status", span(id="status", class_=f"status {record.state_now}")[record.state_now]),
        *asked_rows(record),
        ("created", f"{record.created:%Y-%m-%d %H:%M} UTC"),
        *([("message", record.error)] if record.error else []),
        *(
            (name, span(class_="digest")[text] if name == "digest" else text)
            for name, text in result_rows(record)
        ),
    ]


def _facts(found: JobFound) -> list[tuple[str, Node]]:
    record = found.record
    rows = record_facts(record)
    if found.waits_for:
        rows.insert(1, ("waits for", found.waits_for))
    if record.status == FINISHED:
        rows += [("map", map_text(record)), ("verified", _verified(record))]
        agreeing = [agrees for *_, agrees in _compared(found)]
        if agreeing:
            rows.append(("published figures", a(href="#known")[_agreement(agreeing)]))
    return rows


def _agreement(agreeing: Sequence[bool]) -> str:
    if all(agreeing):
        return f"{counted(len(agreeing), 'figure')}, with the source: all agree"
    return f"{agreeing.count(False)} of {counted(len(agreeing), 'figure')} differ"


def _verified(record: JobRecord) -> Node:
    """What `farthest verify` has proved last."""
    proof = record.verified
    if proof is None:
        return worded(f"not yet: run `farthest verify {record.id}`")
    what = "proved" if record.has_map else "nothing wrong was found"
    when = f"{what} on {proof.made:%Y-%m-%d %H:%M} UTC by farthest {proof.version}, in {seconds_text(proof.seconds)}"
    checks = rows_of(
        ("check", "looked at", "what it proves"),
        [(one.name, f"{one.checked:,}", one.proves) for one in proof.checks],
        numbers=(1,),
    )
    return details[summary[when], checks]


def may_play(record: JobRecord) -> bool:
    """Whether there is a goal to play to: that of the map, or one that it reaches from the start."""
    origin = record.parameters.get("direction"), record.parameters.get("where")
    return origin == ("to", "goal") or (
        origin == ("from", "start") and stored_answers(record).get("goal") is not None
    )


def _ask(found: JobFound) -> Node:
    number = found.record.id
    definition = found.puzzle.definition
    named = [("start", "The start")] if definition.has_origin("start") else []
    # A goal with wildcards stands for many boards.
    if stored_answers(found.record).get("goal"):
        named.append(("goal", "The nearest goal"))
    elif definition.has_origin("goal") and WILDCARD not in definition.origin_boards[0][0]:
        named.append(("goal", "The goal"))
    return fragment[
        h2["Ask the map"],
        board_form(number),
        p[
            ((a(href=state_page(number, word))[text], " · ") for word, text in named),
            a(href=random_state(number), rel="nofollow")["A random state"],
            fragment[" · ", a(href=_played(found.record), rel="nofollow")["Play"]]
            if may_play(found.record)
            else None,
        ],
    ]


def _played(record: JobRecord) -> str:
    to_goal = record.parameters.get("direction") == "to"
    return random_state(record.id, play="0") if to_goal else state_page(record.id, "start", play="0")


def _farthest(found: JobFound) -> Node:
    if not (found.farthest and found.layers):
        return None
    record = found.record
    number, depth = found.layers[-1].states, len(found.layers) - 1
    which = "farthest" if record.complete else "in the last layer that was found"
    reached, of_start = stored_answers(record).get("from_start"), None
    if reached is not None and reached.boards and (reached.depth, reached.farthest) != (depth, number):
        told = counted(reached.farthest, "board")
        of_start = fragment[
            h2[f"{told} farthest of those that the start leads to, at distance {reached.depth}"],
            _linked(found, reached.boards[: len(found.farthest)]),
        ]
        which = f"farthest of all {record.states or 0:,} states"
    more = number - len(found.farthest)
    return fragment[
        of_start,
        h2[f"{counted(number, 'board')} {which}, at distance {depth}"],
        _linked(found, found.farthest),
        p[
            a(href=layer_page(record.id, depth, after=str(len(found.farthest))))[f"and {more:,} more"]
            if found.asked
            else f"and {more:,} more"
        ]
        if more
        else None,
    ]


def _linked(found: JobFound, texts: Sequence[str]) -> Node:
    """Boards, each a link to its shortest way, which is played, where the map can be asked."""
    if not found.asked:
        return div(class_="boards")[(board_of(found.puzzle, text) for text in texts)]
    return boards(found.puzzle, ((text, f"{state_page(found.record.id, text)}#play") for text in texts))


def _layer_table(found: JobFound) -> Node:
    rows = [
        (a(href=layer_page(found.record.id, int(depth)))[depth] if found.asked else depth, *others)
        for depth, *others in layer_rows(found.layers)
    ]
    return details[summary["All layers"], rows_of(LAYER, rows, numbers=(0, 1, 2))]


def _changes(found: JobFound) -> Node:
    state, number = found.record.state_now, found.record.id
    if not found.may_change or found.record.kind != "enumeration":
        return None
    verb = "cancel" if state in ENDABLE else "resume" if state in RESUMABLE else None
    if verb is None:
        return None
    return post_form(f"/jobs/{number}/{verb}", f"{verb.capitalize()} this job")


def layers_svg(found: JobFound, scale: str) -> str:
    """The chart as a file."""
    chart = Chart([layer.states for layer in found.layers], scale != "linear")
    return chart.document(safe(found.puzzle.title or found.record.name))


BOARDS_SHOWN = 60


def layer(found: JobFound, depth: int, texts: Sequence[str], after: int, scale: str) -> str:
    """``texts``: some boards of the layer in key order, those behind the first ``after``."""
    record = found.record
    states, last = found.layers[depth].states, after + len(texts)

    def way(text: str, depth: int, after: int, rel: str) -> Node:
        return a(href=layer_page(record.id, depth, **({"after": str(after)} if after else {})), rel=rel)[text]

    ways = [
        way("Nearer", depth - 1, 0, "prev") if depth else None,
        way("Farther", depth + 1, 0, "next") if depth + 1 < len(found.layers) else None,
        a(href=random_state(record.id, depth), rel="nofollow")["A random one of these"],
    ]
    pages = [
        way("Earlier boards", depth, max(0, after - BOARDS_SHOWN), "prev") if after else None,
        way("More boards", depth, last, "next") if last < states else None,
    ]
    return page(
        f"{record.name}: {states:,} {'state' if states == 1 else 'states'} at distance {depth}",
        above(found.puzzle, record),
        p(class_="ways")[ways],
        boards(found.puzzle, ((text, f"{state_page(record.id, text)}#play") for text in texts)),
        p(class_="ways")[f"{after + 1:,} to {last:,} of {states:,}", pages] if texts and any(pages) else None,
        chart_of(found, scale, depth, layer_page(record.id, depth) + "?"),
    )


def wrong_board(record: JobRecord, board: str, told: str) -> str:
    """``told``: what is wrong with ``board``, and what was expected."""
    return page(
        f"{record.name}: not a board",
        p[a(href=job_page(record.id))[f"Job {record.id}: {record.name}"]],
        message(told),
        board_form(record.id, board),
    )
