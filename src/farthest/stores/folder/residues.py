"""The residue map of layers in files: those whose states have a number other than 0, put together shard by shard.

Where the process is killed meanwhile, the files are still there, and the map is made again.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from farthest.errors import LostStateError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from typing_extensions import Buffer

    from farthest import _kernel
    from farthest.map_files.form import ResidueForm
    from farthest.stores.folder.layer_files import LayerFiles


def residue_blocks(
    kernel: _kernel.Space,
    stepper: _kernel.UnitStepper,
    files: LayerFiles,
    form: ResidueForm,
    depth: int,
    threads: int,
) -> Iterator[tuple[int, Buffer]]:
    """(The first word's number, words) of each shard. In memory are some shards' words a thread. Raises LostStateError
    where a file is missing or damaged."""
    layers = [layer for layer in files.folder.layers[: depth + 1] if form.number(layer.depth)]
    with ThreadPoolExecutor(threads, "farthest-map") as pool:
        for parity in (0, 1) if form.modulus == 4 else (0,):  # modulo 3 both plans are the same
            here = [layer for layer in layers if form.modulus == 3 or layer.depth & 1 == parity]
            for unit, shards in enumerate(files.plan(parity).units):
                depths = [layer.depth for layer in here if unit in layer.units]
                made = _Unit(kernel, stepper, files, form, unit, depths)
                for first in range(0, len(shards), threads):
                    some = range(first, min(first + threads, len(shards)))
                    for at, words in zip(some, pool.map(made.words, some), strict=True):
                        yield shards[at] * kernel.words_per_shard * form.planes, words.data


class _Unit:
    """The shards of a unit, and the layers in which it has states."""

    def __init__(
        self,
        kernel: _kernel.Space,
        stepper: _kernel.UnitStepper,
        files: LayerFiles,
        form: ResidueForm,
        unit: int,
        depths: Sequence[int],
    ) -> None:
        self._words = kernel.words_per_shard * form.planes
        self._stepper = stepper
        self._path = files.folder.path
        self._form = form
        self._layers = [(depth, *files.unit_blobs(depth, unit)) for depth in depths]

    def words(self, at: int) -> NDArray[np.uint64]:
        """The words of the shard that is number ``at`` of the unit."""
        words = np.zeros(self._words, dtype=np.uint64)
        for depth, table, read in self._layers:
            if not table.sizes[at]:
                continue
            try:
                self._stepper.mark(read(at), self._form.number(depth), self._form.planes, words)
            except ValueError as error:
                raise LostStateError(f"{self._path}: a file of layer {depth} is damaged: {error}") from error
        return words
