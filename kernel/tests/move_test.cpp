#include <algorithm>

#include "check.hpp"
#include "farthest/move.hpp"
#include "samples.hpp"

namespace farthest::test {
namespace {

TEST(the_inverse_undoes_a_move_and_is_legal_on_its_results_only) {
  Random random(3);
  const Layout layout(6, {2, 1, 3}, {});
  for (const Move& move : random_moves(6, 40, random)) {
    const Move back = inverse(move);
    CHECK(inverse(back) == move);
    std::set<Key> results;
    for (Key key = 0; key < layout.keys(); ++key) {
      const Board board = board_of(layout, key);
      if (!legal(move, board)) continue;
      const Board after = moved(move, board);
      CHECK(legal(back, after) && moved(back, after) == board);
      results.insert(layout.encode(after));
    }
    for (Key key = 0; key < layout.keys(); ++key)
      CHECK(legal(back, board_of(layout, key)) == results.contains(key));
  }
}

TEST(closed_under_inverse_looks_at_conditions_too) {
  CHECK(closed_under_inverse({}));
  CHECK(closed_under_inverse(row_moves(5)));
  CHECK(!closed_under_inverse(ring_moves(5)));
  std::vector<Move> moves = row_moves(5);
  moves.pop_back();
  CHECK(!closed_under_inverse(moves));
  moves = row_moves(5);
  moves[3].forbid = 0;
  CHECK(!closed_under_inverse(moves));
  CHECK(closed_under_inverse({Move{{1, 0, 2}, 0, 0}}));             // its own inverse
  CHECK(!closed_under_inverse({Move{{1, 0, 2}, bit(0), bit(1)}}));  // but for its conditions
  CHECK(closed_under_inverse({Move{{1, 2, 0}, 0, 0}, Move{{2, 0, 1}, 0, 0}}));
}

TEST(wrong_moves_are_refused) {
  check_move({{2, 0, 1}, bit(2), bit(0) | bit(1)}, 3);
  CHECK_THROWS((check_move({{0, 1}, 0, 0}, 3), 0));
  CHECK_THROWS((check_move({{0, 1, 2, 3}, 0, 0}, 3), 0));
  CHECK_THROWS((check_move({{0, 1, 1}, 0, 0}, 3), 0));
  CHECK_THROWS((check_move({{0, 1, 3}, 0, 0}, 3), 0));
  CHECK_THROWS((check_move({{0, 1, 255}, 0, 0}, 3), 0));
  CHECK_THROWS((check_move({{0, 1, 2}, bit(3), 0}, 3), 0));
  CHECK_THROWS((check_move({{0, 1, 2}, 0, bit(63)}, 3), 0));
  CHECK_THROWS((check_move({{0, 1, 2}, bit(1), bit(1)}, 3), 0));
  const Isa portable = Isa::portable;
  CHECK_THROWS(ArrangementSpace(Layout(3, {1, 2}, {}), {Move{{0, 1}, 0, 0}}, 1, portable));
}

TEST(image_of_a_mask) {
  CHECK(image(0b101, {1, 2, 0}) == 0b011);
  CHECK(image(0, {1, 2, 0}) == 0);
}

}  // namespace
}  // namespace farthest::test
