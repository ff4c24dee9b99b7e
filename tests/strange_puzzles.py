"""Puzzles of every family as strangers write them, small or huge, made from a seed: files in TOML and in GAP's
notation.

Most can be read; few can be enumerated. What they have in common is that their sizes lie on both sides of every limit.
"""

from collections.abc import Callable
from random import Random


def strange_puzzle(seed: int) -> tuple[str, str]:
    """The name of a file and its text; the same for the same seed."""
    random = Random(seed)
    kind = random.choice(sorted(_KINDS))
    suffix = "gap" if kind == "gap" else "toml"
    return f"strange-{seed}.{suffix}", _KINDS[kind](random)


def _toml(family: str, lines: list[str], metric: str = "", origin: str = "") -> str:
    head = ['name = "strange"', f'family = "{family}"']
    head += [f'metric = "{metric}"'] if metric else []
    head += [f'origin = "{origin}"'] if origin else []
    return "\n".join([*head, f"[{family}]", *lines, ""])


def _size(random: Random, most: int) -> int:
    """Often small, often near the limit, sometimes beyond it."""
    return random.choice(
        [
            random.randint(1, 6),
            random.randint(1, most),
            random.randint(max(1, most - 3), most),
            random.randint(1, most + 4),
        ]
    )


def _cycles(random: Random, points: list[int]) -> str:
    """A permutation of some of the points, of a few cycles."""
    chosen = random.sample(points, random.randint(min(2, len(points)), len(points)))
    cycles, at = [], 0
    while len(chosen) - at >= 2:
        length = random.choice([2, 3, 5, len(chosen) - at])
        cycle = chosen[at : at + length]
        at += length
        if len(cycle) > 1:
            cycles.append("(" + ",".join(map(str, cycle)) + ")")
    return "".join(cycles) or "(1,2)"


def _gap(random: Random) -> str:
    """Random groups are mostly all permutations; groups that keep blocks of points together have turned pieces."""
    block = random.choice([1, 1, 2, 3, 4])
    blocks = max(2, _size(random, 64))
    lines = []
    for number in range(random.randint(1, 5)):
        moved = random.sample(range(blocks), random.randint(2, blocks))
        images = dict(zip(moved, moved[1:] + moved[:1], strict=True))
        turn = random.randrange(block)
        points = [0] * (blocks * block)
        for place in range(blocks):
            to, by = images.get(place, place), turn if place in images else 0
            for i in range(block):
                points[place * block + i] = to * block + (i + by) % block + 1
        lines.append(f"g{number} := PermList({points});;")
    if random.random() < 0.3:
        lines.append(f"h := {_cycles(random, list(range(1, blocks * block + 1)))};;")
    return "\n".join(lines) + "\n"


def _permutation(random: Random) -> str:
    slots = max(2, _size(random, 64))
    kinds = random.randint(1, slots)
    labels = [*range(kinds), *(random.randrange(kinds) for _ in range(slots - kinds))]
    random.shuffle(labels)
    lines = [f'goal = "{" ".join(f"p{label}" for label in labels)}"']
    lines += [f"modulus = {random.choice([2, 3, 64, 65])}"] if random.random() < 0.3 else []
    lines.append("[permutation.generators]")
    for number in range(random.choice([1, 2, 3, 40])):
        lines.append(f'm{number} = "{_turned(random, slots, random.choice([1, 2]))}"')
    return _toml("permutation", lines, random.choice(["generator", "power"]))


def _sets(random: Random) -> str:
    """Sets of turned pieces."""
    lines, sets = [], []
    for number in range(random.randint(1, 3)):
        slots, modulus = max(2, _size(random, 24)), random.choice([1, 2, 3, 4, 64, 65])
        lines += ["[[permutation.orbits]]", f'name = "s{number}"', f"modulus = {modulus}"]
        labels = [f"k{random.randrange(max(2, slots // 2))}" for _ in range(slots)]
        equal = random.random() < 0.3
        lines.append(f'goal = "{" ".join(labels)}"' if equal else f"slots = {slots}")
        sets.append((f"s{number}", slots, modulus))
    lines.append("[permutation.generators]")
    for move in range(random.randint(1, 4)):
        each = [f'{name} = "{_turned(random, slots, modulus)}"' for name, slots, modulus in sets]
        lines.append(f"m{move} = {{ {', '.join(each)} }}")
    return _toml("permutation", lines, random.choice(["generator", "power"]))


def _turned(random: Random, slots: int, modulus: int) -> str:
    """A cycle with turns; slots are numbered from 1 (of a later set the reader may say otherwise)."""
    chosen = random.sample(range(1, slots + 1), random.randint(2, slots))
    return (
        "("
        + " ".join(f"{slot}+{random.randrange(modulus)}" if modulus > 1 else f"{slot}" for slot in chosen)
        + ")"
    )


def _grid(random: Random, cells: int) -> tuple[int, int]:
    height = random.randint(1, min(8, cells))
    return height, max(1, cells // height)


def _sliding(random: Random) -> str:
    cells = max(2, _size(random, 64))
    blanks = random.choice([1, 1, 1, 2, cells // 2, max(1, cells - 1)])
    kinds = random.randint(1, max(1, cells - blanks))
    labels = [0] * blanks + [1 + random.randrange(kinds) for _ in range(cells - blanks)]
    if random.random() < 0.4:
        labels = [0] * blanks + list(range(1, cells - blanks + 1))
    random.shuffle(labels)
    metric = random.choice(["step", "slide"])
    if random.random() < 0.5:
        height, width = _grid(random, cells)
        rows = [" ".join(map(str, labels[y * width : (y + 1) * width])) for y in range(height)]
        return _toml("sliding", [f"goal = {rows}".replace("'", '"')], metric)
    edges = [[random.randrange(cell), cell] for cell in range(1, cells)]
    arcs = [random.sample(range(cells), 2) for _ in range(random.choice([0, 0, 3, 30]))]
    lines = [f'goal = "{" ".join(map(str, labels))}"', f"edges = {edges}"]
    return _toml("sliding", [*lines, *([f"arcs = {arcs}"] if arcs else [])], "step")


def _pegs(random: Random) -> str:
    holes = max(3, _size(random, 64))
    metric = random.choice(["jump", "chain"])
    if random.random() < 0.5:
        height, width = _grid(random, holes)
        rows = ["".join(random.choice("ooo.o#") for _ in range(width)) for _ in range(height)]
        diagonal = random.choice(["true", "false"])
        return _toml("pegs", [f"start = {rows}".replace("'", '"'), f"diagonal = {diagonal}"], metric)
    jumps = [random.sample(range(holes), 3) for _ in range(random.choice([3, 40, 1000, 1025]))]
    start = "".join(random.choice("oo.") for _ in range(holes))
    return _toml("pegs", [f'start = "{start}"', f"jumps = {jumps}"], metric)


def _blocks(random: Random) -> str:
    """Pieces of one cell or two, and blanks between."""
    height, width = _grid(random, max(4, _size(random, 64)))
    board = [["."] * width for _ in range(height)]
    signs = iter("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"[:60])
    fill = random.choice([0.1, 0.5, 0.9])
    for y in range(height):
        for x in range(width):
            if board[y][x] != "." or random.random() > fill:
                continue
            sign = next(signs, "#")
            board[y][x] = sign
            if sign != "#" and x + 1 < width and board[y][x + 1] == "." and random.random() < 0.5:
                board[y][x + 1] = sign
    lines = [f"start = {[''.join(row) for row in board]}".replace("'", '"')]
    lines.append(f"distinct = {random.choice(['true', '[]'])}")
    lines.append(f"along = {random.choice(['true', '[]'])}")
    return _toml("blocks", lines, random.choice(["step", "slide", "move"]))


def _lights(random: Random) -> str:
    lamps = _size(random, 64)
    colours = random.choice([2, 2, 3, 7, 36, 37])
    if random.random() < 0.5:
        height, width = _grid(random, lamps)
        lines = [f"size = [{height}, {width}]", f"torus = {random.choice(['true', 'false'])}"]
    else:
        arcs = [[random.randrange(lamps), random.randrange(lamps)] for _ in range(lamps)]
        lines = [f"lamps = {lamps}", f"arcs = {[arc for arc in arcs if arc[0] != arc[1]]}"]
    lines.append(f"colours = {colours}")
    return _toml("lights", lines, random.choice(["press", "multi"]))


def _hanoi(random: Random) -> str:
    pegs, discs = _size(random, 64), _size(random, 64)
    lines = [f"pegs = {pegs}", f"discs = {discs}"]
    if pegs > 1 and random.random() < 0.3:
        lines.append(f"arcs = {[[peg, (peg + 1) % pegs] for peg in range(pegs)]}")
    elif random.random() < 0.5:
        lines.append(f'variant = "{random.choice(["standard", "cyclic", "adjacent"])}"')
    return _toml("hanoi", lines)


def _jugs(random: Random) -> str:
    capacities = [_size(random, 65_534) for _ in range(_size(random, 16))]
    lines = [f"capacities = {capacities}", f"measure = {random.randint(0, max(capacities))}"]
    if random.random() < 0.5:
        lines.append(f'start = "{" ".join(str(random.randint(0, each)) for each in capacities)}"')
        lines.append('moves = ["pour"]')
    return _toml("jugs", lines)


_KINDS: dict[str, Callable[[Random], str]] = {
    "gap": _gap,
    "permutation": _permutation,
    "sets": _sets,
    "sliding": _sliding,
    "pegs": _pegs,
    "blocks": _blocks,
    "lights": _lights,
    "hanoi": _hanoi,
    "jugs": _jugs,
}
