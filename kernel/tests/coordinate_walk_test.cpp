// Searches by coordinates: keys are those of layouts, orders of moves those that their effects allow, lengths
// and numbers of solutions those of plain loops.
#include <algorithm>
#include <numeric>

#include "check.hpp"
#include "walk_samples.hpp"

namespace farthest::test {
namespace {

// Moves of any kind within the layout's orbits, on boards whose cells are the layout's slots in another
// order.
Puzzle puzzle_on(const Layout& layout, const std::vector<std::uint8_t>& places, Random& random) {
  const auto slots = static_cast<std::size_t>(layout.slots());
  Puzzle puzzle{layout.slots(), layout.classes(), std::vector<std::uint8_t>(slots), {}, {}, {}};
  for (std::size_t i = 0; i < slots; ++i) puzzle.moduli[places[i]] = layout.moduli()[i];
  for (const Move& within : moves_within(layout, 7, random)) {
    Move move{std::vector<std::uint8_t>(slots), 0, 0, std::vector<std::uint8_t>(slots)};
    for (std::size_t i = 0; i < slots; ++i) {
      move.to[places[i]] = places[within.to[i]];
      move.delta[places[i]] = within.delta.empty() ? std::uint8_t{0} : within.delta[i];
    }
    puzzle.moves.push_back(move);
  }
  return puzzle;
}

std::vector<Layout> layouts() {
  const auto slots = [](int first, int count) { return first_slots(count) << first; };
  std::vector<int> seven(7);
  std::iota(seven.begin(), seven.end(), 0);
  std::vector<Layout> out;
  out.emplace_back(12, std::vector<int>{1, 1, 1, 1, 1, 1, 1, 5}, std::vector<std::uint8_t>{},
                   std::vector<Orbit>{{slots(0, 12), 2}}, seven);
  out.emplace_back(14, std::vector<int>{1, 1, 1, 1, 1, 1, 8}, std::vector<std::uint8_t>{});
  out.emplace_back(11, std::vector<int>{2, 1, 3, 1, 1, 1, 2}, std::vector<std::uint8_t>{},
                   std::vector<Orbit>{{slots(0, 6), 1}, {slots(6, 5), 3}}, std::vector<int>{4, 3});
  out.emplace_back(9, std::vector<int>{1, 1, 1, 1, 1, 1, 1, 1, 1}, std::vector<std::uint8_t>{},
                   std::vector<Orbit>{{slots(4, 5), 3}, {slots(0, 3), 4}, {slots(3, 1), 2}},
                   std::vector<int>{8, 0, 1, 2, 3, 4, 6});
  out.emplace_back(6, std::vector<int>{1, 1, 4}, std::vector<std::uint8_t>{},
                   std::vector<Orbit>{{slots(0, 6), 5}}, std::vector<int>{0, 1});
  return out;
}

TEST(keys_by_coordinates_are_those_of_layouts) {
  Random random(11);
  for (const Layout& layout : layouts()) {
    const auto slots = static_cast<std::size_t>(layout.slots());
    const auto places = random.permutation(layout.slots());
    const Puzzle puzzle = puzzle_on(layout, places, random);
    const BoardMoves moves = puzzle.made();
    MapTable map{layout, {}, places, {}, {}, std::vector<std::uint8_t>(slots), {}};
    for (int label = 0; label < layout.classes(); ++label) {
      map.class_of.push_back(static_cast<std::uint8_t>(label));
      map.ignored.resize(static_cast<std::size_t>(layout.classes()));
    }
    if (layout.has_twists())
      for (const auto place : places) map.turn_places.push_back(static_cast<std::uint8_t>(slots + place));
    const auto coordinates = MapCoordinates::of(moves, map);
    CHECK(coordinates.has_value());
    if (!coordinates) continue;
    const std::size_t width = coordinates->size();
    std::vector<std::uint8_t> classes(slots), twists(slots);
    layout.decode(random.below(layout.keys()), classes, twists);
    Board board(2 * slots);
    for (std::size_t i = 0; i < slots; ++i) {
      board[places[i]] = classes[i];
      board[slots + places[i]] = twists[i];
    }
    std::vector<std::uint32_t> values(width);
    coordinates->start(board.data(), values.data());
    std::vector<std::uint16_t> all(puzzle.moves.size());
    std::iota(all.begin(), all.end(), std::uint16_t{0});
    std::vector<std::uint32_t> after_moves(all.size() * (width + 1));
    std::vector<Key> keys(all.size());
    for (int step = 0; step < 200; ++step) {
      coordinates->step(values.data(), all.data(), all.size(), after_moves.data(), width + 1, keys.data());
      std::vector<Board> reached;
      for (std::size_t m = 0; m < all.size(); ++m) {
        reached.push_back(after(puzzle, puzzle.moves[m], board).value());
        for (std::size_t i = 0; i < slots; ++i) {
          classes[i] = reached[m][places[i]];
          twists[i] = reached[m][slots + places[i]];
        }
        CHECK(keys[m] == layout.encode(classes, twists));
      }
      const std::size_t m = random.below(all.size());
      std::copy_n(after_moves.begin() + static_cast<std::ptrdiff_t>(m * (width + 1)), width, values.begin());
      board = reached[m];
    }
  }
}

TEST(entries_by_coordinates_are_those_of_keys) {
  using Terms = std::vector<std::vector<std::uint32_t>>;
  Random random(13);
  for (const Layout& layout : layouts()) {
    if (!layout.has_twists()) continue;
    // Where pieces are leads; lists are told at random.
    std::vector<Representatives::Digit> digits;
    for (int j = 0; j < layout.classes(); ++j) digits.push_back({layout.radix(j), 0});
    for (int i = 0; i < layout.twist_digits(); ++i) digits.push_back({layout.twist_radix(i), 1});
    const std::size_t leads = layout.keys() / layout.twists(), turned = layout.twists();
    if (leads > 100000) continue;
    std::vector<std::uint64_t> first(leads);
    std::vector<std::uint32_t> lists(leads), terms(3 * turned);
    for (auto& each : first) each = random.below(1000);
    for (auto& each : lists) each = static_cast<std::uint32_t>(random.below(3));
    for (auto& each : terms) each = static_cast<std::uint32_t>(random.below(1000));
    const auto shared = std::make_shared<const Representatives>(digits, 2000, first, lists, Terms{terms});
    for (int i = 0; i < 100; ++i) {
      const Key key = random.below(layout.keys());
      const std::size_t lead = key / turned;
      CHECK(shared->entry(key) == first[lead] + terms[lists[lead] * turned + key % turned]);
    }
    const std::vector<std::uint8_t> some(2000);
    const auto slots = static_cast<std::size_t>(layout.slots());
    const auto places = random.permutation(layout.slots());
    const Puzzle puzzle = puzzle_on(layout, places, random);
    const BoardMoves moves = puzzle.made();
    MapTable map{layout, {}, places, {}, {}, std::vector<std::uint8_t>(slots), {}};
    for (int label = 0; label < layout.classes(); ++label)
      map.class_of.push_back(static_cast<std::uint8_t>(label));
    for (const auto place : places) map.turn_places.push_back(static_cast<std::uint8_t>(slots + place));
    const auto plain = MapCoordinates::of(moves, map);
    map.table = DistanceTable(some, 2000, {}, shared);
    const auto kept = MapCoordinates::of(moves, map);
    CHECK(plain && kept && plain->size() == kept->size());
    if (!plain || !kept) continue;
    Board board(2 * slots);
    std::vector<std::uint8_t> classes(slots), twists(slots);
    layout.decode(random.below(layout.keys()), classes, twists);
    for (std::size_t i = 0; i < slots; ++i) {
      board[places[i]] = classes[i];
      board[slots + places[i]] = twists[i];
    }
    std::vector<std::uint32_t> values(plain->size()), after(values.size());
    plain->start(board.data(), values.data());
    for (int step = 0; step < 300; ++step) {
      const auto move = static_cast<std::uint16_t>(random.below(puzzle.moves.size()));
      std::vector<std::uint32_t> room(values.size() * puzzle.moves.size());
      Key key = 0, sum = 0;
      kept->step(values.data(), &move, 1, room.data(), values.size(), &sum);
      plain->step(values.data(), &move, 1, room.data(), values.size(), &key);
      CHECK(kept->told(sum) == shared->told(sum));
      shared->locate(&sum, 1);
      CHECK(sum == shared->entry(key));
      std::copy_n(room.begin() + static_cast<std::ptrdiff_t>(move * values.size()), values.size(),
                  values.begin());
    }
    // Digits of one group on two sides: no coordinates.
    digits[0].side = 1;
    const std::size_t other = leads / digits[0].radix;
    map.table =
        DistanceTable(some, 2000, {},
                      std::make_shared<const Representatives>(
                          digits, 2000, std::vector<std::uint64_t>(other), std::vector<std::uint32_t>(other),
                          Terms{std::vector<std::uint32_t>(turned * digits[0].radix)}));
    CHECK(!MapCoordinates::of(moves, map));
  }
}

TEST(halved_keys_by_coordinates) {
  // Cycles of three: every board that is reached is an even permutation.
  const Layout layout(5, {1, 1, 1, 1, 1}, {0, 0, 0, 0, 0});
  Puzzle puzzle{5, 5, {}, {}, {}, {0, 1, 2, 3, 4}};
  for (std::uint8_t i = 0; i < 3; ++i) {
    Move move{{0, 1, 2, 3, 4}};
    std::rotate(move.to.begin() + i, move.to.begin() + i + 1, move.to.begin() + i + 3);
    puzzle.moves.push_back(move);
  }
  const BoardMoves moves = puzzle.made();
  const MapTable map{layout, {0, 1, 2, 3, 4}, {0, 1, 2, 3, 4}, {}, {}, {0, 0, 0, 0, 0}, {}};
  const auto coordinates = MapCoordinates::of(moves, map);
  CHECK(coordinates.has_value());
  std::vector<std::uint32_t> values(coordinates->size()), next(values);
  coordinates->start(puzzle.board.data(), values.data());
  Board board = puzzle.board;
  for (int step = 0; step < 100; ++step) {
    const std::uint16_t move = static_cast<std::uint16_t>(step * step % 3);
    Key key = 0;
    // The children of one move lie where its number says.
    std::vector<std::uint32_t> room(3 * values.size());
    coordinates->step(values.data(), &move, 1, room.data(), values.size(), &key);
    board = after(puzzle, puzzle.moves[move], board).value();
    CHECK(key == layout.encode(board));
    std::copy_n(room.begin() + static_cast<std::ptrdiff_t>(move * values.size()), values.size(),
                values.begin());
  }
}

TEST(maps_without_coordinates_are_searched_by_boards) {
  const Puzzle blanks = puzzles()[1];
  const BoardMoves moves = blanks.made();
  const Layout layout(6, {1, 1, 4}, {});
  const MapTable map{layout, {0, 1, 2, 2, 2, 2}, {0, 1, 2, 3, 4, 5}, {}, {}, {0, 0, 0, 0, 0, 0}, {}};
  CHECK(!MapCoordinates::of(moves, map));
  CHECK_THROWS(MoveOrder(moves));
  // 30 slots with eight pieces: pairs have 870 places each, but with every four before them.
  const Layout large(30, {1, 1, 1, 1, 1, 1, 1, 1, 22}, {});
  Puzzle many{30, 9, {}, {}, {}, {}};
  Move round;
  for (int i = 0; i < 30; ++i) round.to.push_back(static_cast<std::uint8_t>((i + 1) % 30));
  for (int i = 0; i < 20; ++i) many.moves.push_back(round);
  std::vector<std::uint8_t> places(30);
  std::iota(places.begin(), places.end(), std::uint8_t{0});
  const MapTable wide{large, {0, 1, 2, 3, 4, 5, 6, 7, 8}, places, {}, {}, std::vector<std::uint8_t>(9), {}};
  CHECK(!MapCoordinates::of(many.made(), wide));
}

// Turns of three rings that share no slot, of two that do, and a move that another one is.
Puzzle rings() {
  Puzzle puzzle{9, 9, std::vector<std::uint8_t>(9, 3), {}, {}, {}};
  const auto cycle = [](std::vector<std::uint8_t> slots, std::uint8_t turn) {
    Move move;
    for (std::uint8_t i = 0; i < 9; ++i) move.to.push_back(i);
    move.delta.assign(9, 0);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      move.to[slots[i]] = slots[(i + 1) % slots.size()];
      move.delta[slots[i]] = i == 0 ? turn : std::uint8_t{0};
    }
    return move;
  };
  for (const Move& move : {cycle({0, 1, 2}, 0), cycle({3, 4, 5}, 1), cycle({6, 7, 8}, 0), cycle({2, 3}, 1)}) {
    puzzle.moves.push_back(move);
    if (const Move back = inverse(move, puzzle.moduli); reduced(move, puzzle.moduli) != back)
      puzzle.moves.push_back(back);
  }
  puzzle.moves.push_back(puzzle.moves[4]);
  for (std::uint8_t i = 0; i < 9; ++i) puzzle.board.push_back(i);
  puzzle.board.resize(18);
  return puzzle;
}

TEST(relations_are_those_of_the_moves_effects) {
  for (const Puzzle& puzzle : {rings(), puzzles()[2], puzzles()[3]}) {
    const BoardMoves moves = puzzle.made();
    const MoveOrder order(moves);
    const auto made = [&](std::initializer_list<int> way) {
      Board board = puzzle.board;
      for (std::uint8_t slot = 0; slot < puzzle.slots; ++slot) board[slot] = slot;
      for (const int m : way) board = after(puzzle, puzzle.moves[static_cast<std::size_t>(m)], board).value();
      return board;
    };
    for (int a = 0; a < moves.count(); ++a)
      for (int b = 0; b < moves.count(); ++b) {
        CHECK(order.commute(a, b) == (a != b && made({a, b}) == made({b, a})));
        bool joins = made({a, b}) == made({});
        for (int c = 0; c < moves.count(); ++c) joins |= made({a, b}) == made({c});
        CHECK(order.joins(a, b) == joins);
      }
  }
}

TEST(each_set_of_words_has_one_that_is_allowed) {
  const Puzzle puzzle = rings();
  const BoardMoves moves = puzzle.made();
  const MoveOrder order(moves);
  Random random(12);
  const auto allowed = [&](const Way& way) {
    std::vector<std::uint64_t> forbidden(order.words());
    for (const auto move : way) {
      if ((forbidden[0] >> move & 1) != 0) return false;
      order.after(move, forbidden.data(), forbidden.data());
    }
    return true;
  };
  for (int trial = 0; trial < 200; ++trial) {
    Way way;
    for (std::uint64_t length = random.below(7); way.size() < length;)
      way.push_back(static_cast<std::uint16_t>(random.below(static_cast<std::uint64_t>(moves.count()))));
    // All words by exchanges of neighbours, one after the other.
    std::vector<Way> words{way};
    for (std::size_t i = 0; i < words.size(); ++i)
      for (std::size_t k = 0; k + 1 < way.size(); ++k) {
        Way other = words[i];
        std::swap(other[k], other[k + 1]);
        if (order.commute(other[k], other[k + 1]) && std::ranges::find(words, other) == words.end())
          words.push_back(other);
      }
    std::ranges::sort(words);
    CHECK(order.count(way) == words.size());
    std::vector<Way> listed;
    order.list(way, words.size() + 1, listed);
    CHECK(listed == words);
    listed.clear();
    order.list(way, 2, listed);
    CHECK(listed.size() == std::min<std::size_t>(words.size(), 2));
    bool joined = false;
    for (const Way& word : words)
      for (std::size_t k = 0; k + 1 < word.size(); ++k) joined |= order.joins(word[k], word[k + 1]);
    CHECK(std::ranges::count_if(words, allowed) == (joined ? 0 : 1));
  }
}

// Distances of the puzzle with labels made alike, in the order of a layout with all labels on one orbit.
struct Stored {
  std::vector<std::uint8_t> distances;
  MapTable map;
};

Stored stored(const Puzzle& puzzle, const std::vector<std::uint8_t>& class_of) {
  const auto slots = static_cast<std::size_t>(puzzle.slots);
  std::vector<int> counts(1 + std::ranges::max(class_of)), twisted;
  for (std::size_t slot = 0; slot < slots; ++slot) ++counts[class_of[slot]];
  for (int cls = 0; cls < static_cast<int>(counts.size()); ++cls)
    if (!puzzle.moduli.empty() && counts[static_cast<std::size_t>(cls)] == 1) twisted.push_back(cls);
  const int modulus = puzzle.moduli.empty() ? 1 : puzzle.moduli[0];
  const Layout layout(puzzle.slots, counts, {}, {{first_slots(puzzle.slots), modulus}}, twisted);
  Puzzle alike = puzzle;
  alike.ignored.resize(counts.size());
  for (std::size_t cls = 0; cls < counts.size(); ++cls) alike.ignored[cls] = counts[cls] > 1;
  for (std::size_t slot = 0; slot < slots; ++slot) alike.board[slot] = class_of[slot];
  Stored out{std::vector<std::uint8_t>(layout.keys(), 255), {}};
  for (const auto& [board, depth] : distances(alike, alike.board))
    out.distances[layout.encode({board.data(), slots}, {board.data() + slots, board.size() - slots})] =
        static_cast<std::uint8_t>(depth);
  out.map = {layout, class_of, {}, {}, {}, std::vector<std::uint8_t>(slots), out.distances};
  for (std::uint8_t slot = 0; slot < slots; ++slot) {
    out.map.places.push_back(slot);
    if (!twisted.empty()) out.map.turn_places.push_back(static_cast<std::uint8_t>(slots + slot));
  }
  return out;
}

TEST(walks_by_coordinates_find_all_shortest_ways_whatever_the_budget) {
  Puzzle turned = puzzles()[3];
  Puzzle doubled = puzzles()[2];
  doubled.moves.push_back(doubled.moves[1]);
  for (std::uint8_t i = 0; i < 5; ++i) doubled.board[i] = turned.board[i % 4] = i;
  std::ranges::fill(turned.board, std::uint8_t{0});
  for (std::uint8_t i = 0; i < 4; ++i) turned.board[i] = i;
  Puzzle swaps{6, 6, {}, {}, {}, {0, 1, 2, 3, 4, 5}};  // many that commute
  for (std::uint8_t i = 0; i + 1 < 6; ++i) {
    Move move{{0, 1, 2, 3, 4, 5}};
    std::swap(move.to[i], move.to[i + 1u]);
    swaps.moves.push_back(move);
  }
  struct Case {
    const Puzzle& puzzle;
    std::vector<std::vector<std::uint8_t>> patterns;
    std::vector<std::vector<int>> terms;
    bool shortest;
  };
  const std::vector<Case> cases{
      {turned, {{0, 1, 2, 2}, {0, 0, 1, 2}}, {{0}, {1}}, true},
      {doubled, {{0, 1, 2, 2, 2}, {0, 0, 0, 1, 2}}, {{0}, {}, {1}}, true},
      {doubled, {{0, 1, 2, 2, 2}, {0, 0, 0, 1, 2}}, {{0}, {1}}, false},
      {swaps, {{0, 1, 2, 2, 2, 2}, {0, 0, 0, 1, 2, 3}, {0, 0, 1, 1, 2, 2}}, {{0}, {2}, {1}}, true},
  };
  for (const Case& each : cases) {
    const Puzzle& puzzle = each.puzzle;
    std::vector<Stored> maps;
    std::vector<MapTable> tables;
    for (const auto& pattern : each.patterns) maps.push_back(stored(puzzle, pattern));
    for (const Stored& map : maps) tables.push_back(map.map);
    const BoardMoves moves = puzzle.made();
    const WalkProblem problem(moves, {moves.cells(), {puzzle.board}}, {moves, {}, {}, tables, each.terms},
                              each.shortest);
    CHECK(problem.coordinates.has_value());
    CHECK(problem.order.has_value() == each.shortest);
    const auto all = distances(puzzle, puzzle.board);
    Random random(13);
    std::size_t tried = 0;
    for (const auto& [start, distance] : all) {
      if (tried++ % (all.size() / 12 + 1) != 0 || ways(puzzle, all, start) > 900) continue;
      for (int bound = bound_of(problem, start); bound <= distance; ++bound) {
        const Totals whole = searched(problem, start, bound, 1u << 30, false);
        CHECK(whole.solutions == (bound < distance ? 0 : ways(puzzle, all, start)));
        CHECK(whole.listed.size() == whole.solutions);
        if (bound < distance) CHECK(whole.next_bound > bound && whole.next_bound <= distance);
        for (const Way& way : whole.listed) {
          Board board = start;
          for (const auto move : way) board = after(puzzle, puzzle.moves[move], board).value();
          CHECK(board == puzzle.board);
          CHECK(std::ranges::count(whole.listed, way) == 1);
        }
        const Totals first = searched(problem, start, bound, 1u << 30, true);
        CHECK(first.solutions == (bound < distance ? 0u : 1u));
        for (const std::uint64_t budget : {0u, 1u, 9u}) {
          CHECK(searched(problem, start, bound, budget, false) == whole);
          CHECK(searched(problem, start, bound, budget, true).listed == first.listed);
        }
      }
    }
  }
}

}  // namespace
}  // namespace farthest::test
