// How an arrangement becomes a key, and where its bit lies in memory.
//
// An arrangement puts labels on `slots` slots; label class j occurs counts[j] times. Classes are placed in
// order, each on a set of the slots still free; a set is ranked by combinadic (colexicographic), and the
// ranks are the digits of a mixed-radix number, the first class most significant: the *full rank*.
// docs/key-layout.md has the formula and a worked example.
//
// Halved layouts: all classes single, and the parity of the sum of digits is a known function of the first
// class's slot. The digit of the last class but one has two values and follows from the others, so
// key = full rank / 2. Otherwise key = full rank.
//
// In memory the classes are cut in three:
//
//   upper classes | line classes | word classes
//   line number   | word in line | bit in word
//
// so a *line* holds all arrangements of the line and word classes on the slots that the upper classes leave,
// and a *word* those of the word classes. Five distinct word labels have 120 arrangements: 60 even, 60 odd.
// A halved layout needs one of the two sets for each prefix; otherwise a prefix has two words, even then odd.
//
//   mode     word holds                            words a prefix   bit of arrangement a
//   plain    all `word_arrangements` (<= 64)       1                a
//   halved   those of the parity that is possible  1                a / 2
//   split    those of one parity                   2                a / 2
//
// (a and a+1, a even, differ by exchanging the last two labels, so one of them is even and one odd.)
#pragma once

#include <span>
#include <vector>

#include "farthest/types.hpp"

namespace farthest {

// Most words in a line: a step works on one line in the nearest cache.
inline constexpr std::size_t kMaxLineWords = 512;

// C(n, k) for n <= 64.
std::uint64_t binomial(int n, int k);

// Rank of the slot set `places` among the equally large subsets of `free`.
std::uint64_t rank_set(SlotMask places, SlotMask free);
// Inverse of rank_set for sets of `count` slots.
SlotMask unrank_set(std::uint64_t rank, int count, SlotMask free);

enum class WordMode { plain, halved, split };

class Layout {
 public:
  // parity: empty, or for each slot of class 0 the parity of the digit sum there (a halved layout).
  // Throws InvalidArgument when the counts do not fill the slots or the keys do not fit 62 bits.
  Layout(int slots, std::vector<int> counts, std::vector<std::uint8_t> parity);

  int slots() const { return slots_; }
  int classes() const { return static_cast<int>(counts_.size()); }
  int count(int cls) const { return counts_[static_cast<std::size_t>(cls)]; }
  std::uint64_t radix(int cls) const { return radix_[static_cast<std::size_t>(cls)]; }
  Key keys() const { return keys_; }

  WordMode mode() const { return mode_; }
  bool halved() const { return mode_ == WordMode::halved; }
  int upper_classes() const { return upper_; }    // >= 1: class 0 is always an upper class
  int word_classes() const { return word_; }      // the last ones
  int line_slots() const { return line_slots_; }  // slots that the upper classes leave free
  int word_slots() const { return word_slots_; }  // slots that the line classes leave free
  int bits() const { return bits_; }              // states in a word
  int halves() const { return mode_ == WordMode::split ? 2 : 1; }
  std::uint64_t placements() const { return placements_; }  // of the line classes in a line
  std::uint64_t words_per_line() const { return placements_ * static_cast<std::uint64_t>(halves()); }
  std::uint64_t lines() const { return lines_; }
  std::uint64_t words() const { return lines_ * words_per_line(); }
  std::uint64_t word_arrangements() const { return word_arrangements_; }
  std::uint64_t keys_per_line() const { return keys_ / lines_; }

  // Parity of arrangement number 2k of the word classes; 2k + 1 has the other. Halved and split layouts only.
  int pair_parity(int k) const { return pair_parity_[static_cast<std::size_t>(k)]; }
  // Halved layouts: parity of the digits below the upper ones, in a line whose upper digits sum to
  // `upper_digits` (mod 2) with class 0 on `slot`.
  int line_parity(int slot, int upper_digits) const {
    return parity_[static_cast<std::size_t>(slot)] ^ (upper_digits & 1);
  }

  // class_at: for each slot its class. kNoKey when the class counts are wrong or the parity has no key.
  Key encode(std::span<const std::uint8_t> class_at) const;
  // Fills class_at (one byte a slot). key must be below keys().
  void decode(Key key, std::span<std::uint8_t> class_at) const;

  // Position of a key's bit.
  struct Place {
    std::uint64_t word;
    int bit;
  };
  Place place(Key key) const;
  // Inverse of place().
  Key key_at(std::uint64_t word, int bit) const;

 private:
  void choose_words();
  void choose_lines();

  int slots_;
  std::vector<int> counts_;
  std::vector<std::uint8_t> parity_;
  std::vector<std::uint64_t> radix_;
  Key keys_ = 0;
  WordMode mode_ = WordMode::plain;
  int upper_ = 1;
  int word_ = 0;
  int line_slots_ = 0;
  int word_slots_ = 0;
  int bits_ = 1;
  std::uint64_t placements_ = 1;
  std::uint64_t lines_ = 1;
  std::uint64_t word_arrangements_ = 1;
  std::vector<std::uint8_t> pair_parity_;
};

}  // namespace farthest
