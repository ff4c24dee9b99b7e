// Coset enumeration (cosets.hpp) for a large subgroup H of many cosets: the cube's <U, D, R2, L2, F2, B2>
// with 19,508,428,800 elements and 2,217,093,120 cosets.
//
// A coset is a state of three coordinates, whose distance from H and the moves that lead nearer a TurnTable
// tells; its positions are the bits of SubgroupBits. Moves of H make a step of all bits together. All other
// sequences are listed (src/sequence_listing.hpp) by all threads.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "farthest/subgroup_bits.hpp"
#include "farthest/turn_table.hpp"
#include "farthest/watched_bits.hpp"

namespace farthest {

struct ListingBackend;
struct ListingMoves;
struct ListingNode;
struct ListingWork;
struct Tails;

class LargeCosets {
 public:
  // For each slot where what comes into it was, or whose home the slot of a piece is.
  using Slots = std::vector<std::uint8_t>;

  struct Moves {
    std::vector<Slots> from;  // by move
    std::vector<bool> own;    // by move: whether it is in H
    // The moves of each face, powers of one turn, and for each face the faces that commute with it, as bits.
    std::vector<std::vector<std::uint8_t>> faces;
    std::vector<std::uint32_t> commuting;
  };

  // Of the moves of H alone. Throws InvalidArgument, whose text says what of the structure is missing.
  static void check(const std::vector<Slots>& own);

  // Throws InvalidArgument where these do not fit together.
  LargeCosets(TurnTable::Coordinates coordinates, const Moves& moves,
              const std::vector<TurnTable::Renaming>& symmetries, int threads);
  ~LargeCosets();

  const TurnTable& table() const { return table_; }

 private:
  friend class LargeCosetRun;

  // What stands where, as bytes of SubgroupBits.
  SubgroupBits::Bytes bytes_of(std::span<const std::uint8_t> slots) const;

  std::vector<std::uint8_t> places_;  // by slot
  TurnTable table_;
  std::unique_ptr<ListingMoves> moves_;
  std::vector<SubgroupBits::Bytes> own_;
  std::vector<std::unique_ptr<Tails>> tails_;  // by length, less one
};

// One coset that is enumerated, distance by distance.
class LargeCosetRun {
 public:
  struct Found {
    std::uint64_t fresh;      // positions
    std::uint64_t sequences;  // that were listed
  };
  static constexpr int kMostListed = 30;  // moves
  static constexpr int kTail = 6;         // moves that are read, not searched

  // The coset of the positions w with r w in H: what stands in the slots after r, and its state. tail: up to
  // kTail.
  LargeCosetRun(const LargeCosets& cosets, const LargeCosets::Slots& board, TurnTable::State state,
                int threads, int tail = kTail, Isa isa = available_isas().back());
  ~LargeCosetRun();
  LargeCosetRun(const LargeCosetRun&) = delete;
  LargeCosetRun& operator=(const LargeCosetRun&) = delete;

  // Goes on with the next distance, from 0, for `slice` or a little longer. None: it is not done yet, and the
  // next call goes on with it. listed: whether sequences are listed. Throws LimitExceeded beyond kMostListed.
  std::optional<Found> advance(bool listed, std::chrono::milliseconds slice = std::chrono::seconds(1));
  // As of a CosetRun; what stands in the slots after r, then w. In the middle of a step it is not known which
  // bits are reached: none.
  std::uint64_t bit_of(std::span<const std::uint8_t> board);
  bool reached(std::uint64_t bit) const { return (!under_way_ || moved_) && bits_.has(bit); }
  WatchedBits& watched() { return watched_; }

  // Of the sequences of the distance under way the share that is listed.
  double share() const;

  // What a run that goes on from here has to know beside the bits: the distances that are done, and the
  // positions at them. Of a distance whose sequences are being listed: the positions after the step, the
  // roots, those that are done, and what these gave; there are no roots else.
  struct Mark {
    std::uint64_t distances, reached, moved, roots, next, fresh, sequences;
  };
  // Nothing that threads have kept is left: the mark and the bits tell the same. None within a step.
  std::optional<Mark> mark();
  const SubgroupBits& bits() const { return bits_; }
  // Goes on from a mark, after the bits have been set. Throws InvalidArgument where these do not fit
  // together; the run is then of no use before clear().
  void set_pages(std::size_t first, std::span<const std::uint8_t> bytes) { bits_.set_pages(first, bytes); }
  void resume(const Mark& mark);
  // Makes it a run that has not begun.
  void clear();

 private:
  struct Worker;

  void begin_listing();
  void end_distance();
  void list(std::chrono::steady_clock::time_point until);
  void take(Worker& worker, ListingNode& root);
  void list_child(Worker& worker);

  const LargeCosets& cosets_;
  const int threads_, tail_;
  const std::unique_ptr<const ListingBackend> backend_;
  SubgroupBits bits_;
  const SubgroupBits::Bytes board_;
  const TurnTable::State state_;
  const int coset_distance_;
  int distance_ = -1;
  bool under_way_ = false;                        // the distance
  std::uint64_t reached_ = 0;                     // positions at the distances before
  std::optional<std::uint64_t> moved_;            // and after the step, when it is done
  std::vector<ListingNode> roots_;                // of what is listed
  int left_ = 0;                                  // moves that roots have left
  std::size_t next_ = 0;                          // root
  std::vector<std::unique_ptr<Worker>> workers_;  // while sequences are listed
  WatchedBits watched_;
};

}  // namespace farthest
