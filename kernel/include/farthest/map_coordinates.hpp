// The key of a stored map, kept by coordinates that tables advance from move to move.
//
// The classes of the map's layout are cut into *groups*: some classes that follow one another, of one orbit.
// Where the pieces of a group are, and how they are turned, decides where a move takes them; so a group is a
// coordinate: an arrangement, the rank that a layout of its classes alone gives, below 2^16, and its twists,
// the number with one digit for each piece of the group that has a digit in the key, below 2^8. A table says
// for an arrangement and a move the arrangement after it and the twists that it adds; another adds twists.
//
// The key is a sum over the groups. The share of the twists depends on them alone. The digits of the
// arrangement count free slots, so their share depends on the slots that earlier groups of the orbit take as
// well: on the number of that set among the sets that are as large. A table gives for this number and an
// arrangement the digits and the number of the set with the group's own slots.
//
// Where the table is kept by representatives, the sum is one that these locate.
//
// Orientations that the key tells by slot are a group for each orbit: a move takes them from slot to slot.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "farthest/walk_bounds.hpp"
#include "farthest/walk_moves.hpp"

namespace farthest {

class MapCoordinates {
 public:
  // None where the tables would be too large, or the moves or the map have no such coordinates.
  static std::optional<MapCoordinates> of(const BoardMoves& moves, const MapTable& map);

  std::size_t size() const { return groups_.size(); }  // coordinates
  const MapTable& map() const { return map_; }

  // Of a map kept by representatives: where what is told of a sum first is.
  const void* told(Key sum) const { return map_.table.representatives()->told(sum); }

  // The coordinates have places among others, `at` by group; as made they lie one after the other.
  void lay(std::vector<std::size_t> at) { at_ = std::move(at); }
  // The places of the coordinates of another map of the same orientations that are always as great as these;
  // none where it lacks one.
  std::optional<std::vector<std::size_t>> among(const MapCoordinates& other) const;

  // The coordinates of a board that has a key.
  void start(const std::uint8_t* board, std::uint32_t* values) const;

  // The coordinates after each of `count` moves, at after[move * stride], and the keys in the order of the
  // moves; of a map kept by representatives the sums that
  // Representatives::locate() takes.
  void step(const std::uint32_t* values, const std::uint16_t* moves, std::size_t count, std::uint32_t* after,
            std::size_t stride, Key* keys) const {
    std::uint32_t sets[kMaxMoves];
    std::fill_n(keys, count, Key{0});
    std::fill_n(sets, count, 0);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const Group& group = groups_[g];
      const std::uint32_t value = values[at_[g]];
      std::uint32_t* own = after + at_[g];
      const Key weight = group.weight;
      if (!group.alone.empty()) {
        const std::uint16_t* after_moves = group.alone.data() + value * moves_;
        for (std::size_t i = 0; i < count; ++i) {
          const std::uint16_t next = after_moves[moves[i]];
          keys[i] += next * weight;
          own[moves[i] * stride] = next;
        }
        continue;
      }
      const std::uint32_t* row = group.next.data() + (value & 0xffff) * moves_;
      const std::uint8_t* sum = group.sum.data() + (value >> 16);
      const std::uint32_t* place = group.place.data();
      const Key* share = group.twist_share.data();
      const std::size_t arrangements = group.arrangements, twist_numbers = group.twists;
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t entry = row[moves[i]];
        const std::size_t arrangement = entry & 0xffff;
        const std::size_t twists = sum[(entry >> 16) * twist_numbers];
        const std::uint32_t told = place[sets[i] * arrangements + arrangement];
        keys[i] += (told & 0xffff) * weight + share[twists];
        sets[i] = told >> 16;
        own[moves[i] * stride] = static_cast<std::uint32_t>(arrangement | twists << 16);
      }
    }
    if (shift_ != 0)
      for (std::size_t i = 0; i < count; ++i) keys[i] >>= 1;
  }

  // The weights in the sum of the digit of a class, and of a twist digit, of the map's layout; what step()
  // gives for such a sum.
  Key class_weight(int cls) const { return class_weights_[static_cast<std::size_t>(cls)]; }
  Key digit_weight(int digit) const { return digit_weights_[static_cast<std::size_t>(digit)]; }
  Key key_of(Key sum) const { return sum >> shift_; }

 private:
  struct Group {
    std::optional<Layout> ranks;      // of arrangements, on the orbit's slots; none where there is one
    std::vector<std::uint8_t> slots;  // of the layout: those of the orbit
    std::uint8_t first_class = 0, classes = 1;
    std::vector<std::uint8_t> twisted;  // classes with twists, counted from the first one
    bool by_slot = false;               // orientations in slots in place of an arrangement
    std::uint8_t modulus = 1;
    std::size_t arrangements = 1, twists = 1;
    Key weight = 0;  // of the digits of the arrangement
    // Where the share is the coordinate times the weight, this stands for the tables below: by coordinate and
    // move the coordinate after it.
    std::vector<std::uint16_t> alone;
    std::vector<std::uint32_t> next;   // by arrangement and move: arrangement, twists added << 16
    std::vector<std::uint8_t> sum;     // by twists added and twists
    std::vector<Key> twist_share;      // by twists
    std::vector<std::uint32_t> place;  // by set before and arrangement: digits, set after << 16
  };
  class Builder;

  explicit MapCoordinates(const MapTable& map) : map_(map) {}

  std::size_t moves_ = 0, board_slots_ = 0;
  int shift_ = 0;  // 1: the key is half of the full rank
  MapTable map_;
  std::vector<Group> groups_;
  std::vector<std::size_t> at_;  // by group
  std::vector<Key> class_weights_, digit_weights_;
};

}  // namespace farthest
