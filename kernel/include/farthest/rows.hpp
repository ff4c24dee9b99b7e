// Rows: what a move does to the lines of a shard.
//
// A row names, for one line of a shard, the line of the source shard that a move takes its states from, and
// the program that carries them over. The rows of all lines of a shard are a *table*, and shards share
// tables, because a table depends on little. A shard fixes the places of the first `shard_classes` classes.
// Number the slots that these leave free orbit by orbit, in each orbit from the lowest on: since neither
// moves nor classes leave their orbit, these *positions* belong to the same orbits in all shards, and the
// lines of a shard are ranked by positions alone. So a table depends on
//
//   layout       what     because
//   all          pattern  position i takes its content from position pattern[i] of the source shard: that
//   gives
//                         the source lines, and the patterns of the programs (program.hpp)
//   with twists  turns    how much greater the orientation of the content of position i is in the source: the
//                         twist digits of the classes placed there change by it
//                turn     the same for the classes of the shard, as a twist rank: their twist digits are
//                digits
//                         of the line number and of the place in the line
//
//   that move   digits   what the move does to the twist digits of slots, and of the classes of the shard,
//   digits                which is the same for all lines (instead of `turn`)
//
//   symmetries   labels   classes are relabelled
//                odd      the parity of the digits decides which programs (program.hpp)
//
// and on the layout and the number of shard classes, which all shards have in common. Without symmetries it
// depends on no parity, though in halved layouts the states of a line do: programs do not. What a move
// requires decides which shards it leads to, and not how.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "farthest/program.hpp"

namespace farthest {

struct RowEntry {
  std::uint32_t line;     // within the source shard
  std::uint32_t program;  // index into the program table
};

using RowTable = std::vector<RowEntry>;  // by line of the shard

// What a table depends on. What does not matter is 0 or empty, so that equal tables have equal keys.
struct RowKey {
  Pattern pattern;
  std::vector<std::uint8_t> turns;  // by position; 0 in orbits where no other class has a twist
  std::uint64_t turn = 0;           // a twist rank
  Turn digits;       // where moves exchange twist digits: of all, those of other classes in their places
  Labels labels;     // what becomes of the classes that are no shard classes; empty: they stay
  bool odd = false;  // where parity_matters(): the sum of their digits

  // The same as bytes.
  std::string name() const;
};

// `interning` guards `programs`, so that tables can be built side by side.
RowTable build_rows(const Layout& layout, int shard_classes, const RowKey& key, ProgramTable& programs,
                    std::mutex& interning);

}  // namespace farthest
