// All sequences of moves of one length that lead from a board into a large subgroup H, the last move not in
// H: their ends, as bits of H (subgroup_bits.hpp). What large_cosets.cpp prepares, and the loops of each
// instruction set (listing_lines.hpp) work on.
//
// Boards of each number of moves left are kept until there are some hundred of them, and then expanded
// together, depth first: what is looked up (a lead's class, an entry, tails, bits) has been asked for a pass
// before. A board has its *slack*: moves left, less the distance from H. At slack 0 only moves that lead
// nearer are made, at 1 also those that keep the distance, at 2 all; so the child's slack is the same, 1 less
// or 2 less, and nothing is looked up for children that are not made.
//
// The last moves are not searched but read: the *tails* are all sequences of a few moves whose last is not in
// H, by the state of the board that they take into H. Left out of them are those in which the last two
// commute and the one before is in H: the other order ends in H.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "farthest/subgroup_bits.hpp"
#include "farthest/turn_table.hpp"
#include "farthest/watched_bits.hpp"

namespace farthest {

// What stands in the slots, or where what comes into them was: bytes as SubgroupBits has them.
struct alignas(32) Pieces {
  SubgroupBits::Bytes at;
};

// Moves as a search makes them. Faces are those of the table; one more stands for no move at all.
struct ListingMoves {
  static constexpr std::size_t kNone = TurnTable::kMostFaces;
  static constexpr std::size_t kMostTail = 6;

  std::vector<Pieces> from;                    // by move
  std::vector<std::uint8_t> face;              // by move
  std::vector<std::uint16_t> inverse;          // by move
  std::array<std::uint32_t, kNone> commuting;  // by face: faces, as bits
  // By the face of the last move: the faces, and the moves, that may come next. Faces that commute come in
  // one order.
  std::array<std::uint32_t, kNone + 1> faces_after, after;
  std::uint32_t own;  // the moves in H
};

struct Tails {
  // A tail is two words of up to three moves, the face of its first move, and whether it is its state's last.
  static constexpr std::uint32_t kWordBits = 14;
  static std::uint32_t first_word(std::uint32_t tail) { return tail & ((1u << kWordBits) - 1); }
  static std::uint32_t last_word(std::uint32_t tail) { return tail >> kWordBits & ((1u << kWordBits) - 1); }
  static std::uint32_t face(std::uint32_t tail) { return tail >> 28 & 7; }
  static bool last(std::uint32_t tail) { return tail >> 31 != 0; }

  static constexpr std::uint32_t kAnyFace = 7;  // of no move

  // length: 0 to kMostTail.
  Tails(const TurnTable& table, const ListingMoves& moves, int length);

  static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
  std::size_t home(std::uint32_t key) const { return key * 0x9e3779b1u >> (32 - bits); }

  int length, bits = 1;
  std::size_t longest = 0;           // tails of one state
  std::vector<Pieces> words;         // by the numbers of three moves, one more than there are: none
  std::vector<std::uint32_t> tails;  // those of a state one after another
  std::vector<std::uint64_t> slots;  // a hash table: key of a state << 32 | its first tail
};

// The moves of a search, a digit of 5 bits each after a 1: up to 25, as many as come before a full tail.
struct ListedMoves {
  std::uint64_t high = 0, low = 1;

  ListedMoves then(std::size_t move) const { return {high << 5 | low >> 59, low << 5 | move}; }
};

struct ListingNode {
  Pieces pieces;
  TurnTable::State state;
  std::uint8_t face;  // of the last move
  std::int8_t slack;
  TurnTable::Place place;
  ListedMoves made;
};
static_assert(sizeof(ListingNode) == 64, "a line of the cache");

struct ListingCounts {
  std::uint64_t sequences = 0, nodes = 0, fresh = 0;
};

// What a thread works with.
struct ListingWork {
  static constexpr std::size_t kTogether = 256;
  static constexpr int kMostMoves = 40;  // of a sequence

  struct Level {
    ListingNode* nodes;  // kTogether and as many as there are moves
    std::size_t count;
  };
  struct List {
    const ListingNode* node;
    const std::uint32_t* tail;
  };
  struct Leaf {
    const ListingNode* node;
    std::uint32_t tail;
  };

  const TurnTable* table;
  const ListingMoves* moves;
  const Tails* tails;
  SubgroupBits* bits;
  WatchedBits* watched;      // none where nobody waits
  Level levels[kMostMoves];  // by moves left
  List* lists;               // kTogether and as many as there are moves
  Leaf* leaves;              // kLeaves and as many as a state has
  std::uint64_t* ends;       // likewise
  ListingCounts found;

  static constexpr std::size_t kLeaves = 1024;
};

struct ListingBackend {
  // The children of a node that can still come into H, written from `out` on; how many.
  std::size_t (*expand)(const ListingWork& work, ListingNode& node, int left, ListingNode* out);
  // Goes on below a node with so many moves left, no fewer than a tail has; some boards are kept, and done
  // with those of further nodes.
  void (*search)(ListingWork& work, const ListingNode& node, int left);
  // Goes on with all that are kept.
  void (*flush)(ListingWork& work);
};

ListingBackend portable_listing();
#ifdef FARTHEST_X86
ListingBackend avx2_listing();
#endif

}  // namespace farthest
