"""What is best stepped next, where steps have inputs in common and not all of these fit the memory."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from itertools import islice


class NearestFirst:
    """Steps by their numbers, those with the fewest inputs that are not held first, then in the order of ``inputs``: of
    each step the distinct inputs. So many inputs are ``held``; those go that were read longest ago."""

    def __init__(self, inputs: Mapping[int, Iterable[int]], held: int) -> None:
        self._inputs = {step: list(read) for step, read in inputs.items()}
        self._steps_of: dict[int, list[int]] = {}
        for step, read in self._inputs.items():
            for one in read:
                self._steps_of.setdefault(one, []).append(step)
        self._place = {step: place for place, step in enumerate(self._inputs)}
        self._missing = {step: len(read) for step, read in self._inputs.items()}
        self._nearest = [(self._missing[step], place, step) for step, place in self._place.items()]
        heapq.heapify(self._nearest)  # some entries are outdated
        self._most = held
        self._held: dict[int, None] = {}  # in the order in which they were read

    def best(self, most: int = 1) -> list[int]:
        """The next steps, at most so many; none where all are taken."""
        found: dict[int, tuple[int, int, int]] = {}
        while self._nearest and len(found) < most:
            entry = heapq.heappop(self._nearest)
            if self._missing.get(entry[2]) == entry[0]:
                found.setdefault(entry[2], entry)
        for entry in found.values():
            heapq.heappush(self._nearest, entry)
        return list(found)

    def drop(self, step: int) -> None:
        """Forgets a step."""
        self._missing.pop(step, None)

    def take(self, step: int) -> None:
        """Takes a step: its inputs are held now."""
        self.drop(step)
        for one in self._inputs[step]:
            if one in self._held:
                del self._held[one]
            else:
                self._change(one, -1)
            self._held[one] = None
        for one in list(islice(self._held, max(len(self._held) - self._most, 0))):
            del self._held[one]
            self._change(one, 1)

    def _change(self, one: int, by: int) -> None:
        for step in self._steps_of[one]:
            if step in self._missing:
                self._missing[step] += by
                heapq.heappush(self._nearest, (self._missing[step], self._place[step], step))
