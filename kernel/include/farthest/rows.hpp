// Rows: what a move does to the lines of a shard.
//
// A row names, for one line of a shard, the line of the source shard that a move takes its states from, and
// the program that carries them over. The rows of all lines of a shard are a *table*, and shards share
// tables, because a table depends on little. A shard fixes the places of the first `shard_classes` classes.
// Number the slots that these leave free orbit by orbit, in each orbit from the lowest on: since neither
// moves nor classes leave their orbit, these *positions* belong to the same orbits in all shards, and the
// lines of a shard are ranked by positions alone. So a table depends on
//
//   layout        what                  because
//   all           pattern               position i takes its content from position pattern[i] of the source
//   halved        parity                which arrangements a line has follows from the parity of its upper
//                                       digits and the slot of class 0; `parity` is the part of the shard's
//                                       classes, and the digits of a line's other upper classes add theirs
//   with twists   turns                 what the content of position i has more as orientation in the source:
//                                       the twist digits of the shard's other classes change by it
//                 turn                  the same of the shard's classes, whose twist digits are digits of
//                                       the line number and of the program too
//
// and on the layout and the number of shard classes, which all shards have in common.
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
  int parity = 0;                   // Layout::line_parity() of the shard's classes
  std::vector<std::uint8_t> turns;  // by position; 0 in orbits where no other class has a twist
  std::uint64_t turn = 0;           // a twist rank

  // The same as bytes.
  std::string name() const;
};

// `interning` guards `programs`, so that tables can be built side by side.
RowTable build_rows(const Layout& layout, int shard_classes, const RowKey& key, ProgramTable& programs,
                    std::mutex& interning);

}  // namespace farthest
