"""The verbs of the command line as functions; `import farthest` offers them.

What all of them take: a *puzzle* is a name of the catalogue, a parametric name, the path of a file (text or Path), a
`Puzzle`, or an object of a class derived from `PuzzleSpace`. A *board* is text in any form that the command line reads,
the word ``goal`` (of several the first that the puzzle draws) or ``start``, ``moves: R U' F2`` (what these moves make
of the goal), or the number in each cell: a tuple, a list or a numpy array. An *origin* is an `Origin`; or text, ``to
goal``, ``from start``; or a board, counted in the puzzle's own direction. A *database* is a URL or a file (text or
Path). TypeError says what was expected where it is none of them.
"""
