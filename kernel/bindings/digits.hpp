// Spaces of digits.
#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

// After bind_runs: DigitExpander is an Expander.
void bind_digits(nanobind::module_& m);

}  // namespace farthest::python
