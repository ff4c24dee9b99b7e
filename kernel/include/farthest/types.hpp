// Integers by role. All are plain unsigned types: the names carry the meaning.
#pragma once

#include <bit>
#include <cstdint>
#include <stdexcept>

namespace farthest {

using Key = std::uint64_t;       // rank of an arrangement (docs/key-layout.md)
using Word = std::uint64_t;      // up to 64 states, one bit each
using SlotMask = std::uint64_t;  // a set of slots, bit i = slot i

inline constexpr Key kNoKey = ~Key{0};
inline constexpr int kMaxSlots = 64;

// The caller passed something that does not fit together. Bindings turn it into ValueError.
struct InvalidArgument : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// What the caller passed fits together, but is more than the kernel can hold. Bindings turn it into
// LimitError, a ValueError.
struct LimitExceeded : InvalidArgument {
  using InvalidArgument::InvalidArgument;
};

// States that symmetries take to each other do not have them all: the caller, the kernel or the machine is
// wrong. Bindings turn it into NotClosedError.
struct NotClosed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A function of the user's has answered what it must not. Bindings turn it into AnswerError, a ValueError.
struct WrongAnswer : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline SlotMask bit(int slot) { return SlotMask{1} << slot; }
inline int lowest(SlotMask mask) { return std::countr_zero(mask); }
inline int below(SlotMask free, int slot) { return std::popcount(free & (bit(slot) - 1)); }
inline SlotMask first_slots(int count) { return count >= 64 ? ~SlotMask{0} : bit(count) - 1; }

}  // namespace farthest
