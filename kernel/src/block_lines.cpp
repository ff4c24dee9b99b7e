#include "farthest/block_lines.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "farthest/layout.hpp"
#include "parallel.hpp"

namespace farthest {
namespace {

// The arrangements of the inner pieces on so many free anchors, ascending as numbers; bit j of one is the
// j-th of these anchors. Sets of arrangements are words, a bit each.
struct Arrangements {
  std::size_t words = 1;
  std::vector<SlotMask> sets;
  std::vector<Word> all;               // words
  std::vector<Word> without;           // for each anchor those that have no piece there
  std::vector<std::uint16_t> numbers;  // of each set of anchors that is an arrangement
};

Arrangements arrangements(int free, int count) {
  Arrangements made;
  const auto number = binomial(free, count);
  made.numbers.resize(std::size_t{1} << free);
  made.words = std::max<std::size_t>(1, (number + 63) / 64);
  made.all.resize(made.words);
  made.without.resize(static_cast<std::size_t>(free) * made.words);
  for (std::uint64_t i = 0; i < number; ++i) {
    const SlotMask set = unrank_set(i, count, first_slots(free));
    made.sets.push_back(set);
    made.numbers[set] = static_cast<std::uint16_t>(i);
    made.all[i / 64] |= Word{1} << i % 64;
    for (int j = 0; j < free; ++j)
      if ((set & bit(j)) == 0)
        made.without[static_cast<std::size_t>(j) * made.words + i / 64] |= Word{1} << i % 64;
  }
  return made;
}

struct Line;

// Where a piece of another kind moves: the states that can go along, and where they are then, in this order.
struct BlockPassage {
  Word from, to;
  Line* target;
};

// Lines of a frame lie together.
struct alignas(64) Line {
  static constexpr std::uint32_t kNotBuilt = ~std::uint32_t{0};

  Word found = 0;
  std::atomic<Word> fresh{0};  // of the layer under way
  Key code = 0;                // of the frame: a state's, less what the inner pieces add
  SlotMask free = 0;           // anchors that the frame leaves to inner pieces
  const Arrangements* arrangements = nullptr;
  std::unique_ptr<BlockPassage[]> passages;
  std::uint32_t number = 0;  // in the frame
  std::uint32_t count = kNotBuilt;
};

struct LineStates {
  Line* line;
  Word states;
};

std::uint64_t hash_of(Key code) {
  code *= 0x9e3779b97f4a7c15;
  return code ^ code >> 32;
}

// Frames, as their first lines, by their codes.
class FramePart {
 public:
  std::mutex changing;

  // The frame, or null.
  Line* find(Key code, std::uint64_t hash) const {
    if (slots_.empty()) return nullptr;
    for (std::size_t at = hash & mask(); slots_[at].line != nullptr; at = (at + 1) & mask())
      if (slots_[at].code == code) return slots_[at].line;
    return nullptr;
  }
  void prefetch(std::uint64_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[hash & mask()]);
  }
  Line* add(Key code, SlotMask free, const Arrangements& arrangements) {
    if (frames_ * 2 >= slots_.size()) grow();
    ++frames_;
    Line* first = fresh_lines(arrangements.words);
    for (std::uint32_t i = 0; i < arrangements.words; ++i) {
      first[i].code = code;
      first[i].free = free;
      first[i].arrangements = &arrangements;
      first[i].number = i;
    }
    put({code, first});
    return first;
  }
  std::uint64_t bytes() const { return slots_.size() * sizeof(Slot) + lines_ * sizeof(Line); }

 private:
  struct Slot {
    Key code;
    Line* line;
  };

  std::size_t mask() const { return slots_.size() - 1; }
  void put(Slot slot) {
    std::size_t at = hash_of(slot.code) & mask();
    while (slots_[at].line != nullptr) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  void grow() {
    std::vector<Slot> before(std::max<std::size_t>(16, 2 * slots_.size()), {0, nullptr});
    before.swap(slots_);
    for (const Slot& slot : before)
      if (slot.line != nullptr) put(slot);
  }
  Line* fresh_lines(std::size_t count) {
    if (left_ < count) {
      left_ = std::max(count, std::clamp<std::size_t>(lines_, 8, 1024));
      lines_ += left_;
      next_ = blocks_.emplace_back(std::make_unique<Line[]>(left_)).get();
    }
    left_ -= count;
    next_ += count;
    return next_ - count;
  }

  std::vector<Slot> slots_;  // a power of two
  std::vector<std::unique_ptr<Line[]>> blocks_;
  Line* next_ = nullptr;
  std::size_t frames_ = 0, left_ = 0, lines_ = 0;
};

// A piece of no inner kind that moves, and the frame that it leads to.
struct FrameMove {
  std::size_t kind, from, to;
  Word going;  // the states of the line that leave it a way
  Key code;
  SlotMask free;
};

// What one thread works with.
struct LineLane {
  std::vector<Line*> touched;  // lines that have fresh states
  std::vector<LineStates> layer;
  std::vector<FrameMove> moves;
  std::vector<BlockPassage> made;
  Placement placement;
  std::int64_t passage_bytes = 0;
  std::uint64_t states = 0;
};

// The states of `from` that are in `front`, as they are in `to`.
Word passed(Word front, Word from, Word to) {
  if (front == from) return to;
  Word found = 0;
  for (; from != 0; from &= from - 1, to &= to - 1) found |= to & -to & -Word{(front & from & -from) != 0};
  return found;
}

// What an inner kind may have in a frame at most.
constexpr std::uint64_t kMostArrangements = 1024;
constexpr int kMostFree = 16;

class Lines final : public BlockLines {
 public:
  // inner: the number of a kind; most_free: anchors that a frame leaves to it at most.
  Lines(const Blocks& blocks, std::size_t inner, int most_free)
      : blocks_(blocks), inner_number_(inner), lanes_(1) {
    const BlockKind& kind = this->inner();
    for (int free = 0; free <= most_free; ++free) arrangements_.push_back(arrangements(free, kind.count));
    for (SlotMask left = kind.anchors; left != 0; left &= left - 1) {
      const auto at = static_cast<std::size_t>(lowest(left));
      place_[at] = below(kind.anchors, lowest(left));
      for (const BlockStep& step : kind.steps[at]) inner_steps_[at] |= step.to & ~bit(lowest(left));
    }
  }

  void add(std::span<const Key> codes) override {
    std::vector<LineStates> layer;
    LineLane& lane = lanes_[0];
    Placement& placement = lane.placement;
    for (const Key code : codes) {
      if (!blocks_.decode(code, placement)) throw InvalidArgument("a code is no state's");
      const SlotMask pieces = placement.anchors[inner_number_];
      const SlotMask free = inner().anchors & ~(placement.covered & ~pieces);
      Line* const frame = frame_of<false>(code - inner().weight * placement.ranks[inner_number_], free);
      const std::uint64_t at = rank_set(pieces, free);
      Line& line = frame[at / 64];
      const Word state = Word{1} << at % 64;
      if ((line.found & state) != 0) throw InvalidArgument("a state was found before");
      line.found |= state;
      layer.push_back({&line, state});
    }
    layers_.push_back(std::move(layer));
  }

  std::uint64_t step(int threads) override {
    constexpr std::size_t kBatch = 64, kAhead = 8;
    constexpr std::uint64_t kPerThread = 256;
    const std::span<const LineStates> front =
        layers_.empty() ? std::span<const LineStates>{} : layers_.back();
    const int useful = useful_threads(front.size(), std::max(threads, 1), kPerThread);
    const auto lanes = static_cast<std::size_t>(useful);
    if (lanes_.size() < lanes) lanes_.resize(lanes);
    std::atomic<std::size_t> next{0};
    in_parallel(lanes, useful, [&](std::uint64_t lane) {
      for (std::size_t at; (at = next.fetch_add(kBatch, std::memory_order_relaxed)) < front.size();)
        for (std::size_t i = at; i < std::min(at + kBatch, front.size()); ++i) {
          if (i + kAhead < front.size()) __builtin_prefetch(front[i + kAhead].line);
          if (i + kAhead / 2 < front.size()) __builtin_prefetch(front[i + kAhead / 2].line->passages.get());
          const auto& [line, states] = front[i];
          useful > 1 ? expand<true>(*line, states, lanes_[lane]) : expand<false>(*line, states, lanes_[lane]);
        }
    });
    in_parallel(lanes, useful, [&](std::uint64_t lane) { settle(lanes_[lane]); });
    std::vector<LineStates> layer;
    std::uint64_t states = 0;
    for (LineLane& lane : std::span(lanes_).first(lanes)) {
      if (lanes == 1)
        layer.assign(lane.layer.begin(), lane.layer.end());
      else
        layer.insert(layer.end(), lane.layer.begin(), lane.layer.end());
      states += lane.states;
    }
    layers_.push_back(std::move(layer));
    return states;
  }

  std::vector<Key> codes(std::size_t layer) const override {
    if (layer >= layers_.size()) throw InvalidArgument("no such layer");
    std::vector<Key> found;
    std::array<int, kMaxSlots> places;
    for (const auto& [line, states] : layers_[layer]) {
      std::size_t count = 0;
      for (SlotMask left = line->free; left != 0; left &= left - 1)
        places[count++] = place_[static_cast<std::size_t>(lowest(left))];
      for (Word left = states; left != 0; left &= left - 1) {
        const std::size_t at = line->number * std::size_t{64} + static_cast<std::size_t>(lowest(left));
        std::uint64_t rank = 0;
        int order = 0;
        for (SlotMask set = line->arrangements->sets[at]; set != 0; set &= set - 1)
          rank += binomial(places[static_cast<std::size_t>(lowest(set))], ++order);
        found.push_back(line->code + inner().weight * rank);
      }
    }
    return found;
  }

  void forget(std::size_t layer) override {
    if (layer + 1 < layers_.size()) layers_[layer] = {};
  }

  std::uint64_t bytes() const override {
    std::uint64_t bytes = 0;
    for (const FramePart& part : parts_) bytes += part.bytes();
    for (const LineLane& lane : lanes_) bytes += static_cast<std::uint64_t>(lane.passage_bytes);
    for (const auto& layer : layers_) bytes += layer.size() * sizeof(LineStates);
    return bytes;
  }

 private:
  const BlockKind& inner() const { return blocks_.kinds()[inner_number_]; }

  // The frame of a code; `free` are its anchors for the inner pieces. shared: other threads are at work.
  template <bool shared>
  Line* frame_of(Key code, SlotMask free) {
    const std::uint64_t hash = hash_of(code);
    FramePart& part = part_of(hash);
    std::unique_lock lock(part.changing, std::defer_lock);
    if constexpr (shared) lock.lock();
    Line* frame = part.find(code, hash);
    return frame != nullptr ? frame : part.add(code, free, of_free(free));
  }

  const Arrangements& of_free(SlotMask free) const {
    return arrangements_[static_cast<std::size_t>(std::popcount(free))];
  }
  FramePart& part_of(std::uint64_t hash) { return parts_[hash >> 26 & (kParts - 1)]; }

  // Of the arrangements on free anchors, those in a word that leave these cells free.
  Word leaving(SlotMask free, SlotMask cells, std::size_t word) const {
    const Arrangements& all = of_free(free);
    Word found = all.all[word];
    for (SlotMask left = cells & free; left != 0; left &= left - 1)
      found &= all.without[static_cast<std::size_t>(below(free, lowest(left))) * all.words + word];
    return found;
  }

  // The passages of a line, by the pieces that are not inner ones. state: any of its states.
  template <bool shared>
  void build(const Line& line, int state, LineLane& lane) {
    lane.made.clear();
    lane.moves.clear();
    Placement& placement = lane.placement;
    blocks_.decode(code_of(line, state), placement);
    const SlotMask outer = placement.covered & ~placement.anchors[inner_number_];
    for_pieces(placement, [&](std::size_t kind, std::size_t from) {
      const BlockKind& moved = blocks_.kinds()[kind];
      const SlotMask others = outer & ~moved.covers[from];
      each_way(line, kind, static_cast<int>(from), others, [&](int to, Word going) {
        const auto at = static_cast<std::size_t>(to);
        const SlotMask free = inner().anchors & ~(others | moved.covers[at]);
        const Key code = line.code + moved.weight * more_rank(placement, kind, from, at);
        if constexpr (!shared) {
          const std::uint64_t hash = hash_of(code);
          part_of(hash).prefetch(hash);
        }
        lane.moves.push_back({kind, from, at, going, code, free});
      });
    });
    for (const FrameMove& move : lane.moves) pass_to<shared>(line, move, lane);
  }

  // By how much the rank of a kind is greater where one of its pieces stands elsewhere, modulo 2^64.
  std::uint64_t more_rank(const Placement& placement, std::size_t number, std::size_t from,
                          std::size_t to) const {
    const BlockKind& kind = blocks_.kinds()[number];
    const SlotMask anchors = placement.anchors[number];
    const std::uint64_t rank = placement.ranks[number];
    if (kind.rows.empty())
      return rank_set((anchors ^ bit(static_cast<int>(from))) | bit(static_cast<int>(to)), kind.anchors) -
             rank;
    const auto piece = static_cast<std::uint64_t>(below(anchors, static_cast<int>(from)));
    return kind.rows[kind.row_of[rank * static_cast<std::uint64_t>(kind.count) + piece] + to] - rank;
  }

  // Calls visit(kind, anchor) for each piece but inner ones.
  template <class Visit>
  void for_pieces(const Placement& placement, const Visit& visit) const {
    for (std::size_t i = 0; i < blocks_.kinds().size(); ++i)
      if (i != inner_number_)
        for (SlotMask left = placement.anchors[i]; left != 0; left &= left - 1)
          visit(i, static_cast<std::size_t>(lowest(left)));
  }

  // Calls pass(to, going) for the anchors to which a piece can go in one move while `others` are covered by
  // pieces that are no inner ones: the states of the line whose inner pieces leave it a way.
  template <class Pass>
  void each_way(const Line& line, std::size_t number, int from, SlotMask others, const Pass& pass) const {
    const BlockKind& kind = blocks_.kinds()[number];
    std::array<Word, kMaxSlots> room, going;
    const auto index = [](int at) { return static_cast<std::size_t>(at); };
    going[index(from)] = line.arrangements->all[line.number];
    SlotMask met = bit(from);
    // Goes on from `at` one step; the anchor, or -1 where nothing new gets there.
    const auto go_on = [&](int at, std::size_t way) {
      const BlockStep& step = kind.steps[index(at)][way];
      const int next = lowest(step.to);
      if (next == at || next == from || (step.entered & others) != 0) return -1;
      if ((met & step.to) == 0) {
        met |= step.to;
        room[index(next)] = leaving(line.free, kind.covers[index(next)], line.number);
        going[index(next)] = 0;
      }
      const Word more = going[index(at)] & room[index(next)] & ~going[index(next)];
      going[index(next)] |= more;
      return more != 0 ? next : -1;
    };
    if (blocks_.metric() == BlockMetric::move) {
      for (SlotMask left = bit(from); left != 0;) {
        const int at = lowest(left);
        left &= left - 1;
        for (std::size_t way = 0; way < kDirections; ++way)
          if (const int next = go_on(at, way); next >= 0) left |= bit(next);
      }
    } else {
      for (std::size_t way = 0; way < kDirections; ++way)
        for (int at = go_on(from, way); at >= 0 && blocks_.metric() == BlockMetric::slide;)
          at = go_on(at, way);
    }
    for (met &= ~bit(from); met != 0; met &= met - 1)
      if (going[index(lowest(met))] != 0) pass(lowest(met), going[index(lowest(met))]);
  }

  // Adds the passages of a line for a move.
  template <bool shared>
  void pass_to(const Line& line, const FrameMove& move, LineLane& lane) {
    Line* const target = frame_of<shared>(move.code, move.free);
    const auto& covers = blocks_.kinds()[move.kind].covers;
    const SlotMask before = covers[move.from], after = covers[move.to];
    __builtin_prefetch(target);
    // The arrangements that leave room at `to` become, in order, those of the target that leave room at
    // `from`.
    std::size_t word = 0;
    Word there = leaving(move.free, before, 0);
    const auto next_there = [&] {
      while (there == 0) there = leaving(move.free, before, ++word);
    };
    for (std::size_t earlier = 0; earlier < line.number; ++earlier)
      for (Word left = leaving(line.free, after, earlier); left != 0; left &= left - 1) {
        next_there();
        there &= there - 1;
      }
    BlockPassage passage{0, 0, nullptr};
    for (Word left = leaving(line.free, after, line.number); left != 0; left &= left - 1) {
      next_there();
      if ((move.going & left & -left) != 0) {
        if (passage.target != target + word) {
          if (passage.from != 0) lane.made.push_back(passage);
          passage = {0, 0, target + word};
        }
        passage.from |= left & -left;
        passage.to |= there & -there;
      }
      there &= there - 1;
    }
    lane.made.push_back(passage);
  }

  Key code_of(const Line& line, int state) const {
    SlotMask places = 0, left = line.free;
    SlotMask set = line.arrangements->sets[line.number * std::size_t{64} + static_cast<std::size_t>(state)];
    for (; set != 0; set >>= 1, left &= left - 1)
      if ((set & 1) != 0) places |= left & -left;
    return line.code + inner().weight * rank_set(places, inner().anchors);
  }

  template <bool shared>
  static void mark(Line& line, Word states, LineLane& lane) {
    states &= ~line.found;
    if (states == 0) return;
    Word before = line.fresh.load(std::memory_order_relaxed);
    if constexpr (shared) {
      if ((states & ~before) == 0) return;
      before = line.fresh.fetch_or(states, std::memory_order_relaxed);
    } else {
      line.fresh.store(before | states, std::memory_order_relaxed);
    }
    if (before == 0) lane.touched.push_back(&line);
  }

  // Marks what the moves of the inner pieces lead to.
  template <bool shared>
  void move_inner(Line& line, Word states, LineLane& lane) const {
    const Arrangements& all = *line.arrangements;
    Line* const lines = &line - line.number;
    std::array<std::uint8_t, kMaxSlots> cells, number;  // of the free anchors, and their numbers
    std::uint8_t count = 0;
    for (SlotMask left = line.free; left != 0; left &= left - 1, ++count) {
      cells[count] = static_cast<std::uint8_t>(lowest(left));
      number[cells[count]] = count;
    }
    std::array<Word, kMostArrangements / 64> found{};
    for (; states != 0; states &= states - 1) {
      const SlotMask set = all.sets[line.number * std::size_t{64} + static_cast<std::size_t>(lowest(states))];
      SlotMask empty = line.free;
      for (SlotMask left = set; left != 0; left &= left - 1)
        empty &= ~bit(cells[static_cast<std::size_t>(lowest(left))]);
      for (SlotMask left = set; left != 0; left &= left - 1) {
        SlotMask reached = inner_reached(cells[static_cast<std::size_t>(lowest(left))], empty);
        for (; reached != 0; reached &= reached - 1) {
          const int to = number[static_cast<std::size_t>(lowest(reached))];
          const std::size_t at = all.numbers[(set ^ (left & -left)) | bit(to)];
          found[at / 64] |= Word{1} << at % 64;
        }
      }
    }
    for (std::size_t word = 0; word < all.words; ++word) mark<shared>(lines[word], found[word], lane);
  }

  // The anchors to which an inner piece can go where `empty` ones are free.
  SlotMask inner_reached(std::size_t from, SlotMask empty) const {
    SlotMask reached = inner_steps_[from] & empty;
    if (blocks_.metric() == BlockMetric::move) {
      for (SlotMask next = reached; next != 0;) {
        const SlotMask more = inner_steps_[static_cast<std::size_t>(lowest(next))] & empty & ~reached;
        reached |= more;
        next = (next & (next - 1)) | more;
      }
    } else if (blocks_.metric() == BlockMetric::slide && reached != 0) {
      const auto& steps = inner().steps;
      for (std::size_t way = 0; way < kDirections; ++way)
        for (SlotMask at = steps[from][way].to & empty; at != 0;) {
          reached |= at;
          at = steps[static_cast<std::size_t>(lowest(at))][way].to & empty & ~reached;
        }
    }
    return reached;
  }

  template <bool shared>
  void expand(Line& line, Word states, LineLane& lane) {
    move_inner<shared>(line, states, lane);
    // All states found are expanded in the layer that they are found in: then a full line is done with.
    const bool last = line.found == line.arrangements->all[line.number];
    std::span<const BlockPassage> passages;
    if (line.count != Line::kNotBuilt) {
      passages = {line.passages.get(), line.count};
    } else {
      build<shared>(line, lowest(states), lane);
      passages = lane.made;
      if (!last) {
        line.passages = std::make_unique_for_overwrite<BlockPassage[]>(passages.size());
        std::ranges::copy(passages, line.passages.get());
        line.count = static_cast<std::uint32_t>(passages.size());
        lane.passage_bytes += static_cast<std::int64_t>(passages.size_bytes());
      }
    }
    for (const BlockPassage& passage : passages)
      if ((states & passage.from) != 0) __builtin_prefetch(passage.target);
    for (const auto& [from, to, target] : passages)
      if ((states & from) != 0) mark<shared>(*target, passed(states & from, from, to), lane);
    if (last && line.passages) {
      lane.passage_bytes -= static_cast<std::int64_t>(passages.size_bytes());
      line.passages.reset();
      line.count = Line::kNotBuilt;
    }
  }

  // Makes what is fresh in the lines of a lane a part of the next layer.
  static void settle(LineLane& lane) {
    lane.layer.clear();
    lane.states = 0;
    for (Line* line : lane.touched) {
      const Word fresh = line->fresh.load(std::memory_order_relaxed);
      line->fresh.store(0, std::memory_order_relaxed);
      line->found |= fresh;
      lane.states += static_cast<std::uint64_t>(std::popcount(fresh));
      lane.layer.push_back({line, fresh});
    }
    lane.touched.clear();
  }

  static constexpr std::size_t kParts = 64;

  Blocks blocks_;
  std::size_t inner_number_;
  std::vector<Arrangements> arrangements_;         // for each number of free anchors
  std::array<int, kMaxSlots> place_{};             // of an anchor among all of the inner kind
  std::array<SlotMask, kMaxSlots> inner_steps_{};  // for each inner anchor those one step away
  std::array<FramePart, kParts> parts_;
  std::vector<LineLane> lanes_;
  std::vector<std::vector<LineStates>> layers_;
};

}  // namespace

std::unique_ptr<BlockLines> block_lines(const Blocks& blocks) {
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
    const bool small =
        std::ranges::all_of(kind.covers, [](SlotMask cells) { return (cells & (cells - 1)) == 0; });
    if (!small || kind.count == 1) continue;
    int free = std::popcount(kind.anchors);
    for (std::size_t other = 0; other < kinds.size(); ++other)
      if (other != i) free -= least(kinds[other], kind.anchors);
    const std::uint64_t number = binomial(free, kind.count);
    if (free > kMostFree || number > kMostArrangements || number <= most) continue;
    inner = i;
    most_free = free;
    most = number;
  }
  return most == 1 ? nullptr : std::make_unique<Lines>(blocks, inner, most_free);
}

}  // namespace farthest
