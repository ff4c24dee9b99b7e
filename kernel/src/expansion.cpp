#include "farthest/expansion.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace farthest {

template <class Code>
std::vector<Code> expand(const ExpanderOf<Code>& expander, std::span<const Code> codes, int threads) {
  constexpr std::size_t kBatch = 4096;
  const std::size_t batches = (codes.size() + kBatch - 1) / kBatch;
  std::vector<std::vector<Code>> parts(batches);
  in_parallel(batches, threads, [&](std::uint64_t i) {
    const auto rest = codes.subspan(i * kBatch);
    expander.successors(rest.first(std::min(kBatch, rest.size())), parts[i]);
  });
  std::size_t size = 0;
  for (const auto& part : parts) size += part.size();
  std::vector<Code> all;
  all.reserve(size);
  for (auto& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
    part = {};
  }
  return all;
}

#define INSTANTIATE(Code) \
  template std::vector<Code> expand<Code>(const ExpanderOf<Code>&, std::span<const Code>, int)
FARTHEST_FOR_CODES(INSTANTIATE);
#undef INSTANTIATE

}  // namespace farthest
