// The inner loop of block_lines.cpp, compiled once for each instruction set with its own Places:
//   explicit Places(SlotMask free)   the anchors that a frame leaves to inner pieces
//   SlotMask set(SlotMask anchors)   anchors that are free: bit j is the j-th free one
//   SlotMask anchors(SlotMask set)   the inverse
#pragma once

#include <atomic>

#include "farthest/blocks.hpp"

namespace farthest {

inline constexpr std::size_t kMostFree = 12;       // anchors that a frame leaves to inner pieces
inline constexpr std::size_t kMostLines = 15;      // of a frame: 924 arrangements
inline constexpr std::size_t kNoFree = kMostFree;  // the number of no free anchor

// The arrangements of the inner pieces on so many free anchors, ascending as numbers; bit j of one is the
// j-th of these anchors. A *rest* is an arrangement of all inner pieces but one.
struct Arrangements {
  struct Sets {
    std::size_t words = 1;  // of a bit for each
    std::array<std::uint16_t, std::size_t{1} << kMostFree> numbers;
    std::vector<std::uint16_t> sets;
    std::vector<Word> leaving;  // for each set of anchors, words: those that have none of these
  };
  Sets whole, rests;
  std::size_t free, empty;  // anchors, and how many of them have no piece
};

struct Frame;

struct alignas(32) Line {
  Word found = 0;
  std::atomic<Word> fresh{0};  // of the layer under way
  Frame* frame = nullptr;
};

struct LineStates {
  Line* line;
  Word states;
};

struct BlockPassage {
  Frame* target;
  std::uint16_t room;  // the free anchors that must have no inner piece
};

// What is found of a frame when it is first expanded. For each free anchor and rest a bit follows, whether
// the states with that piece were found as moves of it; then the passages.
struct FrameMoves {
  std::array<std::array<std::uint8_t, kDirections>, kMostFree> next;  // free anchors beside free anchors
  std::uint32_t passages;
  Word* done() { return reinterpret_cast<Word*>(this + 1); }
  BlockPassage* first_passage(const Arrangements& all) {
    return reinterpret_cast<BlockPassage*>(done() + all.free * all.rests.words);
  }
};

// Its lines follow it: with one line, it is a line of the processor's cache.
struct alignas(32) Frame {
  FrameMoves* moves = nullptr;
  SlotMask free = 0;  // anchors that are left to inner pieces
  const Arrangements* arrangements = nullptr;
  Key code = 0;  // a state's, less what the inner pieces add
  Line* lines() { return reinterpret_cast<Line*>(this + 1); }
};

// The lines that a thread has given their first fresh state.
struct TouchedLines {
  Line** next = nullptr;
  Line** end = nullptr;
  void (*grow)(TouchedLines&) = nullptr;
};

// Marks what is one move from states of a frame, some or all of its lines. shared: other threads expand
// others.
using ExpandFrame = void (*)(BlockMetric, const LineStates*, std::size_t lines, bool shared, TouchedLines&);
ExpandFrame portable_block_lines();
ExpandFrame avx2_block_lines();

namespace {  // one copy for each instruction set: inline functions would be merged by the linker

inline void mark_states(Line& line, Word states, bool shared, TouchedLines& touched) {
  Word before = line.fresh.load(std::memory_order_relaxed);
  states &= ~(line.found | before);
  if (states == 0) return;
  if (shared)
    before = line.fresh.fetch_or(states, std::memory_order_relaxed);
  else
    line.fresh.store(before | states, std::memory_order_relaxed);
  if (before != 0) return;
  if (touched.next == touched.end) touched.grow(touched);
  *touched.next++ = &line;
}

// For each free anchor the rests with which a piece stands there; none for kNoFree.
using PieceRests = Word[kMostFree + 1][kMostLines];

// Adds to `to` what steps of the pieces by some ways lead to; whether that was anything.
inline bool add_steps(const Arrangements& all, const FrameMoves& moves, std::size_t first_way,
                      std::size_t last_way, const PieceRests& from, PieceRests& to) {
  const std::size_t words = all.rests.words;
  Word any = 0;
  for (std::size_t anchor = 0; anchor < all.free; ++anchor) {
    const Word* const without = &all.rests.leaving[(std::size_t{1} << anchor) * words];
    for (std::size_t word = 0; word < words; ++word) {
      Word more = 0;
      for (std::size_t way = first_way; way < last_way; ++way) more |= from[moves.next[anchor][way]][word];
      more &= without[word] & ~to[anchor][word];
      to[anchor][word] |= more;
      any |= more;
    }
  }
  return any != 0;
}

inline void unite(const Arrangements& all, const PieceRests& from, PieceRests& to) {
  for (std::size_t anchor = 0; anchor < all.free; ++anchor)
    for (std::size_t word = 0; word < all.rests.words; ++word) to[anchor][word] |= from[anchor][word];
}

// Marks where the inner pieces go.
inline void move_inner(BlockMetric metric, Frame& frame, const LineStates* lines, std::size_t count,
                       bool shared, TouchedLines& touched) {
  const Arrangements& all = *frame.arrangements;
  FrameMoves& moves = *frame.moves;
  const std::size_t words = all.rests.words;
  PieceRests at, reached;
  for (std::size_t anchor = 0; anchor < kMostFree + 1; ++anchor)
    for (std::size_t word = 0; word < words; ++word) at[anchor][word] = reached[anchor][word] = 0;
  for (const LineStates* one = lines; one != lines + count; ++one) {
    const std::uint16_t* const sets =
        all.whole.sets.data() + 64 * static_cast<std::size_t>(one->line - frame.lines());
    for (Word left = one->states; left != 0; left &= left - 1) {
      const unsigned set = sets[std::countr_zero(left)];
      for (unsigned pieces = set; pieces != 0; pieces &= pieces - 1) {
        const std::size_t rest = all.rests.numbers[set ^ (pieces & -pieces)];
        at[std::countr_zero(pieces)][rest / 64] |= Word{1} << rest % 64;
      }
    }
  }
  if (metric == BlockMetric::step) {
    add_steps(all, moves, 0, kDirections, at, reached);
  } else if (metric == BlockMetric::move) {
    unite(all, at, reached);
    for (std::size_t i = 0; i < all.empty && add_steps(all, moves, 0, kDirections, reached, reached);) ++i;
  } else {
    for (std::size_t way = 0; way < kDirections; ++way) {
      PieceRests ray;
      for (std::size_t word = 0; word < words; ++word) ray[kNoFree][word] = 0;
      for (std::size_t anchor = 0; anchor < all.free; ++anchor)
        for (std::size_t word = 0; word < words; ++word) ray[anchor][word] = at[anchor][word];
      for (std::size_t i = 0; i < all.empty && add_steps(all, moves, way, way + 1, ray, ray);) ++i;
      unite(all, ray, reached);
    }
  }
  Word found[kMostLines] = {};
  Word* done = moves.done();
  for (std::size_t anchor = 0; anchor < all.free; ++anchor)
    for (std::size_t word = 0; word < words; ++word, ++done) {
      Word left = reached[anchor][word] & ~*done;
      *done |= left;
      for (; left != 0; left &= left - 1) {
        const unsigned rest = all.rests.sets[64 * word + static_cast<std::size_t>(std::countr_zero(left))];
        const std::size_t state = all.whole.numbers[rest | 1u << anchor];
        found[state / 64] |= Word{1} << state % 64;
      }
    }
  for (std::size_t line = 0; line < all.whole.words; ++line)
    mark_states(frame.lines()[line], found[line], shared, touched);
}

template <class Places>
void expand_frame(BlockMetric metric, const LineStates* lines, std::size_t count, bool shared,
                  TouchedLines& touched) {
  Frame& frame = *lines->line->frame;
  const Arrangements& all = *frame.arrangements;
  const BlockPassage* const passages = frame.moves->first_passage(all);
  move_inner(metric, frame, lines, count, shared, touched);
  const Places places(frame.free);
  for (const LineStates* one = lines; one != lines + count; ++one) {
    const auto number = static_cast<std::size_t>(one->line - frame.lines());
    const std::uint16_t* const sets = all.whole.sets.data() + 64 * number;
    SlotMask anchors[64];
    for (Word left = one->states; left != 0; left &= left - 1)
      anchors[std::countr_zero(left)] = places.anchors(sets[std::countr_zero(left)]);
    const Word* const leaving = all.whole.leaving.data() + number;
    for (std::size_t i = 0; i < frame.moves->passages; ++i) {
      Word left = one->states & leaving[passages[i].room * all.whole.words];
      if (left == 0) continue;
      Frame& target = *passages[i].target;
      const Places there(target.free);
      for (; left != 0; left &= left - 1) {
        const std::size_t state =
            target.arrangements->whole.numbers[there.set(anchors[std::countr_zero(left)])];
        mark_states(target.lines()[state / 64], Word{1} << state % 64, shared, touched);
      }
    }
  }
}

}  // namespace
}  // namespace farthest
