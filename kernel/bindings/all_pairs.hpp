#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

void bind_all_pairs(nanobind::module_& m);

}  // namespace farthest::python
