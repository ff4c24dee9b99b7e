// The inner loop of block_lines.cpp, compiled once for each instruction set with its own Places:
//   explicit Places(SlotMask free)   the anchors that a frame leaves to inner pieces
//   SlotMask set(SlotMask anchors)   anchors that are free: bit j is the j-th free one
//   SlotMask anchors(SlotMask set)   the inverse
#pragma once

#include <atomic>

#include "farthest/blocks.hpp"

namespace farthest {

// Anchors that a frame leaves to inner pieces, and its arrangements, at most.
inline constexpr std::size_t kMostFree = 12, kMostArrangements = 256;

// The arrangements of the inner pieces on so many free anchors, ascending as numbers; bit j of one is the
// j-th of these anchors.
struct Arrangements {
  std::size_t words = 1;  // of a bit for each
  std::array<std::uint16_t, std::size_t{1} << kMostFree> numbers;
  std::vector<std::uint16_t> sets;
  std::vector<Word> leaving;  // for each set of anchors, words: the arrangements that have none of these
};

using ArrangementSet = std::array<Word, kMostArrangements / 64>;

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

// What is found of a frame when it is first expanded. The passages follow it.
struct FrameMoves {
  const Word* inner;  // for each arrangement, words: where moves of inner pieces lead
  std::size_t passages;
  BlockPassage* first_passage() { return reinterpret_cast<BlockPassage*>(this + 1); }
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
using ExpandFrame = void (*)(const LineStates*, std::size_t lines, bool shared, TouchedLines&);
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

template <class Places>
void expand_frame(const LineStates* lines, std::size_t count, bool shared, TouchedLines& touched) {
  Frame& frame = *lines->line->frame;
  const Arrangements& all = *frame.arrangements;
  const Word* const inner = frame.moves->inner;
  const BlockPassage* const passages = frame.moves->first_passage();
  const Places places(frame.free);
  ArrangementSet found{};
  for (const LineStates* one = lines; one != lines + count; ++one) {
    const auto number = static_cast<std::size_t>(one->line - frame.lines());
    SlotMask anchors[64];
    for (Word left = one->states; left != 0; left &= left - 1) {
      const auto state = static_cast<std::size_t>(std::countr_zero(left));
      anchors[state] = places.anchors(all.sets[64 * number + state]);
      for (std::size_t word = 0; word < all.words; ++word)
        found[word] |= inner[(64 * number + state) * all.words + word];
    }
    const Word* const leaving = all.leaving.data() + number;
    for (std::size_t i = 0; i < frame.moves->passages; ++i) {
      Word left = one->states & leaving[passages[i].room * all.words];
      if (left == 0) continue;
      Frame& target = *passages[i].target;
      const Places there(target.free);
      for (; left != 0; left &= left - 1) {
        const std::size_t state = target.arrangements->numbers[there.set(anchors[std::countr_zero(left)])];
        mark_states(target.lines()[state / 64], Word{1} << state % 64, shared, touched);
      }
    }
  }
  for (std::size_t word = 0; word < all.words; ++word)
    mark_states(frame.lines()[word], found[word], shared, touched);
}

}  // namespace
}  // namespace farthest
