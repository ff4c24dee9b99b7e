// A map kept by representatives: of the keys that symmetries take to each other one row of distances.
//
// The digits of a key are of two sides. Those of the *reduced* side are a number a, those of the *moved* side
// a number b, each in the order of the key; a symmetry takes a key to the key of another a, which depends on
// a alone, and another b, which depends on b alone. The numbers a that symmetries take to each other are a
// class. A table says for each a its class, and a symmetry that takes a to the class's representative;
// another one what this symmetry makes of b. The *entry* of the key is
//
//     class * (numbers b) + b moved
//
// (H. Kociemba's coordinates reduced by symmetry.) Entries that the symmetries of a representative take to
// each other are kept all of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "farthest/types.hpp"

namespace farthest {

class Representatives {
 public:
  struct Digit {
    std::uint64_t radix;
    bool moved;
  };

  // digits: of the key, the most significant first. told: for each a the class * 256 + a symmetry. moves:
  // what each symmetry makes of each b. Throws InvalidArgument where the tables do not fit each other.
  Representatives(std::vector<Digit> digits, std::vector<std::uint32_t> told,
                  std::vector<std::uint32_t> moves);

  // What an entry has before a distance is taken.
  static constexpr std::uint8_t kUnset = 254;

  const std::vector<Digit>& digits() const { return digits_; }
  Key keys() const { return told_.size() * moved_; }
  Key entries() const { return classes_ * moved_; }

  // The entry of a key below keys().
  Key entry(Key key) const;
  // That of the numbers of both sides.
  Key entry(std::size_t reduced, std::size_t moved) const {
    const std::uint32_t told = told_[reduced];
    return (told >> 8) * moved_ + moves_[(told & 255) * moved_ + moved];
  }

  // Makes entries of sums: the number of the reduced side in the upper half, that of the moved in the lower.
  void locate(Key* sums, std::size_t count) const {
    const std::uint32_t *told = told_.data(), *moves = moves_.data();
    const Key moved = moved_;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t there = told[sums[i] >> 32];
      sums[i] = (there >> 8) * moved + moves[(there & 255) * moved + (sums[i] & 0xffffffff)];
    }
  }

  // What entry() reads first.
  const std::uint32_t* told(std::size_t reduced) const { return told_.data() + reduced; }

  // The distances of the keys from `first` on; each becomes that of its entry. The first key whose entry has
  // another distance, or kNoKey. Several threads may do so at a time. Throws InvalidArgument where there are
  // no such keys, or other entries.
  Key take(Key first, std::span<const std::uint8_t> distances, std::span<std::uint8_t> entries) const;

 private:
  bool agrees(std::size_t reduced, std::size_t moved, std::span<const std::uint8_t> distances,
              std::span<const std::uint8_t> entries) const;

  std::vector<Digit> digits_;
  std::vector<std::uint32_t> told_, moves_;
  Key moved_ = 1, classes_ = 0;  // numbers b; classes
};

}  // namespace farthest
