// Peg spaces: boards of up to 64 holes, each with a peg or empty, and jumps.
//
// A jump is a pair of masks: it can be made where all holes of `full` have a peg and all of `empty` have
// none, and changes all of them. All jumps take away the same number of pegs (or add it), so the number of
// pegs tells the depth of a board.
//
// Jumps keep some parities of holes, so that within the class of an origin some holes follow from the others:
// these are *dropped*. docs/key-layout.md has an example. The key of a board of the class is
//
//   bit:  | upper index bits      | low index bits (9, or fewer) |
//         | shard | line in shard | word in line | bit in word   |
//
// one index bit for each other hole. A jump sends the key k to k ^ x: all keys of a line to one other line,
// in an order that is the same for all lines. Whether it can be made depends on the line for the upper and
// the dropped holes, and on the place in the line for the low and the dropped ones.
#pragma once

#include <memory>
#include <vector>

#include "farthest/isa.hpp"
#include "farthest/space.hpp"

namespace farthest {

struct Jump {
  SlotMask full = 0;
  SlotMask empty = 0;
};

// A hole whose peg is the parity of some index bits, or the contrary.
struct DroppedHole {
  int hole = 0;
  std::uint64_t parity = 0;  // of these index bits
  bool flipped = false;
};

struct PegTables;

class PegSpace final : public Space {
 public:
  // index_holes[i]: the hole of index bit i. The shards are cut by the uppermost `shard_level` - 1 index
  // bits. isa: one of available_isas(). Throws InvalidArgument where a hole is named twice, more than 48
  // index bits are asked for, a jump has more than 3 holes or none, its masks overlap or have unknown holes,
  // jumps differ in the number of pegs that they take away or take away none, or a jump does not keep the
  // parities of the dropped holes.
  PegSpace(std::vector<int> index_holes, std::vector<DroppedHole> dropped, const std::vector<Jump>& jumps,
           int shard_level, Isa isa);
  ~PegSpace() override;

  int shard_levels() const override;
  bool reversible() const override { return false; }
  bool graded() const override { return true; }
  const std::vector<std::uint8_t>& colours() const override { return no_colours_; }
  std::span<const std::uint32_t> sources(std::uint64_t shard) const override { return sources_[shard]; }
  void prepare(const std::vector<std::uint64_t>&, int) override {}
  bool prepared(std::uint64_t) const override { return true; }
  std::uint64_t row_bytes() const override { return 0; }
  std::uint64_t step_lines(const LineRange& range) const override;

 private:
  std::unique_ptr<PegTables> tables_;
  std::vector<std::vector<std::uint32_t>> sources_;  // by shard
  std::vector<std::uint8_t> no_colours_;
};

}  // namespace farthest
