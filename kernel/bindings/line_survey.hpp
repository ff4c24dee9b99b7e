#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

void bind_line_survey(nanobind::module_& m);

}  // namespace farthest::python
