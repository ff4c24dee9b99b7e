"""What the steps of shards take of the memory where their runs are read from files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from farthest.errors import ResourceError
from farthest.sizes import bytes_text

if TYPE_CHECKING:
    from farthest.spaces.contract import ScatterSpace
    from farthest.stores.folder.run_files import RunFiles

SORTED_BYTES = 3
"""While the runs sent to a shard are merged, each code is there so many times, besides in its file's form."""

MOST_SORTED = 0.5
"""A shard that would take more of the memory to be sorted is refused."""


@dataclass(frozen=True, slots=True)
class StepLoad:
    """What a shard's step takes: bytes that are read, and those that are decoded and sorted."""

    read: int
    sort: int


def step_loads(space: ScatterSpace, files: RunFiles, depth: int, memory: int) -> list[StepLoad]:
    """What the step of each shard to ``depth`` takes, once the layer before is expanded. ``memory``: bytes that may be
    used. Raises ResourceError where the step of a shard takes too much."""
    width = space.code_bytes
    code = 8 if width == 8 else max(16, 1 << (width - 1).bit_length())
    sent = [files.sizes("O", number) for number in range(len(files.outboxes))]
    known = [files.sizes(kind, at) for kind, at in files.left_out(depth)]
    loads = []
    for shard in range(files.shards):
        codes = sum(sizes[shard][1] for sizes in sent)
        older = [sizes[shard][1] for sizes in known]
        sort = codes + (sum(older) if files.renews(depth) else 0)
        need = code * (SORTED_BYTES * sort + max(older, default=0))
        if need > MOST_SORTED * memory:
            more = int(need / MOST_SORTED) - memory
            raise ResourceError(
                f"puzzle {space.puzzle.name}: a part of layer {depth} needs {bytes_text(need)} of memory at once, even "
                f"where layers are kept in files; allow {-(-more // 2**20)} MiB more with --memory, and give the same "
                "command again, which goes on from here"
            )
        loads.append(StepLoad(sum(sizes[shard][0] for sizes in (*sent, *known)), need))
    return loads
