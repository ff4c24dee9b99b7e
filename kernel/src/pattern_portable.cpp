#include "pattern_lines.hpp"

namespace farthest {
namespace {

template <class W, int kCount>
struct PortableLanes {
  using Word = W;
  static constexpr int kLanes = kCount;
  struct Vector {
    W lane[kCount];
  };
  using Bit = W;

  static Vector zero() { return Vector{}; }
  static Bit bit(int cell) { return static_cast<W>(W{1} << cell); }
  static void store(W* to, const Vector& v) {
    for (int i = 0; i < kCount; ++i) to[i] = v.lane[i];
  }
  static void pull(Vector& fresh, const W* from, Bit test, Bit set) {
    for (int i = 0; i < kCount; ++i)
      fresh.lane[i] = static_cast<W>(fresh.lane[i] | ((from[i] & test) != 0 ? set : W{0}));
  }
  static void pull_last(Vector& fresh, const W* from, const PatternLanes& lanes, int rounds) {
    const auto* own = static_cast<const W*>(lanes.own_bit);
    const auto* bits = static_cast<const W*>(lanes.bits);
    const std::uint8_t* lane = lanes.lane;
    for (int r = 0; r < rounds; ++r, bits += kCount, lane += kCount)
      for (int i = 0; i < kCount; ++i)
        fresh.lane[i] = static_cast<W>(fresh.lane[i] | ((from[lane[i]] & own[i]) != 0 ? bits[i] : W{0}));
  }
  static Vector open(SlotMask free, const PatternLanes& lanes) {
    const auto* own = static_cast<const W*>(lanes.own_bit);
    const auto mask = static_cast<W>(free);
    Vector v;
    for (int i = 0; i < kCount; ++i) v.lane[i] = static_cast<W>((mask & own[i]) != 0 ? mask ^ own[i] : W{0});
    return v;
  }
  // Takes away what is not open, and what is in `from`; returns whether there is anything in that.
  static bool exclude(Vector& fresh, const Vector& open, const W* from) {
    W any = 0;
    for (int i = 0; i < kCount; ++i) {
      any = static_cast<W>(any | from[i]);
      fresh.lane[i] = static_cast<W>(fresh.lane[i] & open.lane[i] & ~from[i]);
    }
    return any != 0;
  }
  static void add(W* to, const Vector& v) {
    for (int i = 0; i < kCount; ++i) to[i] = static_cast<W>(to[i] | v.lane[i]);
  }
  static bool any(const Vector& v) {
    W any = 0;
    for (const W lane : v.lane) any = static_cast<W>(any | lane);
    return any != 0;
  }
  static SlotMask filled(const Vector& v) {
    SlotMask mask = 0;
    for (int i = 0; i < kCount; ++i) mask |= static_cast<SlotMask>(v.lane[i] != 0) << i;
    return mask;
  }
  using Shifts = const PatternTables&;
  static Shifts shifts(const PatternTables& t) { return t; }
  static void flood(Vector& v, const Vector& open, const PatternTables& t) {
    W grown = 1;
    while (grown != 0) {
      Vector next = v;
      for (int s = 0; s < t.shifts_used; ++s) {
        const auto from = static_cast<W>(t.shifts[s].from);
        const int by = t.shifts[s].by;
        if (by > 0)
          for (int i = 0; i < kCount; ++i)
            next.lane[i] = static_cast<W>(next.lane[i] | static_cast<W>((v.lane[i] & from) << by));
        else
          for (int i = 0; i < kCount; ++i)
            next.lane[i] = static_cast<W>(next.lane[i] | static_cast<W>((v.lane[i] & from) >> -by));
      }
      grown = 0;
      for (int i = 0; i < kCount; ++i) {
        next.lane[i] = static_cast<W>(next.lane[i] & open.lane[i]);
        grown = static_cast<W>(grown | (next.lane[i] ^ v.lane[i]));
      }
      v = next;
    }
  }
};

}  // namespace

StepPattern portable_pattern(int word_bytes, int lanes) {
  if (word_bytes == 2)
    return lanes == 8 ? &step_block<PortableLanes<std::uint16_t, 8>>
                      : &step_block<PortableLanes<std::uint16_t, 16>>;
  if (word_bytes == 4)
    return lanes == 16 ? &step_block<PortableLanes<std::uint32_t, 16>>
                       : &step_block<PortableLanes<std::uint32_t, 32>>;
  return lanes == 32 ? &step_block<PortableLanes<std::uint64_t, 32>>
                     : &step_block<PortableLanes<std::uint64_t, 64>>;
}

}  // namespace farthest
