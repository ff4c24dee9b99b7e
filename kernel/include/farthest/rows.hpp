// Building the rows of one shard: see arrangement.hpp.
#pragma once

#include <mutex>
#include <vector>

#include "farthest/arrangement.hpp"

namespace farthest {

// pulls[i] is the inverse of move i: slot of the result -> slot that its content came from, and what its
// orientation was more there.
// `interning` guards `programs`, so that shards can be built side by side.
std::vector<RowEntry> build_rows(const Layout& layout, const std::vector<Move>& pulls, int shard_classes,
                                 std::uint64_t shard_index, const Shard& shard, ProgramTable& programs,
                                 std::mutex& interning);

}  // namespace farthest
