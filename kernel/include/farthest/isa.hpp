// The instruction sets that the inner loop is compiled for. All give the same bits.
#pragma once

#include <vector>

namespace farthest {

enum class Isa { portable, avx2, avx512 };

// What this processor can run, best last; never empty.
std::vector<Isa> available_isas();

}  // namespace farthest
