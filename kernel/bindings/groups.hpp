// Elements of permutation groups, and cosets.
#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

// After bind_runs: GroupExpander is an Expander.
void bind_groups(nanobind::module_& m);

}  // namespace farthest::python
