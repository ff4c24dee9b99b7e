"""Heuristics: lower bounds of distances, computed from the board alone or looked up in stored maps. Here are the search
algorithms by name, and which of them use a heuristic. Nothing is imported that costs time."""

from __future__ import annotations

from typing import Literal, get_args

PlainAlgorithm = Literal["bfs", "dfs", "astar"]
"""Those that keep all boards that they found."""
DeepeningAlgorithm = Literal["ida", "iddfs"]
"""Those that search by iterations."""
Algorithm = PlainAlgorithm | DeepeningAlgorithm

PLAIN: tuple[PlainAlgorithm, ...] = get_args(PlainAlgorithm)
DEEPENING: tuple[DeepeningAlgorithm, ...] = get_args(DeepeningAlgorithm)
ALGORITHMS: tuple[Algorithm, ...] = (*DEEPENING, *PLAIN)
GUIDED: tuple[Algorithm, ...] = ("ida", "astar")
"""Those that use a heuristic."""

AUTO = "auto"
"""The heuristic is chosen for the puzzle and the board (docs/searching.md)."""
MAP = "map"
"""What ``AUTO`` chooses where all distances of the puzzle are stored: the board is looked up."""
