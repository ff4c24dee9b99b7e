// A table kept by representatives: of the keys that symmetries take to each other one entry, in the order of
// the keys of a space of representatives (reduced.hpp).
//
// The digits of a key are of *sides*, each a number made of its digits in the order of the key. The number of
// side 0 leads: it decides which symmetry takes the state to its representative. So it has a first entry, and
// for each other side a list of terms:
//
//     entry = first + terms[list of side 1][number of side 1] + terms[list of side 2][...] + ...
//
// In a *sum* all numbers stand side by side, that of side 0 in the upper bits.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "farthest/types.hpp"

namespace farthest {

class Representatives {
 public:
  static constexpr std::size_t kMostSides = 4;

  struct Digit {
    std::uint64_t radix;
    std::size_t side;
  };

  // digits: of the key, the most significant first. first: by number of side 0. lists: by number of side 0
  // and other side. terms: for each other side, by list and number. All entries are below `entries`. Throws
  // InvalidArgument where the tables do not fit each other.
  Representatives(std::vector<Digit> digits, Key entries, std::span<const std::uint64_t> first,
                  std::span<const std::uint32_t> lists, std::vector<std::vector<std::uint32_t>> terms);

  const std::vector<Digit>& digits() const { return digits_; }
  Key keys() const { return keys_; }
  Key entries() const { return entries_; }

  // The weight of a digit in sums.
  Key weight(std::size_t digit) const { return weights_[digit]; }

  // The entry of a key below keys().
  Key entry(Key key) const;

  // Makes entries of sums.
  void locate(Key* sums, std::size_t count) const {
    switch (terms_.size()) {
      case 0:
        return locate_by<0>(sums, count);
      case 1:
        return locate_by<1>(sums, count);
      case 2:
        return locate_by<2>(sums, count);
      default:
        return locate_by<3>(sums, count);
    }
  }

  // What is read first of a sum.
  const void* told(Key sum) const { return leads_.data() + (sum >> lead_shift_); }

 private:
  struct Lead {
    Key first;
    std::array<std::uint32_t, kMostSides - 1> lists;  // where they begin
  };

  template <std::size_t kOthers>
  void locate_by(Key* sums, std::size_t count) const {
    const Lead* leads = leads_.data();
    for (std::size_t i = 0; i < count; ++i) {
      const Key sum = sums[i];
      const Lead& lead = leads[sum >> lead_shift_];
      Key entry = lead.first;
      for (std::size_t side = 0; side < kOthers; ++side)
        entry += terms_[side][lead.lists[side] + (sum >> shifts_[side] & masks_[side])];
      sums[i] = entry;
    }
  }

  std::vector<Digit> digits_;
  Key keys_ = 1, entries_;
  std::vector<Key> weights_;  // by digit
  std::vector<Lead> leads_;
  int lead_shift_ = 0;
  std::array<int, kMostSides - 1> shifts_{};
  std::array<Key, kMostSides - 1> masks_{};
  std::vector<std::vector<std::uint32_t>> terms_;  // by other side
};

}  // namespace farthest
