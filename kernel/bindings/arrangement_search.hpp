// Searches of arrangement boards.
#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

// Adds the classes BoardMap, WalkProblem, StagedSearch and GraphSearch. After bind_arrangement().
void bind_arrangement_search(nanobind::module_& m);

}  // namespace farthest::python
