#include "farthest/block_lines.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "block_lines_expand.hpp"
#include "farthest/layout.hpp"
#include "parallel.hpp"

namespace farthest {
namespace {

void fill_arrangements(Arrangements& made, int free, int count) {
  const auto number = binomial(free, count);
  const auto sets = std::size_t{1} << free;
  made.words = std::max<std::size_t>(1, (number + 63) / 64);
  made.leaving.resize(sets * made.words);
  for (std::uint64_t i = 0; i < number; ++i) {
    const SlotMask set = unrank_set(i, count, first_slots(free));
    made.sets.push_back(static_cast<std::uint16_t>(set));
    made.numbers[set] = static_cast<std::uint16_t>(i);
    for (std::size_t without = 0; without < sets; ++without)
      if ((set & without) == 0) made.leaving[without * made.words + i / 64] |= Word{1} << i % 64;
  }
}

// The free anchors beside each free anchor, by direction; kMostFree where there is none.
using FrameShape = std::array<std::array<std::uint8_t, kDirections>, kMostFree>;

struct HashOfShape {
  std::size_t operator()(const FrameShape& shape) const {
    static_assert(sizeof(shape) % sizeof(std::uint64_t) == 0);
    std::uint64_t words[sizeof(shape) / sizeof(std::uint64_t)], hash = 0;
    std::memcpy(words, &shape, sizeof(shape));
    for (const std::uint64_t word : words) hash = (hash ^ word) * 0x9e3779b97f4a7c15, hash ^= hash >> 29;
    return hash;
  }
};

// FrameMoves::inner of frames of a shape with so many free anchors.
std::vector<Word> inner_moves(const FrameShape& shape, BlockMetric metric, const Arrangements& all,
                              std::size_t free) {
  std::vector<Word> found(all.sets.size() * all.words);
  std::array<ArrangementSet, kMostFree> empty{};  // for each anchor the states that have no piece there
  for (std::size_t at = 0; at < free; ++at)
    std::copy_n(&all.leaving[all.words << at], all.words, empty[at].begin());
  // For each anchor the states whose piece at `from` gets there; none for kMostFree.
  std::array<ArrangementSet, kMostFree + 1> there, before;
  const auto lead = [&](std::size_t from, std::size_t first_way, std::size_t last_way) {
    there = {};
    for (std::size_t i = 0; i < all.words; ++i) there[from][i] = all.leaving[i] & ~empty[from][i];
    Word more = 1;
    for (int steps = 0; more != 0 && (steps == 0 || metric != BlockMetric::step); ++steps) {
      before = there;
      more = 0;
      for (std::size_t to = 0; to < free; ++to)
        for (std::size_t i = 0; i < empty[to].size(); ++i) {
          Word came = 0;
          for (std::size_t way = first_way; way < last_way; ++way) came |= before[shape[to][way]][i];
          came &= empty[to][i] & ~before[to][i];
          there[to][i] |= came;
          more |= came;
        }
    }
    // Moves lead back.
    for (std::size_t to = from + 1; to < free; ++to)
      for (std::size_t i = 0; i < all.words; ++i)
        for (Word left = there[to][i]; left != 0; left &= left - 1) {
          const std::size_t state = 64 * i + static_cast<std::size_t>(lowest(left));
          const std::size_t next = all.numbers[all.sets[state] ^ 1u << from ^ 1u << to];
          found[state * all.words + next / 64] |= Word{1} << next % 64;
          found[next * all.words + state / 64] |= Word{1} << state % 64;
        }
  };
  for (std::size_t from = 0; from < free; ++from)
    if (metric == BlockMetric::slide)
      for (std::size_t way = 0; way < kDirections; ++way) lead(from, way, way + 1);
    else
      lead(from, 0, kDirections);
  return found;
}

std::uint64_t hash_of(Key code) {
  code *= 0x9e3779b97f4a7c15;
  return code ^ code >> 32;
}

// Memory that lives as long as this does, in lines of the processor's cache.
class LineMemory {
 public:
  void* take(std::size_t bytes) {
    const std::size_t count = (bytes + sizeof(CacheLine) - 1) / sizeof(CacheLine);
    if (left_ < count) {
      left_ = std::max(count, std::clamp<std::size_t>(all_, 16, 4096));
      all_ += left_;
      next_ = blocks_.emplace_back(std::make_unique_for_overwrite<CacheLine[]>(left_)).get();
    }
    left_ -= count;
    next_ += count;
    return next_ - count;
  }
  std::uint64_t bytes() const { return all_ * sizeof(CacheLine); }

 private:
  struct alignas(64) CacheLine {
    std::byte bytes[64];
  };

  std::vector<std::unique_ptr<CacheLine[]>> blocks_;
  CacheLine* next_ = nullptr;
  std::size_t left_ = 0, all_ = 0;
};

// Frames by their codes.
class FramePart {
 public:
  std::mutex changing;

  void prefetch(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & mask()]);
  }
  // The frame, new where there was none.
  Frame& at(Key code, std::uint64_t hash, SlotMask free, const std::vector<Arrangements>& of_free) {
    if (frames_ * 2 >= slots_.size()) grow();
    std::size_t at = hash & mask();
    for (; slots_[at].frame != nullptr; at = (at + 1) & mask())
      if (slots_[at].code == code) return *slots_[at].frame;
    ++frames_;
    const Arrangements& arrangements = of_free[static_cast<std::size_t>(std::popcount(free))];
    const std::size_t lines = arrangements.words;
    static_assert(sizeof(Frame) + sizeof(Line) == 64);
    void* const place = memory_.take(sizeof(Frame) + lines * sizeof(Line));
    Frame* const frame = new (place) Frame{nullptr, free, &arrangements, code};
    for (std::size_t i = 0; i < lines; ++i) (new (frame->lines() + i) Line)->frame = frame;
    slots_[at] = {code, frame};
    return *frame;
  }
  std::uint64_t bytes() const { return slots_.size() * sizeof(Slot) + memory_.bytes(); }

 private:
  struct Slot {
    Key code;
    Frame* frame;
  };
  std::size_t mask() const { return slots_.size() - 1; }
  void grow() {
    std::vector<Slot> before(std::max<std::size_t>(16, 2 * slots_.size()), {0, nullptr});
    before.swap(slots_);
    for (const Slot& slot : before) {
      if (slot.frame == nullptr) continue;
      std::size_t at = hash_of(slot.code) & mask();
      while (slots_[at].frame != nullptr) at = (at + 1) & mask();
      slots_[at] = slot;
    }
  }

  std::vector<Slot> slots_;  // a power of two
  std::size_t frames_ = 0;
  LineMemory memory_;
};

// A way of a piece: where it ends, and the anchors that no inner piece may stand on.
struct BlockWay {
  int to;
  SlotMask room;
};

// A passage to be.
struct FrameMove {
  Key code;
  SlotMask free;
  std::uint64_t hash;
  std::uint16_t room;
};

// What one thread works with.
struct LineLane : TouchedLines {
  std::vector<Line*> touched;
  std::vector<BlockWay> ways;
  std::vector<FrameMove> moves;
  Placement placement;
  LineMemory memory;

  LineLane() {
    grow = [](TouchedLines& full) {
      auto& lane = static_cast<LineLane&>(full);
      const std::size_t used = lane.touched.size();
      lane.touched.resize(std::max<std::size_t>(64, 2 * used));
      lane.next = lane.touched.data() + used;
      lane.end = lane.touched.data() + lane.touched.size();
    };
  }
};

class Lines final : public BlockLines {
 public:
  // inner: the number of a kind; most_free: anchors that a frame leaves to it at most.
  Lines(const Blocks& blocks, std::size_t inner, int most_free, Isa isa)
      : blocks_(blocks), inner_number_(inner), arrangements_(static_cast<std::size_t>(most_free) + 1) {
    for (int free = this->inner().count; free <= most_free; ++free)
      fill_arrangements(arrangements_[static_cast<std::size_t>(free)], free, this->inner().count);
    expand_frame_ = portable_block_lines();
#ifdef FARTHEST_X86
    if (isa != Isa::portable) expand_frame_ = avx2_block_lines();
#endif
    static_cast<void>(isa);
    lanes_.push_back(std::make_unique<LineLane>());
  }

  void begin(std::span<const Key> origins) {
    LineLane& lane = *lanes_[0];
    Placement& placement = lane.placement;
    for (const Key code : origins) {
      if (!blocks_.decode(code, placement)) throw InvalidArgument("a code is no state's");
      const SlotMask pieces = placement.anchors[inner_number_];
      const SlotMask free = inner().anchors & ~(placement.covered & ~pieces);
      const Key frame_code = code - inner().weight * placement.ranks[inner_number_];
      Frame& frame = frame_at<false>(frame_code, hash_of(frame_code), free);
      const std::uint64_t state = rank_set(pieces, free);
      mark_states(frame.lines()[state / 64], Word{1} << state % 64, false, lane);
    }
    settle();
  }

  bool expand(std::size_t lines, int threads) override {
    constexpr std::size_t kBatch = 64;
    constexpr std::uint64_t kPerThread = 256;
    const std::lock_guard lock(turn_);
    const auto front = std::span<const LineStates>(layers_.back()).subspan(expanded_);
    // The end of the frame that begins before this line, or at it: the lines of a frame lie together.
    const auto end_at = [&](std::size_t at) {
      at = std::min(at, front.size());
      while (at > 0 && at < front.size() && front[at].line->frame == front[at - 1].line->frame) ++at;
      return at;
    };
    const std::size_t count = end_at(lines);
    const int useful = useful_threads(count, std::max(threads, 1), kPerThread);
    const auto lanes = static_cast<std::size_t>(useful);
    while (lanes_.size() < lanes) lanes_.push_back(std::make_unique<LineLane>());
    std::atomic<std::size_t> next{0};
    in_parallel(lanes, useful, [&](std::uint64_t lane) {
      for (std::size_t at; (at = next.fetch_add(kBatch, std::memory_order_relaxed)) < count;)
        expand_lines(front.subspan(end_at(at), std::min(end_at(at + kBatch), count) - end_at(at)), useful > 1,
                     *lanes_[lane]);
    });
    expanded_ += count;
    return count < front.size();
  }

  std::uint64_t settle() override {
    const std::lock_guard lock(turn_);
    std::vector<LineStates> layer;
    std::uint64_t states = 0;
    for (const auto& lane : lanes_) {
      Line** const first = lane->touched.data();
      layer.reserve(layer.size() + static_cast<std::size_t>(lane->next - first));
      for (Line** touched = first; touched != lane->next; ++touched) {
        Frame& frame = *(*touched)->frame;
        for (std::size_t i = 0; i < frame.arrangements->words; ++i) {
          Line& line = frame.lines()[i];
          const Word fresh = line.fresh.load(std::memory_order_relaxed);
          if (fresh == 0) continue;
          line.fresh.store(0, std::memory_order_relaxed);
          line.found |= fresh;
          states += static_cast<std::uint64_t>(std::popcount(fresh));
          layer.push_back({&line, fresh});
        }
      }
      lane->next = first;
    }
    layers_.push_back(std::move(layer));
    expanded_ = 0;
    return states;
  }

  std::vector<Key> codes(std::size_t layer) const override {
    const std::lock_guard lock(turn_);
    if (layer >= layers_.size()) throw InvalidArgument("no such layer");
    std::vector<Key> found;
    for (const auto& [line, states] : layers_[layer])
      for (Word left = states; left != 0; left &= left - 1) found.push_back(code_of(*line, lowest(left)));
    return found;
  }

  void forget(std::size_t layer) override {
    const std::lock_guard lock(turn_);
    if (layer + 1 < layers_.size()) std::vector<LineStates>().swap(layers_[layer]);
  }

  std::uint64_t bytes() const override {
    const std::lock_guard lock(turn_);
    std::uint64_t bytes = shape_bytes_;
    for (const FramePart& part : parts_) bytes += part.bytes();
    for (const auto& lane : lanes_) bytes += lane->memory.bytes() + lane->touched.size() * sizeof(Line*);
    for (const auto& layer : layers_) bytes += layer.capacity() * sizeof(LineStates);
    return bytes;
  }

 private:
  const BlockKind& inner() const { return blocks_.kinds()[inner_number_]; }

  // shared: other threads are at work.
  template <bool shared>
  Frame& frame_at(Key code, std::uint64_t hash, SlotMask free) {
    FramePart& part = part_of(hash);
    std::unique_lock lock(part.changing, std::defer_lock);
    if constexpr (shared) lock.lock();
    return part.at(code, hash, free, arrangements_);
  }
  FramePart& part_of(std::uint64_t hash) { return parts_[hash >> 26 & (kParts - 1)]; }

  Key code_of(const Line& line, int state) const {
    Frame& frame = *line.frame;
    const auto number = static_cast<std::size_t>(&line - frame.lines());
    SlotMask anchors = 0, left = frame.free;
    SlotMask set = frame.arrangements->sets[number * 64 + static_cast<std::size_t>(state)];
    for (; set != 0; set >>= 1, left &= left - 1)
      if ((set & 1) != 0) anchors |= left & -left;
    return frame.code + inner().weight * rank_set(anchors, inner().anchors);
  }

  // Expands whole frames.
  void expand_lines(std::span<const LineStates> front, bool shared, LineLane& lane) {
    constexpr std::size_t kAhead = 8;
    for (std::size_t at = 0, count = 1; at < front.size(); at += count, count = 1) {
      if (at + kAhead < front.size()) __builtin_prefetch(front[at + kAhead].line);
      Frame& frame = *front[at].line->frame;
      while (at + count < front.size() && front[at + count].line->frame == &frame) ++count;
      if (frame.moves == nullptr) shared ? find_moves<true>(frame, lane) : find_moves<false>(frame, lane);
      expand_frame_(&front[at], count, shared, lane);
    }
  }

  // The moves of a frame: of inner pieces, and the passages of others.
  template <bool shared>
  void find_moves(Frame& frame, LineLane& lane) {
    std::array<std::uint8_t, kMaxSlots> number;  // of the free anchors
    number.fill(kMostFree);
    std::uint8_t free_count = 0;
    for (SlotMask left = frame.free; left != 0; left &= left - 1)
      number[static_cast<std::size_t>(lowest(left))] = free_count++;
    Placement& placement = lane.placement;
    blocks_.decode(frame.code, placement, inner_number_);
    const SlotMask outer = placement.covered;
    lane.moves.clear();
    for (std::size_t i = 0; i < blocks_.kinds().size(); ++i) {
      if (i == inner_number_) continue;
      const BlockKind& kind = blocks_.kinds()[i];
      const std::uint64_t rank = placement.ranks[i];
      std::size_t piece = rank * static_cast<std::size_t>(kind.count);
      for (SlotMask left = placement.anchors[i]; left != 0; left &= left - 1, ++piece) {
        const auto from = static_cast<std::size_t>(lowest(left));
        if ((kind.beside[from] & ~outer) == 0) continue;
        const SlotMask others = outer & ~kind.covers[from];
        const SlotMask rest = placement.anchors[i] ^ bit(lowest(left));
        const std::uint32_t* const row = kind.rows.empty() ? nullptr : &kind.rows[kind.row_of[piece]];
        find_ways(kind, lowest(left), others, frame.free, free_count - inner().count, lane.ways);
        for (const auto& [to, room] : lane.ways) {
          const auto at = static_cast<std::size_t>(to);
          const std::uint64_t moved = row != nullptr ? row[at] : rank_set(rest | bit(to), kind.anchors);
          const Key code = frame.code + kind.weight * (moved - rank);
          const SlotMask free = inner().anchors & ~(others | kind.covers[at]);
          unsigned numbers = 0;
          for (SlotMask one = room; one != 0; one &= one - 1)
            numbers |= 1u << number[static_cast<std::size_t>(lowest(one))];
          lane.moves.push_back({code, free, hash_of(code), static_cast<std::uint16_t>(numbers)});
          if constexpr (!shared) part_of(lane.moves.back().hash).prefetch(lane.moves.back().hash);
        }
      }
    }
    void* const memory = lane.memory.take(sizeof(FrameMoves) + lane.moves.size() * sizeof(BlockPassage));
    frame.moves = new (memory) FrameMoves{inner_of<shared>(frame, number), lane.moves.size()};
    BlockPassage* passage = frame.moves->first_passage();
    for (const auto& [code, free, hash, room] : lane.moves)
      *passage++ = {&frame_at<shared>(code, hash, free), room};
  }

  // FrameMoves::inner, the same for all frames of a shape. number: of the free anchors.
  template <bool shared>
  const Word* inner_of(const Frame& frame, const std::array<std::uint8_t, kMaxSlots>& number) {
    FrameShape shape{};
    for (SlotMask left = frame.free; left != 0; left &= left - 1) {
      const auto at = static_cast<std::size_t>(lowest(left));
      for (std::size_t way = 0; way < kDirections; ++way) {
        const SlotMask to = inner().steps[at][way].to & ~bit(lowest(left));
        shape[number[at]][way] =
            to == 0 ? std::uint8_t{kMostFree} : number[static_cast<std::size_t>(lowest(to))];
      }
    }
    std::unique_lock lock(shapes_changing_, std::defer_lock);
    if constexpr (shared) lock.lock();
    std::vector<Word>& moves = shapes_[shape];
    if (moves.empty()) {
      moves = inner_moves(shape, blocks_.metric(), *frame.arrangements,
                          static_cast<std::size_t>(std::popcount(frame.free)));
      shape_bytes_ += moves.size() * sizeof(Word) + sizeof(shape);
    }
    return moves.data();
  }

  // The ways of one move of a piece while `others` are covered by pieces that are no inner ones.
  // empty: how many of the free anchors have no inner piece.
  void find_ways(const BlockKind& kind, int from, SlotMask others, SlotMask free, int empty,
                 std::vector<BlockWay>& ways) const {
    // Whether there may be room for a step, and the way with it.
    const auto step = [&](const BlockWay& before, std::size_t way, BlockWay& after) {
      const BlockStep& one = kind.steps[static_cast<std::size_t>(before.to)][way];
      if ((one.entered & others) != 0 || one.to == bit(before.to)) return false;
      after = {lowest(one.to), before.room | (one.entered & free)};
      SlotMask more = after.room;  // than there is
      for (int i = 0; i < empty; ++i) more &= more - 1;
      return more == 0;
    };
    ways.clear();
    BlockWay after;
    if (blocks_.metric() != BlockMetric::move) {
      for (std::size_t way = 0; way < kDirections; ++way) {
        SlotMask ray = bit(from);
        for (BlockWay at{from, 0}; step(at, way, after) && (ray & bit(after.to)) == 0; at = after) {
          ways.push_back(after);
          ray |= bit(after.to);
          if (blocks_.metric() == BlockMetric::step) break;
        }
      }
      return;
    }
    // Of ways to the same anchor none that needs all the room of another.
    const auto is_new = [&](const BlockWay& way) {
      return way.to != from && std::ranges::none_of(ways, [&](const BlockWay& known) {
               return known.to == way.to && (known.room & ~way.room) == 0;
             });
    };
    BlockWay at{from, 0};
    for (std::size_t next = 0;; at = ways[next++]) {
      for (std::size_t way = 0; way < kDirections; ++way)
        if (step(at, way, after) && is_new(after)) ways.push_back(after);
      if (next == ways.size()) break;
    }
  }

  static constexpr std::size_t kParts = 64;

  mutable std::mutex turn_;
  Blocks blocks_;
  std::size_t inner_number_;
  ExpandFrame expand_frame_;
  std::vector<Arrangements> arrangements_;  // for each number of free anchors
  std::array<FramePart, kParts> parts_;
  std::mutex shapes_changing_;
  std::unordered_map<FrameShape, std::vector<Word>, HashOfShape> shapes_;  // FrameMoves::inner
  std::uint64_t shape_bytes_ = 0;
  std::vector<std::unique_ptr<LineLane>> lanes_;
  std::vector<std::vector<LineStates>> layers_;
  std::size_t expanded_ = 0;  // lines of the last layer
};

// Whether pieces have one cell each, and steps lead back by the opposite way.
bool of_squares(const BlockKind& kind) {
  for (SlotMask left = kind.anchors; left != 0; left &= left - 1) {
    const auto at = static_cast<std::size_t>(lowest(left));
    if (kind.covers[at] != bit(lowest(left))) return false;
    for (std::size_t way = 0; way < kDirections; ++way) {
      const SlotMask to = kind.steps[at][way].to;
      if (to != bit(lowest(left)) &&
          kind.steps[static_cast<std::size_t>(lowest(to))][way ^ 1].to != bit(lowest(left)))
        return false;
    }
  }
  return true;
}

}  // namespace

std::unique_ptr<BlockLines> block_lines(const Blocks& blocks, std::span<const Key> origins, Isa isa) {
  if (blocks.width() != sizeof(Key) || blocks.packed()) return nullptr;
  const auto& kinds = blocks.kinds();
  // What the pieces of a kind take of these cells at least.
  const auto least = [](const BlockKind& kind, SlotMask of) {
    int cells = kMaxSlots;
    for (SlotMask left = kind.anchors; left != 0; left &= left - 1)
      cells = std::min(cells, std::popcount(kind.covers[static_cast<std::size_t>(lowest(left))] & of));
    return cells * kind.count;
  };
  std::size_t inner = 0;
  int most_free = 0;
  std::uint64_t most = 1;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const BlockKind& kind = kinds[i];
    if (kind.count == 1 || !of_squares(kind)) continue;
    int free = std::popcount(kind.anchors);
    for (std::size_t other = 0; other < kinds.size(); ++other)
      if (other != i) free -= least(kinds[other], kind.anchors);
    const std::uint64_t number = binomial(free, kind.count);
    if (free > static_cast<int>(kMostFree) || number > kMostArrangements || number <= most) continue;
    inner = i;
    most_free = free;
    most = number;
  }
  if (most == 1) return nullptr;
  auto lines = std::make_unique<Lines>(blocks, inner, most_free, isa);
  lines->begin(origins);
  return lines;
}

}  // namespace farthest
