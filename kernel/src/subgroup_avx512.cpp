#include <immintrin.h>

#include "subgroup_lines.hpp"

namespace farthest {
namespace {

__m512i load(const void* from) { return _mm512_loadu_si512(from); }

constexpr int kOr = 0xfe, kOrAnd = 0xf8, kChoice = 0xca;  // of vpternlog: a | b | c, a | b & c, a ? b : c

}  // namespace

std::uint64_t subgroup_step_avx512(const SubgroupTables& tables, const std::uint8_t* const* sources,
                                   std::uint8_t* result) {
  const __m512i twelve = _mm512_set1_epi16(0xfff), six = _mm512_set1_epi16(0x3f);
  const __m512i second = _mm512_set1_epi16(0x4000);  // the upper byte is read from the second table
  const __m512i even = _mm512_set1_epi32(0xfff), odd = _mm512_set1_epi32(0xfff000);
  alignas(64) std::uint8_t order[64];
  for (std::size_t i = 0; i < 64; ++i) order[i] = static_cast<std::uint8_t>((i / 3 * 4 + i % 3) % 64);
  const __m512i pack = load(order);
  constexpr __mmask64 kBlock = (__mmask64{1} << SubgroupBits::kBlockBytes) - 1;
  __m512i ones = _mm512_setzero_si512();
  for (std::size_t block = 0; block < SubgroupBits::kBlocks; ++block) {
    const std::uint8_t* const* source = sources;
    __m512i whole = load(*source++ + block * SubgroupBits::kBlockBytes);
    for (std::size_t move = 0; move < tables.uppers; ++move)
      whole = _mm512_or_si512(whole,
                              load(*source++ + tables.upper[move].number[block] * SubgroupBits::kBlockBytes));
    __m512i lanes = _mm512_setzero_si512();
    for (std::size_t move = 0; move < tables.lowers; ++move) {
      const SubgroupLanes& from = tables.lower[move];
      const __m512i some =
          _mm512_permutexvar_epi8(load(from.from), load(*source++ + block * SubgroupBits::kBlockBytes));
      lanes = _mm512_ternarylogic_epi32(lanes, _mm512_srlv_epi16(some, load(from.shift)), twelve, kOrAnd);
    }
    for (std::size_t move = 0; move < tables.exchanges; ++move) {
      const SubgroupExchange& exchange = tables.exchange[move];
      const std::uint8_t* page = *source++;
      const SubgroupLanes& from = exchange.lanes[exchange.ranks[block]];
      const __m512i bytes = load(from.from);
      const auto pair = [&](std::size_t up) {
        return _mm512_permutex2var_epi8(
            load(page + exchange.blocks[block][up] * SubgroupBits::kBlockBytes), bytes,
            load(page + exchange.blocks[block][up + 1] * SubgroupBits::kBlockBytes));
      };
      __m512i some = _mm512_ternarylogic_epi32(load(exchange.second), pair(2), pair(0), kChoice);
      some = _mm512_srlv_epi16(some, load(from.shift));
      const __m512i low = _mm512_and_si512(some, six);
      const __m512i high = _mm512_and_si512(_mm512_srli_epi16(some, 6), six);
      const auto made = [&](__m512i bits, const auto& table) {
        const __m512i both = _mm512_ternarylogic_epi32(bits, _mm512_slli_epi16(bits, 8), second, kOr);
        return _mm512_permutex2var_epi8(load(table[0]), both, load(table[1]));
      };
      lanes =
          _mm512_ternarylogic_epi32(lanes, made(low, exchange.bytes[0]), made(high, exchange.bytes[1]), kOr);
    }
    const __m512i pairs =
        _mm512_or_si512(_mm512_and_si512(lanes, even), _mm512_and_si512(_mm512_srli_epi32(lanes, 4), odd));
    whole = _mm512_maskz_mov_epi8(kBlock, _mm512_or_si512(whole, _mm512_permutexvar_epi8(pack, pairs)));
    _mm512_mask_storeu_epi8(result + block * SubgroupBits::kBlockBytes, kBlock, whole);
    ones = _mm512_add_epi64(ones, _mm512_popcnt_epi64(whole));
  }
  return static_cast<std::uint64_t>(_mm512_reduce_add_epi64(ones));
}

}  // namespace farthest
