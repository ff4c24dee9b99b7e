// Surveys of lines against a model that places pieces one by one and moves them cell by cell.
#include "farthest/line_survey.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "check.hpp"

namespace farthest::test {
namespace {

using Keep = LineSurvey::Keep;

// A cell of size * size, a direction and a length; the first is the one that leaves. Sorted but for that one.
struct Piece {
  int cell, stride, length;
  auto operator<=>(const Piece&) const = default;
};
using Board = std::vector<Piece>;

struct Model {
  int size, row;
  std::set<int> walls;

  bool fits(const Board& board) const {
    std::set<int> taken = walls;
    for (const Piece& piece : board)
      for (int i = 0; i < piece.length; ++i) {
        const int cell = piece.cell + i * piece.stride;
        const bool wraps = piece.stride == 1 && cell / size != piece.cell / size;
        if (wraps || cell >= size * size || !taken.insert(cell).second) return false;
      }
    return true;
  }
  int line(const Piece& piece) const {
    return piece.stride == 1 ? piece.cell / size : size + piece.cell % size;
  }

  bool counts(const Board& board) const {
    std::map<int, int> cells;
    for (const int wall : walls) {
      ++cells[wall / size];
      if (wall / size == row && wall > board[0].cell) return false;
    }
    for (std::size_t i = 0; i < board.size(); ++i) {
      if ((cells[line(board[i])] += board[i].length) >= size) return false;
      if (i > 0 && line(board[i]) == row) return false;
    }
    return true;
  }

  std::set<Board> all(std::size_t most) const {
    std::set<Board> found;
    const auto place = [&](auto& self, const Board& board) -> void {
      if (!fits(board)) return;
      if (counts(board)) found.insert(board);
      if (board.size() == most) return;
      for (int cell = board.size() > 1 ? board.back().cell : 0; cell < size * size; ++cell)
        for (const int stride : {1, size})
          for (const int length : {2, 3}) {
            const Piece piece{cell, stride, length};
            if (board.size() > 1 && piece <= board.back()) continue;
            Board more = board;
            more.push_back(piece);
            self(self, more);
          }
    };
    for (int first = 0; first + 1 < size; ++first) place(place, {{row * size + first, 1, 2}});
    return found;
  }

  std::vector<Board> moved(const Board& board) const {
    std::vector<Board> found;
    for (std::size_t i = 0; i < board.size(); ++i)
      for (const int sign : {-1, 1}) {
        Board next = board;
        while ((next[i].cell += sign * next[i].stride) >= 0 && line(next[i]) == line(board[i]) &&
               fits(next)) {
          Board sorted = next;
          std::sort(sorted.begin() + 1, sorted.end());
          found.push_back(sorted);
        }
      }
    return found;
  }

  // States at each distance from the boards.
  std::vector<std::set<Board>> layers(const std::set<Board>& from) const {
    std::vector<std::set<Board>> found{from};
    std::set<Board> seen = from;
    while (!found.back().empty()) {
      std::set<Board> next;
      for (const Board& board : found.back())
        for (const Board& after : moved(board))
          if (seen.insert(after).second) next.insert(after);
      found.push_back(next);
    }
    found.pop_back();
    return found;
  }
};

using Found = std::vector<std::tuple<int, std::uint64_t, std::vector<std::uint64_t>>>;

void compare(int size, int row, std::size_t pieces, int most_walls) {
  std::vector<std::set<int>> sets{{}};
  for (std::size_t i = 0; i < sets.size(); ++i)
    for (int cell = sets[i].empty() ? 0 : *sets[i].rbegin() + 1;
         static_cast<int>(sets[i].size()) < most_walls && cell < size * size; ++cell) {
      auto more = sets[i];
      more.insert(cell);
      sets.push_back(more);
    }
  Found expected;
  for (const auto& walls : sets) {
    const Model model{size, row, walls};
    std::set<Board> left = model.all(pieces);
    while (!left.empty()) {
      std::set<Board> goals;
      std::uint64_t states = 0;
      const int count = static_cast<int>(left.begin()->size());
      for (const auto& layer : model.layers({*left.begin()}))
        for (const Board& board : layer) {
          CHECK(left.erase(board) == 1);
          ++states;
          if (board[0].cell % size == size - 2) goals.insert(board);
        }
      std::vector<std::uint64_t> layers;
      if (!goals.empty())
        for (const auto& layer : model.layers(goals)) layers.push_back(layer.size());
      expected.emplace_back(count, states, layers);
    }
  }
  std::ranges::sort(expected);
  const LineSurvey survey(size, row, static_cast<int>(pieces), most_walls);
  for (const std::uint64_t parts : {1u, 5u, 97u}) {
    Found found;
    std::vector<std::string> boards;
    std::uint64_t starts = 0;
    for (std::uint64_t part = 0; part < parts; ++part) {
      const auto done = survey.survey(part, parts, Keep::all);
      for (const auto& totals : done.totals) starts += totals.starts;
      for (const auto& each : done.rows) {
        found.emplace_back(each.pieces, each.states, each.layers);
        boards.push_back(each.board);
      }
    }
    std::ranges::sort(found);
    CHECK(found == expected);
    CHECK(starts == survey.starts());
    const auto once = boards;
    boards.insert(boards.end(), once.begin(), once.end());  // each component twice
    Found again;
    for (std::uint64_t part = 0; part < parts; ++part)
      for (const auto& each : survey.survey_boards(boards, part, parts, Keep::all).rows)
        again.emplace_back(each.pieces, each.states, each.layers);
    std::ranges::sort(again);
    CHECK(again == expected);
  }
}

TEST(surveys_as_the_model) {
  compare(3, 0, 9, 0);
  compare(3, 1, 9, 2);
  compare(4, 1, 3, 0);
  compare(4, 2, 2, 1);
}

TEST(survey_of_all_boards_of_four_rows) {
  const auto found = LineSurvey(4, 1, 18).survey(0, 1, Keep::minimal);
  CHECK(found.rows.size() == 32);
  CHECK(LineSurvey(4, 1, 18, 3).starts() == 76'838);
}

TEST(wrong_surveys) {
  CHECK_THROWS(LineSurvey(2, 0, 1));
  CHECK_THROWS(LineSurvey(7, 0, 1));
  CHECK_THROWS(LineSurvey(4, 4, 1));
  CHECK_THROWS(LineSurvey(4, 0, 0));
  CHECK_THROWS(LineSurvey(4, 0, 1, 4));
  CHECK_THROWS(LineSurvey(4, 0, 1).survey(3, 3, Keep::all));
  const LineSurvey survey(4, 1, 1);
  for (const char* board :
       {"", "AA", "ooooAAoooooooooB", "AAoooooooooooooo", "ooooAABBoooooooo", "oooAAooooooooooo",
        "ooooAAoBooooooBo", "BooBAAooBooooooo", "ooooAooAoooooooo", "oooooooooooooooo"})
    CHECK_THROWS(survey.check(board));
}

}  // namespace
}  // namespace farthest::test
