"""numpy, which is imported when it is first used: much of the program does without it, and starts faster then."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        def __getattr__(self, name: str) -> Any:
            import numpy

            value = getattr(numpy, name)
            setattr(self, name, value)  # found without this method from now on
            return value

    np = _Numpy()

__all__ = ["np"]
