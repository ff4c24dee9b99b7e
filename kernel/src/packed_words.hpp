// The words of a code, and the fields that boards are packed into.
#pragma once

#include <vector>

#include "farthest/packed.hpp"

namespace farthest {

template <class Code>
auto& word_of(Code& code, std::size_t word) {
  if constexpr (std::is_same_v<std::remove_const_t<Code>, Key>)
    return static_cast<void>(word), code;
  else
    return code[word];
}

// Throws InvalidArgument where a field is not in a code of so many bytes, or two have a bit in common.
inline void check_fields(const std::vector<PackedField>& fields, std::size_t width) {
  std::vector<Key> used(width / 8 + 1);
  for (const PackedField& field : fields) {
    if (field.bits < 1 || field.bits > 8 || field.shift < 0 || field.shift + field.bits > 64 ||
        field.word < 0)
      throw InvalidArgument("a field must be 1 to 8 bits of one word");
    const std::size_t end =
        static_cast<std::size_t>(field.word) * 8 + (71 - static_cast<std::size_t>(field.shift)) / 8;
    const std::size_t words = static_cast<std::size_t>(field.word) + 1;
    if (width == sizeof(Key) ? words > 1 : end > width) throw InvalidArgument("a field is beyond the code");
    const Key bits = ((Key{1} << field.bits) - 1) << field.shift;
    if ((used[words - 1] & bits) != 0) throw InvalidArgument("two fields overlap");
    used[words - 1] |= bits;
  }
}

}  // namespace farthest
