// Successors in dense spaces whose keys are numbers written in one radix: lamps of some colours, discs on
// pegs. Digit 0 is the lowest (docs/key-layout.md).
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "farthest/expander.hpp"
#include "farthest/types.hpp"

namespace farthest {

class DigitExpander : public KeyExpander {
 protected:
  // Throws InvalidArgument when there are no digits or more than 64, the radix is none of 2 to 64, or there
  // are more than 2^62 keys.
  DigitExpander(int radix, int digits);

  void check(std::span<const Key> keys) const;

  int radix_;
  int digits_;
  Key keys_ = 1;
  std::array<Key, kMaxSlots + 1> weights_{};  // of each digit; then 0
};

// Adds `added` to each of the digits `changed`, modulo the radix.
struct DigitMove {
  SlotMask changed = 0;
  int added = 0;
};

class LampExpander final : public DigitExpander {
 public:
  // All moves can always be made. Throws InvalidArgument, also when a move changes a digit that there is not,
  // or adds none of 1 to radix - 1.
  LampExpander(int radix, int digits, std::vector<DigitMove> moves);

  void successors(std::span<const Key> codes, std::vector<Key>& out) const override;

 private:
  static constexpr std::size_t kBlock = 64;  // keys worked on at once: their changes stay in the cache
  using Changes = std::array<std::array<Key, kBlock>, kMaxSlots>;
  using Digits = std::array<std::array<std::uint8_t, kBlock>, kMaxSlots>;

  void press(const DigitMove& move, std::span<const Key> keys, const Changes& changes, Key* out) const;
  void read(std::span<const Key> keys, Digits& digits) const;
  void change(int added, std::size_t count, const Digits& digits, Changes& changes) const;

  std::vector<DigitMove> presses_;
};

// Digit i is the peg of disc i, disc 0 the smallest. Only the smallest disc of a peg moves, onto an empty peg
// or a larger disc.
class DiscExpander final : public DigitExpander {
 public:
  using Arc = std::pair<int, int>;  // the peg a disc is taken from, and the one it goes to

  // Throws InvalidArgument, also when an arc is not one from a peg to another.
  DiscExpander(int pegs, int discs, std::vector<Arc> arcs);

  void successors(std::span<const Key> codes, std::vector<Key>& out) const override;

 private:
  using Tops = std::array<std::uint8_t, kMaxSlots>;

  Tops tops(Key key) const;

  std::vector<Arc> arcs_;
  int group_ = 0;  // discs that the table is for, and their arrangements
  Key arrangements_ = 1;
  std::vector<std::uint8_t> table_;  // [arrangement][peg]: the smallest disc there, 64 where there is none
};

}  // namespace farthest
