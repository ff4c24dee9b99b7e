#include "farthest/runs.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "radix.hpp"

namespace farthest {
namespace {

// Where codes lie close together, as the keys of a dense space do, each is marked by a bit: that takes a
// third of the time of sorting them. Else it gives nothing.
std::optional<std::span<Key>> marked_unique(const std::vector<std::span<const Key>>& parts, std::size_t size,
                                            SortBuffers<Key>& buffers) {
  constexpr Key kMostWords = 1 << 17;  // so that they stay in the cache
  Key least = ~Key{0}, most = 0;
  for (const auto part : parts)
    for (const Key code : part) {
      least = std::min(least, code);
      most = std::max(most, code);
    }
  if (size == 0 || (most - least) / 64 >= std::min<Key>(size, kMostWords)) return std::nullopt;
  const std::size_t words = (most - least) / 64 + 1;
  if (buffers.other.size() < words) buffers.other.resize(words);
  if (buffers.one.size() < std::min(size, 64 * words)) buffers.one.resize(std::min(size, 64 * words));
  const std::span<Word> marks = std::span(buffers.other).first(words);
  std::ranges::fill(marks, Word{0});
  for (const auto part : parts)
    for (const Key code : part) marks[(code - least) / 64] |= Word{1} << (code - least) % 64;
  std::size_t found = 0;
  for (std::size_t i = 0; i < words; ++i)
    for (Word left = marks[i]; left != 0; left &= left - 1)
      buffers.one[found++] = least + 64 * i + static_cast<Key>(std::countr_zero(left));
  return std::span(buffers.one).first(found);
}

// Sorts by as many of the highest bits that differ as tell most codes apart, and then the few that these do
// not.
template <std::size_t Words>
std::span<WideCode<Words>> sorted_wide(const std::vector<std::span<const WideCode<Words>>>& parts,
                                       std::size_t size, SortBuffers<WideCode<Words>>& buffers) {
  using Code = WideCode<Words>;
  constexpr int kMoreBits = 6;
  std::uint64_t differing = 0, first = 0;
  for (const auto part : parts) {
    if (!part.empty()) first = part.front()[0];
    for (const Code& code : part) differing |= code[0] ^ first;
  }
  const int shift = std::max(
      0, static_cast<int>(std::bit_width(differing)) - static_cast<int>(std::bit_width(size)) - kMoreBits);
  const auto high = [shift](const Code& code) { return code[0] >> shift; };
  const std::span<Code> sorted = radix_sorted(parts, buffers.one, buffers.other, high);
  for (std::size_t begin = 0, end; begin < sorted.size(); begin = end) {
    for (end = begin + 1; end < sorted.size() && high(sorted[end]) == high(sorted[begin]);) ++end;
    if (end - begin > 1) std::ranges::sort(sorted.subspan(begin, end - begin));
  }
  return sorted;
}

}  // namespace

template <class Code>
std::span<Code> sorted_unique(const std::vector<std::span<const Code>>& parts, SortBuffers<Code>& buffers) {
  std::size_t size = 0;
  for (const auto part : parts) size += part.size();
  if (size > std::numeric_limits<std::uint32_t>::max())
    throw InvalidArgument("too many codes to sort at once");
  std::span<Code> sorted;
  if constexpr (std::is_same_v<Code, Key>) {
    if (const auto unique = marked_unique(parts, size, buffers)) return *unique;
    sorted = radix_sorted(parts, buffers.one, buffers.other, [](Key code) { return code; });
  } else {
    sorted = sorted_wide(parts, size, buffers);
  }
  if (sorted.empty()) return sorted;
  std::size_t kept = 1;
  for (std::size_t i = 1; i < sorted.size(); ++i) {  // without a branch that is hard to foretell
    sorted[kept] = sorted[i];
    kept += equal(sorted[kept], sorted[kept - 1]) ? 0 : 1;
  }
  return sorted.first(kept);
}

template <class Code>
std::span<Code> subtract(std::span<Code> run, std::span<const Code> other) {
  // What is kept never overtakes what is read.
  std::size_t kept = 0;
  auto taken = other.begin();
  for (std::size_t i = 0; i < run.size(); ++i) {
    while (taken != other.end() && *taken < run[i]) ++taken;
    if (taken != other.end() && equal(*taken, run[i])) continue;
    if (kept != i) run[kept] = run[i];
    ++kept;
  }
  return run.first(kept);
}

#define INSTANTIATE(Code)                                                                 \
  template std::span<Code> sorted_unique<Code>(const std::vector<std::span<const Code>>&, \
                                               SortBuffers<Code>&);                       \
  template std::span<Code> subtract<Code>(std::span<Code>, std::span<const Code>)
FARTHEST_FOR_CODES(INSTANTIATE);
#undef INSTANTIATE

}  // namespace farthest
