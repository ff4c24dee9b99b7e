// A second enumeration, by which `farthest verify` proves large residue maps. It shares nothing with the
// steps that find layers (space.hpp): no layout, no moves, no programs. What it knows of a puzzle are tables
// that a plain model in Python has made (src/farthest/verify/recount.py):
//
// Keys are taken in *blocks* of equally many. A move leads from all states of a block to all states of one
// other block, and moves of the same *kind* do that in the same way: a table says for each bit of the other
// block which bit of this block leads there. So the states of a block that are neighbours of a layer are
// found by looking up each of the layer's states in the blocks that it leads to.
//
// A block's bits lie in consecutive words, as the map has them. Bits that belong to no key are never set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "farthest/types.hpp"

namespace farthest {

inline constexpr std::uint32_t kNoBlock = 0xffffffff;

class BlockMoves {
 public:
  // words: of a block, at most 1024. leads[block * moves + m]: the block that move m leads to, or kNoBlock;
  // kinds[the same]: its kind; tables[kind * words * 64 + bit there]: bit here. The spans must outlive this.
  // Throws InvalidArgument where anything is out of range.
  BlockMoves(std::size_t words, std::size_t moves, std::span<const std::uint32_t> leads,
             std::span<const std::uint16_t> kinds, std::span<const std::uint16_t> tables);

  std::size_t words() const { return words_; }
  std::size_t blocks() const { return leads_.size() / moves_; }

  // Sets in `found` (words() words) the states of a block that are neighbours of states in `frontier` (of all
  // blocks; counts: of each). False: there are none, and `found` was not written.
  bool neighbours(std::size_t block, std::span<const Word> frontier, std::span<const std::uint32_t> counts,
                  Word* found) const;

 private:
  std::size_t words_, moves_;
  std::span<const std::uint32_t> leads_;
  std::span<const std::uint16_t> kinds_, tables_;
  std::vector<bool> same_;  // kinds that lead from each bit to the same bit
};

// Two layers, of all blocks, and the states that each block has there.
struct RecountLayers {
  std::span<const Word> frontier;  // layer d
  std::span<const std::uint32_t> frontier_counts;
  std::span<Word> fresh;  // layer d - 1; of the blocks that are stepped layer d + 1 afterwards
  std::span<std::uint32_t> fresh_counts;
  bool apart;  // the two are different arrays, and neighbours may be in layer d too
};

// What the map says: the number of a key is made of a bit of each of 1 or 2 planes; word w of plane p is
// map[w * planes + p].
struct RecountMap {
  std::span<const Word> words;
  std::size_t planes;
  unsigned number;  // of the states of layer d + 1
};

struct Recounted {
  std::uint64_t states = 0;
  std::uint64_t wrong = 0;         // states whose number in the map is another
  std::uint64_t first = ~Word{0};  // the least of these, as word * 64 + bit
};

// Steps blocks, which are distinct. Where both layers are one array, no stepped block may lead to another
// stepped one. Throws InvalidArgument where the sizes do not fit.
Recounted recount(const BlockMoves& moves, std::span<const std::uint32_t> blocks, const RecountLayers& layers,
                  const RecountMap& map, int threads);

}  // namespace farthest
