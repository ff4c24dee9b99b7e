#include "pattern_lines.hpp"

#include <immintrin.h>

namespace farthest {
namespace {

// 8 words of 16 bits: the lanes of one colour on a board of up to 16 cells.
struct ShortLanes {
  using Word = std::uint16_t;
  using Vector = __m128i;
  using Bit = __m128i;
  static constexpr int kLanes = 8;

  static Vector zero() { return _mm_setzero_si128(); }
  static Bit bit(int cell) { return _mm_set1_epi16(static_cast<short>(1u << cell)); }
  static Vector load(const void* from) { return _mm_loadu_si128(static_cast<const __m128i*>(from)); }
  static void store(Word* to, Vector v) { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), v); }
  static void pull(Vector& fresh, const Word* from, Bit test, Bit set) {
    const Vector has = _mm_cmpeq_epi16(_mm_and_si128(load(from), test), test);
    fresh = _mm_or_si128(fresh, _mm_and_si128(has, set));
  }
  static void pull_last(Vector& fresh, const Word* from, const PatternLanes& lanes, int rounds) {
    const Vector sets = load(from), own = load(lanes.own_bit);
    const auto* bits = static_cast<const Word*>(lanes.bits);
    const std::uint8_t* bytes = lanes.bytes;
    for (int r = 0; r < rounds; ++r, bits += kLanes, bytes += 16) {
      const Vector moved = _mm_shuffle_epi8(sets, load(bytes));
      const Vector has = _mm_cmpeq_epi16(_mm_and_si128(moved, own), own);
      fresh = _mm_or_si128(fresh, _mm_and_si128(has, load(bits)));
    }
  }
  static Vector open(SlotMask free, const PatternLanes& lanes) {
    const Vector mask = _mm_set1_epi16(static_cast<short>(free)), own = load(lanes.own_bit);
    const Vector taken = _mm_cmpeq_epi16(_mm_and_si128(mask, own), zero());
    return _mm_andnot_si128(taken, _mm_xor_si128(mask, own));
  }
  static bool exclude(Vector& fresh, Vector open, const Word* from) {
    const Vector held = load(from);
    fresh = _mm_and_si128(fresh, _mm_andnot_si128(held, open));
    return any(held);
  }
  static void add(Word* to, Vector v) { store(to, _mm_or_si128(load(to), v)); }
  static bool any(Vector v) { return _mm_testz_si128(v, v) == 0; }
  static SlotMask filled(Vector v) {
    const Vector empty = _mm_cmpeq_epi16(v, zero());
    return ~static_cast<unsigned>(_mm_movemask_epi8(_mm_packs_epi16(empty, empty))) & 0xff;
  }
  // To lower cells first, then to higher ones.
  struct Shifts {
    int down = 0, used = 0;
    Vector from[2 * kMaxSlots], by[2 * kMaxSlots];
  };
  static Shifts shifts(const PatternTables& t) {
    Shifts shifts;
    for (const int sign : {-1, 1}) {
      for (int i = 0; i < t.shifts_used; ++i) {
        if (t.shifts[i].by * sign < 0) continue;
        shifts.from[shifts.used] = _mm_set1_epi16(static_cast<short>(t.shifts[i].from));
        shifts.by[shifts.used++] = _mm_cvtsi32_si128(t.shifts[i].by * sign);
      }
      if (sign < 0) shifts.down = shifts.used;
    }
    return shifts;
  }
  static void flood(Vector& v, Vector open, const Shifts& shifts) {
    Vector before = zero();
    while (any(_mm_xor_si128(v, before))) {
      before = v;
      for (int i = 0; i < shifts.down; ++i)
        v = _mm_or_si128(v, _mm_srl_epi16(_mm_and_si128(before, shifts.from[i]), shifts.by[i]));
      for (int i = shifts.down; i < shifts.used; ++i)
        v = _mm_or_si128(v, _mm_sll_epi16(_mm_and_si128(before, shifts.from[i]), shifts.by[i]));
      v = _mm_and_si128(v, open);
    }
  }
};

// 16 words of 32 bits: the lanes of one colour on a board of up to 32 cells, in two registers.
struct LongLanes {
  using Word = std::uint32_t;
  struct Vector {
    __m256i half[2];
  };
  using Bit = __m256i;
  static constexpr int kLanes = 16;

  static Vector zero() { return {{_mm256_setzero_si256(), _mm256_setzero_si256()}}; }
  static Bit bit(int cell) { return _mm256_set1_epi32(static_cast<int>(1u << cell)); }
  static Vector load(const void* from) {
    const auto* halves = static_cast<const __m256i*>(from);
    return {{_mm256_loadu_si256(halves), _mm256_loadu_si256(halves + 1)}};
  }
  static void store(Word* to, const Vector& v) {
    auto* halves = reinterpret_cast<__m256i*>(to);
    for (int h = 0; h < 2; ++h) _mm256_storeu_si256(halves + h, v.half[h]);
  }
  static __m256i has(__m256i sets, __m256i test) {
    return _mm256_cmpeq_epi32(_mm256_and_si256(sets, test), test);
  }
  static void pull(Vector& fresh, const Word* from, Bit test, Bit set) {
    const Vector sets = load(from);
    for (int h = 0; h < 2; ++h)
      fresh.half[h] = _mm256_or_si256(fresh.half[h], _mm256_and_si256(has(sets.half[h], test), set));
  }
  static void pull_last(Vector& fresh, const Word* from, const PatternLanes& lanes, int rounds) {
    const Vector sets = load(from), own = load(lanes.own_bit);
    const auto* bits = static_cast<const Word*>(lanes.bits);
    const std::uint8_t* lane = lanes.lane;
    for (int r = 0; r < rounds; ++r, bits += kLanes, lane += kLanes) {
      const Vector set = load(bits);
      for (int h = 0; h < 2; ++h) {
        const __m256i at =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(lane + 8 * h)));
        const __m256i moved = _mm256_blendv_epi8(_mm256_permutevar8x32_epi32(sets.half[0], at),
                                                 _mm256_permutevar8x32_epi32(sets.half[1], at),
                                                 _mm256_cmpgt_epi32(at, _mm256_set1_epi32(7)));
        fresh.half[h] =
            _mm256_or_si256(fresh.half[h], _mm256_and_si256(has(moved, own.half[h]), set.half[h]));
      }
    }
  }
  static Vector open(SlotMask free, const PatternLanes& lanes) {
    const __m256i mask = _mm256_set1_epi32(static_cast<int>(free));
    Vector own = load(lanes.own_bit);
    for (__m256i& half : own.half) {
      const __m256i taken = _mm256_cmpeq_epi32(_mm256_and_si256(mask, half), _mm256_setzero_si256());
      half = _mm256_andnot_si256(taken, _mm256_xor_si256(mask, half));
    }
    return own;
  }
  static bool exclude(Vector& fresh, const Vector& open, const Word* from) {
    const Vector held = load(from);
    for (int h = 0; h < 2; ++h)
      fresh.half[h] = _mm256_and_si256(fresh.half[h], _mm256_andnot_si256(held.half[h], open.half[h]));
    return any(held);
  }
  static void add(Word* to, const Vector& v) {
    Vector held = load(to);
    for (int h = 0; h < 2; ++h) held.half[h] = _mm256_or_si256(held.half[h], v.half[h]);
    store(to, held);
  }
  static bool any(const Vector& v) {
    const __m256i both = _mm256_or_si256(v.half[0], v.half[1]);
    return _mm256_testz_si256(both, both) == 0;
  }
  static SlotMask filled(const Vector& v) {
    SlotMask mask = 0;
    for (int h = 0; h < 2; ++h) {
      const __m256i empty = _mm256_cmpeq_epi32(v.half[h], _mm256_setzero_si256());
      mask |= (~static_cast<SlotMask>(_mm256_movemask_ps(_mm256_castsi256_ps(empty))) & 0xff) << (8 * h);
    }
    return mask;
  }
  // To lower cells first, then to higher ones.
  struct Shifts {
    int down = 0, used = 0;
    __m256i from[2 * kMaxSlots];
    __m128i by[2 * kMaxSlots];
  };
  static Shifts shifts(const PatternTables& t) {
    Shifts shifts;
    for (const int sign : {-1, 1}) {
      for (int i = 0; i < t.shifts_used; ++i) {
        if (t.shifts[i].by * sign < 0) continue;
        shifts.from[shifts.used] = _mm256_set1_epi32(static_cast<int>(t.shifts[i].from));
        shifts.by[shifts.used++] = _mm_cvtsi32_si128(t.shifts[i].by * sign);
      }
      if (sign < 0) shifts.down = shifts.used;
    }
    return shifts;
  }
  static void flood(Vector& v, const Vector& open, const Shifts& shifts) {
    for (int h = 0; h < 2; ++h) {
      __m256i now = v.half[h], before = _mm256_setzero_si256();
      while (_mm256_testc_si256(before, now) == 0) {
        before = now;
        for (int i = 0; i < shifts.down; ++i)
          now =
              _mm256_or_si256(now, _mm256_srl_epi32(_mm256_and_si256(before, shifts.from[i]), shifts.by[i]));
        for (int i = shifts.down; i < shifts.used; ++i)
          now =
              _mm256_or_si256(now, _mm256_sll_epi32(_mm256_and_si256(before, shifts.from[i]), shifts.by[i]));
        now = _mm256_and_si256(now, open.half[h]);
      }
      v.half[h] = now;
    }
  }
};

}  // namespace

StepPattern avx2_pattern(int word_bytes, int lanes) {
  if (word_bytes == 2 && lanes == 8) return &step_block<ShortLanes>;
  return word_bytes == 4 && lanes == 16 ? &step_block<LongLanes> : nullptr;
}

}  // namespace farthest
