// Additive patterns.
#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

void bind_pattern(nanobind::module_& m);

}  // namespace farthest::python
