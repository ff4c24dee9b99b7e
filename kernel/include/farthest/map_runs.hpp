// Distance maps from the runs of their layers, and back, with codes of any width.
#pragma once

#include <memory>

#include "farthest/run_blob.hpp"

namespace farthest {

// The run of a layer of a shard.
struct LayerRun {
  Bytes blob;
  std::uint16_t depth;
};

// Reads the states of many runs, none of which has a state of another, in the order of their codes. Throws
// InvalidArgument where one is damaged.
class MapReader {
 public:
  virtual ~MapReader() = default;

  // Of a dense space: writes the distances of the keys from `first` on, the greatest number where there is
  // none. The keys must follow those of the call before. Throws InvalidArgument for codes of another width
  // than 8.
  virtual void fill(Key first, std::span<std::uint8_t> out) = 0;
  virtual void fill(Key first, std::span<std::uint16_t> out) = 0;

  // Goes on to the next `states` states, fewer only at the end, and returns their number.
  virtual std::size_t next(std::size_t states, int threads) = 0;

  // Writes these states: their codes, and their distances in `unit` bytes each, the lowest first.
  virtual void write(std::span<std::uint8_t> codes, std::span<std::uint8_t> distances,
                     std::size_t unit) const = 0;
};

// The blobs must outlive the reader.
std::unique_ptr<MapReader> make_map_reader(const std::vector<LayerRun>& runs, std::size_t width);

// Writes the runs of a map's layers, of which the states come in the order of their codes.
class MapWriter {
 public:
  virtual ~MapWriter() = default;

  // Codes that lie one after another, and their distances in `unit` bytes each. Throws InvalidArgument for a
  // code that is not greater than the one before, or that the space has not, a distance that is too great,
  // and where there are not as many of the ones as of the others.
  virtual void add(Bytes codes, Bytes distances, std::size_t unit) = 0;

  // The keys from `first` on that have a distance: not the greatest number. Throws InvalidArgument as add
  // does, and for codes of another width than 8.
  virtual void add_keys(Key first, Bytes distances, std::size_t unit) = 0;

  // The shards with states at this depth, and their runs. Throws InvalidArgument for a depth that is too
  // great.
  virtual std::vector<std::pair<std::uint64_t, CountedRun>> runs(std::uint16_t depth) const = 0;
};

// depth: the greatest distance.
std::unique_ptr<MapWriter> make_map_writer(std::size_t width, Sharding sharding, std::uint16_t depth);

}  // namespace farthest
