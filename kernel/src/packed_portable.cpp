#include <bit>

#include "packed_lines.hpp"

namespace farthest {
namespace {

void read_portable(const Key* words, int shift, Key mask, std::uint8_t* contents) {
  for (std::size_t i = 0; i < kPackedBlock; ++i)
    contents[i] = static_cast<std::uint8_t>(words[i] >> shift & mask);
}

SlotMask blanks_portable(const std::uint8_t* contents) {
  SlotMask found = 0;
  for (std::size_t i = 0; i < kPackedBlock; ++i) found |= SlotMask{contents[i] == 0} << i;
  return found;
}

void make_portable(const PackedChange* changes, std::size_t count, const std::uint8_t* contents,
                   const Key* words, Key kept, SlotMask boards, Key* out) {
  for (; boards != 0; boards &= boards - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(boards));
    Key made = words[i] & kept;
    for (std::size_t j = 0; j < count; ++j)
      made |= changes[j].fields[contents[kPackedBlock * changes[j].from + i]];
    *out++ = made;
  }
}

}  // namespace

PackedBackend portable_packed() { return {read_portable, blanks_portable, make_portable}; }

}  // namespace farthest
