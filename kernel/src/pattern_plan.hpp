// What a pattern's graph and origins lead to: its lanes and tables, and where things lie in the working
// memory.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "farthest/pattern.hpp"
#include "pattern_tables.hpp"

namespace farthest {

// The working memory: `arrays` arrays of lines, then for each parity of the depth a flag for each group of
// lines, and then one for each block of groups.
struct PatternPlan {
  PatternTables tables;
  int word_bytes = 2, line_lanes = 8;
  int origin_colour = 0;
  int arrays = 2;
  std::uint64_t array_bytes = 0;
  std::uint64_t blocks = 1, groups_per_block = 1;
  std::vector<std::vector<std::uint32_t>>
      block_sources;  // blocks that a block's lines are pulled from, but itself
  StepPattern run = nullptr;

  PatternPlan(int cells, int pieces, const std::vector<PatternPassage>& passages,
              const std::vector<PatternOrigin>& origins, Isa isa);
  PatternPlan(const PatternPlan&) = delete;
  PatternPlan& operator=(const PatternPlan&) = delete;

  std::uint64_t lines() const { return tables.groups * tables.lines_per_group; }
  Key keys() const { return lines() * tables.keys_per_line; }
  std::uint64_t bytes() const;
  std::uint8_t* array(std::span<std::uint8_t> work, int i) const;
  std::uint8_t* group_flags(std::span<std::uint8_t> work, int depth) const;
  std::uint8_t* block_flags(std::span<std::uint8_t> work, int depth) const;

 private:
  void choose_lanes(const std::vector<int>& colours);
  template <class Word>
  void fill_lanes(int half);
  void link_blocks();

  // What the tables point to, by colour.
  std::array<std::vector<std::uint64_t>, 2> own_bits_, round_bits_;
  std::array<std::vector<std::uint8_t>, 2> round_lanes_, round_bytes_;
};

}  // namespace farthest
