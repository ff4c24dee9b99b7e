// Linear maps of the bits of a line: bit u of the result is bit A u + c of the source, A a matrix over GF(2).
//
// Flips of alike slots make such maps: what a move or a symmetry makes of them permutes the digits of the
// number u, of which one may follow from the others, and adds a constant. A map is taken in two parts. The
// last one permutes *units*, bytes or words, as wholes. *Stages* before it do what crosses units: in a stage
// some bits change places with bits of one partner word, at the same distance in the word.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "farthest/types.hpp"

namespace farthest {

// Bit u of the result is, where left or right has it, bit u - shift or u + shift of the word whose number
// differs by `partner`; else the same bit of the same word.
struct LineStage {
  std::uint32_t partner = 0, shift = 0;
  std::vector<Word> left, right;  // by word
};

struct LineMap {
  std::vector<LineStage> stages;
  std::vector<std::uint8_t> units;  // of the source, by unit of the result; empty: each stays
};

// source: for each bit of the result that of the source; a power of 2 of them, 64 at least, 256 units at
// most. unit_bits: 3 where units are bytes, 6 where they are words. Nothing where the map is not linear.
std::optional<LineMap> linear_map(std::span<const std::uint16_t> source, int unit_bits);

}  // namespace farthest
