// Distances from a residue map: walks from neighbour to nearer neighbour, down to an origin.
//
// Of each key the map has a number of one bit or two, whose planes are interleaved: word i of plane p is word
// i * planes + p. With colours (modulus 4) it has one bit: the colour of a key is the lowest bit of its
// distance, and the number says whether the distance modulo 4 is 2 or 3 (or, for `low`, whether it is 0 or
// 1). Without (modulus 3) it has two: the distance modulo 3, plus 1; 0 where the key is not reached.
//
// The words come page by page. A walk that needs a page that is not there stops, and goes on from where it
// was once it is.
#pragma once

#include <span>
#include <vector>

#include "farthest/arrangement.hpp"

namespace farthest {

inline constexpr std::size_t kResiduePageWords = 512;

class ResidueMap {
 public:
  // words: of all keys. present: one byte a page, 0 where its words are not there. colours: of equally long
  // ranges of keys; empty for modulus 3. origins: ascending. All but the space must stay as long as the map.
  // Throws InvalidArgument where they do not fit the space, or its moves cannot be taken back.
  ResidueMap(const ArrangementSpace& space, std::span<const Word> words,
             std::span<const std::uint8_t> present, std::span<const std::uint8_t> colours, bool low,
             std::span<const Key> origins);

  enum class End : std::uint8_t { missing, origin, elsewhere, too_long };

  // Walks from each key on; steps[i] are added up. ends[i]: why the walk has ended: a page is missing
  // (pages[i]), the key is now an origin, it has no nearer neighbour, or more than `most` steps were made.
  // Keys must be below the number of keys, else InvalidArgument.
  void walk(std::span<Key> keys, std::span<std::int32_t> steps, std::span<End> ends,
            std::span<std::uint64_t> pages, std::int32_t most, int threads) const;

  // The distances of all keys, up to `most`; those that the map does not reach get the greatest number of the
  // type, above `most`. All pages must be there, else InvalidArgument.
  template <class Distance>
  void expand(std::span<Distance> out, std::int32_t most, int threads) const;

 private:
  friend class ResidueWalker;

  bool is_origin(Key key) const;

  const ArrangementSpace& space_;
  std::span<const Word> words_;
  std::span<const std::uint8_t> present_;
  std::span<const std::uint8_t> colours_;
  bool low_;
  std::span<const Key> origins_;
  Key keys_per_colour_ = 0;
};

}  // namespace farthest
