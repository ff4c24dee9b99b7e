// A space whose states are kept by representatives of symmetries: one shard of each class of outer numbers.
//
// A state is an outer number, a line and a bit (docs/symmetry.md). A move takes an outer number to one that
// depends on it and the move alone, and a symmetry likewise; so of the outer numbers that symmetries take to
// each other one has a shard, the representative. A *link* is a move that can lead into a shard: the move
// undone leads to some outer number, and a symmetry takes that to its representative, the source shard. What
// the two make of the line's number and of the bits of a line is in the link:
//
// clang-format off
//   line of the source  sum of a term for each digit of the line's number
//   bits of the line    one map for all lines of the link
// clang-format on
//
// Where a move cannot be made there is no link; or no term for the value of a digit; or no source of a bit.
//
// Where every move is even, half of the digits' values together are no states. Then some digits have odd
// values, the bits of a line are the values that make the whole even, and there are two maps of a line: the
// one of lines whose odd values are odd in number is next to the link's (its number ^ 1).
//
// Terms and maps are numbered, since many links share them. All of this comes from the caller: the kernel
// knows neither moves nor symmetries.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "farthest/isa.hpp"
#include "farthest/space.hpp"

namespace farthest {

inline constexpr std::uint32_t kNoLine = std::uint32_t{1} << 31;  // a term of lines that no line leads to
inline constexpr std::uint16_t kNoLineBit = 0xffff;               // in a map: no bit leads there

struct ReducedLinks {
  std::vector<std::uint64_t> first;    // by shard: its first link; and the number of all links
  std::vector<std::uint32_t> sources;  // by link: the source shard
  std::vector<std::uint32_t> maps;     // by link: what becomes of the bits of its lines
  std::vector<std::uint32_t> terms;    // by link, then by digit: the list of terms
};

// Of the symmetries that keep a shard's outer number, all but the identity, what becomes of its states; as
// links without a source.
struct HeldLinks {
  std::vector<std::uint64_t> first;
  std::vector<std::uint32_t> maps;
  std::vector<std::uint32_t> terms;
};

// A digit of the line's number, the first most significant, and lists of `radix` terms one after another.
// odd: by value, 1 where it is odd; empty: none is.
struct LineDigit {
  std::uint64_t radix = 1;
  std::vector<std::uint32_t> terms;
  std::vector<std::uint8_t> odd = {};
};

class LineMaps;

class ReducedSpace final : public Space {
 public:
  // words_per_line, bits: of a line. weights: by shard, the size of the class of its outer number. maps: for
  // each bit of the result, in the order of keys, that of the source or kNoLineBit. isa: one of
  // available_isas(). Throws InvalidArgument where the links name what is not there, a term leads out of the
  // shard, or a map takes a key of a line twice.
  ReducedSpace(std::uint64_t words_per_line, int bits, std::vector<LineDigit> digits, ReducedLinks links,
               HeldLinks held, std::vector<std::uint32_t> weights,
               const std::vector<std::vector<std::uint16_t>>& maps, bool reversible, Isa isa);
  ~ReducedSpace() override;

  std::uint64_t weight(std::uint64_t shard) const override { return weights_[shard]; }
  std::uint64_t stabiliser(std::uint64_t shard) const override {
    return held_.first[shard + 1] - held_.first[shard] + 1;
  }
  std::uint64_t fixed_states(const LineRange& range) const override;
  int shard_levels() const override { return 1; }
  bool reversible() const override { return reversible_; }
  bool united() const override { return !partial_ && links_.sources.size() >= kUnitedLinks * shards(); }
  const std::vector<std::uint8_t>& colours() const override { return colours_; }
  std::span<const std::uint32_t> sources(std::uint64_t shard) const override {
    return {links_.sources.begin() + static_cast<std::ptrdiff_t>(links_.first[shard]),
            links_.sources.begin() + static_cast<std::ptrdiff_t>(links_.first[shard + 1])};
  }
  void prepare(const std::vector<std::uint64_t>&, int) override {}
  bool prepared(std::uint64_t) const override { return true; }
  std::uint64_t row_bytes() const override;
  std::uint64_t lines_at_once() const override { return lines_at_once_; }
  std::uint64_t step_lines(const LineRange& range) const override;

 private:
  // With so many moves layers grow so fast that all of them are not much more than the last.
  static constexpr std::uint64_t kUnitedLinks = 6;

  // The source lines of lines [first, first + count), by the lists of terms of a link.
  void source_lines(const std::uint32_t* lists, std::uint64_t first, std::size_t count,
                    std::uint32_t* out) const;
  // Whether each of the lines [first, first + count) has an odd number of odd values.
  void odd_lines(std::uint64_t first, std::size_t count, std::uint8_t* out) const;
  void check_links(const std::vector<std::uint64_t>& first, const std::vector<std::uint32_t>& maps,
                   const std::vector<std::uint32_t>& terms, std::size_t most_maps);
  // Steps lines [first, first + count), at most lines_at_once(), by these of the shard's links, by way of
  // `result`.
  std::uint64_t step_some(const LineRange& range, std::span<const std::uint32_t> links, std::uint64_t first,
                          std::size_t count, Word* result) const;

  std::vector<LineDigit> digits_;
  ReducedLinks links_;
  HeldLinks held_;
  std::vector<std::vector<Word>> kept_;  // by map: the bits of a line that it leaves where they are
  std::vector<std::uint32_t> weights_;
  bool reversible_;
  bool partial_ = false;  // not all moves can be made everywhere: layers are thin
  bool halved_ = false;   // some digits have odd values
  std::vector<std::uint8_t> colours_;
  std::uint64_t lines_at_once_;
  Word all_;  // keys of a word
  std::unique_ptr<LineMaps> maps_;
};

}  // namespace farthest
