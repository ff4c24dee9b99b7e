// Inverses of boards: those that moves taken back make of the goal, and their keys those of layouts.
#include <algorithm>
#include <numeric>

#include "check.hpp"
#include "farthest/inverse_look_ups.hpp"
#include "walk_samples.hpp"

namespace farthest::test {
namespace {

constexpr std::size_t kSlots = 11;

// Six slots turned by thirds and five by halves, the orbits' slots mixed.
Layout layout_of(const std::vector<int>& counts, const std::vector<int>& turned) {
  return {static_cast<int>(kSlots),    counts,
          std::vector<std::uint8_t>{}, std::vector<Orbit>{{first_slots(6), 3}, {first_slots(5) << 6, 2}},
          std::vector<int>{},          turned};
}

// Moves and their inverses, on pieces that all differ; the goal has orientations.
Puzzle puzzle_on(const Layout& layout, const std::vector<std::uint8_t>& places, Random& random) {
  Puzzle puzzle{
      static_cast<int>(kSlots), static_cast<int>(kSlots), std::vector<std::uint8_t>(kSlots), {}, {}, {}};
  for (std::size_t i = 0; i < kSlots; ++i) puzzle.moduli[places[i]] = layout.moduli()[i];
  for (const Move& within : moves_within(layout, 3, random)) {
    Move move{std::vector<std::uint8_t>(kSlots), 0, 0, std::vector<std::uint8_t>(kSlots)};
    Move back = move;
    for (std::size_t i = 0; i < kSlots; ++i) {
      const std::uint8_t from = places[i], to = places[within.to[i]];
      const std::uint8_t delta = within.delta.empty() ? std::uint8_t{0} : within.delta[i];
      move.to[from] = to;
      move.delta[from] = delta;
      back.to[to] = from;
      back.delta[to] = static_cast<std::uint8_t>(puzzle.moduli[from] - delta % puzzle.moduli[from]);
    }
    puzzle.moves.push_back(move);
    puzzle.moves.push_back(back);
  }
  // Two pieces of the first class of some layouts change places.
  Move swap{std::vector<std::uint8_t>(kSlots), 0, 0, std::vector<std::uint8_t>(kSlots)};
  std::iota(swap.to.begin(), swap.to.end(), std::uint8_t{0});
  std::swap(swap.to[places[0]], swap.to[places[1]]);
  puzzle.moves.insert(puzzle.moves.end(), {swap, swap});
  const auto labels = random.permutation(static_cast<int>(kSlots));
  puzzle.board.assign(labels.begin(), labels.end());
  for (std::size_t slot = 0; slot < kSlots; ++slot)
    puzzle.board.push_back(static_cast<std::uint8_t>(random.below(puzzle.moduli[slot])));
  return puzzle;
}

MapTable map_on(const Layout& layout, const std::vector<std::uint8_t>& places, const Puzzle& puzzle) {
  MapTable map{layout, std::vector<std::uint8_t>(kSlots), places, {},
               {},     std::vector<std::uint8_t>(kSlots), {}};
  std::size_t slot = 0;
  for (int cls = 0; cls < layout.classes(); ++cls)
    for (int i = 0; i < layout.count(cls); ++i)
      map.class_of[puzzle.board[places[slot++]]] = static_cast<std::uint8_t>(cls);
  if (layout.has_twists())
    for (const auto place : places) map.turn_places.push_back(static_cast<std::uint8_t>(kSlots + place));
  return map;
}

Key key_of(const Layout& layout, const MapTable& map, const Board& board) {
  std::vector<std::uint8_t> classes(kSlots), twists(layout.has_twists() ? kSlots : 0);
  for (std::size_t i = 0; i < kSlots; ++i) {
    classes[i] = map.class_of[board[map.places[i]]];
    if (layout.has_twists()) twists[i] = board[kSlots + map.places[i]];
  }
  return layout.encode(classes, twists);
}

TEST(inverses_and_their_keys) {
  Random random(17);
  const auto places = random.permutation(static_cast<int>(kSlots));
  const std::vector<Layout> layouts = {layout_of({6, 2, 3}, {}), layout_of({6, 5}, {0, 1, 2, 3, 4, 5}),
                                       layout_of({2, 4, 1, 4}, {6, 7, 8, 9, 10}), layout_of({1, 2, 3, 5}, {}),
                                       layout_of({6, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10})};
  const Puzzle puzzle = puzzle_on(layouts[0], places, random);
  const BoardMoves moves = puzzle.made();
  std::vector<MapCoordinates> coordinates;
  for (const Layout& layout : layouts) {
    auto made = MapCoordinates::of(moves, map_on(layout, places, puzzle));
    CHECK(made.has_value());
    coordinates.push_back(std::move(*made));
  }
  std::vector<const MapCoordinates*> maps;
  for (const auto& each : coordinates) maps.push_back(&each);
  const auto inverses = InverseLookUps::of(moves, puzzle.board, maps);
  CHECK(inverses.has_value());
  if (!inverses) return;
  CHECK(inverses->maps().size() == layouts.size());
  const int swap = static_cast<int>(puzzle.moves.size()) - 1;
  CHECK(inverses->leaves(swap, 0));
  CHECK(inverses->leaves(swap, 2));
  CHECK(!inverses->leaves(swap, 3));
  Way way;
  Board board = puzzle.board;
  auto inverse = inverses->start(board.data());
  for (int step = 0; step < 200; ++step) {
    const auto move = static_cast<std::uint16_t>(random.below(puzzle.moves.size()));
    std::vector<Key> own(maps.size()), keys = own;
    inverses->keys(inverse, own.data());
    inverses->keys(move, inverse, keys.size(), keys.data());
    for (std::size_t i = 0; i < maps.size(); ++i)
      if (inverses->leaves(move, i)) CHECK(keys[i] == own[i]);
    auto stepped = inverse;
    inverses->step(move, inverse, stepped);
    way.push_back(move);
    board = after(puzzle, puzzle.moves[move], board).value();
    Board naive = puzzle.board;  // the inverses of the moves, in the other order
    for (auto each = way.rbegin(); each != way.rend(); ++each)
      naive = after(puzzle, puzzle.moves[*each ^ 1], naive).value();
    for (std::size_t slot = 0; slot < kSlots; ++slot) {
      CHECK(stepped[slot] / 3 == naive[slot]);
      CHECK(stepped[slot] % 3 == naive[kSlots + slot]);
    }
    CHECK(inverses->start(board.data()) == stepped);
    for (std::size_t i = 0; i < maps.size(); ++i) CHECK(keys[i] == key_of(layouts[i], maps[i]->map(), naive));
    inverse = stepped;
  }
}

TEST(boards_without_inverses) {
  Random random(19);
  const auto places = random.permutation(static_cast<int>(kSlots));
  const Layout layout = layout_of({6, 2, 3}, {});
  Puzzle puzzle = puzzle_on(layout, places, random);
  const auto looked_up = [&](const Board& goal) {
    const BoardMoves moves = puzzle.made();
    const auto coordinates = MapCoordinates::of(moves, map_on(layout, places, puzzle));
    const std::vector<const MapCoordinates*> maps{&*coordinates};
    return InverseLookUps::of(moves, goal, maps).has_value();
  };
  CHECK(looked_up(puzzle.board));
  Board equal = puzzle.board;
  equal[0] = equal[1];
  CHECK(!looked_up(equal));
  puzzle.moves.erase(puzzle.moves.begin());
  CHECK(!looked_up(puzzle.board));
}

}  // namespace
}  // namespace farthest::test
