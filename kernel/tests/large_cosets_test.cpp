// Cosets of <U, D, R2, L2, F2, B2> in the cube whose pieces are not turned: where the edges of one layer are
// is the coset.
#include "farthest/large_cosets.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "check.hpp"
#include "farthest/types.hpp"

namespace farthest::test {
namespace {

using Board = LargeCosets::Slots;
using Placed = std::set<std::size_t>;

constexpr std::size_t kFaces = 6, kPieces = 20;

// U R F D L B. Corners URF UFL ULB UBR DFR DLF DBL DRB, then edges UR UF UL UB DR DF DL DB FR FL BL BR: where
// what comes into four slots of a face was, one after the other in a circle.
constexpr std::size_t kCircles[kFaces][2][4] = {
    {{0, 3, 2, 1}, {8, 11, 10, 9}},   {{0, 4, 7, 3}, {8, 16, 12, 19}},  {{0, 1, 5, 4}, {9, 17, 13, 16}},
    {{4, 5, 6, 7}, {12, 13, 14, 15}}, {{1, 2, 6, 5}, {10, 18, 14, 17}}, {{2, 3, 7, 6}, {11, 19, 15, 18}}};

Board then(const Board& board, const Board& move) {
  Board after;
  for (const auto from : move) after.push_back(board[from]);
  return after;
}

Board solved() {
  Board board(kPieces);
  std::iota(board.begin(), board.end(), std::uint8_t{0});
  return board;
}

LargeCosets::Moves cube() {
  LargeCosets::Moves moves;
  for (std::size_t face = 0; face < kFaces; ++face) {
    Board turn = solved();
    for (const auto& circle : kCircles[face])
      for (std::size_t i = 0; i < 4; ++i) turn[circle[i]] = static_cast<std::uint8_t>(circle[(i + 1) % 4]);
    Board turned = solved();
    moves.faces.emplace_back();
    for (std::size_t turns = 0; turns < 3; ++turns) {
      turned = then(turned, turn);
      moves.faces.back().push_back(static_cast<std::uint8_t>(moves.from.size()));
      moves.from.push_back(turned);
      moves.own.push_back(face % 3 == 0 || turns == 1);
    }
    moves.commuting.push_back((1u << face % 3) * 9);
  }
  return moves;
}

Placed placed(const Board& board) {
  Placed found;
  for (std::size_t slot = 0; slot < board.size(); ++slot)
    if (board[slot] >= 16) found.insert(slot);
  return found;
}

// Where the edges 16 to 19 are, numbered as they are found; the other coordinates have one value.
struct Numbers {
  explicit Numbers(const LargeCosets::Moves& moves) {
    std::vector<Board> boards{solved()};
    of[placed(boards[0])] = 0;
    for (std::size_t i = 0; i < boards.size(); ++i)
      for (const Board& move : moves.from) {
        const Board after = then(boards[i], move);
        const auto [at, fresh] = of.try_emplace(placed(after), static_cast<std::uint16_t>(of.size()));
        if (fresh) boards.push_back(after);
        coordinates.first_after.push_back(at->second);
      }
    coordinates.second_after.resize(moves.from.size());
    coordinates.other_after.resize(moves.from.size());
  }

  std::map<Placed, std::uint16_t> of;
  TurnTable::Coordinates coordinates;
};

std::vector<TurnTable::Renaming> same(std::size_t moves) {
  TurnTable::Renaming renaming(moves);
  std::iota(renaming.begin(), renaming.end(), std::uint16_t{0});
  return {renaming};
}

TEST(large_cosets_are_those_of_a_walk) {
  constexpr std::size_t kDepth = 4;
  const auto moves = cube();
  const Numbers numbers(moves);
  CHECK(numbers.of.size() == 495);
  const LargeCosets cosets(numbers.coordinates, moves, same(moves.from.size()), 2);
  std::vector<std::set<Board>> layers{{solved()}};
  while (layers.size() <= kDepth) {
    std::set<Board> next;
    for (const Board& board : layers.back())
      for (const Board& move : moves.from) {
        const Board after = then(board, move);
        if (!layers.back().contains(after) &&
            (layers.size() < 2 || !layers[layers.size() - 2].contains(after)))
          next.insert(after);
      }
    layers.push_back(std::move(next));
  }
  for (const std::vector<std::size_t>& way :
       std::vector<std::vector<std::size_t>>{{3, 0, 6}, {3, 0, 8, 12, 5}, {6, 15, 1, 3, 17}}) {
    Board r = solved();
    for (const auto move : way) r = then(r, moves.from[move]);
    const TurnTable::State state{numbers.of.at(placed(r)), 0, 0};
    std::vector<std::uint64_t> wanted;
    for (const auto& layer : layers)
      wanted.push_back(static_cast<std::uint64_t>(std::ranges::count_if(
          layer, [&](const Board& w) { return placed(then(r, w)) == placed(solved()); })));
    const auto check = [&](int tail, Isa isa, bool watched = true) {
      LargeCosetRun run(cosets, r, state, static_cast<int>(way.size()) - 2, tail, isa);
      std::map<std::uint64_t, std::size_t> positions;
      std::vector<std::uint64_t> bits;
      for (std::size_t depth = 0; watched && depth <= kDepth; ++depth)
        for (const Board& w : layers[depth])
          if (placed(then(r, w)) == placed(solved())) {
            bits.push_back(run.bit_of(then(r, w)));
            positions[bits.back()] = depth;
          }
      run.watched().watch(bits);
      for (std::size_t depth = 0; depth <= kDepth; ++depth) {
        std::optional<LargeCosetRun::Found> found;
        while (!found) {
          found = run.advance(true, std::chrono::milliseconds(0));
          for (const auto& [bit, moved] : positions) CHECK(!run.reached(bit) || moved <= depth);
        }
        CHECK(found->fresh == wanted[depth]);
        for (const auto& [bit, moved] : positions) CHECK(run.reached(bit) == (moved <= depth));
      }
      CHECK(run.watched().caught().empty() != watched);
      for (const auto& [bit, moves_there] : run.watched().caught()) {
        Board end = r;
        for (const auto move : moves_there) end = then(end, moves.from[move]);
        CHECK(moves_there.size() == positions[bit] && run.bit_of(end) == bit);
      }
    };
    check(LargeCosetRun::kTail, available_isas().back(), false);
    for (const Isa isa : available_isas()) check(isa == Isa::portable ? 1 : 2, isa);
  }
}

TEST(large_cosets_that_do_not_fit_are_refused) {
  const auto moves = cube();
  const Numbers numbers(moves);
  const auto made = [&](const auto& change) {
    auto changed = moves;
    change(changed);
    return LargeCosets(numbers.coordinates, changed, same(moves.from.size()), 1).table().entries();
  };
  CHECK_THROWS(made([](auto& all) { all.own[3] = true; }));
  CHECK_THROWS(made([](auto& all) { all.own.pop_back(); }));
  CHECK_THROWS(made([](auto& all) { all.commuting.pop_back(); }));
  CHECK_THROWS(made([](auto& all) { std::swap(all.from[3], all.from[6]); }));
  CHECK_THROWS(made([](auto& all) { std::swap(all.from[3][0], all.from[3][8]); }));
  CHECK_THROWS(made([](auto& all) { all.from[3][0] = all.from[3][1]; }));
  const LargeCosets cosets(numbers.coordinates, moves, same(moves.from.size()), 1);
  CHECK_THROWS(LargeCosetRun(cosets, {0, 1, 2}, {}, 1));
  CHECK_THROWS(LargeCosetRun(cosets, solved(), {495, 0, 0}, 1));
  LargeCosetRun run(cosets, solved(), {}, 1);
  for (int distance = 0; distance < 2; ++distance) CHECK(run.advance(false)->fresh == 0);
}

}  // namespace
}  // namespace farthest::test
