// Expanders and runs of codes: the scatter engine's part of the module.
#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

// Adds the base class Expander and what works on runs. Call it before the binding of a class that derives
// from Expander: nb::class_<PegExpander, Expander>(m, "PegExpander").
void bind_runs(nanobind::module_& m);

}  // namespace farthest::python
