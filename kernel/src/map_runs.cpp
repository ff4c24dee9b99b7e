#include "farthest/map_runs.hpp"

#include <algorithm>
#include <limits>

#include "packed_words.hpp"
#include "parallel.hpp"
#include "radix.hpp"

namespace farthest {
namespace {

void check_unit(std::size_t unit) {
  if (unit != 1 && unit != 2) throw InvalidArgument("distances have 1 or 2 bytes");
}

std::size_t count(Bytes distances, std::size_t unit) {
  check_unit(unit);
  if (distances.size() % unit != 0) throw InvalidArgument("the bytes are not whole distances");
  return distances.size() / unit;
}

std::uint32_t distance(Bytes distances, std::size_t i, std::size_t unit) {
  return unit == 1 ? distances[i] : distances[2 * i] | std::uint32_t{distances[2 * i + 1]} << 8;
}

template <class Code>
class ReaderOf final : public MapReader {
 public:
  ReaderOf(const std::vector<LayerRun>& runs, std::size_t width) : runs_(runs), width_(width) {
    for (const LayerRun& run : runs) sources_.push_back({RunReader<Code>(run.blob, width), run.depth});
  }

  void fill(Key first, std::span<std::uint8_t> out) override { fill_any(first, out); }
  void fill(Key first, std::span<std::uint16_t> out) override { fill_any(first, out); }
  std::size_t next(std::size_t states, int threads) override;
  void write(std::span<std::uint8_t> codes, std::span<std::uint8_t> distances,
             std::size_t unit) const override;

 private:
  struct Found {
    Code code;
    std::uint16_t depth;
    auto operator<=>(const Found&) const = default;
  };
  struct Source {
    RunReader<Code> run;
    std::uint16_t depth;
  };

  template <class Distance>
  void fill_any(Key first, std::span<Distance> out);
  void sample(std::size_t states);
  void gather(int threads);

  std::vector<LayerRun> runs_;
  std::size_t width_;
  std::vector<Source> sources_;
  // Codes that part the map into pieces that are small enough to be sorted: about `states` states each.
  std::vector<Code> bounds_;
  std::size_t bound_ = 0;
  bool sampled_ = false;
  std::vector<Found> found_, other_;
  std::size_t given_ = 0;
  std::span<const Found> shown_;  // by the last call of next(); in found_
};

template <class Code>
template <class Distance>
void ReaderOf<Code>::fill_any(Key first, std::span<Distance> out) {
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
void ReaderOf<Code>::sample(std::size_t states) {
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
void ReaderOf<Code>::gather(int threads) {
  const bool last = bound_ == bounds_.size();
  constexpr std::size_t kSourcesAtOnce = 64;
  std::vector<std::vector<Found>> parts((sources_.size() + kSourcesAtOnce - 1) / kSourcesAtOnce);
  in_parallel(parts.size(), threads, [&](std::uint64_t i) {
    const std::size_t first = i * kSourcesAtOnce;
    for (Source& source :
         std::span(sources_).subspan(first, std::min(kSourcesAtOnce, sources_.size() - first)))
      for (; source.run.left() != 0 && (last || source.run.head() < bounds_[bound_]); source.run.advance())
        parts[i].push_back({source.run.head(), source.depth});
  });
  ++bound_;
  found_.erase(found_.begin(), found_.begin() + static_cast<std::ptrdiff_t>(given_));
  given_ = 0;
  const std::size_t left = found_.size();  // all less than those to come
  for (const auto& part : parts) found_.insert(found_.end(), part.begin(), part.end());
  constexpr std::size_t kWords = sizeof(Code) / sizeof(Word);
  radix_sort(std::span(found_).subspan(left), other_, kWords,
             [](const Found& found, std::size_t word) { return word_of(found.code, word); });
}

template <class Code>
std::size_t ReaderOf<Code>::next(std::size_t states, int threads) {
  shown_ = {};
  if (!sampled_) sample(states);
  while (found_.size() - given_ < states && bound_ <= bounds_.size()) gather(threads);
  shown_ = std::span<const Found>(found_).subspan(given_);
  shown_ = shown_.first(std::min(states, shown_.size()));
  given_ += shown_.size();
  return shown_.size();
}

template <class Code>
void ReaderOf<Code>::write(std::span<std::uint8_t> codes, std::span<std::uint8_t> distances,
                           std::size_t unit) const {
  check_unit(unit);
  if (codes.size() != shown_.size() * width_ || distances.size() != shown_.size() * unit)
    throw InvalidArgument("there must be room for each state");
  for (std::size_t i = 0; i < shown_.size(); ++i)
    store_code(shown_[i].code, codes.data() + i * width_, width_);
  for (std::size_t i = 0; i < distances.size(); ++i)
    distances[i] = static_cast<std::uint8_t>(shown_[i / unit].depth >> (8 * (i % unit)));
}

template <class Code>
class WriterOf final : public MapWriter {
 public:
  WriterOf(std::size_t width, Sharding sharding, std::uint16_t depth)
      : width_(width), sharding_(sharding), layers_(std::size_t{depth} + 1) {}

  void add(Bytes codes, Bytes distances, std::size_t unit) override {
    const std::size_t states = count(distances, unit);
    if (codes.size() != states * width_) throw InvalidArgument("codes and distances must be equally many");
    for (std::size_t i = 0; i < states; ++i)
      add_one(load_code<Code>(codes.data() + i * width_, width_), distance(distances, i, unit));
  }

  void add_keys(Key first, Bytes distances, std::size_t unit) override {
    const std::size_t keys = count(distances, unit);
    if constexpr (std::is_same_v<Code, Key>) {
      const std::uint32_t unreached = unit == 1 ? 0xFF : 0xFFFF;
      for (std::size_t i = 0; i < keys; ++i)
        if (const std::uint32_t d = distance(distances, i, unit); d != unreached) add_one(first + i, d);
    } else {
      static_cast<void>(first), static_cast<void>(keys);
      throw InvalidArgument("keys have 8 bytes");
    }
  }

  std::vector<std::pair<std::uint64_t, CountedRun>> runs(std::uint16_t depth) const override {
    if (depth >= layers_.size()) throw InvalidArgument("no such depth");
    std::vector<std::pair<std::uint64_t, CountedRun>> out;
    const auto& shards = layers_[depth];
    for (std::uint64_t shard = 0; shard < shards.size(); ++shard)
      if (const auto& run = shards[shard]; run.states() != 0)
        out.push_back({shard, {run.states(), run.finish(width_)}});
    return out;
  }

 private:
  void add_one(const Code& code, std::uint32_t distance) {
    if (any_ && code <= last_) throw InvalidArgument("the codes do not ascend");
    if (!sharding_.has(code)) throw InvalidArgument("there is no such key");
    if (distance >= layers_.size()) throw InvalidArgument("a distance is greater than the depth");
    auto& shards = layers_[distance];
    if (shards.empty()) shards.resize(sharding_.shards());
    shards[sharding_.shard(code)].add(code, width_);
    any_ = true;
    last_ = code;
  }

  std::size_t width_;
  Sharding sharding_;
  std::vector<std::vector<RunWriter<Code>>> layers_;  // by depth and shard; no shards until there is a state
  bool any_ = false;
  Code last_{};
};

}  // namespace

std::unique_ptr<MapReader> make_map_reader(const std::vector<LayerRun>& runs, std::size_t width) {
  return with_code(width, [&]<class Code>(Code) -> std::unique_ptr<MapReader> {
    return std::make_unique<ReaderOf<Code>>(runs, width);
  });
}

std::unique_ptr<MapWriter> make_map_writer(std::size_t width, Sharding sharding, std::uint16_t depth) {
  return with_code(width, [&]<class Code>(Code) -> std::unique_ptr<MapWriter> {
    return std::make_unique<WriterOf<Code>>(width, sharding, depth);
  });
}

}  // namespace farthest
