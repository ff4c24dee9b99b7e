#include "farthest/search.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "check.hpp"

namespace farthest::test {
namespace {

using Labels = std::vector<int>;
using Way = std::vector<std::uint8_t>;
using Random = std::mt19937;

int pick(Random& random, int from, int to) { return std::uniform_int_distribution(from, to)(random); }

std::vector<std::vector<int>> grid(int rows, int columns) {
  std::vector<std::vector<int>> sources;
  for (int cell = 0; cell < rows * columns; ++cell) {
    auto& from = sources.emplace_back();
    if (cell >= columns) from.push_back(cell - columns);
    if (cell % columns > 0) from.push_back(cell - 1);
    if (cell % columns < columns - 1) from.push_back(cell + 1);
    if (cell < (rows - 1) * columns) from.push_back(cell + columns);
  }
  return sources;
}

std::vector<std::vector<int>> rows_of(int rows, int columns) {
  std::vector<std::vector<int>> cells;
  for (int cell = 0; cell < rows * columns; ++cell) {
    if (cell % columns == 0) cells.emplace_back();
    cells.back().push_back(cell);
  }
  return cells;
}

// Passages both ways or one way, in a circle so that the blank gets everywhere, and some across.
std::vector<std::vector<int>> graph(int cells, Random& random) {
  std::vector<std::vector<int>> sources(static_cast<std::size_t>(cells));
  for (int target = 0; target < cells; ++target)
    for (int source = 0; source < cells; ++source)
      if (source != target && (source == (target + 1) % cells || pick(random, 0, cells) < 2))
        sources[static_cast<std::size_t>(target)].push_back(source);
  return sources;
}

struct Sample {
  SlidingGame game;
  std::vector<HeuristicTerm> terms;
  std::vector<std::vector<std::uint8_t>> tables;  // of the patterns
};

// The heuristic from the definition of its parts.
int value_of(const CellTable& table, const Labels& board) {
  int sum = 0;
  for (std::size_t cell = 0; cell < board.size(); ++cell)
    if (board[cell] != 0) sum += table.values[static_cast<std::size_t>(board[cell]) * board.size() + cell];
  return sum;
}

int value_of(const PatternTable& pattern, const Labels& board) {
  std::size_t place = 0;
  std::vector<int> taken;
  for (const int label : pattern.labels) {
    const auto at = static_cast<std::size_t>(std::ranges::find(board, label) - board.begin());
    const int cell = pattern.cell_of[at];
    const auto before = std::ranges::count_if(taken, [&](int other) { return other < cell; });
    place = place * (board.size() - taken.size()) + static_cast<std::size_t>(cell - before);
    taken.push_back(cell);
  }
  return pattern.distances[place];
}

int value_of(const LinearConflict& part, const Labels& board) {
  const int columns = static_cast<int>(part.rows[0].size());
  const auto home = [&](int label) {
    return static_cast<int>(std::ranges::find(part.goal, label) - part.goal.begin());
  };
  int sum = 0;
  std::vector<std::vector<int>> lines(part.rows.size() + part.rows[0].size());
  for (std::size_t at = 0; at < board.size(); ++at) {
    if (board[at] == 0) continue;
    const int cell = static_cast<int>(at), goal = home(board[at]);
    sum += std::abs(cell / columns - goal / columns) + std::abs(cell % columns - goal % columns);
    if (cell / columns == goal / columns) lines[at / part.rows[0].size()].push_back(goal);
    if (cell % columns == goal % columns) lines[part.rows.size() + at % part.rows[0].size()].push_back(goal);
  }
  for (const auto& line : lines) {
    std::size_t kept = 0;  // of all subsets that are in order
    for (unsigned set = 0; set < 1u << line.size(); ++set) {
      std::vector<int> some;
      for (std::size_t i = 0; i < line.size(); ++i)
        if (set >> i & 1) some.push_back(line[i]);
      if (std::ranges::is_sorted(some)) kept = std::max(kept, some.size());
    }
    sum += 2 * static_cast<int>(line.size() - kept);
  }
  return sum;
}

int value_of(const Matching& part, const Labels& board) {
  int sum = 0;
  for (int label = 1; label <= std::ranges::max(board); ++label) {
    std::vector<std::size_t> from, to;
    for (std::size_t cell = 0; cell < board.size(); ++cell) {
      if (board[cell] == label) from.push_back(cell);
      if (part.goal[cell] == label) to.push_back(cell);
    }
    int least = 1 << 20;
    do {
      int total = 0;
      for (std::size_t i = 0; i < to.size(); ++i) total += part.distances[from[i]][to[i]];
      least = std::min(least, total);
    } while (std::ranges::next_permutation(to).found);
    sum += least;
  }
  return sum;
}

int value_of(const Sample& sample, const Labels& board) {
  int greatest = 0;
  for (const HeuristicTerm& term : sample.terms) {
    int sum = 0;
    for (const HeuristicPart& part : term)
      sum += std::visit([&](const auto& of) { return value_of(of, board); }, part);
    greatest = std::max(greatest, sum);
  }
  return greatest;
}

// Plain recursion.
class Naive {
 public:
  Naive(const Sample& sample, int bound, bool first) : sample_(sample), bound_(bound), first_(first) {}

  std::int64_t nodes = 0;
  std::vector<Way> ways;
  std::optional<int> next_bound;

  void visit(const Labels& board, int depth, int last) {
    const bool goal = std::ranges::any_of(sample_.game.goals, [&](const Labels& wanted) {
      return std::ranges::equal(board, wanted,
                                [](int is, int want) { return want == kAnyPiece || is == want; });
    });
    const int estimate = depth + std::max(value_of(sample_, board), goal ? 0 : 1);
    if (estimate > bound_) {
      next_bound = std::min(estimate, next_bound.value_or(estimate));
    } else if (goal) {
      ways.push_back(way_);
    } else {
      const auto blank = std::ranges::find(board, 0) - board.begin();
      for (const int source : sample_.game.sources[static_cast<std::size_t>(blank)]) {
        if (source == last || (first_ && !ways.empty())) continue;
        ++nodes;
        Labels after = board;
        std::swap(after[static_cast<std::size_t>(blank)], after[static_cast<std::size_t>(source)]);
        way_.push_back(static_cast<std::uint8_t>(source));
        visit(after, depth + 1, static_cast<int>(blank));
        way_.pop_back();
      }
    }
  }

 private:
  const Sample& sample_;
  int bound_;
  bool first_;
  Way way_;
};

std::vector<std::uint8_t> bytes(const Labels& board) { return {board.begin(), board.end()}; }

// Whatever the budget: the same sums, and the same solutions in the same order.
void check_budget(const SlidingSearch& search, const SearchNode& root, int bound, std::int64_t budget,
                  const Naive& wanted) {
  std::vector<SearchNode> waiting{root};
  std::int64_t nodes = 0;
  std::vector<Way> ways;
  std::optional<int> next_bound;
  while (!waiting.empty()) {
    const SearchNode node = waiting.back();
    waiting.pop_back();
    const SearchPiece piece = search.run(node, {bound, budget, false, 1000000});
    nodes += piece.nodes;
    CHECK(piece.solutions == static_cast<std::int64_t>(piece.listed.size()));
    ways.insert(ways.end(), piece.listed.begin(), piece.listed.end());
    if (piece.next_bound) next_bound = std::min(*piece.next_bound, next_bound.value_or(*piece.next_bound));
    for (std::size_t i = 0; i < piece.rest.size(); ++i) {
      const SearchNode& left = piece.rest[i];
      CHECK(left.depth == root.depth + static_cast<int>(left.way.size()) && left.depth > node.depth);
      CHECK(i == 0 || left.depth <= piece.rest[i - 1].depth);
      CHECK(std::ranges::find(left.board, 0) - left.board.begin() == left.way.back());
    }
    waiting.insert(waiting.end(), piece.rest.rbegin(), piece.rest.rend());
  }
  CHECK(nodes == wanted.nodes);
  CHECK(ways == wanted.ways);
  CHECK(next_bound == wanted.next_bound);
}

// Bounds up to `most` moves below the root.
void check(const Sample& sample, const Labels& board, int depth, int last, int most) {
  const SlidingSearch search(sample.game, sample.terms);
  CHECK(search.evaluate(bytes(board)) == value_of(sample, board));
  const SearchNode root{bytes(board), depth, last, {}};
  for (int bound = depth; bound <= depth + most; bound += 1 + most / 3) {
    Naive naive(sample, bound, false), first(sample, bound, true);
    naive.visit(board, depth, last);
    first.visit(board, depth, last);
    for (const int budget : {-1, 0, 1, 2, 3, 5, 17, 1000}) check_budget(search, root, bound, budget, naive);
    const SearchPiece one = search.run(root, {bound, -1, true, 7});
    CHECK(one.nodes == first.nodes && one.solutions == static_cast<std::int64_t>(first.ways.size()));
    CHECK(one.listed == first.ways && one.rest.empty());
    CHECK(search.run(root, {bound, -1, false, 2}).listed.size() ==
          std::min<std::size_t>(naive.ways.size(), 2));
  }
}

// A game on these cells: a goal a few moves away from the board, and perhaps one with wildcards.
Labels set_up(Sample& sample, int kinds, Random& random) {
  const auto cells = static_cast<int>(sample.game.sources.size());
  Labels board{0};
  for (int i = 1; i < cells; ++i) board.push_back(i < kinds ? i : pick(random, 1, kinds - 1));
  std::ranges::shuffle(board, random);
  for (int label = 0; label < kinds; ++label)
    sample.game.counts.push_back(static_cast<int>(std::ranges::count(board, label)));
  for (int goal = pick(random, 1, 2); goal > 0; --goal) {
    Labels wanted = board;
    auto blank = static_cast<std::size_t>(std::ranges::find(wanted, 0) - wanted.begin());
    for (int moves = pick(random, 0, 9); moves > 0; --moves) {
      const auto& sources = sample.game.sources[blank];
      const auto to = static_cast<std::size_t>(
          sources[static_cast<std::size_t>(pick(random, 0, static_cast<int>(sources.size()) - 1))]);
      std::swap(wanted[blank], wanted[to]);
      blank = to;
    }
    if (goal == 2)
      for (int& label : wanted)
        if (label != 0 && pick(random, 0, 1) == 0) label = kAnyPiece;
    sample.game.goals.push_back(wanted);
  }
  return board;
}

CellTable table_for(const Sample& sample, int most, Random& random) {
  CellTable table;
  for (std::size_t i = 0; i < sample.game.counts.size() * sample.game.sources.size(); ++i)
    table.values.push_back(pick(random, 0, most));
  return table;
}

void add_pattern(Sample& sample, int labels, HeuristicTerm& term, Random& random) {
  PatternTable part;
  part.cell_of.resize(sample.game.sources.size());
  std::iota(part.cell_of.begin(), part.cell_of.end(), 0);
  if (pick(random, 0, 1) == 0) std::ranges::shuffle(part.cell_of, random);
  for (int label = 1; label < static_cast<int>(sample.game.counts.size()); ++label)
    if (sample.game.counts[static_cast<std::size_t>(label)] == 1) part.labels.push_back(label);
  std::ranges::shuffle(part.labels, random);
  part.labels.resize(std::min(part.labels.size(), static_cast<std::size_t>(labels)));
  if (part.labels.empty()) return;
  std::size_t places = 1;
  for (std::size_t k = 0; k < part.labels.size(); ++k) places *= sample.game.sources.size() - k;
  auto& distances = sample.tables.emplace_back();
  for (std::size_t i = 0; i < places; ++i) distances.push_back(static_cast<std::uint8_t>(pick(random, 0, 3)));
  part.distances = distances;  // which stay where they are when `tables` grows
  term.emplace_back(part);
}

Matching matching_for(const Sample& sample, Random& random) {
  Matching part;
  const std::size_t cells = sample.game.sources.size();
  for (std::size_t from = 0; from < cells; ++from) {
    part.distances.emplace_back();
    for (std::size_t to = 0; to < cells; ++to) part.distances.back().push_back(pick(random, 0, 2));
  }
  for (std::size_t label = 0; label < sample.game.counts.size(); ++label)
    part.goal.insert(part.goal.end(), static_cast<std::size_t>(sample.game.counts[label]),
                     static_cast<int>(label));
  std::ranges::shuffle(part.goal, random);
  return part;
}

TEST(any_graph_any_pieces_and_any_terms_are_searched_as_by_plain_recursion) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    Sample sample;
    const int cells = pick(random, 3, 9);
    sample.game.sources = graph(cells, random);
    const Labels board = set_up(sample, pick(random, 2, cells), random);
    const int terms = pick(random, 0, 3);
    for (int term = 0; term < terms; ++term) {
      auto& parts = sample.terms.emplace_back();
      if (pick(random, 0, 1) == 0) parts.emplace_back(table_for(sample, 2, random));
      if (pick(random, 0, 1) == 0) parts.emplace_back(table_for(sample, 1, random));
      if (pick(random, 0, 1) == 0) add_pattern(sample, pick(random, 1, 4), parts, random);
      if (pick(random, 0, 1) == 0) add_pattern(sample, pick(random, 1, 4), parts, random);
      if (pick(random, 0, 2) == 0) parts.emplace_back(matching_for(sample, random));
    }
    check(sample, board, pick(random, 0, 5), pick(random, -1, cells - 1), 6);
  }
}

TEST(grids_are_searched_as_by_plain_recursion) {
  Random random(2);
  for (const auto& [rows, columns] : {std::pair{3, 3}, {3, 4}, {4, 3}, {4, 4}, {2, 5}, {5, 5}, {2, 2}})
    for (const int most : {0, 1, 7, 255}) {
      Sample sample;
      sample.game.sources = grid(rows, columns);
      const Labels board = set_up(sample, pick(random, 2, rows * columns), random);
      sample.terms = {{table_for(sample, most, random)}};
      check(sample, board, pick(random, 0, 5), pick(random, -1, rows * columns - 1), 9);
    }
}

TEST(patterns_alone_are_searched_as_by_plain_recursion) {
  Random random(4);
  for (const auto& [terms, patterns] : {std::pair{1, 1}, {1, 2}, {2, 1}, {2, 2}, {3, 2}, {4, 2}, {5, 2}})
    for (const auto& sources : {grid(2, 3), grid(3, 4), grid(1, 5), graph(5, random)}) {
      Sample sample;
      sample.game.sources = sources;
      const Labels board = set_up(sample, static_cast<int>(sources.size()), random);
      for (int term = 0; term < terms; ++term) {
        auto& parts = sample.terms.emplace_back();
        for (int part = 0; part < patterns; ++part) add_pattern(sample, pick(random, 1, 3), parts, random);
      }
      check(sample, board, pick(random, 0, 5), pick(random, -1, 4), 9);
    }
}

TEST(linear_conflicts_and_many_equal_pieces) {
  Random random(3);
  for (const auto& [rows, columns] : {std::pair{3, 3}, {2, 4}, {1, 8}, {7, 2}}) {
    Sample sample;
    sample.game.sources = grid(rows, columns);
    const Labels board = set_up(sample, rows * columns, random);
    Labels goal = board;
    std::ranges::shuffle(goal, random);
    sample.terms = {{LinearConflict{rows_of(rows, columns), goal}}};
    check(sample, board, 0, -1, 8);
  }
  Sample sample;  // more cells than sets of them have tables for
  sample.game.sources = grid(3, 6);
  const Labels board = set_up(sample, 6, random);
  sample.terms = {{matching_for(sample, random)}};
  check(sample, board, 0, -1, 5);
}

TEST(a_search_may_go_deeper_than_calls_can) {
  Sample sample;  // a ring where the blank goes round and round
  sample.game = {{{1}, {2}, {3}, {0}}, {1, 1, 1, 1}, {{0, 2, 1, 3}}};
  sample.terms = {};
  const SlidingSearch ring(sample.game, sample.terms);
  CHECK(ring.run({{0, 1, 2, 3}, 0, -1, {}}, {1000000, -1, false, 0}).nodes == 1000000);
  sample.game.sources = grid(3, 3);
  sample.game.counts.assign(9, 1);
  sample.game.goals = {{0, 2, 1, 3, 4, 5, 6, 7, 8}};
  const SlidingSearch square(sample.game, sample.terms);
  const SearchNode root{{0, 1, 2, 3, 4, 5, 6, 7, 8}, 0, -1, {}};
  for (const int bound : {900, 1100, 3000}) {
    const SearchPiece piece = square.run(root, {bound, 20000, false, 0});
    CHECK(piece.nodes <= 20000 && piece.nodes > 19990);
    CHECK(piece.rest.front().depth > bound - 20);
  }
}

TEST(wrong_searches_are_refused) {
  const SlidingGame game{grid(2, 2), {1, 1, 1, 1}, {{0, 1, 2, 3}}};
  const CellTable table{std::vector<int>(16)};
  const std::vector<std::uint8_t> distances(12);
  const auto with = [&](auto change) {
    SlidingGame changed = game;
    change(changed);
    return SlidingSearch(changed, {{table}});
  };
  CHECK_THROWS(with([](auto& g) { g.sources.clear(); }));
  CHECK_THROWS(with([](auto& g) { g.sources[0] = {2, 1}; }));
  CHECK_THROWS(with([](auto& g) { g.sources[0] = {0}; }));
  CHECK_THROWS(with([](auto& g) { g.sources[0] = {4}; }));
  CHECK_THROWS(with([](auto& g) { g.sources[0] = {-1}; }));
  CHECK_THROWS(with([](auto& g) { g.counts = {1, 1, 1}; }));
  CHECK_THROWS(with([](auto& g) { g.counts = {2, 1, 1}; }));
  CHECK_THROWS(with([](auto& g) { g.counts = {4}; }));
  CHECK_THROWS(with([](auto& g) { g.counts = {1, 4, -1}; }));
  CHECK_THROWS(with([](auto& g) { g.counts = {1, 2147483647, 2147483647, 5}; }));
  CHECK_THROWS(with([](auto& g) { g.goals = {{0, 1, 2}}; }));
  CHECK_THROWS(with([](auto& g) { g.goals = {{0, 1, 2, 4}}; }));
  CHECK_THROWS(with([](auto& g) { g.goals = {{-1, 1, 2, 3}}; }));
  CHECK_THROWS(with([](auto& g) { g.goals = {{0, 0, 2, 3}}; }));
  const auto part = [&](HeuristicPart of) { return SlidingSearch(game, {{std::move(of)}}); };
  const std::vector<int> cells{0, 1, 2, 3};
  CHECK_THROWS(part(CellTable{std::vector<int>(15)}));
  CHECK_THROWS(part(CellTable{std::vector<int>(16, 256)}));
  CHECK_THROWS(part(CellTable{std::vector<int>(16, -1)}));
  CHECK_THROWS(part(PatternTable{{}, distances, cells}));
  CHECK_THROWS(part(PatternTable{{1}, distances, cells}));
  CHECK_THROWS(part(PatternTable{{1, 1}, distances, cells}));
  CHECK_THROWS(part(PatternTable{{0, 1}, distances, cells}));
  CHECK_THROWS(part(PatternTable{{4, 1}, distances, cells}));
  CHECK_THROWS(part(PatternTable{{1, 2}, distances, {0, 1, 2}}));
  CHECK_THROWS(part(PatternTable{{1, 2}, distances, {0, 1, 2, 2}}));
  CHECK_THROWS(part(PatternTable{{1, 2}, distances, {0, 1, 2, 4}}));
  CHECK_THROWS(part(LinearConflict{{}, cells}));
  CHECK_THROWS(part(LinearConflict{{{0, 1}, {2}}, cells}));
  CHECK_THROWS(part(LinearConflict{{{0, 1}, {2, 2}}, cells}));
  CHECK_THROWS(part(LinearConflict{{{0, 1}, {2, 4}}, cells}));
  CHECK_THROWS(part(LinearConflict{{{0, 1, 2, 3}}, cells}));
  CHECK_THROWS(part(LinearConflict{{{0, 1}, {2, 3}}, {0, 1, 2, 2}}));
  CHECK_THROWS(part(Matching{{{0, 1, 2, 3}}, cells}));
  CHECK_THROWS(part(Matching{{4, {0, 1, 2}}, cells}));
  CHECK_THROWS(part(Matching{{4, {0, 1, 2, 1001}}, cells}));
  CHECK_THROWS(part(Matching{{4, {0, 1, 2, 3}}, {0, 1, 2, 2}}));
  CHECK_THROWS(part(Matching{{4, {0, 1, 2, 3}}, {0, 1, 2, -1}}));
  CHECK_THROWS(SlidingSearch(game, {HeuristicTerm(200, CellTable{std::vector<int>(16, 255)})}));
  const SlidingGame alike{grid(2, 2), {1, 2, 1}, {{0, 1, 1, 2}}};
  CHECK_THROWS(SlidingSearch(alike, {{PatternTable{{1, 2}, distances, cells}}}));
  CHECK_THROWS(SlidingSearch(alike, {{LinearConflict{{{0, 1}, {2, 3}}, {0, 1, 1, 2}}}}));
  const SlidingSearch search(game, {{table}});
  CHECK_THROWS((search.evaluate(std::vector<std::uint8_t>{0, 1, 2}), 0));
  CHECK_THROWS((search.evaluate(std::vector<std::uint8_t>{0, 1, 2, 2}), 0));
  CHECK_THROWS((search.evaluate(std::vector<std::uint8_t>{0, 1, 2, 255}), 0));
  CHECK_THROWS((search.run({{0, 1, 2, 3}, -1, -1, {}}, {}), 0));
  CHECK_THROWS((search.run({{0, 1, 2, 3}, 0, 4, {}}, {}), 0));
  CHECK_THROWS((search.run({{0, 1, 2, 3}, 0, -2, {}}, {}), 0));
  CHECK_THROWS((search.run({{0, 1, 2, 3}, 0, -1, {}}, {-1, -1, false, 0}), 0));
  CHECK_THROWS((search.run({{0, 1, 3}, 0, -1, {}}, {}), 0));
}

}  // namespace
}  // namespace farthest::test
