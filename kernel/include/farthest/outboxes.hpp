// Outboxes: the successors of a layer on their way to the shards that own them. They are put in by any number
// of threads, and taken out as one run a shard.
#pragma once

#include <memory>

#include "farthest/expander.hpp"
#include "farthest/runs.hpp"

namespace farthest {

// Of codes of any width.
class Outboxes {
 public:
  virtual ~Outboxes() = default;

  // Puts codes in, given one after another as bytes. Throws InvalidArgument for codes that a dense space has
  // not.
  virtual void add(Bytes codes, int threads) = 0;

  // Puts those successors of all codes of the runs in, which are blobs, that are in shards first to end - 1.
  // Throws InvalidArgument as add does, where a run is damaged, and for an expander of codes of another
  // width.
  virtual void expand(const Expander& expander, const std::vector<Bytes>& runs, std::uint64_t first,
                      std::uint64_t end, int threads) = 0;

  // The shards with codes, ascending.
  virtual std::vector<std::uint64_t> filled() const = 0;

  // Bytes that the boxes take now, and those of them that hold codes.
  virtual std::size_t bytes() const = 0;
  virtual std::size_t filled_bytes() const = 0;

  // Takes all codes of the shards out: of shards[i] the number of those that none of the runs exclude[i] has,
  // and the run of the least `most` of them. Throws InvalidArgument where such a run is damaged, or sizes do
  // not fit together.
  virtual std::vector<CountedRun> take(const std::vector<std::uint64_t>& shards,
                                       const std::vector<std::vector<Bytes>>& exclude, std::uint64_t most,
                                       int threads) = 0;

  // Divides the codes that come next among other shards. room: as that of make_outboxes. Throws
  // InvalidArgument while codes are there.
  virtual void divide(Sharding sharding, std::size_t room) = 0;

  // Gives the memory of emptied boxes back.
  virtual void trim() = 0;
};

// room: bytes that the boxes may take before repeated codes are removed from them; what is left may take
// more. Throws InvalidArgument for widths that there are not.
std::unique_ptr<Outboxes> make_outboxes(std::size_t width, Sharding sharding, std::size_t room);

}  // namespace farthest
