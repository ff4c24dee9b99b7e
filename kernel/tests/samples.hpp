// Layouts of every kind, random numbers that are the same everywhere, and a slow model of boards and moves.
#pragma once

#include <random>
#include <set>
#include <vector>

#include "farthest/arrangement.hpp"
#include "farthest/planes.hpp"

namespace farthest::test {

using Board = std::vector<std::uint8_t>;  // the class of each slot

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  std::uint64_t word() { return engine_(); }
  // 0 .. limit - 1
  std::uint64_t below(std::uint64_t limit) { return engine_() % limit; }
  // A random permutation of 0 .. n - 1.
  std::vector<std::uint8_t> permutation(int n);

 private:
  std::mt19937_64 engine_;
};

struct Sample {
  std::vector<int> counts;
  std::vector<std::uint8_t> parity;

  int slots() const;
  Layout layout() const { return {slots(), counts, parity}; }
};

// Small enough to visit every key: plain, split and halved words; identical labels; one line and many.
const std::vector<Sample>& small_samples();
// Up to 64 slots and 2^62 keys, for random keys.
const std::vector<Sample>& large_samples();

// Slots in a row; a label moves to a neighbouring slot that holds class 0. Right for halved samples: the
// parity of the digits changes with the parity of the slot of class 0.
std::vector<Move> row_moves(int slots);
// A ring with one-way passages; not closed under inverses.
std::vector<Move> ring_moves(int slots);
// Random permutations, some with conditions on class 0.
std::vector<Move> random_moves(int slots, int moves, Random& random);
// Moves that the sample's parity, if it has one, allows.
std::vector<Move> moves_for(const Sample& sample, Random& random);

// Random permutations within the orbits, with random twists that keep the sums; some have conditions on class
// 0.
std::vector<Move> moves_within(const Layout& layout, int count, Random& random);

bool legal(const Move& move, const Board& board);
Board moved(const Move& move, const Board& board);
Board board_of(const Layout& layout, Key key);

// The keys that the moves lead to from `keys`.
std::set<Key> image_of(const Layout& layout, const std::vector<Move>& moves, const std::set<Key>& keys);

// A bitmap over all shards of a space, with its own memory.
class Bitmap {
 public:
  explicit Bitmap(const Space& space) : words(space.words()), flags(space.lines()) {}
  Bitmap(const Space& space, const std::set<Key>& keys) : Bitmap(space) {
    for (const Key key : keys) insert(space, key, view(space));
  }
  LayerView view(const Space& space) { return {0, space.shards(), words.data(), flags.data()}; }
  // The shards from `first` on.
  LayerView part(const Space& space, std::uint64_t first, std::uint64_t count) {
    return {first, count, words.data() + first * space.words_per_shard(),
            flags.data() + first * space.lines_per_shard()};
  }
  std::set<Key> keys(const Space& space);
  // Whether every line with a state has its flag.
  bool flagged(const Space& space) const;
  bool operator==(const Bitmap&) const = default;

  std::vector<Word> words;
  std::vector<std::uint8_t> flags;
};

std::vector<std::uint64_t> all_shards(const Space& space);
// The step of a whole frontier less `known`, a few lines at a time, each time into buffers for these alone.
// The space is prepared.
Bitmap stepped_in_parts(const Space& space, const Bitmap& frontier, const Bitmap& known);
std::set<Key> random_keys(const Layout& layout, std::uint64_t most, Random& random);

}  // namespace farthest::test
