// Coset enumeration: of the positions of one coset of a subgroup, how many are at which distance from solved.
//
// The moves, permutations of points, make a group; those of them that lie in a subgroup H, its *own* moves,
// make H. For a position r the positions w with r w in H (r, then w) are the coset r^-1 H. There are as many
// as H has elements, and each is named by the element r w: a bit.
//
// A shortest sequence to w ends with an own move, or with another:
//
// - Those of the first kind come from the bits that are new at the distance before, by the own moves (the
//   *prepass*).
// - Those of the second kind are *listed*: a search from r through the right cosets H r, of which all
//   distances from H are known, ends at elements of H, and each sets its bit.
//
// So each bit is set at its distance, as long as all distances are listed; what the prepass alone sets later
// is there at that distance at most. Sequences are listed more than once where they lead to one position:
// that does no harm.
//
// A right coset is a number; 0 is H itself. A row of a table holds, of a coset, which moves lead nearer to H,
// which nearer or to the same distance, and the cosets that moves lead to: the search asks memory once for
// each node.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "farthest/group_expander.hpp"
#include "farthest/move_order.hpp"
#include "farthest/watched_bits.hpp"

namespace farthest {

class Cosets {
 public:
  static constexpr std::size_t kMostMoves = 64, kMostPoints = kMaxSlots;

  using Element = std::vector<std::uint16_t>;  // the images of all points

  // levels: a chain of H. own: for each move whether it is in H. symmetries: of each, by move, the move that
  // takes its place; it must come of an automorphism of the group that keeps H. Throws InvalidArgument where
  // these do not fit together, LimitExceeded for more than `most` cosets.
  Cosets(std::size_t points, std::vector<GroupLevel> levels, const std::vector<Element>& moves,
         const std::vector<bool>& own, const std::vector<Element>& symmetries, std::uint32_t most);

  std::uint32_t count() const { return static_cast<std::uint32_t>(depths_.size()); }
  Key positions() const { return subgroup_.keys(); }  // of a coset
  // The number of the right coset of an element. Throws InvalidArgument where moves do not make it.
  std::uint32_t coset_of(const Element& element) const;
  // The moves that are needed to come to H.
  int distance(std::uint32_t coset) const { return depths_[checked(coset)]; }
  // The first of the cosets that symmetries take this one to; they have equally many positions at each
  // distance. And how many they are.
  std::uint32_t first_of_class(std::uint32_t coset) const { return classes_[checked(coset)]; }
  std::uint32_t class_size(std::uint32_t coset) const { return sizes_[classes_[checked(coset)]]; }
  // The first of each class.
  std::vector<std::uint32_t> firsts() const;
  // A shortest sequence from the solved position to the coset.
  Way way(std::uint32_t coset) const;

 private:
  friend class CosetRun;

  // A row: nearer and near as two numbers each, and the cosets after each move.
  static constexpr std::size_t kNexts = 4;
  const std::uint32_t* row(std::uint32_t coset) const { return rows_.data() + coset * stride_; }
  std::uint32_t next(std::uint32_t coset, std::size_t move) const { return row(coset)[kNexts + move]; }
  std::uint64_t nearer(std::uint32_t coset) const {
    return row(coset)[0] | std::uint64_t{row(coset)[1]} << 32;
  }
  std::uint64_t near(std::uint32_t coset) const { return row(coset)[2] | std::uint64_t{row(coset)[3]} << 32; }
  std::uint32_t checked(std::uint32_t coset) const;
  void find(std::uint32_t most);
  void compare();
  void classify(const std::vector<Element>& symmetries);
  // The slot of a coset's least element in the table of these, or the empty one where it belongs.
  std::size_t slot(std::span<const std::uint16_t> least) const;
  void widen();

  GroupExpander subgroup_;
  std::vector<Element> moves_;
  MoveOrder order_;
  std::uint64_t all_moves_, own_moves_ = 0;
  std::size_t stride_;
  std::vector<std::uint32_t> rows_;
  std::vector<std::uint8_t> depths_, from_, least_;  // by coset: its distance, the move that it was found
                                                     // by, and the images in its least element
  std::vector<std::uint32_t> slots_;                 // cosets by their least elements
  std::vector<std::uint32_t> classes_, sizes_;
};

// One coset that is enumerated, distance by distance.
class CosetRun {
 public:
  struct Found {
    std::uint64_t fresh;      // positions
    std::uint64_t sequences;  // that were listed
  };

  static constexpr int kMostListed = 1000;  // a distance: the search goes as deep

  // The coset of the positions w with r w in H. A call of advance takes a slice of time, or a little more.
  CosetRun(const Cosets& cosets, const Cosets::Element& r,
           std::chrono::milliseconds slice = std::chrono::milliseconds(1000));
  CosetRun(const CosetRun&) = delete;
  CosetRun& operator=(const CosetRun&) = delete;

  // Goes on with the next distance, from 0, for a slice. None: it is not done yet, and the next call goes on
  // with it. listed: whether sequences are listed. Throws LimitExceeded beyond kMostListed.
  std::optional<Found> advance(bool listed);

  // The bit of a position w of the coset, given as r, then w: the images of all points. Throws
  // InvalidArgument for another one.
  std::uint64_t bit_of(std::span<const std::uint16_t> images) const;
  bool reached(std::uint64_t bit) const { return (reached_[bit / 64] >> (bit % 64) & 1) != 0; }
  // Bits whose listed sequences are kept, if they are the first to set them: before the run begins. Then a
  // distance is also interrupted between the prepass and the listing, which may not be needed.
  WatchedBits& watched() { return watched_; }

 private:
  // Nodes with equally many moves left, kept until there are enough of them: so what is looked up has been
  // asked for long before.
  struct Level {
    struct Node {
      std::uint64_t forbidden;  // moves
      std::uint32_t coset;
      std::uint32_t slack;  // moves left, less the distance from H
    };
    std::vector<Node> nodes;
    std::vector<std::uint16_t> images;  // of the base points, by node
    std::vector<std::uint8_t> way;      // the moves made so far, by node, where bits are watched
    std::size_t next = 0;               // node
  };
  using Time = std::chrono::steady_clock::time_point;

  bool prepass(Time until);
  void begin_listing();
  bool list(Time until);
  bool expand(const Level& level, std::size_t node, int left);
  void mark(std::span<const Key> keys, std::span<const std::uint8_t> ways = {});

  const Cosets& cosets_;
  std::uint32_t coset_;
  std::vector<std::uint16_t> images_;  // of the base points of H
  const std::chrono::milliseconds slice_;
  int distance_ = -1;
  bool under_way_ = false;                      // the distance
  std::size_t word_ = 0;                        // of before_, from which the prepass goes on
  std::vector<Word> reached_, before_, fresh_;  // bits; before_: those that were fresh at the distance before
  std::vector<Level> levels_;                   // by moves that are left
  std::size_t left_ = 0, top_ = 0;              // the level under way; none above top_ has nodes
  std::vector<Key> keys_;
  std::vector<std::uint8_t> ways_;  // to keys_, where bits are watched
  WatchedBits watched_;
  Found found_{};
};

}  // namespace farthest
