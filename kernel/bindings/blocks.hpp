// Binding of sliding blocks (farthest/blocks.hpp).
#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

// After bind_runs: Blocks is an Expander.
void bind_blocks(nanobind::module_& m);

}  // namespace farthest::python
