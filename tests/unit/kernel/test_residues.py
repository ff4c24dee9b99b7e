"""The kernel's residue maps take nothing that does not fit; what they find is tested with whole maps."""

from typing import Any

import numpy as np
import pytest

from cases import for_each
from farthest import _kernel
from kernel_samples import make_space

SPACE = make_space([1, 1, 2])


def arrays(**changed: Any) -> list[Any]:
    planes = 2 * SPACE.words
    given: dict[str, Any] = {
        "words": np.zeros(planes, dtype=np.uint64),
        "present": np.ones(-(-planes // 512), dtype=np.uint8),
        "colours": np.zeros(0, dtype=np.uint8),
        "low": False,
        "origins": np.zeros(1, dtype=np.uint64),
        **changed,
    }
    return [SPACE, *given.values()]


@for_each(
    "changed",
    [
        {"words": np.zeros(2 * SPACE.words + 1, dtype=np.uint64)},
        {"present": np.zeros(0, dtype=np.uint8)},
        {"colours": np.array([0, 1], dtype=np.uint8)},
        {"origins": np.array([2, 1], dtype=np.uint64)},
        {"words": np.frombuffer(bytes(16 * SPACE.words + 1), dtype=np.uint8)[1:].view(np.uint64)},
    ],
)
def test_arrays_that_do_not_fit(changed: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"must|are those"):
        _kernel.ResidueMap(*arrays(**changed))


def test_keys_and_arrays_of_walks_that_do_not_fit() -> None:
    held = _kernel.ResidueMap(*arrays())
    keys, steps = np.zeros(2, dtype=np.uint64), np.zeros(2, dtype=np.int32)
    ends, pages = np.zeros(2, dtype=np.uint8), np.zeros(2, dtype=np.uint64)
    held.walk(keys, steps, ends, pages, 5)
    assert ends.tolist() == [2, 2]  # no key is reached
    with pytest.raises(ValueError, match="as many"):
        held.walk(keys, steps[:1], ends, pages, 5)
    with pytest.raises(ValueError, match="out of range"):
        held.walk(np.full(2, SPACE.keys, dtype=np.uint64), steps, ends, pages, 5)
    with pytest.raises(TypeError):
        held.walk(keys.astype(np.int32), steps, ends, pages, 5)
    for out, most in (
        (np.zeros(3, np.uint8), 5),
        (np.zeros(SPACE.keys, np.uint8), 255),
        (np.zeros(SPACE.keys), 5),
    ):
        with pytest.raises(ValueError, match=r"distance"):
            held.expand(out, most)
