#include "farthest/staged_search.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace farthest {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint8_t kFar = 255;
constexpr std::size_t kMostViews = 8;
constexpr std::size_t kMostWords = 256;

std::size_t hash_of(const std::uint8_t* bytes, std::size_t size) {
  std::uint64_t hash = size;
  for (std::size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(hash ^ hash >> 29);
}

void see(const StageView& view, const std::uint8_t* board, std::uint8_t* out) {
  for (const std::uint8_t cell : view.cells) *out++ = view.classes[board[cell]];
}

// Where something seen is, or would be, in an open hash table.
std::size_t place_of(const std::vector<std::uint32_t>& places, const Bytes& seen, const std::uint8_t* wanted,
                     std::size_t size) {
  const std::size_t mask = places.size() - 1;
  std::size_t at = hash_of(wanted, size) & mask;
  while (places[at] != 0 && !std::equal(wanted, wanted + size, seen.data() + (places[at] - 1) * size))
    at = (at + 1) & mask;
  return at;
}

std::vector<std::uint32_t> hashed(const Bytes& seen, std::size_t size, std::size_t slots) {
  std::vector<std::uint32_t> places(slots);
  for (std::size_t number = 0; number * size < seen.size(); ++number)
    places[place_of(places, seen, seen.data() + number * size, size)] =
        static_cast<std::uint32_t>(number + 1);
  return places;
}

// What words make of the numbers of one view; of none where there is no second view.
struct Steps {
  const std::uint32_t* next;
  std::size_t size;
};

// Distances from the pair (0, 0), nearest first: at first * second.size + second.
Bytes distances_of(const Steps& first, const Steps& second, const Bytes& lengths) {
  const std::size_t words = lengths.size();
  Bytes distances(first.size * second.size, kFar);
  std::vector<std::vector<std::uint32_t>> waiting{{0}};
  distances[0] = 0;
  for (std::size_t depth = 0; depth < waiting.size(); ++depth) {
    const std::vector<std::uint32_t> layer = std::move(waiting[depth]);
    for (const std::uint32_t pair : layer) {
      if (distances[pair] != depth) continue;  // it was reached by fewer moves since
      const std::uint32_t* to = first.next + pair / second.size * words;
      const std::uint32_t* other = second.next + pair % second.size * words;
      for (std::size_t word = 0; word < words; ++word) {
        const std::size_t after = to[word] * second.size + other[word], there = depth + lengths[word];
        if (there >= distances[after] || there >= kFar) continue;
        distances[after] = static_cast<std::uint8_t>(there);
        if (waiting.size() <= there) waiting.resize(there + 1);
        waiting[there].push_back(static_cast<std::uint32_t>(after));
      }
    }
  }
  return distances;
}

}  // namespace

StagedSearch::StagedSearch(BoardMoves moves, Bytes goal, const std::vector<StageParts>& stages)
    : moves_(std::move(moves)), goal_(std::move(goal)) {
  if (moves_.blanked()) throw InvalidArgument("moves of stages need no blanks");
  moves_.check(goal_);
  for (const StageParts& parts : stages) stages_.push_back(compiled(parts));
  if (stages_.empty()) throw InvalidArgument("expected a stage");
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Stage& stage = stages_[i];
    stage.kept.assign(stage.words.size(), 0);
    if (i + 1 == stages_.size()) continue;
    for (std::size_t word = 0; word < stage.words.size(); ++word)
      stage.kept[word] = std::ranges::count(stages_[i + 1].words, stage.words[word]) != 0;
  }
}

void StagedSearch::apply(const Way& way, Bytes& board, Bytes& before) const {
  for (const std::uint16_t move : way) {
    before = board;
    moves_.apply(move, before.data(), board.data());
  }
}

StagedSearch::Stage StagedSearch::compiled(const StageParts& parts) const {
  if (parts.words.empty() || parts.words.size() > kMostWords) throw InvalidArgument("too few or many words");
  if (parts.views.empty() || parts.views.size() > kMostViews) throw InvalidArgument("expected 1 to 8 views");
  Stage stage;
  stage.words = parts.words;
  stage.views = parts.views;
  for (const Way& word : stage.words) {
    if (word.empty() || word.size() > 16) throw InvalidArgument("a word has 1 to 16 moves");
    for (const std::uint16_t move : word)
      if (move >= moves_.count()) throw InvalidArgument("there is no move of this number");
    stage.lengths.push_back(static_cast<std::uint8_t>(word.size()));
  }
  for (std::size_t view = 0; view < stage.views.size(); ++view) number_all(stage, view);
  order(stage);
  const std::size_t words = stage.words.size(), views = stage.views.size();
  const auto size = [&](std::size_t view) { return stage.next[view].size() / words; };
  std::vector<bool> covered(views, false);
  const std::vector<std::uint32_t> still(words, 0);
  const auto steps = [&](std::size_t view) { return Steps{stage.next[view].data(), size(view)}; };
  const auto add = [&](std::size_t a, std::size_t b) {
    const Steps second = a == b ? Steps{still.data(), 1} : steps(b);
    stage.tables.push_back({a, b, second.size, distances_of(steps(a), second, stage.lengths)});
    covered[a] = covered[b] = true;
  };
  for (std::size_t a = 0; a < views; ++a)
    for (std::size_t b = a + 1; b < views; ++b)
      if (size(a) * size(b) <= kMostPairs) add(a, b);
  for (std::size_t a = 0; a < views; ++a)
    if (!covered[a]) add(a, a);
  return stage;
}

// Numbers all that a view sees of the boards that words make of the goal, in the order in which they are
// found.
void StagedSearch::number_all(Stage& stage, std::size_t number) const {
  const StageView& view = stage.views[number];
  const std::size_t size = view.cells.size(), cells = goal_.size();
  if (size == 0 || size > cells || view.classes.size() != 256)
    throw InvalidArgument("a view sees cells of the board by 256 classes");
  for (const std::uint8_t cell : view.cells)
    if (cell >= cells) throw InvalidArgument("there is no such cell");
  std::vector<Bytes> boards{goal_};
  Bytes seen(size), here(size), board, before;
  see(view, goal_.data(), seen.data());
  std::vector<std::uint32_t> places = hashed(seen, size, 1024), next;
  for (std::size_t from = 0; from < boards.size(); ++from) {
    for (const Way& word : stage.words) {
      board = boards[from];
      apply(word, board, before);
      see(view, board.data(), here.data());
      const std::size_t at = place_of(places, seen, here.data(), size);
      if (places[at] == 0) {
        if (boards.size() == kMostSeen) throw InvalidArgument("a view sees too much");
        boards.push_back(board);
        seen.insert(seen.end(), here.begin(), here.end());
        places[at] = static_cast<std::uint32_t>(boards.size());
        next.push_back(places[at] - 1);
        if (2 * boards.size() > places.size()) places = hashed(seen, size, 2 * places.size());
      } else {
        next.push_back(places[at] - 1);
      }
    }
  }
  stage.next.push_back(std::move(next));
  stage.seen.push_back(std::move(seen));
  stage.places.push_back(std::move(places));
}

// Leaves out words that make one word, or none, with the word before, and of two that commute one order. All
// is judged by what words make of boards, exactly: all slots hold different pieces there.
void StagedSearch::order(Stage& stage) const {
  std::vector<Bytes> effects;
  Bytes before;
  for (const Way& word : stage.words) {
    Bytes board = goal_;
    apply(word, board, before);
    effects.push_back(std::move(board));
  }
  const std::size_t words = stage.words.size();
  stage.after.resize(words + 1);
  for (std::size_t a = 0; a < words; ++a)
    for (std::size_t b = 0; b < words; ++b) {
      Bytes both = effects[a], other = effects[b];
      apply(stage.words[b], both, before);
      apply(stage.words[a], other, before);
      if (both == goal_ || std::ranges::find(effects, both) != effects.end() || (a > b && both == other))
        continue;
      stage.after[a].push_back(static_cast<std::uint16_t>(b));
    }
  stage.after[words].resize(words);
  std::iota(stage.after[words].begin(), stage.after[words].end(), std::uint16_t{0});
}

std::optional<std::uint32_t> StagedSearch::Stage::number(std::size_t view, const std::uint8_t* board) const {
  std::array<std::uint8_t, 256> here{};
  const std::size_t size = views[view].cells.size();
  see(views[view], board, here.data());
  const std::uint32_t found = places[view][place_of(places[view], seen[view], here.data(), size)];
  return found == 0 ? std::nullopt : std::optional(found - 1);
}

// One search.
class StagedWalk {
 public:
  StagedWalk(const StagedSearch& search, int below, std::uint64_t budget)
      : search_(search),
        below_(below),
        budget_(budget),
        share_(std::max<std::uint64_t>(1 << 14, budget >> 6)) {}

  void run(Bytes board) { stage(0, board, 0); }

  StagedSearch::Result result() const { return {nodes_, best_}; }

 private:
  using Stage = StagedSearch::Stage;
  using Numbers = std::array<std::uint32_t, kMostViews>;

  bool over() const { return nodes_ >= limit(); }
  std::uint64_t limit() const { return std::min(budget_, limit_); }

  // All ways of a stage, the shortest first; of the last one, the first. used: moves made before.
  void stage(std::size_t number, const Bytes& board, int used) {
    const Stage& here = search_.stages_[number];
    const bool last = number + 1 == search_.stages_.size();
    Numbers numbers{};
    for (std::size_t view = 0; view < here.views.size(); ++view) {
      const auto found = here.number(view, board.data());
      if (!found) return;
      numbers[view] = *found;
    }
    const std::uint64_t outer = limit_;
    if (last) limit_ = std::min(limit_, nodes_ + share_);
    const int before = below_;
    for (int room = here.bound(numbers.data()); used + room < below_ && !over(); ++room) {
      below(number, board, numbers, room, used, here.words.size());
      if (last && below_ < before) break;
    }
    limit_ = outer;
  }

  void below(std::size_t number, const Bytes& board, const Numbers& numbers, int room, int used,
             std::size_t word) {
    const Stage& here = search_.stages_[number];
    if (room == 0) {
      end(number, board, used, word);
      return;
    }
    for (const std::uint16_t next : here.after[word]) {
      const int left = room - here.lengths[next];
      if (left < 0) continue;
      ++nodes_;
      Numbers after;
      for (std::size_t view = 0; view < here.views.size(); ++view)
        after[view] = here.next[view][numbers[view] * here.words.size() + next];
      if (here.bound(after.data()) > left) continue;
      words_.push_back(&here.words[next]);
      below(number, board, after, left, used + here.lengths[next], next);
      words_.pop_back();
      if (over() || used + room >= below_) return;
    }
  }

  // The stage's views see the goal; board: where the stage began.
  void end(std::size_t number, const Bytes& board, int used, std::size_t word) {
    const Stage& here = search_.stages_[number];
    if (number + 1 < search_.stages_.size()) {
      if (word < here.words.size() && here.kept[word])
        return;  // the next stage has it: the stage ended before
      Bytes after = board;
      for (std::size_t i = begun_; i < words_.size(); ++i) search_.apply(*words_[i], after, before_);
      const std::size_t outer = std::exchange(begun_, words_.size());
      stage(number + 1, after, used);
      begun_ = outer;
      return;
    }
    Way way;
    for (const Way* each : words_) way.insert(way.end(), each->begin(), each->end());
    best_ = std::move(way);
    below_ = used;
  }

  const StagedSearch& search_;
  int below_;
  std::uint64_t budget_, share_, nodes_ = 0;
  std::uint64_t limit_ = ~std::uint64_t{0};
  std::vector<const Way*> words_;
  std::size_t begun_ = 0;  // words made before this stage
  std::optional<Way> best_;
  Bytes before_;
};

StagedSearch::Result StagedSearch::search(std::span<const std::uint8_t> board, int below,
                                          std::uint64_t budget) const {
  moves_.check(board);
  StagedWalk walk(*this, below, budget);
  walk.run({board.begin(), board.end()});
  Result found = walk.result();
  if (found.way) {
    Bytes reached(board.begin(), board.end());
    Bytes before;
    apply(*found.way, reached, before);
    if (reached != goal_) found.way.reset();  // views that do not tell boards apart
  }
  return found;
}

}  // namespace farthest
