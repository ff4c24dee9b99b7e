"""How many examples hypothesis draws."""

import os

import hypothesis

# Time limits of single examples mean little on a shared machine; CI draws the same examples each time.
# `make night` draws more of them.
hypothesis.settings.register_profile(
    "farthest", deadline=None, derandomize="CI" in os.environ, max_examples=25
)
hypothesis.settings.register_profile("night", deadline=None, max_examples=1000)
hypothesis.settings.load_profile("farthest")
