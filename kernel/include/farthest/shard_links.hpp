// Which shards the moves lead from into each shard, and by which rows (rows.hpp).
//
// A *link* is a move that can lead into a shard. The links of all shards lie one after another: a space may
// have some 100,000 shards.
#pragma once

#include <span>
#include <vector>

#include "farthest/layout.hpp"
#include "farthest/move.hpp"
#include "farthest/rows.hpp"

namespace farthest {

struct ShardLinks {
  std::vector<std::uint64_t> first;    // by shard: its first link; and the number of all links
  std::vector<std::uint32_t> sources;  // by link: the source shard
  std::vector<std::uint32_t> tables;   // by link: index into `keys`
  std::vector<RowKey> keys;            // all different

  std::uint64_t shards() const { return first.size() - 1; }
};

// moves: they permute the slots of each orbit, and are reduced. pulls[i] is the inverse of moves[i]. The
// links of a shard are in the order of the moves.
ShardLinks link_shards(const Layout& layout, const std::vector<Move>& moves, const std::vector<Move>& pulls,
                       int shard_classes);

// For each shard 0 or 1 so that every link leads from one colour to the other, 0 for the first of those that
// are linked with each other; empty when there is no such colouring.
std::vector<std::uint8_t> colours_of(const ShardLinks& links);

}  // namespace farthest
