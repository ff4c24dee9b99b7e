// The inner loop of block_lines.cpp, compiled once for each instruction set with its own Places:
//   explicit Places(SlotMask free)   the anchors that a frame leaves to inner pieces
//   SlotMask set(SlotMask anchors)   anchors that are free: bit j is the j-th free one
//   SlotMask anchors(SlotMask set)   the inverse
#pragma once

#include <atomic>

#include "farthest/blocks.hpp"

namespace farthest {

inline constexpr int kMostFree = 12;  // anchors that a frame leaves to inner pieces

// The arrangements of the inner pieces on so many free anchors, ascending as numbers; bit j of one is the
// j-th of these anchors.
struct Arrangements {
  std::size_t words = 1;                                           // of a bit for each arrangement
  std::array<std::uint16_t, std::size_t{1} << kMostFree> numbers;  // of the sets that are arrangements
  std::vector<std::uint16_t> sets;                                 // the arrangements
  std::vector<Word> leaving;  // for each set of anchors, words: the arrangements without these
};

struct Frame;

struct alignas(32) Line {
  Word found = 0;
  std::atomic<Word> fresh{0};  // of the layer under way
  Frame* frame = nullptr;
};

struct BlockPassage {
  Frame* target;       // null after the last one
  std::uint16_t room;  // the free anchors that must have no inner piece
};

// Its lines follow it: with one line, it is a line of the processor's cache.
struct alignas(32) Frame {
  std::atomic<const BlockPassage*> passages{nullptr};  // null until they are found
  SlotMask free = 0;                                   // anchors that are left to inner pieces
  const Arrangements* arrangements = nullptr;
  Key code = 0;  // a state's, less what the inner pieces add
  Line* lines() { return reinterpret_cast<Line*>(this + 1); }
};

// How inner pieces move.
struct InnerSteps {
  BlockMetric metric;
  std::array<SlotMask, kMaxSlots> beside{};                         // for each anchor those one step away
  std::array<std::array<SlotMask, kDirections>, kMaxSlots> next{};  // the same by direction, 0 where none
};

// The lines that a thread has given their first fresh state.
struct TouchedLines {
  Line** next = nullptr;
  Line** end = nullptr;
  void (*grow)(TouchedLines&) = nullptr;
};

// Marks what is one move from these states of a line, whose frame has its passages. shared: other threads do
// so too.
using ExpandLine = void (*)(const InnerSteps&, Line&, Word states, bool shared, TouchedLines&);
ExpandLine portable_block_lines();
ExpandLine avx2_block_lines();

namespace {  // one copy for each instruction set: inline functions would be merged by the linker

inline void mark_arrangement(Line* lines, std::size_t at, bool shared, TouchedLines& touched) {
  Line& line = lines[at / 64];
  const Word state = Word{1} << at % 64;
  Word before = line.fresh.load(std::memory_order_relaxed);
  if (((line.found | before) & state) != 0) return;
  if (shared)
    before = line.fresh.fetch_or(state, std::memory_order_relaxed);
  else
    line.fresh.store(before | state, std::memory_order_relaxed);
  if (before != 0) return;
  if (touched.next == touched.end) touched.grow(touched);
  *touched.next++ = &line;
}

// The parts of the empty anchors that steps join; their number.
inline int empty_parts(const InnerSteps& steps, SlotMask empty, SlotMask* parts) {
  int count = 0;
  while (empty != 0) {
    SlotMask part = empty & -empty;
    for (SlotMask next = part; next != 0;) {
      const SlotMask more = steps.beside[static_cast<std::size_t>(std::countr_zero(next))] & empty & ~part;
      part |= more;
      next = (next & (next - 1)) | more;
    }
    empty &= ~part;
    parts[count++] = part;
  }
  return count;
}

inline SlotMask slid_to(const InnerSteps& steps, std::size_t from, SlotMask empty) {
  SlotMask reached = 0;
  for (std::size_t way = 0; way < kDirections; ++way)
    for (SlotMask at = steps.next[from][way] & empty, ray = 0; (at & ~ray) != 0;) {
      ray |= at;
      reached |= at;
      at = steps.next[static_cast<std::size_t>(std::countr_zero(at))][way] & empty;
    }
  return reached;
}

template <class Places>
void expand_line(const InnerSteps& steps, Line& line, Word states, bool shared, TouchedLines& touched) {
  Frame& frame = *line.frame;
  Line* const lines = frame.lines();
  const auto number = static_cast<std::size_t>(&line - lines);
  const Arrangements& all = *frame.arrangements;
  const Places places(frame.free);
  SlotMask anchors_of[64], parts[kMostFree];
  for (Word left = states; left != 0; left &= left - 1) {
    const auto state = static_cast<std::size_t>(std::countr_zero(left));
    const SlotMask anchors = places.anchors(all.sets[number * 64 + state]);
    const SlotMask empty = frame.free & ~anchors;
    anchors_of[state] = anchors;
    const int count = steps.metric == BlockMetric::move ? empty_parts(steps, empty, parts) : 0;
    for (SlotMask pieces = anchors; pieces != 0; pieces &= pieces - 1) {
      const auto from = static_cast<std::size_t>(std::countr_zero(pieces));
      SlotMask reached = steps.beside[from] & empty;
      if (reached == 0) continue;
      if (steps.metric == BlockMetric::slide) reached = slid_to(steps, from, empty);
      for (int part = 0; part < count; ++part)
        if ((steps.beside[from] & parts[part]) != 0) reached |= parts[part];
      const SlotMask others = anchors ^ (pieces & -pieces);
      for (; reached != 0; reached &= reached - 1)
        mark_arrangement(lines, all.numbers[places.set(others | (reached & -reached))], shared, touched);
    }
  }
  const Word* const leaving = all.leaving.data() + number;
  const BlockPassage* passage = frame.passages.load(std::memory_order_relaxed);
  for (; passage->target != nullptr; ++passage) {
    Word left = states & leaving[passage->room * all.words];
    if (left == 0) continue;
    Frame& target = *passage->target;
    const Places there(target.free);
    for (; left != 0; left &= left - 1)
      mark_arrangement(target.lines(),
                       target.arrangements->numbers[there.set(anchors_of[std::countr_zero(left)])], shared,
                       touched);
  }
}

}  // namespace
}  // namespace farthest
