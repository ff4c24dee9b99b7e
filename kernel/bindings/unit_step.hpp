// Steps of layers that are kept as blobs, for Python.
#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

void bind_unit_step(nanobind::module_& m);

}  // namespace farthest::python
