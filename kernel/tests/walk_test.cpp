// Searches of boards against plain loops: moves, bounds, depth first with any budget, graph searches.
#include "farthest/walk.hpp"

#include <algorithm>

#include "check.hpp"
#include "farthest/graph_search.hpp"
#include "walk_samples.hpp"

namespace farthest::test {
namespace {

// Gaps between contents that are not neighbours in number.
GapTable gaps(int labels, int turns) {
  const int contents = labels * turns;
  GapTable out{turns, {}, {}};
  const auto value = [&](int content) {
    return turns == 1 || content % 2 == 0 ? content / turns : -1 - content / turns;
  };
  for (int a = 0; a < contents; ++a) {
    for (int b = 0; b < contents; ++b) {
      const int step = value(b) - value(a);
      out.pairs.push_back(turns == 1 ? std::abs(step) != 1 : step != 1);
    }
    out.last.push_back(value(a) != labels - 1);
  }
  return out;
}

SlotTable table(const Puzzle& puzzle, Random& random, int turns, int divisor) {
  SlotTable out{{}, turns, divisor};
  for (int i = 0; i < puzzle.slots * puzzle.labels * turns; ++i)
    out.table.push_back(static_cast<std::uint8_t>(random.below(9)));
  return out;
}

BoardBounds nothing(const BoardMoves& moves) { return {moves, {}, {}, {}, {}}; }

TEST(moves_of_boards_are_those_of_plain_loops) {
  for (const Puzzle& puzzle : puzzles()) {
    const BoardMoves moves = puzzle.made();
    std::vector<std::uint64_t> legal(static_cast<std::size_t>(moves.move_words()));
    Random random(1);
    Board board = puzzle.board;
    for (int step = 0; step < 200; ++step) {
      const SlotMask blanks = moves.blanks(board.data());
      moves.legal(blanks, legal.data());
      std::vector<Board> reached;
      for (int m = 0; m < moves.count(); ++m) {
        const auto wanted = after(puzzle, puzzle.moves[static_cast<std::size_t>(m)], board);
        const bool can = (legal[static_cast<std::size_t>(m / 64)] >> (m % 64) & 1) != 0;
        CHECK(can == wanted.has_value());
        if (!wanted) continue;
        Board next = board;
        moves.apply(m, board.data(), next.data());
        CHECK(next == *wanted);
        CHECK(moves.blanks_after(m, blanks) == moves.blanks(next.data()));
        if (moves.back(m) >= 0) {
          Board home = next;
          moves.apply(moves.back(m), next.data(), home.data());
          CHECK(home == board);
        }
        reached.push_back(next);
      }
      board = reached[random.below(reached.size())];
    }
  }
}

TEST(bounds_kept_up_to_date_are_those_worked_out_anew) {
  Random random(2);
  for (const Puzzle& puzzle : puzzles()) {
    const BoardMoves moves = puzzle.made();
    std::vector<GapTable> gap_tables;
    const bool mixed = std::ranges::adjacent_find(puzzle.moduli, std::not_equal_to{}) != puzzle.moduli.end();
    gap_tables.push_back(gaps(puzzle.labels, 1));
    if (!puzzle.moduli.empty() && !mixed) gap_tables.push_back(gaps(puzzle.labels, puzzle.moduli[0]));
    // One in which the order matters: nothing is kept where neighbours are turned round.
    gap_tables.push_back(gap_tables[0]);
    for (auto& pair : gap_tables.back().pairs) pair = static_cast<std::uint8_t>(random.below(4));
    const std::size_t components = 2 + gap_tables.size();
    const int turns = puzzle.moduli.empty() ? 1 : 3;
    const BoardBounds bounds(moves, {table(puzzle, random, 1, 1), table(puzzle, random, turns, 3)},
                             gap_tables, {}, {{0, 2}, {1}});
    std::vector<int> values(components), stepped(components), anew(components);
    std::vector<std::uint64_t> legal(static_cast<std::size_t>(moves.move_words()));
    Board board = puzzle.board;
    bounds.start(board.data(), values.data());
    CHECK(bounds.greatest(values.data()) == std::max(values[0] + values[2], (values[1] + 2) / 3));
    for (int step = 0; step < 300; ++step) {
      moves.legal(moves.blanks(board.data()), legal.data());
      int m = 0;
      do m = static_cast<int>(random.below(static_cast<std::uint64_t>(moves.count())));
      while ((legal[static_cast<std::size_t>(m / 64)] >> (m % 64) & 1) == 0);
      bounds.step(m, board.data(), values.data(), stepped.data());
      Board next = board;
      moves.apply(m, board.data(), next.data());
      bounds.start(next.data(), anew.data());
      CHECK(stepped == anew);
      board = next;
      values = stepped;
    }
  }
}

TEST(walks_count_all_shortest_ways_whatever_the_budget) {
  for (const Puzzle& puzzle : puzzles()) {
    Random random(3);
    const auto all = distances(puzzle, puzzle.board);
    Board start = puzzle.board;
    for (const auto& [board, depth] : all)
      if (depth <= 5 && depth > all.at(start)) start = board;
    const auto back = distances(puzzle, start);
    const BoardMoves moves = puzzle.made();
    const WalkProblem problem(moves, {moves.cells(), {puzzle.board}}, nothing(moves));
    const int distance = all.at(start);
    CHECK(bound_of(problem, start) == 1);
    CHECK(bound_of(problem, puzzle.board) == 0);
    for (int bound = 1; bound <= distance; ++bound) {
      const Totals whole = searched(problem, start, bound, 1u << 30, false);
      CHECK(whole.solutions == (bound < distance ? 0 : ways(puzzle, all, start)));
      CHECK(whole.next_bound == bound + 1);
      const Totals first = searched(problem, start, bound, 1u << 30, true);
      for (const std::uint64_t budget : {0u, 1u, 3u, 50u}) {
        CHECK(searched(problem, start, bound, budget, false) == whole);
        // What is given back is counted before its turn; the solution is the same.
        CHECK(searched(problem, start, bound, budget, true).listed == first.listed);
      }
      CHECK(first.solutions == (bound < distance ? 0u : 1u));
      if (bound == distance) CHECK(first.listed.at(0) == whole.listed.at(0));
    }
  }
}

TEST(maps_of_patterns_bound_as_they_say) {
  // The exact distances of five pancakes as a map: no board is expanded in vain.
  const Puzzle puzzle = puzzles()[2];
  const Layout layout(5, {1, 1, 1, 1, 1}, {});
  const auto all = distances(puzzle, {0, 1, 2, 3, 4});
  std::vector<std::uint8_t> stored(layout.keys());
  for (const auto& [board, depth] : all) stored[layout.encode(board)] = static_cast<std::uint8_t>(depth);
  const MapTable map{layout, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}, {}, {}, {0, 0, 0, 0, 0}, stored};
  const BoardMoves moves = puzzle.made();
  const WalkProblem problem(moves, {5, {{0, 1, 2, 3, 4}}}, {moves, {}, {gaps(5, 1)}, {map}, {{0}, {1}}});
  for (const auto& [board, depth] : all) {
    CHECK(bound_of(problem, board) == depth);
    const Totals found = searched(problem, board, depth, 5, false);
    CHECK(found.solutions == ways(puzzle, all, board));
  }
  stored[layout.encode(puzzle.board)] = 255;
  CHECK(bound_of(problem, puzzle.board) == kUnreachable);
  CHECK(walk(problem, {puzzle.board}, {50, 1000, false, 1}).next_bound == WalkResult::kNone);
}

TEST(goals_with_cells_that_may_hold_anything) {
  const Puzzle puzzle = puzzles()[0];
  const BoardMoves moves = puzzle.made();
  const std::uint8_t any = BoardGoals::kAnything;
  const BoardGoals goals(6, {{0, any, any, 0, any, any}, {0, 0, 1, 1, 2, 3}, {0, 0, 3, 2, 1, 1}});
  const auto is_goal = [](const Board& board) {
    return (board[0] == 0 && board[3] == 0) || board == Board{0, 0, 1, 1, 2, 3} ||
           board == Board{0, 0, 3, 2, 1, 1};
  };
  const WalkProblem problem(moves, goals, nothing(moves));
  for (const auto& [board, depth] : distances(puzzle, puzzle.board))
    CHECK((bound_of(problem, board) == 0) == is_goal(board));
}

TEST(graph_searches_find_shortest_ways) {
  for (const Puzzle& puzzle : puzzles()) {
    Random random(4);
    const BoardMoves moves = puzzle.made();
    const auto all = distances(puzzle, puzzle.board);
    const WalkProblem problem(moves, {moves.cells(), {puzzle.board}}, nothing(moves));
    std::size_t tried = 0;
    for (const auto& [board, depth] : all) {
      if (tried++ % (all.size() / 20 + 1) != 0) continue;
      for (const auto order : {SearchOrder::breadth, SearchOrder::depth, SearchOrder::best}) {
        const auto search = graph_search(problem, order, board, 1u << 28);
        while (search->advance(10) == GraphSearch::State::open) {
        }
        CHECK(search->advance(1) == GraphSearch::State::found);
        Board at = board;
        const Way way = search->moves();
        for (const auto move : way) at = after(puzzle, puzzle.moves[move], at).value();
        CHECK(at == puzzle.board);
        if (order != SearchOrder::depth) CHECK(static_cast<int>(way.size()) == depth);
        CHECK(search->expanded() <= search->stored());
        CHECK(search->generated() >= search->stored() - 1);
        CHECK(search->stored() <= all.size());
      }
    }
  }
}

TEST(graph_searches_open_boards_again) {
  // Bounds that are inconsistent, and never too large: some part of the distance.
  const Puzzle puzzle = puzzles()[2];
  const Layout layout(5, {1, 1, 1, 1, 1}, {});
  const auto all = distances(puzzle, {0, 1, 2, 3, 4});
  Random random(6);
  std::vector<std::uint8_t> stored(layout.keys());
  for (const auto& [board, depth] : all)
    stored[layout.encode(board)] =
        static_cast<std::uint8_t>(random.below(static_cast<std::uint64_t>(depth) + 1));
  const MapTable map{layout, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}, {}, {}, {0, 0, 0, 0, 0}, stored};
  const BoardMoves moves = puzzle.made();
  const WalkProblem problem(moves, {5, {{0, 1, 2, 3, 4}}}, {moves, {}, {}, {map}, {{0}}});
  for (const auto& [board, depth] : all) {
    const auto search = graph_search(problem, SearchOrder::best, board, 1u << 28);
    CHECK(search->advance(1u << 20) == GraphSearch::State::found);
    CHECK(static_cast<int>(search->moves().size()) == depth);
  }
}

TEST(graph_searches_end_without_a_goal_or_without_memory) {
  const Puzzle puzzle = puzzles()[1];
  const BoardMoves moves = puzzle.made();
  Board other = puzzle.board;
  std::swap(other[1], other[2]);
  const WalkProblem problem(moves, {6, {other}}, nothing(moves));
  for (const auto order : {SearchOrder::breadth, SearchOrder::depth, SearchOrder::best}) {
    const auto search = graph_search(problem, order, puzzle.board, 1u << 28);
    CHECK(search->advance(1u << 20) == GraphSearch::State::exhausted);
    CHECK(search->expanded() == 360);
    CHECK(search->stored() == 360);
    CHECK(search->moves().empty());
    CHECK(graph_search(problem, order, puzzle.board, 1000)->advance(1) == GraphSearch::State::full);
  }
}

TEST(boards_of_all_sizes_are_told_apart) {
  Random random(7);
  for (const int slots : {2, 7, 8, 9, 16, 17, 32, 33, 64}) {
    // A cycle of all slots and its inverse, and an exchange of two.
    Move round, swap;
    for (int i = 0; i < slots; ++i) {
      round.to.push_back(static_cast<std::uint8_t>((i + 1) % slots));
      swap.to.push_back(static_cast<std::uint8_t>(i));
    }
    std::swap(swap.to[0], swap.to[1]);
    for (const bool turned : {false, true}) {
      const std::vector<std::uint8_t> moduli(turned ? static_cast<std::size_t>(slots) : 0, 3);
      if (turned) swap.delta.assign(static_cast<std::size_t>(slots), 1);
      const Puzzle puzzle{slots, slots, moduli, {}, {round, inverse(round), swap}, {}};
      Board goal;
      for (int i = 0; i < slots; ++i) goal.push_back(static_cast<std::uint8_t>(i));
      if (turned) goal.resize(2 * goal.size());
      Board board = goal;
      for (int i = 0; i < 3; ++i) board = after(puzzle, puzzle.moves[random.below(2) * 2], board).value();
      const BoardMoves moves = puzzle.made();
      const WalkProblem problem(moves, {moves.cells(), {goal}}, nothing(moves));
      const auto search = graph_search(problem, SearchOrder::breadth, board, 1u << 28);
      CHECK(search->advance(1u << 12) == GraphSearch::State::found);
      const auto length = static_cast<int>(search->moves().size());
      CHECK(searched(problem, board, length, 3, false).solutions > 0);
      if (length > 0) CHECK(searched(problem, board, length - 1, 3, false).solutions == 0);
    }
  }
}

TEST(what_does_not_fit_together_is_refused) {
  const Puzzle puzzle = puzzles()[0];
  const Puzzle pancakes = puzzles()[2];
  const BoardMoves moves = puzzle.made();
  const auto with = [&](auto change) {
    Puzzle other = puzzle;
    change(other);
    return other.made();
  };
  CHECK_THROWS(with([](Puzzle& p) { p.slots = 65; }));
  CHECK_THROWS(with([](Puzzle& p) { p.labels = 0; }));
  CHECK_THROWS(with([](Puzzle& p) { p.moves.clear(); }));
  CHECK_THROWS(with([](Puzzle& p) { p.moves.resize(1025, p.moves[0]); }));
  CHECK_THROWS(with([](Puzzle& p) { p.moves[0].to[0] = 6; }));
  CHECK_THROWS(with([](Puzzle& p) { p.moves[0].require = 0; }));
  CHECK_THROWS(with([](Puzzle& p) { p.moves[0].forbid = 0; }));
  CHECK_THROWS(with([](Puzzle& p) { p.moves[0].require |= bit(5); }));
  CHECK_THROWS(with([](Puzzle& p) { p.moves[0].delta.assign(6, 1); }));
  CHECK_THROWS(with([](Puzzle& p) { p.moduli.assign(5, 2); }));
  CHECK_THROWS(with([](Puzzle& p) { p.moduli.assign(6, 65); }));
  CHECK_THROWS(with([](Puzzle& p) { p.moduli = {2, 1, 1, 1, 1, 1}; }));
  CHECK_THROWS(with([](Puzzle& p) { p.ignored = {1}; }));
  CHECK_THROWS(BoardGoals(6, {}));
  CHECK_THROWS(BoardGoals(6, {{0, 1}}));
  CHECK_THROWS(WalkProblem(moves, {5, {{0, 1, 2, 3, 4}}}, nothing(moves)));
  CHECK_THROWS(BoardBounds(moves, {{{1, 2, 3}}}, {}, {}, {}));
  CHECK_THROWS(BoardBounds(moves, {{std::vector<std::uint8_t>(48), 2}}, {}, {}, {}));
  CHECK_THROWS(BoardBounds(moves, {{std::vector<std::uint8_t>(24), 1, 0}}, {}, {}, {}));
  CHECK_THROWS(BoardBounds(moves, {}, {gaps(3, 1)}, {}, {}));
  CHECK_THROWS(BoardBounds(moves, {}, {gaps(4, 2)}, {}, {}));
  CHECK_THROWS(BoardBounds(moves, {}, {}, {}, {{0}}));
  const std::vector<std::uint8_t> stored(120);
  const MapTable right{
      Layout(5, {1, 1, 1, 1, 1}, {}), {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}, {}, {}, {0, 0, 0, 0, 0}, stored};
  const auto map_with = [&](auto change) {
    MapTable map = right;
    change(map);
    return BoardBounds(pancakes.made(), {}, {}, {map}, {{0}});
  };
  CHECK(map_with([](MapTable&) {}).components() == 1);
  CHECK_THROWS(map_with(
      [&](MapTable& m) { m.table = DistanceTable(std::span(stored).first(119), 119, {}, nullptr); }));
  CHECK_THROWS(map_with([](MapTable& m) { m.class_of.pop_back(); }));
  CHECK_THROWS(map_with([](MapTable& m) { m.places[0] = 5; }));
  CHECK_THROWS(map_with([](MapTable& m) { m.places.pop_back(); }));
  CHECK_THROWS(map_with([](MapTable& m) { m.turn_places.assign(5, 0); }));
  CHECK_THROWS(map_with([](MapTable& m) { m.digits.push_back({0, 0, 1}); }));
  CHECK_THROWS(map_with([](MapTable& m) { m.ignored.clear(); }));
  CHECK_THROWS(map_with([](MapTable& m) { m.layout.reset(); }));
  const WalkProblem problem(moves, {6, {puzzle.board}}, nothing(moves));
  CHECK_THROWS(bound_of(problem, Board{0, 1, 2}));
  CHECK_THROWS(bound_of(problem, Board{0, 1, 2, 0, 4, 1}));
  CHECK_THROWS(walk(problem, {puzzle.board, 0, 14}, {5, 10, false, 1}));
  CHECK_THROWS(walk(problem, {puzzle.board, 0, 0, {14}}, {5, 10, false, 1}));
  CHECK_THROWS(walk(problem, {puzzle.board, -1, 0}, {5, 10, false, 1}));
  CHECK_THROWS(walk(problem, {puzzle.board, 0, 0}, {kMaxBound + 1, 10, false, 1}));
  CHECK_THROWS(graph_search(problem, SearchOrder::best, Board{0}, 1000));
}

}  // namespace
}  // namespace farthest::test
