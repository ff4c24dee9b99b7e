#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

void bind_reduced(nanobind::module_& m);

}  // namespace farthest::python
