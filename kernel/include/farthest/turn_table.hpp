// Which moves lead nearer to solved in a product of two coordinates: of a coset of a large subgroup, say.
//
// A state is a *lead* and an *other* number, and moves act on each by a table. Symmetries, renamings of moves
// that keep the solved state (0, 0), take leads to leads and others to others; what they do to these is found
// by walking both in step from 0. Of the leads that they take to each other, a class, only the first has
// entries, one for each other number: state (lead, other) is looked up after the symmetry that takes the lead
// there.
//
// Moves come in *faces*: up to three moves that are the powers of one turn. The states that turns of one face
// take to each other are one move apart, so they have at most two distances, and four bits of the entry say
// of a face which of its turns lead nearer: with the highest bit set the other three name those that do (the
// rest keeps the distance), without it those that keep it (the rest leads away). So a state asks memory once,
// not once for each move, and the distance of its neighbours follows from its own.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "farthest/pages.hpp"

namespace farthest {

class TurnTable {
 public:
  static constexpr std::size_t kMostMoves = 24, kMostFaces = 8, kMostOnFace = 3, kMostSymmetries = 64;

  struct Coordinates {
    std::uint32_t leads;
    std::uint16_t others;
    std::vector<std::uint32_t> lead_after;   // by lead and move
    std::vector<std::uint16_t> other_after;  // by other and move
  };
  using Renaming = std::vector<std::uint8_t>;  // by move

  // faces: the moves of each, all moves once. symmetries: a group; the identity comes first. Throws
  // InvalidArgument where these do not fit together, or some state is not reached.
  TurnTable(Coordinates coordinates, const std::vector<std::vector<std::uint8_t>>& faces,
            const std::vector<Renaming>& symmetries);

  std::uint64_t entries() const { return std::uint64_t{classes()} * coordinates_.others; }
  std::uint32_t classes() const { return static_cast<std::uint32_t>(firsts_.size()); }

  struct Place {
    std::uint64_t entry;
    std::uint32_t symmetry;
  };
  Place place(std::uint32_t lead, std::uint16_t other) const {
    const std::uint32_t told = told_[lead], symmetry = told % kMostSymmetries;
    return {std::uint64_t{told / kMostSymmetries} * coordinates_.others +
                other_images_[symmetry * coordinates_.others + other],
            symmetry};
  }
  // Asks memory for what place() reads, and for what turns() does.
  void prefetch(std::uint32_t lead) const { __builtin_prefetch(&told_[lead]); }
  void prefetch(Place place) const { __builtin_prefetch(&codes()[place.entry]); }

  // Moves as bits: those that lead nearer, and those that lead nearer or keep the distance.
  struct Turns {
    std::uint32_t nearer, near;
  };
  Turns turns(Place place) const {
    const std::uint64_t* readings = readings_.data() + place.symmetry * kReadings;
    std::uint64_t both = 0;
    std::uint32_t code = codes()[place.entry];
    for (std::size_t byte = 0; byte < bytes_; ++byte, code >>= 8) both |= readings[byte * 256 + (code & 255)];
    return {static_cast<std::uint32_t>(both), static_cast<std::uint32_t>(both >> 32)};
  }
  // By as many look-ups.
  int distance(std::uint32_t lead, std::uint16_t other) const {
    int steps = 0;
    for (std::uint32_t nearer; (nearer = turns(place(lead, other)).nearer) != 0; ++steps) {
      const auto move = static_cast<std::size_t>(std::countr_zero(nearer));
      lead = coordinates_.lead_after[lead * moves_ + move];
      other = coordinates_.other_after[other * moves_ + move];
    }
    return steps;
  }

 private:
  static constexpr std::size_t kReadings = kMostFaces / 2 * 256;

  const std::uint32_t* codes() const { return reinterpret_cast<const std::uint32_t*>(codes_.bytes().data()); }
  void check(const std::vector<std::vector<std::uint8_t>>& faces,
             const std::vector<Renaming>& symmetries) const;
  void classify(const std::vector<Renaming>& symmetries);
  std::vector<std::uint8_t> distances() const;
  // Of a first lead and a move: where its neighbours are, entries from `row` on, each by other number.
  struct Neighbours {
    std::uint64_t row;
    std::uint32_t cls;
    const std::uint16_t* images;
  };
  Neighbours neighbours(std::uint32_t cls, std::size_t move) const;
  void encode(std::span<const std::uint8_t> distance, const std::vector<std::vector<std::uint8_t>>& faces);
  void read(const std::vector<std::vector<std::uint8_t>>& faces, const std::vector<Renaming>& symmetries);

  Coordinates coordinates_;
  std::size_t moves_, bytes_;
  std::vector<std::uint32_t> told_;          // by lead: its class and the symmetry that takes it to the first
  std::vector<std::uint32_t> firsts_;        // by class
  std::vector<std::uint16_t> other_images_;  // by symmetry and other
  std::vector<std::uint16_t> images_after_;  // by symmetry, move and other: the image after the move
  Pages codes_;
  std::vector<std::uint64_t> readings_;  // by symmetry, byte of a code and its value: Turns
};

}  // namespace farthest
