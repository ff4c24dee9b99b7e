// Distances in maps of the inverse of a board.
//
// Where all pieces differ, there is one goal, and each move has its inverse among the moves, a board is an
// element of a group: what leads to the goal from its inverse is the inverse of what leads there from the
// board itself, so both are equally far. A map that tells some of the pieces mostly has another distance for
// the inverse.
//
// The inverse is kept as a *content* for each slot: label * turns + orientation. A move changes it by one
// table: if it takes the piece of slot s to slot t, then in the inverse the label that belongs to s becomes
// the one that belongs to t, wherever it is.
//
// The key of a map is a sum over the slots: of the weights of orientations, and of the digits that say which
// class is where, one for each slot of the orbits that the map tells; for each orbit a table makes its part
// of the key of the number with its digits. Words are summed for all maps at once: a block of words has the
// keys of kMaps maps, and then one word with their numbers, kNumberBits each.
//
// A move that leaves all pieces of the goal that a map tells as they are leaves the key of the inverse as it
// is, whatever the board: the inverse of the board after the move is that of the move, then that of the
// board.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "farthest/map_coordinates.hpp"
#include "farthest/walk_moves.hpp"

namespace farthest {

class InverseLookUps {
 public:
  using Inverse = std::vector<std::uint8_t>;  // a content for each slot

  // goal: the only one, a whole board. None where boards have no inverses, or no map can be looked up so: its
  // key tells orientations of single pieces, or too many classes.
  static std::optional<InverseLookUps> of(const BoardMoves& moves, const std::vector<std::uint8_t>& goal,
                                          std::span<const MapCoordinates* const> maps);

  // The maps that are looked up, by their numbers in `maps`.
  const std::vector<std::size_t>& maps() const { return numbers_; }
  const MapCoordinates& map(std::size_t place) const { return *maps_[place].coordinates; }

  Inverse start(const std::uint8_t* board) const;
  // The inverse of the board after a move.
  void step(int move, const Inverse& inverse, Inverse& after) const {
    const auto& becomes = becomes_[static_cast<std::size_t>(move)];
    for (std::size_t slot = 0; slot < slots_; ++slot) after[slot] = becomes[inverse[slot]];
  }

  // By map: the bits of the moves that leave its key of the inverse as it is.
  const std::vector<std::uint64_t>& leave(std::size_t place) const { return leave_[place]; }
  bool leaves(int move, std::size_t place) const {
    return (leave_[place][static_cast<std::size_t>(move) / 64] >> (move % 64) & 1) != 0;
  }

  // For each of maps() the key of the inverse, as MapCoordinates::step() gives keys.
  void keys(const Inverse& inverse, Key* out) const {
    sum([&](std::size_t slot) { return inverse[slot]; }, numbers_.size(), out);
  }
  // The same for the inverse after a move, at least for the first `count` of them.
  void keys(int move, const Inverse& inverse, std::size_t count, Key* out) const {
    const auto& becomes = becomes_[static_cast<std::size_t>(move)];
    sum([&](std::size_t slot) { return becomes[inverse[slot]]; }, count, out);
  }

 private:
  static constexpr std::size_t kMaps = 3, kBlock = kMaps + 1, kNumberBits = 20, kContents = 256;
  static constexpr std::size_t kNumbers = std::size_t{1} << kNumberBits;

  template <class Content>
  void sum(const Content& content, std::size_t count, Key* out) const {
    const std::uint64_t* words = words_.data();
    for (std::size_t first = 0; first < count; first += kMaps, words += slots_ * kContents * kBlock) {
      std::uint64_t sums[kBlock] = {};
      for (std::size_t slot = 0; slot < slots_; ++slot) {
        const std::uint64_t* more = words + (slot * kContents + content(slot)) * kBlock;
        for (std::size_t i = 0; i < kBlock; ++i) sums[i] += more[i];
      }
      for (std::size_t i = 0; i < kMaps && first + i < numbers_.size(); ++i) {
        const Map& map = maps_[first + i];
        const std::uint64_t number = sums[kMaps] >> (i * kNumberBits) & (kNumbers - 1);
        Key key = sums[i];
        for (const Share& share : map.shares) key += share.keys[number >> share.first_bit & share.mask];
        out[first + i] = map.coordinates->key_of(key);
      }
    }
  }

  struct Share {  // of an orbit: its bits of the number, and by these its part of the key
    std::size_t first_bit, mask;
    std::vector<Key> keys;
  };
  struct Map {
    const MapCoordinates* coordinates;
    std::vector<Share> shares;
  };
  class Builder;

  std::size_t slots_ = 0, turns_ = 1;
  std::vector<std::uint8_t> goal_, moduli_, home_;      // home_: by label, its slot in the goal
  std::vector<std::array<std::uint8_t, 256>> becomes_;  // by move and content
  std::vector<std::uint64_t> words_;                    // by block, slot, content and word of the block
  std::vector<Map> maps_;
  std::vector<std::size_t> numbers_;
  std::vector<std::vector<std::uint64_t>> leave_;  // by map
};

}  // namespace farthest
