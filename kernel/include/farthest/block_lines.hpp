// Layers of sliding blocks, without codes: states are bits of lines.
//
// Of one kind, the *inner* one, the pieces have one cell each. A *frame* is a placement of all other pieces;
// the inner pieces then stand on some of the anchors that are left to them. These arrangements, in the order
// of their ranks among those anchors, are the bits of the frame's *lines*, 64 each. Where a piece of another
// kind moves, the same inner pieces stand in the frame that it leads to: the arrangements that leave room for
// the move become as many of the other frame, and keep their order. So the moves of a line are pairs of
// words, found once. Frames are met as states lead to them, in a table by their codes.
#pragma once

#include "farthest/blocks.hpp"

namespace farthest {

class BlockLines {
 public:
  virtual ~BlockLines() = default;

  // Begins the next layer, of these states. Throws InvalidArgument for codes of no state, and for states that
  // were found before.
  virtual void add(std::span<const Key> codes) = 0;
  // Finds the next layer: the states that are one move from the last one, and in no layer. Their number.
  virtual std::uint64_t step(int threads) = 0;
  // The codes of a layer, in any order.
  virtual std::vector<Key> codes(std::size_t layer) const = 0;
  // Gives up what codes() needs of a layer other than the last one; its states remain found.
  virtual void forget(std::size_t layer) = 0;
  virtual std::uint64_t bytes() const = 0;
};

// Null where codes are no numbers of 64 bits, where no kind has several pieces of one cell, and where these
// have too many arrangements.
std::unique_ptr<BlockLines> block_lines(const Blocks& blocks);

}  // namespace farthest
