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
  // So many codes will be put in, then about so many that are not new.
  void begin(std::size_t codes, std::size_t old) {
    bits_ = static_cast<int>(std::bit_width(std::min(codes / kBoxCodes, kMostBoxes - 1)));
    boxes_.resize(std::max(boxes_.size(), count()));
    old_.resize(boxes_.size());
    for (auto& box : old_) box.clear();
    filters_ = count() > 1 && old > codes / 4;  // making a filter takes as long as keeping so many
    if (count() == 1) {
      if (boxes_[0].size() < codes) boxes_[0].resize(codes);
      return begin_table(codes);
    }
    for (auto& box : boxes_) box.clear();
    const std::size_t each = codes / count();
    const auto spread = static_cast<std::size_t>(6 * std::sqrt(static_cast<double>(each)));
    for (std::size_t box = 0; box < count(); ++box) boxes_[box].reserve(each + spread + 1);
  }

  // Those of a single box are united at once, and old ones are looked up there.
  void put(const Code& code) {
    if (count() == 1) return unite(code, boxes_[0]);
    boxes_[box_of(hash_of(code))].push_back(code);
  }

  void end_of_codes() {
    if (count() == 1) left_out_.assign(united_, 0);
    if (!filters_) return;
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

  // A code that is not new. Where these are many, one takes memory only where it may be among those that were
  // put in.
  void put_old(const Code& code) {
    if (count() == 1) return leave_out(code, boxes_[0]);
    const std::uint64_t hash = hash_of(code);
    if (filters_) {
      const std::uint64_t bits = bits_in_filter(hash);
      if ((filter_[word_in_filter(hash)] & bits) != bits) return;
    }
    old_[box_of(hash)].push_back(code);
  }

  std::size_t count() const { return std::size_t{1} << bits_; }

  // The codes of a box that are new, each once, in the order in which they came.
  std::span<const Code> fresh(std::size_t number) {
    std::vector<Code>& box = boxes_[number];
    if (count() > 1) {
      begin_table(box.size());
      for (const Code& code : box) unite(code, box);
      left_out_.assign(united_, 0);
      for (const Code& code : old_[number]) leave_out(code, box);
    }
    std::size_t left = 0;
    for (std::size_t i = 0; i < united_; ++i) {
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
  static constexpr std::size_t kBoxCodes = std::max<std::size_t>(64, 524288 / sizeof(Code));
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

  void begin_table(std::size_t codes) {
    table_bits_ = static_cast<int>(std::bit_width((codes + codes / 2) | 1));
    table_.assign(std::size_t{1} << table_bits_, 0);
    places_ = static_cast<std::uint32_t>((std::uint64_t{1} << std::bit_width(codes)) - 1);
    united_ = 0;
  }

  // Adds a code to the first ones of a box unless it is one of them.
  void unite(const Code& code, std::vector<Code>& box) {
    const Entry entry = entry_of(code, box);
    if (entry.held != 0) return;
    box[united_] = code;
    table_[entry.at] = entry.tag | ++united_;
  }

  // A code of the box in the table is not new.
  void leave_out(const Code& code, std::vector<Code>& box) {
    if (const Entry entry = entry_of(code, box); entry.held != 0) left_out_[(entry.held & places_) - 1] = 1;
  }

  struct Entry {
    std::size_t at;
    std::uint32_t held, tag;
  };

  // Where the table has a code of the box, or none.
  Entry entry_of(const Code& code, const std::vector<Code>& box) const {
    const std::uint64_t hash = hash_of(code) << bits_;
    const auto tag = static_cast<std::uint32_t>(hash << table_bits_ >> 32) & ~places_;
    std::size_t at = hash >> (64 - table_bits_);
    for (std::uint32_t held; (held = table_[at]) != 0; at = (at + 1) & (table_.size() - 1))
      if (((held ^ tag) & ~places_) == 0 && equal(box[(held & places_) - 1], code)) return {at, held, tag};
    return {at, 0, tag};
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
  // By hash the place of a code in the box, and one; above that other bits of the hash. 0: none.
  std::vector<std::uint32_t> table_;
  std::vector<std::uint8_t> left_out_;  // by place: whether it is not new
  int bits_ = 0, filter_bits_ = 1, table_bits_ = 1;
  std::uint32_t places_ = 0;  // the bits of a place
  std::uint32_t united_ = 0;  // codes of the box in the table
  bool filters_ = false;
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
