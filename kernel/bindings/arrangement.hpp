// Arrangement spaces.
#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

// Adds the class ArrangementSpace.
void bind_arrangement(nanobind::module_& m);

}  // namespace farthest::python
