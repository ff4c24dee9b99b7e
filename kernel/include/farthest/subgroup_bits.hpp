// The elements of a large subgroup, one bit each: of the cube's <U, D, R2, L2, F2, B2>, and whatever else has
// its structure. The bits of a coset that is enumerated (cosets.hpp says how).
//
// The structure: moves act on three orbits of slots, of 8, 8 and 4, and on nothing else; the elements are all
// even permutations of the 20 slots that keep the orbits, 8! * 8! * 4! / 2 = 19,508,428,800. The second orbit
// falls into two halves, and each move
//
// - permutes the *upper* four slots of the second orbit and no others of the second and third, or
// - the *lower* four, likewise, or
// - *exchanges* one upper slot with one lower slot, and permutes the third orbit in any way.
//
// On the first orbit moves do what they like. A bit is
//
//     ((first * 1680 + upper) * 24 + lower) * 12 + third
//
// first: the rank of the 8! orders of the first orbit, its *page* of 60,480 bytes. upper: of the 8 * 7 * 6 *
// 5 contents of the upper slots, the *block* of 36 bytes. lower: of the orders of the other four pieces in
// the lower slots, the *lane*. third: of the 4 * 3 ways to place two pieces of the third orbit; the parity
// says where the other two are. So each move permutes a lane's bits in one way, whatever the parity.
//
// A step is made in place, pages in an order in which few have to be kept as they were: of the cube's a
// third.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "farthest/isa.hpp"
#include "farthest/pages.hpp"

namespace farthest {

struct SubgroupMoves;  // src/subgroup_lines.hpp

// Ranks by bits: of four of eight pieces in order (3 bits each), times kLanes; of the order of the other
// four; of the four of the third orbit (2 bits each).
struct SubgroupRanks {
  std::array<std::uint16_t, 4096> first{}, last{};
  std::array<std::uint8_t, 256> third{};
};

class SubgroupBits {
 public:
  static constexpr std::uint64_t kPages = 40320, kBlocks = 1680, kLanes = 24, kLaneBits = 12;
  static constexpr std::uint64_t kBlockBytes = kLanes * kLaneBits / 8, kPageBytes = kBlocks * kBlockBytes;
  static constexpr std::uint64_t kPageBits = kPageBytes * 8, kPositions = kPages * kPageBits;
  // Of the bits and of what a step of the cube keeps; the rest is some MB.
  static constexpr std::uint64_t kMemory = kPages * kPageBytes / 3 * 4;

  // What stands where, as the listing has it (src/sequence_listing.hpp): the first orbit is bytes 0 to 7, the
  // second bytes 16 to 23, the upper half first, the third bytes 24 to 27. At the start byte i holds i % 16.
  // A move has for each byte where its content comes from, likewise within its half: after it byte i holds
  // what was in byte i / 16 * 16 + move[i].
  using Bytes = std::array<std::uint8_t, 32>;
  static constexpr std::size_t kSlots = 20;

  // For slots in any order, and the moves of the subgroup on them (what comes into slot i was in slot
  // move[i]): the byte of each slot, by which the structure fits. Throws InvalidArgument, whose text says in
  // what it does not. (Not checked here or by the constructor: that the moves make all elements. The order of
  // the group that they make must be kPositions.)
  static std::vector<std::uint8_t> places(const std::vector<std::vector<std::uint8_t>>& own);

  // own: the moves of the subgroup, on bytes. All bits are 0. Throws InvalidArgument, std::bad_alloc.
  explicit SubgroupBits(const std::vector<Bytes>& own, Isa isa = available_isas().back());
  ~SubgroupBits();
  SubgroupBits(const SubgroupBits&) = delete;
  SubgroupBits& operator=(const SubgroupBits&) = delete;

  std::uint64_t memory() const { return bits_.bytes().size() + kept_.bytes().size(); }

  // Adds to the bits all that moves of the subgroup make of them, and gives how many there are then; none: it
  // was `until` before that, and the next call goes on. Until it is done the bits are neither those before
  // nor those after. At least a batch of pages is made, in some 100 ms of a core.
  std::optional<std::uint64_t> step(int threads, std::chrono::steady_clock::time_point until =
                                                     std::chrono::steady_clock::time_point::max());

  // The bytes of pages one after another, none where all of them are 0; and all bits that are 1.
  std::span<const std::uint8_t> pages(std::size_t first, std::size_t count) const;
  void set_pages(std::size_t first, std::span<const std::uint8_t> bytes);
  std::uint64_t ones(int threads) const;

  bool has(std::uint64_t bit) const { return (words()[bit / 64] >> (bit % 64) & 1) != 0; }

  // For SubgroupMarks (src/subgroup_marks.hpp), which says which bit an element has, and sets bits.
  const SubgroupRanks& ranks() const { return ranks_; }
  std::uint64_t* words() const { return reinterpret_cast<std::uint64_t*>(bits_.bytes().data()); }
  std::uint8_t* filled() { return filled_.data(); }  // by page: 0 where all bits are 0

 private:
  SubgroupRanks ranks_;
  std::unique_ptr<SubgroupMoves> moves_;
  Pages bits_, kept_;
  std::vector<std::uint8_t> filled_, after_;  // after_: after the step that is under way
  std::size_t batch_ = 0;                     // of the step: the next one
  std::uint64_t ones_ = 0;                    // and of the batches before
};

}  // namespace farthest
