// Codes of states: 64-bit numbers, or byte strings of one width, ordered byte by byte.
//
// Inside the kernel a byte string is held as words, its first byte the highest of the first word, filled up
// with zeros: words are then compared as the strings are. Outside, codes lie one after another: numbers with
// 8 bytes, the lowest first (width 8), byte strings with `width` bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "farthest/types.hpp"

namespace farthest {

inline constexpr std::size_t kMaxWidth = 1024;

using Bytes = std::span<const std::uint8_t>;

template <std::size_t Words>
using WideCode = std::array<std::uint64_t, Words>;

// Whether two codes are equal, word by word: std::array would call a function for bytes.
inline bool equal(Key one, Key other) { return one == other; }
template <std::size_t Words>
bool equal(const WideCode<Words>& one, const WideCode<Words>& other) {
  std::uint64_t differing = 0;
  for (std::size_t word = 0; word < Words; ++word) differing |= one[word] ^ other[word];
  return differing == 0;
}

// Whether one code is before another.
inline bool less(Key one, Key other) { return one < other; }
template <std::size_t Words>
bool less(const WideCode<Words>& one, const WideCode<Words>& other) {
  for (std::size_t word = 0; word + 1 < Words; ++word)
    if (one[word] != other[word]) return one[word] < other[word];
  return one[Words - 1] < other[Words - 1];
}

inline void check_width(std::size_t width) {
  if (width == 0 || width > kMaxWidth) throw InvalidArgument("codes must have 1 to 1024 bytes");
}

// Calls visit(Code{}) with the narrowest type that holds codes of this width. Throws InvalidArgument for
// widths that there are not. Functions on codes are instantiated for these types: FARTHEST_FOR_CODES(macro).
template <class Visit>
auto with_code(std::size_t width, Visit visit) {
  check_width(width);
  if (width == sizeof(Key)) return visit(Key{});
  if (width <= 16) return visit(WideCode<2>{});
  if (width <= 32) return visit(WideCode<4>{});
  if (width <= 64) return visit(WideCode<8>{});
  if (width <= 128) return visit(WideCode<16>{});
  return visit(WideCode<128>{});
}

#define FARTHEST_FOR_CODES(macro) \
  macro(Key);                     \
  macro(WideCode<2>);             \
  macro(WideCode<4>);             \
  macro(WideCode<8>);             \
  macro(WideCode<16>);            \
  macro(WideCode<128>)

// A word from eight bytes, the first the highest, and back; compilers make one instruction of each.
inline std::uint64_t load_word(const std::uint8_t* bytes) {
  return std::uint64_t{bytes[0]} << 56 | std::uint64_t{bytes[1]} << 48 | std::uint64_t{bytes[2]} << 40 |
         std::uint64_t{bytes[3]} << 32 | std::uint64_t{bytes[4]} << 24 | std::uint64_t{bytes[5]} << 16 |
         std::uint64_t{bytes[6]} << 8 | std::uint64_t{bytes[7]};
}

inline void store_word(std::uint64_t word, std::uint8_t* bytes) {
  bytes[0] = static_cast<std::uint8_t>(word >> 56);
  bytes[1] = static_cast<std::uint8_t>(word >> 48);
  bytes[2] = static_cast<std::uint8_t>(word >> 40);
  bytes[3] = static_cast<std::uint8_t>(word >> 32);
  bytes[4] = static_cast<std::uint8_t>(word >> 24);
  bytes[5] = static_cast<std::uint8_t>(word >> 16);
  bytes[6] = static_cast<std::uint8_t>(word >> 8);
  bytes[7] = static_cast<std::uint8_t>(word);
}

// One code from its `width` bytes, and back.
template <class Code>
Code load_code(const std::uint8_t* bytes, std::size_t width) {
  Code code{};
  if constexpr (std::is_same_v<Code, Key>) {
    for (std::size_t i = 0; i < sizeof(Key); ++i) code |= Key{bytes[i]} << (8 * i);
  } else {
    std::size_t i = 0;
    for (; i + 8 <= width; i += 8) code[i / 8] = load_word(bytes + i);
    if (i < width && width > 8) {  // the last eight bytes at once
      code[i / 8] = load_word(bytes + width - 8) << 8 * (i + 8 - width);
    } else {
      for (; i < width; ++i) code[i / 8] |= std::uint64_t{bytes[i]} << (56 - i % 8 * 8);
    }
  }
  return code;
}

template <class Code>
void store_code(const Code& code, std::uint8_t* bytes, std::size_t width) {
  if constexpr (std::is_same_v<Code, Key>) {
    for (std::size_t i = 0; i < sizeof(Key); ++i) bytes[i] = static_cast<std::uint8_t>(code >> (8 * i));
  } else {
    std::size_t i = 0;
    for (; i + 8 <= width; i += 8) store_word(code[i / 8], bytes + i);
    if (i < width && width > 8) {
      const std::size_t more = 8 * (width - i);
      store_word(code[i / 8 - 1] << more | code[i / 8] >> (64 - more), bytes + width - 8);
    } else {
      for (; i < width; ++i) bytes[i] = static_cast<std::uint8_t>(code[i / 8] >> (56 - i % 8 * 8));
    }
  }
}

// Codes that lie one after another. Throws InvalidArgument when the last is not whole.
template <class Code>
std::vector<Code> load_codes(Bytes bytes, std::size_t width) {
  if (bytes.size() % width != 0) throw InvalidArgument("the bytes are not whole codes");
  std::vector<Code> codes(bytes.size() / width);
  for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = load_code<Code>(bytes.data() + i * width, width);
  return codes;
}

// `out` must have codes.size() * width bytes.
template <class Code>
void store_codes(std::span<const Code> codes, std::span<std::uint8_t> out, std::size_t width) {
  for (std::size_t i = 0; i < codes.size(); ++i) store_code(codes[i], out.data() + i * width, width);
}

// Which shard a code is in. Dense spaces, whose codes are keys: equal ranges of keys, the last one shorter.
// Sparse spaces: by a multiplicative hash, for balance.
class Sharding {
 public:
  // keys: of a dense space, 0 for a sparse one. Throws InvalidArgument when there are no shards.
  Sharding(std::uint64_t shards, std::uint64_t keys) : shards_(shards), keys_(keys) {
    if (shards == 0 || shards > kMostShards) throw InvalidArgument("there must be 1 to 65536 shards");
    if (keys != 0) range_ = (keys - 1) / shards + 1;
  }

  std::uint64_t shards() const { return shards_; }
  std::uint64_t keys() const { return keys_; }

  // Keys of a shard, 0 in sparse spaces.
  std::uint64_t range() const { return range_; }

  // Below shards(), unless a dense space has no such key.
  std::uint64_t shard(Key code) const { return range_ != 0 ? code / range_ : place(code * kMultiplier); }

  template <std::size_t Words>
  std::uint64_t shard(const WideCode<Words>& code) const {
    std::uint64_t hash = 0;
    for (const std::uint64_t word : code) hash = (hash ^ word ^ (hash >> 32)) * kMultiplier;
    return place(hash);
  }

  // Whether a code can be one of the space's.
  bool has(Key code) const { return keys_ == 0 || code < keys_; }
  template <std::size_t Words>
  bool has(const WideCode<Words>&) const {
    return true;
  }

 private:
  static constexpr std::uint64_t kMostShards = 65536;
  static constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio

  std::uint64_t place(std::uint64_t hash) const { return (hash >> 32) * shards_ >> 32; }

  std::uint64_t shards_;
  std::uint64_t keys_;
  std::uint64_t range_ = 0;
};

}  // namespace farthest
