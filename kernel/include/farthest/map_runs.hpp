// Distance maps from the runs of their layers, and back.
#pragma once

#include "farthest/run_blob.hpp"

namespace farthest {

// The run of a layer of a shard.
struct LayerRun {
  Bytes blob;
  std::uint16_t depth;
};

// Reads the states of many runs, none of which has a state of another, in the order of their codes.
template <class Code>
class MapReader {
 public:
  // The blobs must outlive the reader. Throws InvalidArgument, here or later, where one is damaged.
  MapReader(const std::vector<LayerRun>& runs, std::size_t width);

  // Of a dense space: writes the distances of the keys from `first` on, the greatest number where there is
  // none. The keys must follow those of the call before. Code must be Key.
  template <class Distance>
  void fill(Key first, std::span<Distance> out);

  struct Found {
    Code code;
    std::uint16_t depth;
  };

  // The next `states` states, fewer only at the end. They lie in the reader until the next call.
  std::span<const Found> next(std::size_t states, int threads);

 private:
  struct Source {
    RunReader<Code> run;
    std::uint16_t depth;
  };

  void sample(std::size_t states);
  void gather(int threads);

  std::vector<LayerRun> runs_;
  std::size_t width_;
  std::vector<Source> sources_;
  // Codes that part the map into pieces that are small enough to be sorted: about `states` states each.
  std::vector<Code> bounds_;
  std::size_t bound_ = 0;
  bool sampled_ = false;
  std::vector<Found> found_, one_, other_;
  std::size_t given_ = 0;
};

// Writes the runs of a map's layers, of which the states come in the order of their codes.
template <class Code>
class MapWriter {
 public:
  // depth: the greatest distance.
  MapWriter(std::size_t width, Sharding sharding, std::uint16_t depth)
      : width_(width), sharding_(sharding), layers_(std::size_t{depth} + 1) {}

  // Throws InvalidArgument for a code that is not greater than the one before, or that the space has not, or
  // a distance that is too great.
  void add(const Code& code, std::uint32_t distance);

  // The shards with states at this depth.
  std::vector<std::uint64_t> shards(std::uint16_t depth) const;
  std::uint64_t states(std::uint16_t depth, std::uint64_t shard) const {
    return layers_[depth][shard].states();
  }
  Blob run(std::uint16_t depth, std::uint64_t shard) const { return layers_[depth][shard].finish(width_); }

  std::size_t depths() const { return layers_.size(); }
  std::size_t width() const { return width_; }

 private:
  std::size_t width_;
  Sharding sharding_;
  std::vector<std::vector<RunWriter<Code>>> layers_;  // by depth and shard; no shards until there is a state
  bool any_ = false;
  Code last_{};
};

}  // namespace farthest
