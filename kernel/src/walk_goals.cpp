#include "farthest/walk_goals.hpp"

#include <cstring>
#include <map>
#include <set>

#include "farthest/walk_moves.hpp"

namespace farthest {

BoardGoals::BoardGoals(int cells, const std::vector<std::vector<std::uint8_t>>& patterns) : cells_(cells) {
  if (cells < 1 || cells > 2 * kMaxSlots) throw InvalidArgument("a board has 1 to 128 cells");
  if (patterns.empty()) throw InvalidArgument("there must be a goal");
  using Words = std::vector<std::uint64_t>;
  std::map<Words, std::set<Words>> groups;  // by mask
  for (const auto& pattern : patterns) {
    if (static_cast<int>(pattern.size()) != cells)
      throw InvalidArgument("a goal must have a byte for each cell");
    std::vector<std::uint8_t> mask(pattern.size()), board(pattern.size());
    for (std::size_t i = 0; i < pattern.size(); ++i) {
      mask[i] = pattern[i] == kAnything ? 0 : 255;
      board[i] = pattern[i] & mask[i];
    }
    const auto words = [&](const std::vector<std::uint8_t>& bytes) {
      Words out(static_cast<std::size_t>(board_words(cells)));
      std::memcpy(out.data(), bytes.data(), bytes.size());
      return out;
    };
    groups[words(mask)].insert(words(board));
  }
  if (std::ranges::all_of(patterns, [&](const auto& each) { return each == patterns[0]; }) &&
      std::ranges::find(patterns[0], kAnything) == patterns[0].end())
    only_ = patterns[0];
  for (const auto& [mask, boards] : groups) {
    Group group{mask, {}};
    for (const Words& board : boards) group.boards.insert(group.boards.end(), board.begin(), board.end());
    groups_.push_back(std::move(group));
  }
}

}  // namespace farthest
