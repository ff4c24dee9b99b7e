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

}  // namespace

StepPattern avx2_pattern(int word_bytes, int lanes) {
  return word_bytes == 2 && lanes == 8 ? &step_block<ShortLanes> : nullptr;
}

}  // namespace farthest
