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
// Orbits: where moves never take a piece from one set of slots to another, each class has its own such set,
// its *home*, and is placed on the free slots of that set only. Classes fill the orbits in order. Then line
// and word classes (below) all belong to the last orbit.
//
// Twists: single pieces may have an orientation, a number modulo their orbit's modulus, kept by piece and not
// by slot. The twists of the classes in `twisted` are the digits of a second mixed-radix number, the *twist
// rank*, the first class most significant: key = full rank * twists() + twist rank. A twisted class of
// several pieces has a digit for each of them, in the order of their slots. Where all pieces of an orbit are
// turned and some of them are equal, orientations are kept by slot: the slots in `turned` have a digit each,
// after those of the classes. An orbit that has digits for all of its slots but one has a sum of orientations
// that no move changes; the orientation in the slot left out follows from it.
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
// In a layout with twists all classes are upper ones, and it is the twist digits that are cut in three:
//
//   all classes, upper twists | line twists | word twists
//   line number               | word in line| bit in word
//
// A move exchanges the digits of equal pieces, and those of the slots of an orbit: such digits are a *group*.
// The line's digits are whole groups, so that a move takes a line from one line.
//
// (a and a+1, a even, differ by exchanging the last two labels, so one of them is even and one odd.)
//
// Where symmetries relabel pieces, the classes of a line must be relabelled among themselves: then a line
// begins with one of certain classes alone.
#pragma once

#include <span>
#include <vector>

#include "farthest/types.hpp"

namespace farthest {

// Most words in a line: a step works on one line in the nearest cache.
inline constexpr std::size_t kMaxLineWords = 512;

inline constexpr Key kMaxKeys = Key{1} << 62;

// C(n, k) for n <= 64.
std::uint64_t binomial(int n, int k);

// Rank of the slot set `places` among the equally large subsets of `free`.
std::uint64_t rank_set(SlotMask places, SlotMask free);
// Inverse of rank_set for sets of `count` slots.
SlotMask unrank_set(std::uint64_t rank, int count, SlotMask free);

enum class WordMode { plain, halved, split };

// Slots that moves permute among themselves, and the modulus of their contents' orientation (1: none). sum:
// of the orientations, where it is needed: one slot of the orbit has no digit.
struct Orbit {
  SlotMask slots = 0;
  int modulus = 1;
  int sum = 0;
};

// What a move does to the twist digits: digit i of the source is digit from[i] of the result, or where that
// is Layout::kFollows the orientation in the slot of the orbit that has no digit, plus add[i] without carry.
struct Turn {
  std::vector<std::uint8_t> from, add;
};

class Layout {
 public:
  // parity: empty, or for each slot of class 0 the parity of the digit sum there (a halved layout).
  // orbits: none for one orbit of all slots without orientations. Halved layouts have one orbit and no
  // twists. twisted: the classes whose twists the key holds, no class twice. turned: the slots whose
  // orientations it holds, the slots of an orbit together, all of them or all but one. starts: the classes
  // that a line may begin with; none: any, and so it is with twists. Throws InvalidArgument when the counts
  // do not fill the orbits one after another, or no line that begins so fits 512 words; LimitExceeded when
  // the keys do not fit 62 bits.
  Layout(int slots, std::vector<int> counts, std::vector<std::uint8_t> parity, std::vector<Orbit> orbits = {},
         std::vector<int> twisted = {}, std::vector<int> turned = {}, const std::vector<int>& starts = {});

  static constexpr std::uint8_t kFollows = 255;

  int slots() const { return slots_; }
  int classes() const { return static_cast<int>(counts_.size()); }
  int count(int cls) const { return counts_[static_cast<std::size_t>(cls)]; }
  std::uint64_t radix(int cls) const { return radix_[static_cast<std::size_t>(cls)]; }
  Key keys() const { return keys_; }
  const std::vector<Orbit>& orbits() const { return orbits_; }
  // The slots of the class's orbit.
  SlotMask home(int cls) const { return orbit_of(cls).slots; }
  // The slots of the slot's orbit.
  SlotMask home_of_slot(int slot) const;
  // For each slot the modulus of orientations there.
  const std::vector<std::uint8_t>& moduli() const { return moduli_; }

  // A digit of the twist rank: the orientation of piece `piece` of a class, or (cls -1) of what is in `slot`.
  struct Digit {
    int cls, piece, slot, group;
    std::uint64_t radix;
  };
  // Digits [first, last) that moves exchange with each other alone. dropped: the slot of the orbit that has
  // no digit, or -1; sum: of the orbit's orientations then.
  struct DigitGroup {
    int first, last, dropped;
    std::uint64_t sum, radix;
  };
  bool has_twists() const { return !digits_.empty(); }
  // Whether moves exchange digits: a group has more than one, or the orientation of a slot.
  bool exchanges_twists() const { return exchanges_; }
  int twist_digits() const { return static_cast<int>(digits_.size()); }
  const Digit& twist_digit(int digit) const { return digits_[static_cast<std::size_t>(digit)]; }
  const std::vector<DigitGroup>& digit_groups() const { return groups_; }
  // The class's first digit, -1: none.
  int first_digit(int cls) const { return first_digit_[static_cast<std::size_t>(cls)]; }
  std::uint64_t twist_radix(int digit) const { return digits_[static_cast<std::size_t>(digit)].radix; }
  // Twist digits [0, line_twist) belong to the line number, [line_twist, word_twist) to the word in the line.
  int line_twist() const { return line_twist_; }
  int word_twist() const { return word_twist_; }
  std::uint64_t twists() const { return twists_; }              // values of the twist rank
  std::uint64_t upper_twists() const { return upper_twists_; }  // of its digits in the line number
  // The sum of two numbers made of the twist digits [first, last), digit by digit without carry.
  std::uint64_t turned(std::uint64_t a, std::uint64_t b, int first, int last) const;
  // Of a number made of the twist digits [first, last), whole groups, of a move's result: that of its source.
  std::uint64_t turned(std::uint64_t number, const Turn& turn, int first, int last) const;

  WordMode mode() const { return mode_; }
  bool halved() const { return mode_ == WordMode::halved; }
  // Halved layouts: the parity of the digit sum where class 0 is in the slot.
  bool odd_at(int slot) const { return parity_[static_cast<std::size_t>(slot)] != 0; }
  int upper_classes() const { return upper_; }    // >= 1: class 0 is always an upper class
  int word_classes() const { return word_; }      // the last ones
  int line_slots() const { return line_slots_; }  // slots that the upper classes leave free
  int word_slots() const { return word_slots_; }  // slots that the line classes leave free
  int bits() const { return bits_; }              // states in a word
  int halves() const { return mode_ == WordMode::split ? 2 : 1; }
  std::uint64_t placements() const { return placements_; }    // of the line classes in a line
  std::uint64_t line_twists() const { return line_twists_; }  // values of the line's twist digits
  std::uint64_t words_per_line() const {
    return placements_ * static_cast<std::uint64_t>(halves()) * line_twists_;
  }
  std::uint64_t lines() const { return lines_; }
  std::uint64_t words() const { return lines_ * words_per_line(); }
  std::uint64_t word_arrangements() const { return word_arrangements_; }
  std::uint64_t keys_per_line() const { return keys_ / lines_; }

  // Parity of arrangement number 2k of the word classes; 2k + 1 has the other. Halved and split layouts only.
  int pair_parity(int k) const { return pair_parity_[static_cast<std::size_t>(k)]; }

  // class_at: for each slot its class; twist_at: its orientation, of none all are 0. kNoKey when the class
  // counts are wrong, a twist is not below its modulus or the parity has no key.
  Key encode(std::span<const std::uint8_t> class_at, std::span<const std::uint8_t> twist_at = {}) const;
  // Fills class_at and, unless it has no elements, twist_at (one byte a slot): 0 where the key holds no
  // twist. key must be below keys().
  void decode(Key key, std::span<std::uint8_t> class_at, std::span<std::uint8_t> twist_at = {}) const;

  // Position of a key's bit.
  struct Place {
    std::uint64_t word;
    int bit;
  };
  Place place(Key key) const;
  // Inverse of place().
  Key key_at(std::uint64_t word, int bit) const;

 private:
  const Orbit& orbit_of(int cls) const {
    return orbits_[static_cast<std::size_t>(orbit_of_[static_cast<std::size_t>(cls)])];
  }
  void read_orbits();
  void read_twists(const std::vector<int>& twisted, const std::vector<int>& turned);
  void read_turned(const std::vector<int>& turned);
  void add_digit(const Digit& digit);
  bool keeps_sums(std::span<const std::uint8_t> twist_at) const;
  void decode_slots(std::span<const std::uint8_t> twist, std::span<std::uint8_t> twist_at) const;
  // The first class that may be a line or word class.
  int first_lower() const;
  void choose_words();
  void choose_lines(const std::vector<int>& starts);
  void choose_twists();
  void choose_group_twists();

  int slots_;
  std::vector<int> counts_;
  std::vector<std::uint8_t> parity_;
  std::vector<Orbit> orbits_;
  std::vector<int> orbit_of_;  // by class
  std::vector<std::uint8_t> moduli_;
  std::vector<Digit> digits_;
  std::vector<DigitGroup> groups_;
  std::vector<int> first_digit_;
  bool exchanges_ = false;
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
  int line_twist_ = 0;
  int word_twist_ = 0;
  std::uint64_t twists_ = 1;
  std::uint64_t upper_twists_ = 1;
  std::uint64_t line_twists_ = 1;
  std::uint64_t word_arrangements_ = 1;
  std::vector<std::uint8_t> pair_parity_;
};

}  // namespace farthest
