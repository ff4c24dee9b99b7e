#include "farthest/runs.hpp"

#include <algorithm>
#include <limits>

#include "radix.hpp"

namespace farthest {

template <class Code>
std::span<Code> sorted_unique(const std::vector<std::span<const Code>>& parts, SortBuffers<Code>& buffers) {
  std::size_t size = 0;
  for (const auto part : parts) size += part.size();
  if (size > std::numeric_limits<std::uint32_t>::max())
    throw InvalidArgument("too many codes to sort at once");
  std::span<Code> sorted;
  if constexpr (std::is_same_v<Code, Key>) {
    sorted = radix_sorted(parts, buffers.one, buffers.other, [](Key code) { return code; });
  } else {
    if (buffers.one.size() < size) buffers.one.resize(size);
    sorted = std::span(buffers.one).first(size);
    auto end = sorted.begin();
    for (const auto part : parts) end = std::ranges::copy(part, end).out;
    std::ranges::sort(sorted);
  }
  if (sorted.empty()) return sorted;
  std::size_t kept = 1;
  for (std::size_t i = 1; i < sorted.size(); ++i) {  // without a branch that is hard to foretell
    sorted[kept] = sorted[i];
    kept += sorted[kept] != sorted[kept - 1] ? 1 : 0;
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
    if (taken != other.end() && *taken == run[i]) continue;
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

}  // namespace farthest
