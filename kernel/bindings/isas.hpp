// Instruction sets by name.
#pragma once

#include <string>
#include <vector>

#include "farthest/isa.hpp"

namespace farthest::python {

// What this processor can run, best last.
std::vector<std::string> isas();

// The one with this name; of an empty name the best. Throws InvalidArgument when this processor has none
// such.
Isa isa_named(const std::string& wanted);

}  // namespace farthest::python
