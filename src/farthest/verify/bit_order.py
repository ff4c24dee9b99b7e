"""Where the bits of keys are in a residue map, read again as docs/map-files.md has it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

WORD_BITS = 64


class BitOrder:
    """Keys in groups of ``group`` keys, which take ``group_words`` words."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self.keys = int(fields["keys"])
        self.group = int(fields["words_per_group"]) * int(fields["bits"])
        self.group_words = int(fields["words_per_group"])
        self._order = np.array(fields["order"] or range(self.group), dtype=np.int64)

    def places(self, keys: NDArray[Any]) -> NDArray[np.int64]:
        """For each key word * 64 + bit."""
        group, k = np.divmod(keys.astype(np.int64), self.group)
        return group * (self.group_words * WORD_BITS) + self._order[k]
