// Searches below a node, and memory for their tables.
#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

void bind_search(nanobind::module_& m);

}  // namespace farthest::python
