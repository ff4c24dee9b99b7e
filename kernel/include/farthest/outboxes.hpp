// Outboxes: the successors of a layer on their way to the shards that own them. They are put in by any number
// of threads, and taken out as one run a shard.
#pragma once

#include <algorithm>
#include <memory>
#include <mutex>

#include "farthest/expander.hpp"
#include "farthest/run_blob.hpp"

namespace farthest {

template <class Code>
class Outboxes {
 public:
  // room: bytes that the boxes may take before repeated codes are removed from them; what is left may take
  // more.
  Outboxes(std::size_t width, Sharding sharding, std::size_t room)
      : width_(width), sharding_(sharding), room_(room) {}

  const Sharding& sharding() const { return sharding_; }
  std::size_t width() const { return width_; }

  // Puts codes in, given one after another as bytes. Throws InvalidArgument for codes that a dense space has
  // not.
  void add(Bytes codes, int threads);

  // Puts the successors of all codes of the runs in, which are blobs. Code must be Key. Throws
  // InvalidArgument as add does, and where a run is damaged.
  void expand(const Expander& expander, const std::vector<Bytes>& runs, int threads);

  // The shards with codes, ascending.
  std::vector<std::uint64_t> filled() const;

  // Bytes that the boxes take now.
  std::size_t bytes() const;

  struct Fresh {
    std::uint64_t states;
    Blob run;
  };

  // Takes all codes of the shards out: of shards[i] the run of those that none of the runs exclude[i] has.
  // Throws InvalidArgument where such a run is damaged, or sizes do not fit together.
  std::vector<Fresh> take(const std::vector<std::uint64_t>& shards,
                          const std::vector<std::vector<Bytes>>& exclude, int threads);

  // Gives the memory of emptied boxes back.
  void trim();

 private:
  // Codes lie in pieces of memory of one size, which are used again and again.
  static constexpr std::size_t kPiece = std::max<std::size_t>(1, 8192 / sizeof(Code));
  using Piece = std::unique_ptr<Code[]>;

  struct Box {
    std::vector<Piece> pieces;
    Code* at = nullptr;   // where the next code goes in the last piece
    Code* end = nullptr;  // of that piece

    std::size_t size() const { return pieces.size() * kPiece - static_cast<std::size_t>(end - at); }
    void parts(std::vector<std::span<const Code>>& out) const;
  };

  // What one thread puts in. `free` and `pieces` change under the mutex when boxes are emptied by any thread.
  struct Lane {
    std::vector<Box> boxes;
    std::vector<Piece> free;
    std::mutex emptying;
    std::size_t pieces = 0;  // in boxes
    std::size_t limit = 0;   // of them, until repeated codes are removed
    SortBuffers<Code> buffers;
  };

  // Calls work(lane, piece) for all pieces, each lane in one thread at a time.
  template <class Work>
  void in_lanes(std::uint64_t pieces, int threads, Work work);
  void put(Lane& lane, std::span<const Code> codes);
  void append(Lane& lane, Box& box, std::span<const Code> codes);
  void grow(Lane& lane, Box& box);
  void empty(Lane& lane, Box& box);
  void shrink(Lane& lane);

  std::size_t width_;
  Sharding sharding_;
  std::size_t room_;
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace farthest
