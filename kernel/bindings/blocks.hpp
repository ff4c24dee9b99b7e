// Binding of sliding blocks (farthest/blocks.hpp).
#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

// After bind_runs, which knows expanders.
void bind_blocks(nanobind::module_& m);

}  // namespace farthest::python
