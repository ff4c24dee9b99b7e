"""Many boards written at a time are written as one at a time."""

import numpy

from arrangements import sliding_names
from cases import for_each
from farthest.families.sliding.definition import sliding
from farthest.puzzles import catalogue
from farthest.queries.stored_map import label_rows

NAMES = [*sliding_names(), "sliding-3x4", "sliding-1x9-slide"]


@for_each("name", NAMES)
def test_text_is_canonical_and_is_read_back(name: str) -> None:
    puzzle = catalogue.load(name)
    pieces = numpy.repeat(numpy.arange(len(sliding(puzzle).tokens)), sliding(puzzle).counts).astype(
        numpy.uint8
    )
    labels = numpy.random.default_rng(5).permuted(numpy.tile(pieces, (100, 1)), axis=1)
    texts = sliding(puzzle).texts(labels)
    assert texts == [sliding(puzzle).format_board(board) for board in labels.tolist()]
    assert (label_rows(puzzle, texts) == labels).all()
    assert (label_rows(puzzle, labels.astype(numpy.int64)) == labels).all()
    assert sliding(puzzle).texts(labels[:0]) == []
