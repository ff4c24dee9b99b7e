// Boards packed into codes.
#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

// After bind_runs: it makes an Expander.
void bind_packed(nanobind::module_& m);

}  // namespace farthest::python
