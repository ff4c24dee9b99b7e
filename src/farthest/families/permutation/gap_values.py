"""What expressions of GAP stand for: permutations, groups, numbers, lists."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Perm:
    """``images``: of the points that are moved. ``name``: of the variable that held it, else empty."""

    images: dict[int, int]
    name: str = ""
    line: int = 0

    def then(self, other: Perm) -> Perm:
        points = {*self.images, *other.images}
        images = {point: other.image(self.image(point)) for point in points}
        return Perm({point: image for point, image in images.items() if image != point}, "", self.line)

    def image(self, point: int) -> int:
        return self.images.get(point, point)

    def power(self, exponent: int) -> Perm:
        base = (
            self
            if exponent >= 0
            else Perm({image: point for point, image in self.images.items()}, "", self.line)
        )
        result = Perm({}, "", self.line)
        exponent = abs(exponent)
        while exponent:
            if exponent & 1:
                result = result.then(base)
            base = base.then(base)
            exponent >>= 1
        return result


@dataclass(frozen=True)
class Group:
    generators: list[Perm] = field(default_factory=list)


Value = Perm | Group | int | list["Value"]
