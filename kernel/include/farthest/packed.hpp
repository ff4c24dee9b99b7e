// Boards packed into codes: a field of bits for what stands in each cell. The successors of such codes.
//
// A cell's content is a number, of a piece and how it is turned. Fields do not cross words; the first cell's
// is the highest of the first word. The last cell's may be left out: it is what is missing to a known sum.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "farthest/expander.hpp"
#include "farthest/isa.hpp"

namespace farthest {

struct PackedField {
  int word = 0;
  int shift = 0;
  int bits = 0;
};

inline constexpr std::size_t kMaxPackedCells = 1024;

// None of the contents of these kinds stands in one of `cells`; or, where they are `joined`, all of them do
// or none.
struct PackedGuard {
  std::vector<int> kinds;
  SlotMask cells = 0;
  bool joined = false;
};

// What stands in cell i goes to cell to[i], and becomes what table turns[i] says. The move can be made where
// the cells `require` are blank (their content is 0), the cells `forbid` are not, and all guards hold.
// Of more than 64 cells none are asked for.
struct PackedMove {
  std::vector<int> to;
  std::vector<int> turns;
  SlotMask require = 0;
  SlotMask forbid = 0;
  std::vector<PackedGuard> guards = {};
};

// A content for each content, numbers below 256.
using ContentTable = std::vector<std::uint8_t>;

struct PackedBoards {
  std::vector<PackedField> fields;   // one a cell, but for the last where `sum` is known
  std::optional<std::uint32_t> sum;  // of all cells' contents, which no table then changes
  std::vector<ContentTable> tables;
  std::vector<ContentTable> kinds = {};  // for each cell the kind of each content, 0: none; empty: no guards
};

// Codes of `width` bytes. Throws InvalidArgument where fields, tables and moves do not fit each other or the
// width.
std::unique_ptr<Expander> packed_expander(std::size_t width, const PackedBoards& boards,
                                          const std::vector<PackedMove>& moves,
                                          Isa isa = available_isas().back());

}  // namespace farthest
