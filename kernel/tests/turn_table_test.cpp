#include "farthest/turn_table.hpp"

#include <algorithm>
#include <utility>

#include "check.hpp"
#include "farthest/types.hpp"

namespace farthest::test {
namespace {

constexpr std::uint32_t kSides = 4, kOthers = 4;

// The lead is (i, j), the other number k, all modulo 4. Face A adds 1, 2 or 3 to i and k, face B to j and k.
// Face C adds them to k, and exchanges i and j as often.
struct Board {
  std::uint32_t i, j, k;

  Board after(std::size_t move) const {
    const auto turns = static_cast<std::uint32_t>(move % 3 + 1);
    if (move < 3) return {(i + turns) % kSides, j, (k + turns) % kOthers};
    if (move < 6) return {i, (j + turns) % kSides, (k + turns) % kOthers};
    return {turns % 2 ? j : i, turns % 2 ? i : j, (k + turns) % kOthers};
  }
  std::uint32_t lead() const { return i * kSides + j; }
};

constexpr std::size_t kMoves = 9;
const std::vector<std::vector<std::uint8_t>> kFaces{{0, 1, 2}, {3, 4, 5}, {6, 7, 8}};
const TurnTable::Renaming kSame{0, 1, 2, 3, 4, 5, 6, 7, 8}, kExchanged{3, 4, 5, 0, 1, 2, 6, 7, 8},
    kWrong{1, 0, 2, 3, 4, 5, 6, 7, 8};

TurnTable::Coordinates coordinates() {
  TurnTable::Coordinates made{kSides * kSides, kOthers, {}, {}};
  for (std::uint32_t lead = 0; lead < kSides * kSides; ++lead)
    for (std::size_t move = 0; move < kMoves; ++move)
      made.lead_after.push_back(Board{lead / kSides, lead % kSides, 0}.after(move).lead());
  for (std::uint32_t other = 0; other < kOthers; ++other)
    for (std::size_t move = 0; move < kMoves; ++move)
      made.other_after.push_back(static_cast<std::uint16_t>(Board{0, 0, other}.after(move).k));
  return made;
}

void check_turns(const std::vector<TurnTable::Renaming>& symmetries, std::uint32_t classes) {
  const TurnTable table(coordinates(), kFaces, symmetries);
  CHECK(table.classes() == classes);
  CHECK(table.entries() == classes * kOthers);
  std::vector<int> distance(kSides * kSides * kOthers, -1);
  const auto at = [&](const Board& board) -> int& { return distance[board.lead() * kOthers + board.k]; };
  std::vector<Board> reached{{0, 0, 0}};
  at(reached[0]) = 0;
  for (std::size_t n = 0; n < reached.size(); ++n)
    for (std::size_t move = 0; move < kMoves; ++move)
      if (const Board next = reached[n].after(move); at(next) < 0) {
        at(next) = at(reached[n]) + 1;
        reached.push_back(next);
      }
  CHECK(reached.size() == distance.size());
  for (const Board& board : reached) {
    const auto other = static_cast<std::uint16_t>(board.k);
    CHECK(table.distance(board.lead(), other) == at(board));
    const auto [nearer, near] = table.turns(table.place(board.lead(), other));
    for (std::size_t move = 0; move < kMoves; ++move) {
      const int there = at(board.after(move));
      CHECK((nearer >> move & 1) == (there < at(board)));
      CHECK((near >> move & 1) == (there <= at(board)));
    }
    CHECK(nearer >> kMoves == 0);
    CHECK(near >> kMoves == 0);
  }
}

TEST(turns_are_those_of_a_walk) {
  check_turns({kSame}, 16);
  check_turns({kSame, kExchanged}, 10);
}

TEST(tables_of_turns_that_do_not_fit_are_refused) {
  const auto made = [](auto change, const auto& faces, const std::vector<TurnTable::Renaming>& symmetries) {
    TurnTable::Coordinates changed = coordinates();
    change(changed);
    return TurnTable(std::move(changed), faces, symmetries).entries();
  };
  const auto nothing = [](auto&) {};
  using Faces = std::vector<std::vector<std::uint8_t>>;
  CHECK_THROWS(made(nothing, kFaces, {}));
  CHECK_THROWS(made(nothing, kFaces, {kExchanged}));
  CHECK_THROWS(made(nothing, kFaces, {kSame, kWrong}));
  CHECK_THROWS(made(nothing, kFaces, {kSame, {0, 1, 2}}));
  CHECK_THROWS(made(nothing, kFaces, {kSame, {0, 1, 2, 3, 4, 5, 6, 7, 9}}));
  CHECK_THROWS(made(nothing, kFaces, {kSame, {0, 1, 2, 3, 4, 5, 6, 7, 7}}));
  CHECK_THROWS(made(nothing, Faces{{0, 1, 2}, {3, 4, 5}}, {kSame}));
  CHECK_THROWS(made(nothing, Faces{{0, 1, 2, 6}, {3, 4, 5}, {7, 8}}, {kSame}));
  CHECK_THROWS(made(nothing, Faces{{0, 1, 2}, {2, 3, 4}, {5, 6, 7}}, {kSame}));
  CHECK_THROWS(made(nothing, Faces{{0, 1, 3}, {2, 4, 5}, {6, 7, 8}}, {kSame}));
  CHECK_THROWS(made([](auto& c) { c.lead_after[3] = kSides * kSides; }, kFaces, {kSame}));
  CHECK_THROWS(made([](auto& c) { c.other_after.pop_back(); }, kFaces, {kSame}));
  CHECK_THROWS(made([](auto& c) { ++c.others; }, kFaces, {kSame}));
  CHECK_THROWS(made([](auto& c) { std::ranges::fill(c.lead_after, 0u); }, kFaces, {kSame}));
}

}  // namespace
}  // namespace farthest::test
