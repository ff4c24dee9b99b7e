// Layers of sliding blocks, without codes: states are bits of lines.
//
// Of one kind, the *inner* one, the pieces have one cell each. A *frame* is a placement of all other pieces;
// the inner pieces then stand on some of the anchors that are left to them. These arrangements, in the order
// of their ranks among those anchors, are the bits of the frame's *lines*, 64 each. A *passage* is a way on
// which one of the other pieces moves: a frame that it leads to, and the cells that no inner piece may stand
// on. The passages of a frame are found once, for all of its states. Frames are met as states lead to them,
// in a table by their codes.
#pragma once

#include "farthest/blocks.hpp"
#include "farthest/isa.hpp"

namespace farthest {

// One thread at a time uses it; others wait.
class BlockLines {
 public:
  virtual ~BlockLines() = default;

  // Expands the last layer, of it at most so many lines a call. Whether lines are left.
  virtual bool expand(std::size_t lines, int threads) = 0;
  // What expand() found becomes the next layer: the states that are in none. Their number.
  virtual std::uint64_t settle() = 0;
  // The codes of a layer, in any order.
  virtual std::vector<Key> codes(std::size_t layer) const = 0;
  // Gives up what codes() needs of a layer other than the last one; its states remain found.
  virtual void forget(std::size_t layer) = 0;
  virtual std::uint64_t bytes() const = 0;
};

// The states of layer 0 are given; throws InvalidArgument for codes of no state. Null where codes are no
// numbers of 64 bits, where no kind has several pieces of one cell, and where too many anchors are left to
// these.
std::unique_ptr<BlockLines> block_lines(const Blocks& blocks, std::span<const Key> origins,
                                        Isa isa = available_isas().back());

}  // namespace farthest
