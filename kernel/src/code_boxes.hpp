// A set of codes: divided by their hash into boxes that stay in the cache, where those that are not new, or
// there already, are found.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "farthest/codes.hpp"

namespace farthest {

// Its memory is used again from set to set.
template <class Code>
class CodeBoxes {
 public:
  // About so many codes will be put in, those that are not new first.
  void begin(std::size_t codes) {
    bits_ = static_cast<int>(std::bit_width(std::min(codes / kBoxCodes, kMostBoxes - 1)));
    boxes_.resize(std::max(boxes_.size(), count()));
    for (auto& box : boxes_) box.clear();
  }

  void put(const Code& code) {
    boxes_[bits_ == 0 ? 0 : static_cast<std::size_t>(hash_of(code) >> (64 - bits_))].push_back(code);
  }

  void end_of_old() {
    old_.clear();
    for (std::size_t box = 0; box < count(); ++box) old_.push_back(boxes_[box].size());
  }

  std::size_t count() const { return std::size_t{1} << bits_; }

  // The codes of a box that are new, each once, in the order in which they came.
  std::span<const Code> fresh(std::size_t number) {
    std::vector<Code>& box = boxes_[number];
    const int table_bits = static_cast<int>(std::bit_width(box.size())) + 1;
    const std::size_t mask = (std::size_t{1} << table_bits) - 1;
    table_.assign(mask + 1, 0);
    std::uint32_t count = 0;
    const auto take = [&](std::span<const Code> codes) {
      for (const Code& code : codes) {
        std::size_t at = hash_of(code) << bits_ >> (64 - table_bits);
        while (table_[at] != 0 && !equal(box[table_[at] - 1], code)) at = (at + 1) & mask;
        if (table_[at] != 0) continue;
        box[count] = code;
        table_[at] = ++count;
      }
    };
    const std::span<const Code> all(box);
    take(all.first(old_[number]));
    const std::uint32_t first = count;
    take(all.subspan(old_[number]));
    return all.subspan(first, count - first);
  }

  // Bytes of memory.
  std::size_t bytes() const {
    std::size_t codes = 0;
    for (const auto& box : boxes_) codes += box.capacity();
    return codes * sizeof(Code) + table_.capacity() * sizeof(std::uint32_t);
  }

 private:
  static constexpr std::size_t kBoxCodes = std::max<std::size_t>(64, 131072 / sizeof(Code));
  static constexpr std::size_t kMostBoxes = 2048;

  // Another one than that of shards (codes.hpp), so that the codes of a shard go into all boxes.
  static constexpr std::uint64_t kMultiplier = 0xD6E8FEB86659FD93;

  static std::uint64_t hash_of(Key code) { return code * kMultiplier; }
  template <std::size_t Words>
  static std::uint64_t hash_of(const WideCode<Words>& code) {
    std::uint64_t hash = 0;
    for (const std::uint64_t word : code) hash = (hash ^ word ^ (hash >> 32)) * kMultiplier;
    return hash;
  }

  std::vector<std::vector<Code>> boxes_;
  std::vector<std::size_t> old_;      // of each box the first codes, which are not new
  std::vector<std::uint32_t> table_;  // by hash: the place of a code in the box, and one; 0: none
  int bits_ = 0;
};

// The least codes of many.
template <class Code>
class LeastCodes {
 public:
  // kept: memory for up to twice `most`.
  LeastCodes(std::uint64_t most, std::vector<Code>& kept) : most_(most), kept_(kept) { kept.clear(); }

  void add(std::span<const Code> codes) {
    if (most_ == 0) return;
    for (const Code& code : codes) {
      if (full_ && !less(code, kept_[most_ - 1])) continue;
      kept_.push_back(code);
      if (kept_.size() - most_ == most_) cut();
    }
  }

  // Leaves the least `most` in the memory, in any order.
  void cut() {
    if (kept_.size() <= most_) return;
    std::ranges::nth_element(kept_, kept_.begin() + static_cast<std::ptrdiff_t>(most_) - 1);
    kept_.resize(most_);
    full_ = true;
  }

 private:
  std::size_t most_;
  std::vector<Code>& kept_;
  bool full_ = false;  // the last of `most` is then the greatest
};

}  // namespace farthest
