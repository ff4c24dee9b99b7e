#include "farthest/expansion.hpp"

#include <algorithm>

#include "parallel.hpp"

namespace farthest {

std::vector<Key> expand(const Expander& expander, std::span<const Key> codes, int threads) {
  constexpr std::size_t kBatch = 4096;
  const std::size_t batches = (codes.size() + kBatch - 1) / kBatch;
  std::vector<std::vector<Key>> parts(batches);
  in_parallel(batches, threads, [&](std::uint64_t i) {
    const auto rest = codes.subspan(i * kBatch);
    expander.successors(rest.first(std::min(kBatch, rest.size())), parts[i]);
  });
  std::size_t size = 0;
  for (const auto& part : parts) size += part.size();
  std::vector<Key> all;
  all.reserve(size);
  for (auto& part : parts) {
    all.insert(all.end(), part.begin(), part.end());
    part = {};
  }
  return all;
}

}  // namespace farthest
