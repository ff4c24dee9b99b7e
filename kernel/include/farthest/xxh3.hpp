// XXH3 with 64 bits, seed 0 and the default secret: a checksum against damage, not against forgery.
// After the specification, https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md.
#pragma once

#include <cstdint>
#include <span>

#include "farthest/isa.hpp"

namespace farthest {

// isa: one of available_isas(); the hash is the same.
std::uint64_t xxh3(std::span<const std::uint8_t> data, Isa isa = Isa::portable);

}  // namespace farthest
