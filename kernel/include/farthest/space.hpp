// A space: what layers, planes, blobs and steps need to know of the states, whatever these are.
//
// A layer is a bitmap of the keys. Its memory is cut in lines, runs of words that are stepped together, and
// in *shards*, runs of lines; a shard holds a contiguous range of keys. Each move takes the states of a shard
// from one source shard as a whole.
#pragma once

#include <array>
#include <shared_mutex>
#include <span>
#include <vector>

#include "farthest/types.hpp"

namespace farthest {

inline constexpr std::size_t kMaxExclude = 2;
inline constexpr std::size_t kMaxAccumulate = 18;  // visited and the planes of 16-bit distances

// A line's flag is 0 only where it is empty, and kFull only where it has all keys.
inline constexpr std::uint8_t kFull = 2;

// Where the keys lie in memory: `keys_per_group` keys follow each other in each group of words, a whole
// number of groups makes a line.
struct Geometry {
  std::uint64_t shards = 1;
  std::uint64_t lines_per_shard = 1;
  std::uint64_t words_per_line = 1;
  std::uint64_t words_per_group = 1;  // at most 4
  int bits = 64;                      // of each word that are keys, from the lowest one on
  // Place of the k-th key of a group, word * 64 + bit; empty where it is k (groups of one word).
  std::vector<std::uint8_t> order{};
};

// Lines [first, last) of one shard to be stepped, with the layers. Pointers to sources are to the first line
// of the source shard.
struct LineRange {
  std::uint64_t shard = 0, first = 0, last = 0;
  // The line of the shard that fresh, exclude, accumulate and their flags begin with, at most `first`: so a
  // part of a shard can be stepped into a buffer for these lines alone.
  std::uint64_t from = 0;
  std::span<const Word* const> source_words;  // by move, as Space::sources()
  std::span<const std::uint8_t* const> source_flags;
  Word* fresh = nullptr;
  std::uint8_t* fresh_flags = nullptr;
  std::size_t excludes = 0, accumulates = 0;
  std::array<const Word*, kMaxExclude> exclude{};
  std::array<Word*, kMaxAccumulate> accumulate{};
  std::array<std::uint8_t*, kMaxAccumulate> accumulate_flags{};
  // Where layers are united (Space::united): the flags of the one layer that is excluded, and that fresh is
  // written together with.
  const std::uint8_t* known_flags = nullptr;
};

class Space {
 public:
  virtual ~Space();
  Space(const Space&) = delete;
  Space& operator=(const Space&) = delete;

  Key keys() const { return shards() * keys_per_shard(); }
  std::uint64_t lines() const { return shards() * lines_per_shard(); }
  std::uint64_t words() const { return shards() * words_per_shard(); }
  std::uint64_t shards() const { return geometry_.shards; }
  Key keys_per_shard() const { return lines_per_shard() * keys_per_line(); }
  std::uint64_t lines_per_shard() const { return geometry_.lines_per_shard; }
  std::uint64_t words_per_shard() const { return lines_per_shard() * words_per_line(); }
  Key keys_per_line() const { return words_per_line() * static_cast<std::uint64_t>(bits()); }
  std::uint64_t words_per_line() const { return geometry_.words_per_line; }
  std::uint64_t words_per_group() const { return geometry_.words_per_group; }
  Key keys_per_group() const { return words_per_group() * static_cast<std::uint64_t>(bits()); }
  int bits() const { return geometry_.bits; }
  // Whether consecutive keys are consecutive bits of words.
  bool in_order() const { return geometry_.order.empty(); }
  const std::vector<std::uint8_t>& order() const { return geometry_.order; }

  // Position of a key's bit. A piece of a layer begins with a line, so keys and words may both be counted
  // from the beginning of a piece.
  struct Place {
    std::uint64_t word;
    int bit;
  };
  Place place(Key key) const {
    const Key group = key / keys_per_group(), k = key % keys_per_group();
    if (in_order()) return {group, static_cast<int>(k)};
    const int at = geometry_.order[k];
    return {group * words_per_group() + static_cast<std::uint64_t>(at / 64), at % 64};
  }
  // Inverse of place(); bit must be below bits().
  Key key_at(std::uint64_t word, int bit) const {
    const std::uint64_t group = word / words_per_group();
    const std::uint64_t at = word % words_per_group() * 64 + static_cast<std::uint64_t>(bit);
    return group * keys_per_group() + (in_order() ? at : number_[at]);
  }

  // The number of states that each key of the shard stands for: more than 1 where the space keeps
  // representatives alone.
  virtual std::uint64_t weight(std::uint64_t) const { return 1; }
  // How many symmetries keep the shard's outer number, and so take its states to each other, the identity
  // among them; and how many of the fresh states of a range that was stepped the others fix, each added up.
  virtual std::uint64_t stabiliser(std::uint64_t) const { return 1; }
  virtual std::uint64_t fixed_states(const LineRange&) const { return 0; }
  // Of the fresh states that a shard's keys stand for the classes under symmetries, by Burnside's lemma.
  // Throws NotClosed where that is no number: then symmetries take some of them to others.
  std::uint64_t classes(std::uint64_t shard, std::uint64_t states, std::uint64_t fixed) const;
  // Those that all keys stand for.
  std::uint64_t states() const;
  // How finely the same space can be cut into shards: the most levels that its constructor takes.
  virtual int shard_levels() const = 0;
  // Whether the inverse of every move is a move.
  virtual bool reversible() const = 0;
  // Whether all paths from one state to another are equally long: then no layer has a state of an earlier
  // one.
  virtual bool graded() const { return false; }
  // Whether a layer is best kept together with all before it: then there is nothing to exclude, and lines
  // that are full need no more moves; but each step goes through all states so far.
  virtual bool united() const { return false; }
  // For each shard 0 or 1 so that every move leads from one colour to the other; empty when there is no such
  // colouring of the shards.
  virtual const std::vector<std::uint8_t>& colours() const = 0;
  // Source shard of each move that can lead into the shard.
  virtual std::span<const std::uint32_t> sources(std::uint64_t shard) const = 0;

  // Builds what steps of the shards need, on `threads` threads. Idempotent; waits for running steps.
  virtual void prepare(const std::vector<std::uint64_t>& shards, int threads) = 0;
  // Whether the shard has been prepared.
  virtual bool prepared(std::uint64_t shard) const = 0;
  // Bytes that prepare() takes for all shards.
  virtual std::uint64_t row_bytes() const = 0;

  // As many lines are best stepped at a time.
  virtual std::uint64_t lines_at_once() const { return 256; }
  // Steps lines of a prepared shard as step.hpp says, and returns the number of fresh states.
  virtual std::uint64_t step_lines(const LineRange& range) const = 0;

  // Held shared by steps, so that prepare() can wait for them.
  std::shared_mutex& mutex() const { return mutex_; }

 protected:
  explicit Space(Geometry geometry);

 private:
  Geometry geometry_;
  std::vector<std::uint8_t> number_;  // inverse of geometry_.order
  mutable std::shared_mutex mutex_;
};

}  // namespace farthest
