// What the inner loop of pattern searches works with: plain data.
#pragma once

#include <cstdint>

#include "farthest/types.hpp"

namespace farthest {

inline constexpr std::uint8_t kNoDistance = 255;

// The lanes of one colour of cells, or of all cells. The arrays of `Word` and bytes are in the order of
// lanes, and those of moves of the last piece are in rounds: in each round a lane takes from one other lane.
struct PatternLanes {
  SlotMask used = 0;  // lanes with a cell
  std::uint8_t cell[kMaxSlots]{};
  const void* own_bit = nullptr;  // Word a lane: the bit of its cell; 0 where it has none
  const void* bits = nullptr;     // Word a lane and round: the bit of the cell that the last piece comes from
  const std::uint8_t* lane =
      nullptr;  // a lane and round: that cell's lane among the lanes of the other colour
  const std::uint8_t* bytes = nullptr;  // the same for shuffles of bytes
};

// The blank goes from each cell of `from` to the cell `by` further (negative: before).
struct PatternShift {
  SlotMask from = 0;
  int by = 0;
};

struct PatternTables {
  int cells = 0;
  int pieces = 0;
  int group_pieces = 0;    // all but the last two
  int leading_pieces = 0;  // whose moves lead out of a block
  bool coloured = false;   // a layer has lanes of one colour of each line
  bool directed = false;
  int rounds = 0;
  std::uint64_t groups = 1, lines_per_group = 1, keys_per_line = 1;
  SlotMask into[kMaxSlots]{};  // the cells from which a piece can move to a cell
  int colour[kMaxSlots]{};     // of a cell, 0 or 1; all 0 unless coloured
  PatternLanes lanes[2];
  PatternShift shifts[2 * kMaxSlots]{};
  int shifts_used = 0;
};

// A run of groups to be stepped. Arrays are of whole layers: lines, and in `now` and `next` a byte for each
// group: whether it has anything.
struct PatternBlock {
  std::uint64_t first_group = 0, last_group = 0;
  std::uint8_t depth = 0;
  int colour = 0;              // of the lanes in this layer, where no piece but the last counts
  const void* from = nullptr;  // the layer before
  void* to = nullptr;          // this one; holds the layer before the last
  void* known = nullptr;
  const std::uint8_t* now = nullptr;
  std::uint8_t* next = nullptr;
  std::uint8_t* distances = nullptr;
};

struct PatternCounts {
  std::uint64_t placements = 0, groups = 0;
};

using StepPattern = PatternCounts (*)(const PatternTables&, const PatternBlock&);

// The inner loop for words of so many bytes and lines of so many lanes; null where there is none.
StepPattern portable_pattern(int word_bytes, int lanes);
StepPattern avx2_pattern(int word_bytes, int lanes);

}  // namespace farthest
