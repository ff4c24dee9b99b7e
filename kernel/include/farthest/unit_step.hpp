// Steps over layers that are kept as blobs, one unit (a run of shards in the order of a plan) at a time.
//
// Source shards are decoded into the *slots* of a cache, where they stay for several units: the caller's plan
// says which shard is in which slot. A shard that is stepped is never in memory as a whole: it is taken in
// pieces of lines that fit the second-level cache, each through
//
//   decode what is excluded -> step -> encode what is fresh
//
// Blobs are those of shard_blobs.hpp.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "farthest/isa.hpp"
#include "farthest/pages.hpp"
#include "farthest/shard_blobs.hpp"
#include "farthest/space.hpp"

namespace farthest {

// A shard's blob, to be decoded into a slot.
struct SlotLoad {
  std::size_t slot;
  Blob blob;
};

// A shard to be stepped: the slot of each of its sources, in the order of Space::sources(), and the blobs of
// the states of this shard that are not new. `unite`: what is fresh is to be had together with these. Where
// layers are united, nothing is excluded, the slot of the shard itself follows, and its blob has old and new
// states.
struct ShardStep {
  std::uint64_t shard;
  std::vector<std::uint32_t> slots;
  std::vector<Blob> exclude;
  bool unite = false;
};

// What is fresh in a shard, and its number; where it was asked for, the blob of that and what was excluded.
struct FreshShard : ShardBlob {
  std::vector<std::uint8_t> united;
};

class UnitStepper {
 public:
  // The space must outlive this. Throws std::bad_alloc.
  UnitStepper(const Space& space, std::size_t slots, Isa isa);
  ~UnitStepper();

  // Bytes of a slot: a shard's bitmap and flags.
  static std::uint64_t slot_bytes(const Space& space);
  const Space& space() const { return space_; }
  std::size_t slots() const { return slots_; }

  // Throws InvalidArgument where a blob is damaged or of another space; what its slot holds is then
  // undefined.
  void load(const std::vector<SlotLoad>& loads, int threads);

  // Takes the step of these shards, which are prepared and distinct. Throws InvalidArgument as load().
  // The classes of all that is fresh are then classes().
  std::vector<FreshShard> step(const std::vector<ShardStep>& shards, int threads);

  // Of the fresh states of the last step.
  std::uint64_t classes() const { return classes_; }

  // The blob of a shard that has these states, as keys counted from the shard's first.
  std::vector<std::uint8_t> blob_of(const std::vector<Key>& keys);

  // The least `limit` states of a shard's blob that another one has not, as keys counted from the shard's
  // first, ascending. Throws InvalidArgument as load().
  std::vector<Key> keys_of(Blob blob, std::size_t limit, Blob without = {});

  // Adds a shard's states to the words of a residue map (map_files), of which word w of plane p is
  // words[w * planes + p]: sets the bit of each in the planes that `number` names. Throws InvalidArgument as
  // load(), and where there are not the words of a shard in 1 or 2 planes.
  void mark(Blob blob, unsigned number, std::size_t planes, std::span<Word> words);

 private:
  struct Scratch;
  class Borrowed;

  Word* slot_words(std::size_t slot) const;
  std::uint8_t* slot_flags(std::size_t slot) const;
  void load_piece(const SlotLoad& load, std::uint64_t piece);
  void step_shard(const ShardStep& step, FreshShard& fresh);

  const Space& space_;
  std::size_t slots_;
  Isa isa_;
  ShardPieces pieces_;
  Word all_;               // keys of a word
  std::size_t slot_size_;  // bytes of a slot's words, a multiple of 64
  Pages words_, flags_;
  std::atomic<std::uint64_t> classes_{0};
  std::mutex borrowing_;
  std::vector<std::unique_ptr<Scratch>> idle_;
};

}  // namespace farthest
