// Sliding blocks: rigid pieces that move on the cells of a grid, never two on one cell.
//
// Cells are numbered in reading order, walls left out. A piece stands where its lowest cell is, its *anchor*.
// Pieces of one *kind* are interchangeable, so a state is, for each kind, the set of its anchors. A kind's
// set is ranked among the equally large subsets of the anchors where the kind fits (rank_set), and the ranks
// are the digits of a mixed-radix number, the first kind most significant: the state's *code*. Few codes are
// states, for most let pieces overlap. docs/blocks.md has the formula and a worked example. Packed codes have
// a field of bits for each kind's rank instead.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "farthest/expander.hpp"
#include "farthest/packed.hpp"

namespace farthest {

__extension__ using Number128 = unsigned __int128;

// What one move is: one piece goes one cell; any distance straight; any way at all, the others staying.
enum class BlockMetric { step, slide, move };

// Directions: up, down, left, right.
inline constexpr int kDirections = 4;
using CellLinks =
    std::array<std::array<std::int8_t, kMaxSlots>, kDirections>;  // neighbour of a cell, -1 none

// One cell in one direction: the cells that the piece enters, and its anchor then, as a bit. Where there is
// no such step it enters none and stays.
struct BlockStep {
  SlotMask entered = 0;
  SlotMask to = 0;
};

// The anchors of a kind's pieces, and the cells that they cover; none where two pieces would lie on one cell.
struct BlockSet {
  SlotMask anchors = 0;
  SlotMask covered = 0;
};

struct BlockKind {
  int count = 0;                             // pieces
  SlotMask anchors = 0;                      // where they fit
  std::array<SlotMask, kMaxSlots> covers{};  // for each anchor the cells of a piece there
  std::array<std::array<BlockStep, kDirections>, kMaxSlots> steps{};  // for each anchor
  std::array<SlotMask, kMaxSlots> beside{};  // for each anchor the cells that some step enters
  std::uint64_t radix = 0;                   // ranks
  // Where they are not too many:
  std::vector<BlockSet> sets;         // for each rank
  std::vector<std::uint32_t> row_of;  // for each rank and piece the row of the set without it
  std::vector<std::uint32_t> rows;    // for each set of a piece less and each cell the rank with it
  // The rank's place in a code: in this word, times the weight. share: (2^64 - 1) / weight.
  std::size_t word = 0;
  std::uint64_t weight = 0, share = 0;
};

// The pieces of a state: for each kind its anchors, and all cells that are covered.
struct Placement {
  std::array<std::uint64_t, kMaxSlots> ranks;
  std::array<SlotMask, kMaxSlots> anchors{};
  SlotMask covered = 0;
};

// One piece moved, for its name: numbers of a kind's pieces count its anchors in order.
struct BlockMove {
  std::uint8_t kind, from, to, number_before, number_after;
};

class Blocks {
 public:
  // covers: for each kind and cell the cells of a piece anchored there, 0 where it does not fit; counts and
  // ways: one a kind. fields, width: one a kind, where codes are packed, and the bytes of a code. Throws
  // InvalidArgument when they do not fit together, LimitExceeded when unpacked codes do not fit 128 bits.
  Blocks(int cells, const CellLinks& beside, const std::vector<int>& counts,
         const std::vector<unsigned>& ways, const std::vector<std::vector<SlotMask>>& covers,
         BlockMetric metric, std::vector<PackedField> fields = {}, std::size_t width = sizeof(Key));

  int cells() const { return cells_; }
  const std::vector<BlockKind>& kinds() const { return kinds_; }
  BlockMetric metric() const { return metric_; }
  bool packed() const { return !fields_.empty(); }
  // Bytes of a code: 8 (a number, never all ones), 16 (a number, the highest byte first), or of packed codes.
  std::size_t width() const { return width_; }

  // All functions of codes: Code is that of with_code(width()).

  // Whether the code is a state's: in range, no two pieces on one cell. left_out: a kind whose pieces do not
  // count, whatever their rank.
  template <class Code>
  bool decode(const Code& code, Placement& placement, std::size_t left_out = kMaxSlots) const;
  template <class Code>
  Code encode(const Placement& placement) const;

  // A board has a byte a cell: 0 where it is free, else 1 + the kind of the piece.
  void draw(const Placement& placement, std::span<std::uint8_t> board) const;
  // Whether the board shows a state. A kind's cells are divided among its pieces in reading order: there is
  // no other way to divide them.
  bool read(std::span<const std::uint8_t> board, Placement& placement) const;

  // Appends the states one move away from each code, none twice for one code; nothing for codes of no state.
  template <class Code>
  void neighbours(std::span<const Code> codes, std::vector<Code>& out) const;

  // The same for one code, with the moves that lead there.
  template <class Code>
  void moves(const Code& code, std::vector<Code>& out, std::vector<BlockMove>& names) const;

  // All states whose kinds have at least these anchors, or the first limit + 1 of them if there are more. The
  // places of half the other pieces decide in which part they are. Throws InvalidArgument.
  template <class Code>
  std::vector<Code> placements(const Placement& fixed, std::uint64_t limit, std::uint64_t part = 0,
                               std::uint64_t parts = 1) const;

  // Appends all states that moves join to `start`, layer by layer; none, and returns false, where a lesser
  // one is met, or one of `among`, ascending, if there are any. Throws LimitExceeded where there are more
  // than `limit`.
  template <class Code>
  bool component(const Code& start, std::span<const Code> among, std::uint64_t limit,
                 std::vector<Code>& out) const;

 private:
  void weigh();
  template <class Code>
  bool read_ranks(const Code& code, std::array<std::uint64_t, kMaxSlots>& ranks) const;
  template <class Code>
  Code with_rank(Code code, std::size_t kind, std::uint64_t more) const;
  template <BlockMetric metric, class Code, class Found>
  void each_move(const Code& code, Placement& placement, Found found) const;
  template <class Visit>
  void with_metric(Visit visit) const;
  template <class Code>
  struct Filling;
  template <class Code>
  bool fill(std::size_t kind, int left, int next, int deciding, Placement& placement,
            Filling<Code>& filling) const;

  int cells_;
  std::vector<BlockKind> kinds_;
  BlockMetric metric_;
  std::size_t width_ = sizeof(Key);
  // Of numbers:
  std::vector<Number128> weights_;
  Number128 codes_ = 1;
  // Of packed codes, else empty; used_: the bits of all fields, a word each.
  std::vector<PackedField> fields_;
  std::vector<std::uint64_t> used_;
};

// The successors of the codes.
std::unique_ptr<Expander> block_expander(const Blocks& blocks);

}  // namespace farthest
