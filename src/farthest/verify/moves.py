"""Legal moves of a sliding puzzle, as paths of cells, computed from its definition alone.

A path (c0, c1, ..., ck) is the move that applies where c0 holds the blank and c1 ... ck hold pieces: the
piece in each cell goes to the cell before it, and ck becomes blank. The same path read backwards takes the
move back.
"""

from farthest.families.sliding.definition import Sliding, sliding
from farthest.puzzles.puzzle import Origin, Puzzle

Path = tuple[int, ...]


def paths_toward_origin(puzzle: Puzzle, origin: Origin) -> list[Path]:
    """The moves from a board to the boards that may be one nearer to the origin.

    Where distances are counted to the origin these are the legal moves; where they are counted from it, the
    legal moves taken back.
    """
    definition = sliding(puzzle)
    paths = _slides(definition) if puzzle.metric == "slide" else _steps(definition)
    if origin.direction == "from":
        paths = {path[::-1] for path in paths}
    return sorted(paths)


def _steps(definition: Sliding) -> set[Path]:
    """One piece into a neighbouring blank: either way along an edge, forward along an arc."""
    if definition.rows:
        return {path for path in _slides(definition) if len(path) == 2}
    return set(definition.edges) | {(b, a) for a, b in definition.edges + definition.arcs}


def _slides(definition: Sliding) -> set[Path]:
    """Pieces in a straight row or column with no wall among them, each one cell toward the blank."""
    lines = [list(row) for row in definition.rows] + [
        list(column) for column in zip(*definition.rows, strict=True)
    ]
    paths: set[Path] = set()
    for line in lines + [line[::-1] for line in lines]:
        for start in range(len(line)):
            path: Path = ()
            for cell in line[start:]:
                if cell < 0:
                    break
                path += (cell,)
                if len(path) > 1:
                    paths.add(path)
    return paths
