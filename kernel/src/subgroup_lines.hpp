// A step of the bits of a large subgroup (subgroup_bits.hpp), by pages, compiled for each instruction set.
//
// A page of the result is pulled from pages of the source: one for each move, and its own. The lanes of a
// block that a move exchanges come from four blocks: which of the four lower pieces the move brings up
// decides.
#pragma once

#include <cstddef>
#include <cstdint>

#include "farthest/subgroup_bits.hpp"

namespace farthest {

struct SubgroupBlocks {
  std::uint16_t number[SubgroupBits::kBlocks];
};

// Where the lanes of a block come from, as bytes of the source's: two for each lane, shifted to the right. Of
// an exchange: bytes of the four sources, from two of them each, the second's from 64 on.
struct SubgroupLanes {
  alignas(64) std::uint8_t from[64];
  alignas(64) std::uint16_t shift[32];
};

// The same for shuffles within 16 bytes: what comes from each 12 bytes of the source, and which lanes are
// shifted. All ones: nothing.
struct SubgroupShuffle {
  alignas(32) std::uint8_t from[3][64];
  alignas(32) std::uint16_t shifted[32];
};

struct SubgroupExchange {
  static constexpr std::size_t kPieces = 4;  // in the lower slots

  std::uint16_t blocks[SubgroupBits::kBlocks][kPieces];  // by the number of the piece that comes up
  // How many of the lower pieces are before the one that goes down: this decides how lanes are renumbered.
  std::uint8_t ranks[SubgroupBits::kBlocks];
  SubgroupLanes lanes[kPieces + 1];          // by rank
  std::uint8_t up[SubgroupBits::kLanes];     // by lane: the number of the piece that comes up
  alignas(64) std::uint16_t second[32];      // all ones in lanes where that is 2 or 3
  std::uint16_t becomes[4096];               // what is made of the bits of a lane
  alignas(64) std::uint8_t bytes[2][2][64];  // the same by the lower or upper six of them: a byte of two

  // Lanes by the piece in the slot that is exchanged, eight for each, of which two are none: so what comes
  // from a block is side by side. How they are put so, and from there back; what becomes of a lane by four of
  // its bits: a byte of two.
  SubgroupShuffle gather;
  alignas(32) std::uint8_t spread[kPieces][64];
  alignas(32) std::uint8_t fours[3][2][32];
};

struct SubgroupTables {
  std::size_t uppers, lowers, exchanges;
  const SubgroupBlocks* upper;  // by move
  const SubgroupLanes* lower;
  const SubgroupShuffle* lower_shuffles;
  const SubgroupExchange* exchange;
};

// sources: the page's own, then by move, uppers first, then lowers. 64 bytes may be read from each block on.
// Gives the number of ones.
using SubgroupStep = std::uint64_t (*)(const SubgroupTables& tables, const std::uint8_t* const* sources,
                                       std::uint8_t* result);

std::uint64_t subgroup_step_portable(const SubgroupTables& tables, const std::uint8_t* const* sources,
                                     std::uint8_t* result);
#ifdef FARTHEST_X86
std::uint64_t subgroup_step_avx2(const SubgroupTables& tables, const std::uint8_t* const* sources,
                                 std::uint8_t* result);
std::uint64_t subgroup_step_avx512(const SubgroupTables& tables, const std::uint8_t* const* sources,
                                   std::uint8_t* result);  // needs VBMI
#endif

}  // namespace farthest
