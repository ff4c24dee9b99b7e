#include "farthest/line_map.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <functional>
#include <utility>

namespace farthest {
namespace {

using Row = std::uint32_t;  // a linear form of the bits of u

unsigned odd(std::uint32_t bits) { return static_cast<unsigned>(std::popcount(bits)) & 1U; }

// v = A u + c, by rows: bit i of A u is the parity of u & rows[i].
struct Affine {
  std::vector<Row> rows;
  std::uint32_t constant = 0;

  std::uint32_t operator()(std::uint32_t u) const {
    std::uint32_t v = constant;
    for (std::size_t i = 0; i < rows.size(); ++i) v ^= odd(u & rows[i]) << i;
    return v;
  }
};

std::optional<Affine> affine(std::span<const std::uint16_t> source) {
  const auto digits = static_cast<unsigned>(std::countr_zero(source.size()));
  Affine map{std::vector<Row>(digits), source[0]};
  for (unsigned j = 0; j < digits; ++j)
    for (unsigned i = 0; i < digits; ++i)
      map.rows[i] |= ((static_cast<Row>(source[std::size_t{1} << j]) ^ map.constant) >> i & 1U) << j;
  for (std::uint32_t u = 0; u < source.size(); ++u)
    if (map(u) != source[u]) return {};
  return map;
}

class Compiler {
 public:
  Compiler(Affine map, unsigned unit_bits) : map_(std::move(map)), unit_(unit_bits) {}

  LineMap compile() {
    undo_sum();
    for (unsigned i = 0; i < unit_; ++i) settle(i);
    for (unsigned i = 0; i < unit_; ++i)
      if ((map_.constant >> i & 1U) != 0) {
        add_stage([i](std::uint32_t u) { return u ^ 1U << i; });
        map_.constant ^= 1U << i;
      }
    bool moved = false;
    for (std::uint32_t unit = 0; unit << unit_ < 1U << map_.rows.size(); ++unit) {
      const std::uint32_t from = map_(unit << unit_) >> unit_;
      moved = moved || from != unit;
      out_.units.push_back(static_cast<std::uint8_t>(from));
    }
    if (!moved) out_.units.clear();
    return std::move(out_);
  }

 private:
  // Where all digits of the source but one are digits of the result, that one is a sum: that of the digit
  // that follows from the others. One stage makes it a digit too.
  void undo_sum() {
    std::uint32_t others = 0;
    unsigned sums = 0, sum = 0;
    Row missing = (Row{1} << map_.rows.size()) - 1;
    for (unsigned i = 0; i < map_.rows.size(); ++i)
      if (std::has_single_bit(map_.rows[i]))
        missing &= ~map_.rows[i];
      else
        ++sums, sum = i;
    if (sums != 1) return;
    for (unsigned i = 0; i < map_.rows.size(); ++i)
      if (i != sum && (map_.rows[sum] & map_.rows[i]) != 0) others |= 1U << i;
    if (std::has_single_bit(missing)) replace([=](std::uint32_t v) { return v ^ odd(v & others) << sum; });
  }

  // Makes digit i of the source digit i of the result, and no other digit depend on it.
  void settle(unsigned i) {
    const Row wanted = Row{1} << i;
    const std::vector<unsigned> sum = rows_of(wanted);
    // One digit of the sum becomes the sum: digit i itself where it is one of them.
    unsigned target = sum.front();
    for (const unsigned row : sum) target = row == i ? i : target;
    std::uint32_t others = 0;
    for (const unsigned row : sum) others |= row == target ? 0 : 1U << row;
    if (others != 0) replace([=](std::uint32_t v) { return v ^ odd(v & others) << target; });
    if (target != i)
      replace([=](std::uint32_t v) {
        return ((v >> target ^ v >> i) & 1U) != 0 ? v ^ 1U << target ^ 1U << i : v;
      });
    // Digits within a word are shifted by different distances: a stage each.
    std::uint32_t words = 0;
    for (unsigned j = 0; j < map_.rows.size(); ++j) {
      if (j == i || (map_.rows[j] & wanted) == 0) continue;
      if (j >= 6)
        words |= 1U << j;
      else
        replace([=](std::uint32_t v) { return v ^ (v >> i & 1U) << j; });
    }
    if (words != 0) replace([=](std::uint32_t v) { return (v >> i & 1U) != 0 ? v ^ words : v; });
  }

  // Rows whose sum is `wanted`: elimination, with the rows that each came from.
  std::vector<unsigned> rows_of(Row wanted) const {
    std::vector<std::pair<Row, std::uint32_t>> reduced;
    const auto eliminated = [&](Row row, std::uint32_t from) {
      for (const auto& [other, others] : reduced)
        if ((row ^ other) < row && std::bit_width(row ^ other) < std::bit_width(row))
          row ^= other, from ^= others;
      return std::pair{row, from};
    };
    for (unsigned i = 0; i < map_.rows.size(); ++i) {
      const auto next = eliminated(map_.rows[i], 1U << i);
      if (next.first == 0) throw InvalidArgument("a map of a line's bits must be a permutation");
      reduced.push_back(next);
      std::ranges::sort(reduced, std::ranges::greater{}, [](const auto& each) { return each.first; });
    }
    std::vector<unsigned> out;
    const auto from = eliminated(wanted, 0).second;
    for (unsigned i = 0; i < map_.rows.size(); ++i)
      if ((from >> i & 1U) != 0) out.push_back(i);
    return out;
  }

  // A stage with this map of numbers, which is its own inverse, and what is then left to do.
  template <class Map>
  void replace(Map map) {
    add_stage(map);
    Affine next{std::vector<Row>(map_.rows.size()), map(map_.constant)};
    for (unsigned j = 0; j < map_.rows.size(); ++j) {
      const std::uint32_t column = map(map_(1U << j)) ^ next.constant;
      for (unsigned i = 0; i < map_.rows.size(); ++i) next.rows[i] |= (column >> i & 1U) << j;
    }
    map_ = std::move(next);
  }

  template <class Map>
  void add_stage(Map map) {
    LineStage stage;
    const std::uint32_t bits = 1U << map_.rows.size();
    stage.left.resize(bits / 64), stage.right.resize(bits / 64);
    for (std::uint32_t u = 0; u < bits; ++u) {
      const std::uint32_t v = map(u);
      if (u == v) continue;
      const int up = static_cast<int>(u & 63) - static_cast<int>(v & 63);
      stage.partner = u / 64 ^ v / 64;
      stage.shift = static_cast<std::uint32_t>(std::abs(up));
      (up < 0 ? stage.right : stage.left)[u / 64] |= Word{1} << u % 64;
    }
    out_.stages.push_back(std::move(stage));
  }

  Affine map_;
  unsigned unit_;
  LineMap out_;
};

}  // namespace

std::optional<LineMap> linear_map(std::span<const std::uint16_t> source, int unit_bits) {
  if (!std::has_single_bit(source.size()) || source.size() < 64 || source.size() >> unit_bits > 256)
    throw InvalidArgument("a map of a line's bits must have a power of 2 of them, and at most 256 units");
  auto map = affine(source);
  if (!map) return {};
  return Compiler(std::move(*map), static_cast<unsigned>(unit_bits)).compile();
}

}  // namespace farthest
