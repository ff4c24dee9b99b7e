#include "farthest/turn_table.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "check.hpp"
#include "farthest/types.hpp"

namespace farthest::test {
namespace {

constexpr std::uint32_t kSides = 4, kOthers = kSides * kSides;

// The lead is (i, j), the other number (k, l), all modulo 4. Face A adds 1, 2 or 3 to i and k, face B to j
// and l, face C to k, face D to l.
struct Board {
  std::uint32_t i, j, k, l;

  Board after(std::size_t move) const {
    const auto turned = [&](std::uint32_t number) {
      return (number + static_cast<std::uint32_t>(move % 3) + 1) % kSides;
    };
    if (move < 3) return {turned(i), j, turned(k), l};
    if (move < 6) return {i, turned(j), k, turned(l)};
    if (move < 9) return {i, j, turned(k), l};
    return {i, j, k, turned(l)};
  }
  TurnTable::State state() const {
    return {static_cast<std::uint16_t>(i), static_cast<std::uint16_t>(j),
            static_cast<std::uint16_t>(k * kSides + l)};
  }
};

constexpr std::size_t kMoves = 12;
const std::vector<std::vector<std::uint8_t>> kFaces{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {9, 10, 11}};
const TurnTable::Renaming kSame{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
    kExchanged{3, 4, 5, 0, 1, 2, 9, 10, 11, 6, 7, 8}, kWrong{1, 0, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};

TurnTable::Coordinates coordinates() {
  TurnTable::Coordinates made;
  for (std::uint32_t number = 0; number < kOthers; ++number)
    for (std::size_t move = 0; move < kMoves; ++move) {
      const Board board{number % kSides, number % kSides, number / kSides, number % kSides};
      const TurnTable::State after = board.after(move).state();
      made.other_after.push_back(after.other);
      if (number >= kSides) continue;
      made.first_after.push_back(after.first);
      made.second_after.push_back(after.second);
    }
  return made;
}

void check_turns(const std::vector<TurnTable::Renaming>& symmetries, std::uint32_t classes, int threads) {
  const TurnTable table(coordinates(), kFaces, symmetries, threads);
  CHECK(table.classes() == classes);
  CHECK(table.entries() == classes * kOthers);
  std::map<TurnTable::State, int> distance{{{0, 0, 0}, 0}};
  std::vector<Board> reached{{0, 0, 0, 0}};
  for (std::size_t n = 0; n < reached.size(); ++n)
    for (std::size_t move = 0; move < kMoves; ++move) {
      const Board next = reached[n].after(move);
      CHECK(table.after(reached[n].state(), move) == next.state());
      if (distance.try_emplace(next.state(), distance.at(reached[n].state()) + 1).second)
        reached.push_back(next);
    }
  CHECK(reached.size() == kSides * kSides * kOthers);
  for (const Board& board : reached) {
    const int here = distance.at(board.state());
    TurnTable::State end = board.state();
    const auto way = table.way(end);
    CHECK(static_cast<int>(way.size()) == here);
    for (const auto move : way) end = table.after(end, move);
    CHECK(end == TurnTable::State{});
    const auto [nearer, near] = table.turns(table.place(board.state()));
    for (std::size_t move = 0; move < kMoves; ++move) {
      const int there = distance.at(board.after(move).state());
      CHECK((nearer >> move & 1) == (there < here));
      CHECK((near >> move & 1) == (there <= here));
    }
    CHECK(nearer >> kMoves == 0);
    CHECK(near >> kMoves == 0);
  }
  CHECK_THROWS(table.check({kSides, 0, 0}));
  CHECK_THROWS(table.check({0, kSides, 0}));
  CHECK_THROWS(table.check({0, 0, kOthers}));
}

TEST(turns_are_those_of_a_walk) {
  check_turns({kSame}, 16, 1);
  check_turns({kSame, kExchanged}, 10, 2);
}

TEST(tables_of_turns_that_do_not_fit_are_refused) {
  const auto made = [](auto change, const auto& faces, const std::vector<TurnTable::Renaming>& symmetries) {
    TurnTable::Coordinates changed = coordinates();
    change(changed);
    return TurnTable(std::move(changed), faces, symmetries, 1).entries();
  };
  const auto nothing = [](auto&) {};
  using Faces = std::vector<std::vector<std::uint8_t>>;
  CHECK_THROWS(made(nothing, kFaces, {}));
  CHECK_THROWS(made(nothing, kFaces, {kExchanged}));
  CHECK_THROWS(made(nothing, kFaces, {kSame, kWrong}));
  CHECK_THROWS(made(nothing, kFaces, {kSame, {0, 1, 2}}));
  CHECK_THROWS(made(nothing, kFaces, {kSame, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12}}));
  CHECK_THROWS(made(nothing, kFaces, {kSame, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10}}));
  CHECK_THROWS(made(nothing, Faces{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}}, {kSame}));
  CHECK_THROWS(made(nothing, Faces{{0, 1, 2, 6}, {3, 4, 5}, {7, 8}, {9, 10, 11}}, {kSame}));
  CHECK_THROWS(made(nothing, Faces{{0, 1, 2}, {2, 3, 4}, {5, 6, 7}, {9, 10, 11}}, {kSame}));
  CHECK_THROWS(made(nothing, Faces{{0, 1, 3}, {2, 4, 5}, {6, 7, 8}, {9, 10, 11}}, {kSame}));
  CHECK_THROWS(made([](auto& c) { c.second_after[3] = kSides; }, kFaces, {kSame}));
  CHECK_THROWS(made([](auto& c) { c.other_after.pop_back(); }, kFaces, {kSame}));
  CHECK_THROWS(made([](auto& c) { c.first_after = {}; }, kFaces, {kSame}));
  CHECK_THROWS(made([](auto& c) { std::ranges::fill(c.first_after, std::uint16_t{0}); }, kFaces, {kSame}));
  // A circle of three states that is gone round in one direction.
  CHECK_THROWS(made([](auto& c) { c = {{1, 2, 0}, {0}, {0}}; }, Faces{{0}}, {TurnTable::Renaming{0}}));
}

}  // namespace
}  // namespace farthest::test
