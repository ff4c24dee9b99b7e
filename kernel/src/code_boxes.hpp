// A set of codes: divided by their hash into boxes that stay in the cache, where those that are not new, or
// there already, are found.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "farthest/codes.hpp"

namespace farthest {

// Its memory is used again from set to set.
template <class Code>
class CodeBoxes {
 public:
  // About so many codes will be put in, then those that are not new.
  void begin(std::size_t codes) {
    bits_ = static_cast<int>(std::bit_width(std::min(codes / kBoxCodes, kMostBoxes - 1)));
    boxes_.resize(std::max(boxes_.size(), count()));
    old_.resize(boxes_.size());
    for (auto& box : boxes_) box.clear();
    for (auto& box : old_) box.clear();
    united_ = false;
    const std::size_t each = codes / count();
    const auto spread = static_cast<std::size_t>(6 * std::sqrt(static_cast<double>(each)));
    for (std::size_t box = 0; box < count(); ++box) boxes_[box].reserve(each + spread + 1);
  }

  void put(const Code& code) { boxes_[box_of(hash_of(code))].push_back(code); }
  void put(std::span<const Code> codes) {
    if (count() == 1) return static_cast<void>(boxes_[0].insert(boxes_[0].end(), codes.begin(), codes.end()));
    for (const Code& code : codes) put(code);
  }

  // Those of a single box are united at once, and old ones are looked up there.
  void end_of_codes() {
    if (count() == 1) return unite(boxes_[0]);
    std::size_t codes = 0;
    for (const auto& box : boxes_) codes += box.size();
    filter_bits_ = static_cast<int>(std::bit_width(codes / 4 | 1));
    filter_.assign(std::size_t{1} << filter_bits_, 0);
    for (const auto& box : boxes_)
      for (const Code& code : box) {
        const std::uint64_t hash = hash_of(code);
        filter_[word_in_filter(hash)] |= bits_in_filter(hash);
      }
  }

  // A code that is not new. It takes memory only where it may be among those that were put in.
  void put_old(const Code& code) {
    if (count() == 1) return leave_out(code, boxes_[0]);
    const std::uint64_t hash = hash_of(code), bits = bits_in_filter(hash);
    if ((filter_[word_in_filter(hash)] & bits) == bits) old_[box_of(hash)].push_back(code);
  }

  std::size_t count() const { return std::size_t{1} << bits_; }

  // The codes of a box that are new, each once, in the order in which they came.
  std::span<const Code> fresh(std::size_t number) {
    std::vector<Code>& box = boxes_[number];
    if (!united_ || count() > 1) unite(box);
    for (const Code& code : old_[number]) leave_out(code, box);
    std::size_t left = 0;
    for (std::size_t i = 0; i < left_out_.size(); ++i) {
      box[left] = box[i];
      left += left_out_[i] ^ 1u;
    }
    return std::span<const Code>(box).first(left);
  }

  // Bytes of memory.
  std::size_t bytes() const {
    std::size_t codes = 0;
    for (const auto& box : boxes_) codes += box.capacity();
    for (const auto& box : old_) codes += box.capacity();
    return codes * sizeof(Code) + table_.capacity() * sizeof(std::uint32_t) + left_out_.capacity() +
           filter_.capacity() * sizeof(std::uint64_t);
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

  std::size_t box_of(std::uint64_t hash) const { return bits_ == 0 ? 0 : hash >> (64 - bits_); }

  // Leaves each code of a box once, and makes their table.
  void unite(std::vector<Code>& box) {
    united_ = true;
    table_bits_ = static_cast<int>(std::bit_width(box.size())) + 1;
    table_.assign(std::size_t{1} << table_bits_, 0);
    std::uint32_t count = 0;
    for (const Code& code : box) {
      std::uint32_t& place = place_of(code, box);
      if (place != 0) continue;
      box[count] = code;
      place = ++count;
    }
    left_out_.assign(count, 0);
  }

  // A code of the box in the table is not new.
  void leave_out(const Code& code, std::vector<Code>& box) {
    if (const std::uint32_t place = place_of(code, box); place != 0) left_out_[place - 1] = 1;
  }

  // Where the table has a code of the box, or none.
  std::uint32_t& place_of(const Code& code, std::vector<Code>& box) {
    std::size_t at = hash_of(code) << bits_ >> (64 - table_bits_);
    for (std::uint32_t held; (held = table_[at]) != 0; at = (at + 1) & (table_.size() - 1))
      if (equal(box[held - 1], code)) break;
    return table_[at];
  }

  // A code sets two bits of a word, by those of the hash that follow each other: 16 to 32 bits a code let one
  // or two in a hundred of the others pass.
  std::size_t word_in_filter(std::uint64_t hash) const { return hash >> (64 - filter_bits_); }
  std::uint64_t bits_in_filter(std::uint64_t hash) const {
    const std::uint64_t rest = hash << filter_bits_;
    return std::uint64_t{1} << (rest >> 58) | std::uint64_t{1} << (rest >> 52 & 63);
  }

  std::vector<std::vector<Code>> boxes_, old_;
  std::vector<std::uint64_t> filter_;
  std::vector<std::uint32_t> table_;    // by hash: the place of a code in the box, and one; 0: none
  std::vector<std::uint8_t> left_out_;  // by that place: whether it is not new
  int bits_ = 0, filter_bits_ = 1, table_bits_ = 1;
  bool united_ = false;
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
