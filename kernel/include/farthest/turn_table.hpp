// Which moves lead nearer to solved in a product of two coordinates: of a coset of a large subgroup, say.
//
// A state is a *lead* and an *other* number; a lead is made of two parts, first * seconds + second, and moves
// act on each of the three by a table. Symmetries, renamings of moves that keep the solved state 0, take
// leads to leads and others to others; what they do to these is found by walking both in step from 0. Of the
// leads that they take to each other, a class, only the first has entries, one for each other number: state
// (lead, other) is looked up after the symmetry that takes the lead there.
//
// Moves come in *faces*: up to three moves that are the powers of one turn. The states that turns of one face
// take to each other are one move apart, so they have at most two distances, and four bits of the entry say
// of a face which of its turns lead nearer: with the highest bit set the other three name those that do (the
// rest keeps the distance), without it those that keep it (the rest leads away). So a state asks memory once,
// not once for each move, and the distance of its neighbours follows from its own.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "farthest/pages.hpp"

namespace farthest {

class TurnTable {
 public:
  static constexpr std::size_t kMostMoves = 24, kMostFaces = 8, kMostOnFace = 3;
  static constexpr std::uint32_t kMostSymmetries = 64;

  // After each move, by number and move.
  struct Coordinates {
    std::vector<std::uint16_t> first_after, second_after, other_after;
  };
  struct State {
    std::uint16_t first = 0, second = 0, other = 0;

    auto operator<=>(const State&) const = default;
  };
  using Renaming = std::vector<std::uint16_t>;  // by move

  // faces: the moves of each, all moves once. symmetries: a group; the identity comes first. Throws
  // InvalidArgument where these do not fit together, or some state is not reached.
  TurnTable(Coordinates coordinates, const std::vector<std::vector<std::uint8_t>>& faces,
            const std::vector<Renaming>& symmetries, int threads);

  std::uint64_t entries() const { return std::uint64_t{classes()} * others_; }
  std::uint32_t classes() const { return static_cast<std::uint32_t>(firsts_.size()); }
  std::size_t moves() const { return moves_; }
  const Coordinates& coordinates() const { return coordinates_; }
  // Where moves lead from a state.
  struct Row {
    const std::uint16_t *first, *second, *other;

    State after(std::size_t move) const { return {first[move], second[move], other[move]}; }
  };
  Row row(State state) const {
    return {coordinates_.first_after.data() + state.first * moves_,
            coordinates_.second_after.data() + state.second * moves_,
            coordinates_.other_after.data() + state.other * moves_};
  }
  State after(State state, std::size_t move) const { return row(state).after(move); }
  // One number for a state.
  std::uint32_t key(State state) const { return lead(state) * others_ + state.other; }
  // Throws InvalidArgument for a state that there is not.
  void check(State state) const;

  struct Place {
    std::uint32_t entry;
    std::uint32_t symmetry;
  };
  Place place(State state) const {
    const std::uint32_t word = told()[lead(state)], symmetry = word % kMostSymmetries;
    return {word / kMostSymmetries * others_ + other_images_[symmetry * others_ + state.other], symmetry};
  }
  // Asks memory for what place() reads, and for what turns() does.
  void prefetch(State state) const { __builtin_prefetch(told() + lead(state)); }
  void prefetch(Place place) const { __builtin_prefetch(codes() + place.entry); }

  // Moves as bits: those that lead nearer, and those that lead nearer or keep the distance.
  struct Turns {
    std::uint32_t nearer, near;
  };
  Turns turns(Place place) const {
    const std::uint64_t* readings = readings_.data() + place.symmetry * kReadings;
    const std::uint32_t code = codes()[place.entry];
    const std::uint64_t both = readings[code & 255] | readings[256 + (code >> 8 & 255)] |
                               readings[512 + (code >> 16 & 255)] | readings[768 + (code >> 24)];
    return {static_cast<std::uint32_t>(both), static_cast<std::uint32_t>(both >> 32)};
  }
  // A shortest sequence to state 0, by as many look-ups.
  std::vector<std::uint16_t> way(State state) const;

 private:
  static constexpr std::size_t kReadings = kMostFaces / 2 * 256;

  std::uint32_t lead(State state) const { return state.first * seconds_ + state.second; }
  std::uint32_t lead_after(std::uint32_t lead, std::size_t move) const {
    return coordinates_.first_after[lead / seconds_ * moves_ + move] * seconds_ +
           coordinates_.second_after[lead % seconds_ * moves_ + move];
  }
  const std::uint32_t* told() const { return reinterpret_cast<const std::uint32_t*>(told_.bytes().data()); }
  const std::uint32_t* codes() const { return reinterpret_cast<const std::uint32_t*>(codes_.bytes().data()); }
  void check(const std::vector<std::vector<std::uint8_t>>& faces, const std::vector<Renaming>& symmetries);
  void classify(const std::vector<Renaming>& symmetries);
  void find_distances(std::uint8_t* all, int threads) const;
  // Of a first lead and a move: where its neighbours are, entries from `row` on, each by other number.
  struct Neighbours {
    std::uint64_t row;
    std::uint32_t cls;
    const std::uint16_t* images;
  };
  Neighbours neighbours(std::uint32_t cls, std::size_t move) const;
  void encode(const std::uint8_t* distance, const std::vector<std::vector<std::uint8_t>>& faces, int threads);
  void read(const std::vector<std::vector<std::uint8_t>>& faces, const std::vector<Renaming>& symmetries);

  Coordinates coordinates_;
  std::size_t moves_;
  std::uint32_t seconds_ = 1, others_ = 1, leads_ = 1;  // how many there are
  Pages told_;                               // by lead: its class and the symmetry that takes it to the first
  std::vector<std::uint32_t> firsts_;        // by class
  std::vector<std::uint64_t> stays_;         // by class: the symmetries that keep its first lead, as bits
  std::vector<std::uint16_t> other_images_;  // by symmetry and other
  std::vector<std::uint16_t> images_after_;  // by symmetry, move and other: the image after the move
  Pages codes_;
  std::vector<std::uint64_t> readings_;  // by symmetry, byte of a code and its value: Turns
};

}  // namespace farthest
