// Peg spaces.
#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

// Adds the class PegSpace.
void bind_pegs(nanobind::module_& m);

}  // namespace farthest::python
