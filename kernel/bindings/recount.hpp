// Binding of the second enumeration that proves residue maps.
#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

void bind_recount(nanobind::module_& m);

}  // namespace farthest::python
