#include <immintrin.h>

#include <cstring>
#include <memory>

#include "subgroup_lines.hpp"

namespace farthest {
namespace {

// A page's lanes, a block's 64 bytes apart: 24 as they are, or 32 by exchanged piece.
struct SubgroupScratch {
  alignas(64) std::uint8_t bytes[SubgroupBits::kBlocks][64];
};

__m256i shuffle_load(const void* from) { return _mm256_loadu_si256(static_cast<const __m256i*>(from)); }

// The same 16 bytes twice.
__m256i shuffle_twice(const void* from) {
  return _mm256_broadcastsi128_si256(_mm_loadu_si128(static_cast<const __m128i*>(from)));
}

// Sixteen lanes of a block that is packed, the first or the second.
__m256i shuffle_lanes(const std::uint8_t* block, const SubgroupShuffle& shuffle, std::size_t half) {
  __m256i some = _mm256_setzero_si256();
  for (std::size_t chunk = 0; chunk < 3; ++chunk)
    some = _mm256_or_si256(some, _mm256_shuffle_epi8(shuffle_twice(block + 12 * chunk),
                                                     shuffle_load(shuffle.from[chunk] + 32 * half)));
  some = _mm256_blendv_epi8(some, _mm256_srli_epi16(some, 4), shuffle_load(shuffle.shifted + 16 * half));
  return _mm256_and_si256(some, _mm256_set1_epi16(0xfff));
}

// What a move makes of the bits of lanes.
__m256i exchange_thirds(__m256i lanes, const SubgroupExchange& exchange) {
  const __m256i four = _mm256_set1_epi16(0xf);
  __m256i made = _mm256_setzero_si256();
  for (std::size_t part = 0; part < 3; ++part, lanes = _mm256_srli_epi16(lanes, 4)) {
    const __m256i low = _mm256_and_si256(lanes, four), high = _mm256_slli_epi16(low, 8);
    made = _mm256_or_si256(made, _mm256_shuffle_epi8(shuffle_load(exchange.fours[part][0]), low));
    made = _mm256_or_si256(made, _mm256_shuffle_epi8(shuffle_load(exchange.fours[part][1]), high));
  }
  return made;
}

// Adds to the lanes of a page's blocks what an exchange makes of another page.
void exchange_page(const SubgroupExchange& exchange, const std::uint8_t* source, SubgroupScratch& scratch,
                   SubgroupScratch& lanes) {
  for (std::size_t block = 0; block < SubgroupBits::kBlocks; ++block)
    for (std::size_t half = 0; half < 2; ++half)
      _mm256_store_si256(
          reinterpret_cast<__m256i*>(scratch.bytes[block] + 32 * half),
          exchange_thirds(shuffle_lanes(source + block * SubgroupBits::kBlockBytes, exchange.gather, half),
                          exchange));
  for (std::size_t block = 0; block < SubgroupBits::kBlocks; ++block) {
    const std::size_t rank = exchange.ranks[block];
    __m256i first = shuffle_load(lanes.bytes[block]), second = shuffle_load(lanes.bytes[block] + 32);
    for (std::size_t up = 0; up < SubgroupExchange::kPieces; ++up) {
      const std::size_t down = rank - (up < rank ? 1 : 0);
      const __m256i some = shuffle_twice(scratch.bytes[exchange.blocks[block][up]] + 16 * down);
      first = _mm256_or_si256(first, _mm256_shuffle_epi8(some, shuffle_load(exchange.spread[up])));
      second = _mm256_or_si256(second, _mm256_shuffle_epi8(some, shuffle_load(exchange.spread[up] + 32)));
    }
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes.bytes[block]), first);
    _mm256_store_si256(reinterpret_cast<__m256i*>(lanes.bytes[block] + 32), second);
  }
}

}  // namespace

std::uint64_t subgroup_step_avx2(const SubgroupTables& tables, const std::uint8_t* const* sources,
                                 std::uint8_t* result) {
  // Not on the stack: threads of musl have 128 KiB.
  thread_local const auto room = std::make_unique_for_overwrite<SubgroupScratch[]>(2);
  SubgroupScratch &scratch = room[0], &made = room[1];
  const std::uint8_t* const* upper = sources + 1;
  const std::uint8_t* const* lower = upper + tables.uppers;
  const std::uint8_t* const* exchanged = lower + tables.lowers;
  for (std::size_t block = 0; block < SubgroupBits::kBlocks; ++block)
    for (std::size_t half = 0; half < 2; ++half) {
      __m256i lanes = _mm256_setzero_si256();
      for (std::size_t move = 0; move < tables.lowers; ++move)
        lanes = _mm256_or_si256(lanes, shuffle_lanes(lower[move] + block * SubgroupBits::kBlockBytes,
                                                     tables.lower_shuffles[move], half));
      _mm256_store_si256(reinterpret_cast<__m256i*>(made.bytes[block] + 32 * half), lanes);
    }
  for (std::size_t move = 0; move < tables.exchanges; ++move)
    exchange_page(tables.exchange[move], exchanged[move], scratch, made);
  // Two lanes are 24 bits, three bytes of four.
  const __m256i pairs = _mm256_set1_epi32(1 | 4096 << 16);
  const __m256i three =
      _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, -1, -1, -1, -1));
  std::uint64_t ones = 0;
  for (std::size_t block = 0; block < SubgroupBits::kBlocks; ++block) {
    alignas(32) std::uint8_t packed[64];
    for (std::size_t half = 0; half < 2; ++half) {
      const __m256i some =
          _mm256_shuffle_epi8(_mm256_madd_epi16(shuffle_load(made.bytes[block] + 32 * half), pairs), three);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(packed + 24 * half), _mm256_castsi256_si128(some));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(packed + 24 * half + 12),
                       _mm256_extracti128_si256(some, 1));
    }
    const auto add = [&](const std::uint8_t* from, __m256i& most, std::uint32_t& rest) {
      std::uint32_t four;
      std::memcpy(&four, from + 32, sizeof four);
      most = _mm256_or_si256(most, shuffle_load(from));
      rest |= four;
    };
    __m256i most = _mm256_setzero_si256();
    std::uint32_t rest = 0;
    add(packed, most, rest);
    add(sources[0] + block * SubgroupBits::kBlockBytes, most, rest);
    for (std::size_t move = 0; move < tables.uppers; ++move)
      add(upper[move] + tables.upper[move].number[block] * SubgroupBits::kBlockBytes, most, rest);
    std::uint8_t* to = result + block * SubgroupBits::kBlockBytes;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), most);
    std::memcpy(to + 32, &rest, sizeof rest);
    for (std::size_t word = 0; word < 4; ++word) {
      long long bits;
      std::memcpy(&bits, to + 8 * word, sizeof bits);
      ones += static_cast<std::uint64_t>(_mm_popcnt_u64(static_cast<std::uint64_t>(bits)));
    }
    ones += static_cast<std::uint64_t>(_mm_popcnt_u32(rest));
  }
  return ones;
}

}  // namespace farthest
