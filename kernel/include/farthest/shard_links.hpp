// Which shards the moves lead from into each shard, and by which rows (rows.hpp).
//
// A *link* is a move that can lead into a shard. The links of all shards lie one after another: a space may
// have some 100,000 shards.
//
// Where symmetries relabel pieces, one of the shards that they take to each other is kept (docs/symmetry.md).
// The places of its classes are then an *outer number*. A link leads from what a symmetry makes of the move's
// shard, and its rows are those of the move and then the symmetry.
#pragma once

#include <span>
#include <vector>

#include "farthest/layout.hpp"
#include "farthest/move.hpp"
#include "farthest/rows.hpp"

namespace farthest {

// What is in slot i goes to slot to[i], and where it is of class j it becomes one of class classes[j].
struct Symmetry {
  std::vector<std::uint8_t> to, classes;
};

struct ShardOrbits {
  std::vector<Symmetry> symmetries;            // none: every outer number has a shard
  std::vector<std::uint32_t> representatives;  // by shard: its outer number
  std::vector<std::uint32_t> weights;          // by shard: how many outer numbers it stands for
  std::vector<std::uint32_t> shards;           // by outer number: its shard
  std::vector<std::uint32_t> chosen;           // by outer number: the symmetry that takes it to the shard's
};

// Throws InvalidArgument unless symmetries keep the layout (the classes of shards, of line numbers, and of
// lines among themselves) and take each outer number to that of its shard.
void check_orbits(const Layout& layout, int shard_classes, const ShardOrbits& orbits);

struct ShardLinks {
  std::vector<std::uint64_t> first;    // by shard: its first link; and the number of all links
  std::vector<std::uint32_t> sources;  // by link: the source shard
  std::vector<std::uint32_t> tables;   // by link: index into `keys`
  std::vector<RowKey> keys;            // all different

  std::uint64_t shards() const { return first.size() - 1; }
};

// moves: they permute the slots of each orbit, and are reduced. pulls[i] is the inverse of moves[i]. orbits:
// checked. The links of a shard are in the order of the moves.
ShardLinks link_shards(const Layout& layout, const std::vector<Move>& moves, const std::vector<Move>& pulls,
                       int shard_classes, const ShardOrbits& orbits);

// For each shard 0 or 1 so that every link leads from one colour to the other, 0 for the first of those that
// are linked with each other; empty when there is no such colouring.
std::vector<std::uint8_t> colours_of(const ShardLinks& links);

}  // namespace farthest
