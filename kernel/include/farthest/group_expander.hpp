// Successors of states that are the elements of a permutation group, numbered by a chain of stabilisers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "farthest/expander.hpp"
#include "farthest/types.hpp"

namespace farthest {

// One level of the chain: elements that fix the base points of the levels before, and take the point `base`
// to different points. They lie one after another, each as the images of all points.
struct GroupLevel {
  std::uint16_t base = 0;
  std::vector<std::uint16_t> elements;
};

// An element of the group is made by one element of each level, that of the last level first; their numbers
// are the digits of its key, that of the first level the most significant. A move comes after the element.
//
// A move makes of an element u of a level, and of all that comes before it, an element u' of the same level,
// and a change (an element of the next stabiliser) that comes before u'. So keys with the same first digits
// have these digits of their successors, and one change a move, in common. Changes are permutations where a
// stabiliser is large, numbers of its elements in tables where it is small.
class GroupExpander final : public KeyExpander {
 public:
  // moves: the images of all points. Throws InvalidArgument when there are no permutations of so many points,
  // or levels are not as described; LimitExceeded when there are more than 2^62 keys.
  GroupExpander(std::size_t points, std::vector<GroupLevel> levels,
                const std::vector<std::vector<std::uint16_t>>& moves);

  Key keys() const { return sizes_[0]; }
  std::size_t points() const { return points_; }
  std::size_t levels() const { return levels_.size(); }
  std::uint16_t base(std::size_t level) const { return levels_[level].base; }

  using Images = std::uint16_t[64];  // of the base points; there are fewer levels than bits of a key
  // The key of the element that takes the base points to these images, which are changed. Throws
  // InvalidArgument where there is none.
  Key key_of(Images& images) const { return number_of(0, images); }
  // Makes of an element of a larger group, the images of all points, the least of those that an element of
  // this group and then the given one make: of the images of the base points, the first first.
  void make_least(std::span<std::uint16_t> element) const;

  // Throws InvalidArgument for keys that there are not, and where a move is no element of the group. Fastest
  // where the codes ascend.
  void successors(std::span<const Key> codes, std::vector<Key>& out) const override;

 private:
  using Point = std::uint16_t;
  static constexpr Point kNowhere = 0xffff;

  struct Level {
    std::size_t radix = 1;
    Point base = 0;
    std::vector<Point> ways, back;  // [digit][point]: the elements, and their inverses
    std::vector<Point> number;  // [point]: the digit of the element that takes the base there, or kNowhere
  };

  // What comes of a change before an element of a level.
  struct Entry {
    std::uint32_t offset = 0;  // of the new digit in the key
    std::uint32_t change = 0;  // the number of what is left for the next level
  };

  struct Work;  // of one call of successors

  void check_and_take(std::vector<GroupLevel>& levels);
  void choose_tables();
  void fill_tables();
  template <class Use>
  void each_element(std::size_t level, const Use& use) const;

  const Point* way(std::size_t level, std::size_t digit) const {
    return &levels_[level].ways[digit * points_];
  }
  const Point* back(std::size_t level, std::size_t digit) const {
    return &levels_[level].back[digit * points_];
  }
  std::size_t digit_at(std::size_t level, Point image) const;
  Key number_of(std::size_t level, Images& images) const;

  void permuted(std::size_t level, std::span<const Key> keys, Key first, Work& work) const;
  void permute_on(std::size_t level, std::size_t digit, Work& work) const;
  void number_on(std::size_t level, std::size_t digit, Work& work) const;
  void one(std::size_t level, Key key, Work& work) const;
  void tabled(std::size_t level, std::span<const Key> keys, Key first, Work& work) const;
  void last(std::span<const Key> keys, Key first, Work& work) const;

  std::size_t points_;
  std::vector<Level> levels_;
  std::vector<std::vector<Point>> moves_;
  std::vector<Key> sizes_;                   // of the stabiliser that each level is of, 1 after the last
  std::size_t tables_ = 0;                   // the first level with a table
  std::size_t last_ = 0;                     // the first level of those that one table of products is for
  std::vector<std::vector<Entry>> entries_;  // by level: [change][digit]
  std::vector<std::uint16_t> products_;      // [change][element]: in the stabiliser of the level last_
  std::vector<std::uint32_t> move_numbers_;  // of moves, where all levels have tables
};

}  // namespace farthest
