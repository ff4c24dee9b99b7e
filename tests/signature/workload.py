"""A fixed workload: small puzzles of different kinds whose digests must never change unnoticed."""

from dataclasses import dataclass
from pathlib import Path

from farthest.coordinator.enumeration.job import enumerate_puzzle
from farthest.coordinator.settings import Outcome, Settings
from farthest.puzzles.catalogue import load
from farthest.puzzles.puzzle import Direction, Origin
from kernels import compiled

DIGESTS = Path(__file__).parent / "digests.json"


@dataclass(frozen=True)
class Work:
    """One enumeration: a puzzle's name and, if it is not the puzzle's own, the direction to the goal."""

    puzzle: str
    direction: Direction | None = None

    @property
    def name(self) -> str:
        return self.puzzle + (f" {self.direction} goal" if self.direction else "")

    def run(self, *, threads: int = 1, isa: str = "", shard_classes: int = 1) -> Outcome:
        origin = Origin(self.direction) if self.direction else None
        with compiled(isa, shard_classes):
            return enumerate_puzzle(load(self.puzzle), None, Settings(origin=origin, threads=threads))


WORKLOAD = (
    Work("3-puzzle"),  # one word a line
    Work("sliding-2x4"),  # halved by parity
    Work("sliding-2x4-slide"),  # slides
    Work("lozenge"),  # walls
    Work("wilson-theta"),  # a graph that is not bipartite
    Work("roundabout"),  # one-way passages, from the start
    Work("roundabout", "to"),  # and to the goal
    Work("red-and-white"),  # identical pieces
    Work("eight-kinds"),
    Work("first-row"),  # 120 goals of both parities
    Work("two-blanks"),
    Work("pancake-6"),
    Work("burnt-pancake-4"),  # orientations in the word
    Work("pyraminx@UL=UR=UB.turns:edges"),  # orientations of equal pieces
    Work("cuboid-1x3x3"),
    Work("hakoiri-musume-move"),  # sparse
    Work("hanoi-4-4"),
    Work("hanoi-cyclic-3-5"),  # one-way
    Work("lights-3x3-c3"),
    Work("die-hard-jugs"),
)
