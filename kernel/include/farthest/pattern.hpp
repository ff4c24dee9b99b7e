// Additive patterns of a sliding puzzle with one blank: k distinct pieces on the cells of a graph, of which
// each move costs 1; all other pieces move freely, so the blank goes at no cost wherever pieces of the
// pattern do not stand in its way.
//
// A placement is the cells of the k pieces. Its key is a mixed-radix number, the first piece's digit the most
// significant; a digit is the number of free cells before the piece's cell, its radix the number of free
// cells. The distance of a placement is the least over all cells of the blank.
//
// The search goes by layers of (placement, region of the blank). A *line* is all placements that differ in
// the last piece alone; it is a vector with a lane for each cell of the last piece, and a lane holds the set
// of cells where the blank can be at the layer's depth. So a move of any other piece from x to y takes a line
// to a line, lane by lane: where the set of the source has bit y, that of the target gets bit x. Moves of the
// last piece take lanes of a line to lanes of the same line. Lines are pulled from the layer before: each is
// written by one thread.
//
// Two arrays of lines are used in turn, so that each layer overwrites the layer before the last. What else
// there is, and what of a layer is not new, depends on the graph:
//
//   bipartite, undirected,     each move of the pattern changes the colour of the sum of its cells, so of a
//   origins of one colour      line only the lanes of one colour are in a layer, and no others are kept: half
//                              the memory; what was in the layer before the last is not new
//   undirected                 what was in the last two layers is not new
//   any                        a third array has all regions found
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "farthest/isa.hpp"
#include "farthest/types.hpp"

namespace farthest {

// A piece can move from one cell to another, in the direction in which distances are counted.
struct PatternPassage {
  int from = 0, to = 0;
};

// A placement at distance 0 and the cells where the blank may be then.
struct PatternOrigin {
  std::vector<int> cells;  // of the first piece, the second, ...
  SlotMask blanks = 0;
};

struct PatternPlan;

// What a step of the search found.
struct PatternLayer {
  std::uint64_t placements = 0;  // that were not reached before
  bool regions = false;          // whether there is anything to go on from
};

class PatternSpace {
 public:
  // pieces: 1 to cells - 1; cells: at most 64. isa: one of available_isas(). Throws InvalidArgument for other
  // numbers, cells that are not there, pieces on one cell, blanks on pieces or nowhere, no origin, or more
  // than 2^40 placements.
  PatternSpace(int cells, int pieces, const std::vector<PatternPassage>& passages,
               std::vector<PatternOrigin> origins, Isa isa);
  ~PatternSpace();
  PatternSpace(const PatternSpace&) = delete;
  PatternSpace& operator=(const PatternSpace&) = delete;

  Key keys() const;
  // Bytes of the working arrays, which begin as zeros, at a multiple of 64.
  std::uint64_t work_bytes() const;

  // Sets all distances (one byte a key) to 255 and the origins' to 0. `work` must be zeros.
  PatternLayer begin(std::span<std::uint8_t> work, std::span<std::uint8_t> distances, int threads) const;
  // Finds the layer `depth`, 1 to 254, from the one before. Throws InvalidArgument for buffers of other
  // sizes. Whatever the buffers hold, nothing outside of them is touched.
  PatternLayer step(int depth, std::span<std::uint8_t> work, std::span<std::uint8_t> distances,
                    int threads) const;

 private:
  void check(std::span<const std::uint8_t> work, std::span<const std::uint8_t> distances) const;
  std::unique_ptr<PatternPlan> plan_;
  std::vector<PatternOrigin> origins_;
};

}  // namespace farthest
