// Distances that searches look up: of 1, 2, 4 or 8 bits, the entry of a key at its place among the bits.
//
// A number n stands for the distance base + n; 0 for all distances up to the base, the greatest number for
// all from there on, or where `never` for keys from which no goal can be reached. Numbers fill a byte from
// its low bits on. Entries that follow one another may share a number, that of the least of their distances.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "farthest/representatives.hpp"
#include "farthest/types.hpp"

namespace farthest {

// Where no goal can be reached.
inline constexpr int kUnreachable = 1 << 28;

class DistanceTable {
 public:
  struct Form {
    int bits = 8;
    int base = 0;
    bool never = true;
    int shared = 1;  // entries that have a number together: 1, 2, 4, ...
  };

  DistanceTable() = default;
  // A byte each.
  DistanceTable(const std::vector<std::uint8_t>& bytes)
      : DistanceTable(bytes, bytes.size(), Form{}, nullptr) {}
  // bytes: the caller's memory. representatives: give the entries of keys; none: the entry of a key is the
  // key. Throws InvalidArgument where they do not fit.
  DistanceTable(std::span<const std::uint8_t> bytes, Key entries, Form form,
                std::shared_ptr<const Representatives> representatives);

  Key entries() const { return entries_; }
  Key keys() const { return representatives_ ? representatives_->keys() : entries_; }
  const Representatives* representatives() const { return representatives_.get(); }
  Key entry(Key key) const { return representatives_ ? representatives_->entry(key) : key; }

  // The byte of an entry.
  const std::uint8_t* place(Key entry) const { return data_ + (entry >> log_entries_); }
  // The distance, but the base where it is less; or kUnreachable. No move changes it by more than 1 if none
  // changes the distance by more, and no entries share numbers.
  int clamped(Key entry) const {
    const int number = *place(entry) >> ((entry >> log_shared_ & mask_) << log_bits_) & top_;
    return number == top_ ? top_value_ : number + base_;
  }
  // Greater clamped values are lower bounds of distances, others may be more than the distance; -1: all are.
  int floor() const { return base_ > 0 ? base_ : -1; }
  // The greatest clamped value.
  int greatest() const { return top_value_; }
  bool shares() const { return log_shared_ > 0; }
  // What the distance is at the least.
  int bound(Key entry) const {
    const int value = clamped(entry);
    return value > floor() ? value : 0;
  }

 private:
  const std::uint8_t* data_ = nullptr;
  Key entries_ = 0, mask_ = 0;
  int log_shared_ = 0, log_entries_ = 0, log_bits_ = 3, top_ = 255, top_value_ = kUnreachable, base_ = 0;
  std::shared_ptr<const Representatives> representatives_;
};

}  // namespace farthest
