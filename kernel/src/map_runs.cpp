#include "farthest/map_runs.hpp"

#include <algorithm>
#include <limits>

#include "parallel.hpp"
#include "radix.hpp"

namespace farthest {

template <class Code>
MapReader<Code>::MapReader(const std::vector<LayerRun>& runs, std::size_t width)
    : runs_(runs), width_(width) {
  for (const LayerRun& run : runs) sources_.push_back({RunReader<Code>(run.blob, width), run.depth});
}

template <class Code>
template <class Distance>
void MapReader<Code>::fill(Key first, std::span<Distance> out) {
  if constexpr (std::is_same_v<Code, Key>) {
    std::ranges::fill(out, std::numeric_limits<Distance>::max());
    for (Source& source : sources_) {
      if (source.run.left() != 0 && source.run.head() < first) throw InvalidArgument("keys were passed over");
      for (; source.run.left() != 0 && source.run.head() - first < out.size(); source.run.advance())
        out[source.run.head() - first] = static_cast<Distance>(source.depth);
    }
  } else {
    static_cast<void>(first), static_cast<void>(out);
    throw InvalidArgument("keys have 8 bytes");
  }
}

template <class Code>
void MapReader<Code>::sample(std::size_t states) {
  // Every some-th state of each run and of the next, so that short runs are heard too.
  constexpr std::size_t kSamples = 16;
  const std::size_t step = std::max<std::size_t>(1, states / kSamples);
  std::vector<Code> samples;
  std::size_t until = step;
  for (const LayerRun& run : runs_)
    for (RunReader<Code> reader(run.blob, width_); reader.left() != 0; reader.advance())
      if (--until == 0) {
        samples.push_back(reader.head());
        until = step;
      }
  std::ranges::sort(samples);
  for (std::size_t i = kSamples; i < samples.size(); i += kSamples) bounds_.push_back(samples[i]);
  sampled_ = true;
}

template <class Code>
void MapReader<Code>::gather(int threads) {
  const bool last = bound_ == bounds_.size();
  constexpr std::size_t kSourcesAtOnce = 64;
  std::vector<std::vector<Found>> parts((sources_.size() + kSourcesAtOnce - 1) / kSourcesAtOnce);
  in_parallel(parts.size(), threads, [&](std::uint64_t i) {
    for (Source& source : std::span(sources_)
                              .subspan(i * kSourcesAtOnce)
                              .first(std::min(kSourcesAtOnce, sources_.size() - i * kSourcesAtOnce)))
      for (; source.run.left() != 0 && (last || source.run.head() < bounds_[bound_]); source.run.advance())
        parts[i].push_back({source.run.head(), source.depth});
  });
  ++bound_;
  found_.erase(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(given_));
  given_ = 0;
  const std::vector<std::span<const Found>> spans(parts.begin(), parts.end());
  if constexpr (std::is_same_v<Code, Key>) {
    const auto sorted = radix_sorted(spans, one_, other_, [](const Found& found) { return found.code; });
    found_.insert(found_.end(), sorted.begin(), sorted.end());
  } else {
    const auto before = static_cast<std::ptrdiff_t>(found_.size());
    for (const auto span : spans) found_.insert(found_.end(), span.begin(), span.end());
    std::ranges::sort(found_.begin() + before, found_.end(), {}, &Found::code);
  }
}

template <class Code>
auto MapReader<Code>::next(std::size_t states, int threads) -> std::span<const Found> {
  if (!sampled_) sample(states);
  while (found_.size() - given_ < states && bound_ <= bounds_.size()) gather(threads);
  const auto some = std::span<const Found>(found_).subspan(given_);
  given_ += std::min(states, some.size());
  return some.first(std::min(states, some.size()));
}

template <class Code>
void MapWriter<Code>::add(const Code& code, std::uint32_t distance) {
  if (any_ && code <= last_) throw InvalidArgument("the codes do not ascend");
  if (!sharding_.has(code)) throw InvalidArgument("there is no such key");
  if (distance >= layers_.size()) throw InvalidArgument("a distance is greater than the depth");
  auto& shards = layers_[distance];
  if (shards.empty()) shards.resize(sharding_.shards());
  shards[sharding_.shard(code)].add(code, width_);
  any_ = true;
  last_ = code;
}

template <class Code>
std::vector<std::uint64_t> MapWriter<Code>::shards(std::uint16_t depth) const {
  std::vector<std::uint64_t> filled;
  for (std::uint64_t shard = 0; shard < layers_[depth].size(); ++shard)
    if (layers_[depth][shard].states() != 0) filled.push_back(shard);
  return filled;
}

#define INSTANTIATE(Code)                                                            \
  template class MapReader<Code>;                                                    \
  template void MapReader<Code>::fill<std::uint8_t>(Key, std::span<std::uint8_t>);   \
  template void MapReader<Code>::fill<std::uint16_t>(Key, std::span<std::uint16_t>); \
  template class MapWriter<Code>
FARTHEST_FOR_CODES(INSTANTIATE);

}  // namespace farthest
