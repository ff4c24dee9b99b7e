#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

void bind_residues(nanobind::module_& m);

}  // namespace farthest::python
