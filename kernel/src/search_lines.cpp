#include "search_lines.hpp"

#include <algorithm>
#include <cstdlib>

namespace farthest {

namespace {

constexpr std::size_t kTabled = 6;  // cells of the longest line that has a table: 7^6 bytes

}  // namespace

SearchLines::SearchLines(const LinearConflict& part, const SearchGraph& graph)
    : graph_(&graph),
      row_(graph.cells(), graph.cells()),
      column_(graph.cells()),
      row_number_(graph.cells()),
      column_number_(graph.cells()),
      goal_cell_(graph.kinds()) {
  const std::size_t cells = graph.cells();
  if (graph.kinds() != cells || part.goal.size() != cells || !std::ranges::is_permutation(part.goal, [&] {
        std::vector<int> labels(cells);
        for (std::size_t i = 0; i < cells; ++i) labels[i] = static_cast<int>(i);
        return labels;
      }()))
    throw InvalidArgument(
        "linear conflicts are of pieces that all differ, and a goal with each of them once");
  for (std::size_t cell = 0; cell < cells; ++cell)
    goal_cell_[static_cast<std::size_t>(part.goal[cell])] = static_cast<int>(cell);
  std::size_t found = 0;
  for (std::size_t r = 0; r < part.rows.size(); ++r) {
    if (part.rows[r].size() != part.rows[0].size()) throw InvalidArgument("rows must be equally long");
    for (std::size_t c = 0; c < part.rows[r].size(); ++c) {
      const int cell = part.rows[r][c];
      if (cell == -1) continue;
      const auto at = static_cast<std::size_t>(cell);
      if (cell < 0 || at >= cells || row_[at] != cells)
        throw InvalidArgument("rows must hold each cell once");
      ++found;
      row_[at] = 0;
      row_number_[at] = static_cast<int>(r);
      column_number_[at] = static_cast<int>(c);
    }
  }
  if (found != cells) throw InvalidArgument("rows must hold each cell once");
  for (const Arc arc : graph.arcs())
    if (std::abs(row_number_[arc.source] - row_number_[arc.target]) +
            std::abs(column_number_[arc.source] - column_number_[arc.target]) !=
        1)
      throw InvalidArgument("linear conflicts are of grids: passages must join neighbours in the rows");
  for (const auto& row : part.rows) add_line(row, row_);
  for (std::size_t c = 0; c < part.rows[0].size(); ++c) {
    std::vector<int> column;
    for (const auto& row : part.rows) column.push_back(row[c]);
    add_line(column, column_);
  }
}

void SearchLines::add_line(const std::vector<int>& cells, std::vector<std::size_t>& line_of) {
  Line line;
  for (const int cell : cells) {
    if (cell == -1) continue;
    line.cells.push_back(static_cast<std::uint8_t>(cell));
    line.weight[static_cast<std::size_t>(cell)] = 1;
    line_of[static_cast<std::size_t>(cell)] = lines_.size();
  }
  for (std::size_t label = 1; label < goal_cell_.size(); ++label) {
    const auto place = std::ranges::find(line.cells, goal_cell_[label]);
    if (place != line.cells.end())
      line.home[label] = static_cast<std::uint8_t>(place - line.cells.begin() + 1);
  }
  const std::size_t size = line.cells.size();
  if (size <= kTabled) {
    for (std::size_t i = 1; i < size; ++i)
      line.weight[line.cells[i]] = line.weight[line.cells[i - 1]] * static_cast<std::uint32_t>(size + 1);
    std::vector<std::uint8_t> digits(size, 0);
    std::size_t place = 0;
    while (place < size || size == 0) {
      line.leave.push_back(static_cast<std::uint8_t>(leaving(digits)));
      if (size == 0) break;
      for (place = 0; place < size && ++digits[place] > size; ++place) digits[place] = 0;
    }
  }
  lines_.push_back(std::move(line));
}

// All but a longest ascending row of those at home.
int SearchLines::leaving(std::span<const std::uint8_t> digits) {
  std::array<int, kMaxSlots> longest{};  // that ends at a place
  int home = 0, kept = 0;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] == 0) continue;
    ++home;
    longest[i] = 1;
    for (std::size_t j = 0; j < i; ++j)
      if (digits[j] != 0 && digits[j] < digits[i]) longest[i] = std::max(longest[i], longest[j] + 1);
    kept = std::max(kept, longest[i]);
  }
  return home - kept;
}

std::size_t SearchLines::number(const Line& line, const SlidingBoard& board) {
  std::size_t number = 0;
  for (std::size_t i = line.cells.size(); i-- > 0;)
    number = number * (line.cells.size() + 1) + line.home[board[line.cells[i]]];
  return number;
}

int SearchLines::leaving(const Line& line, const SlidingBoard& board) {
  if (!line.leave.empty()) return line.leave[number(line, board)];
  SlidingBoard digits;
  for (std::size_t i = 0; i < line.cells.size(); ++i) digits[i] = line.home[board[line.cells[i]]];
  return leaving(std::span(digits).first(line.cells.size()));
}

// How many more must leave since the piece came to a cell of the line.
int SearchLines::joined(const Line& line, const SlidingBoard& board, std::size_t cell) {
  const std::uint8_t label = board[cell];
  if (line.home[label] == 0) return 0;
  if (!line.leave.empty()) {
    const std::size_t after = number(line, board);
    return line.leave[after] - line.leave[after - line.home[label] * line.weight[cell]];
  }
  SlidingBoard before = board;
  before[cell] = 0;
  return leaving(line, board) - leaving(line, before);
}

int SearchLines::apart(std::size_t label, std::size_t cell) const {
  const auto goal = static_cast<std::size_t>(goal_cell_[label]);
  return std::abs(row_number_[cell] - row_number_[goal]) +
         std::abs(column_number_[cell] - column_number_[goal]);
}

int SearchLines::value(const SlidingBoard& board) const {
  int sum = 0;
  for (std::size_t cell = 0; cell < graph_->cells(); ++cell)
    if (board[cell] != 0) sum += apart(board[cell], cell);
  for (const Line& line : lines_) sum += 2 * leaving(line, board);
  return sum;
}

int SearchLines::change(const SlidingBoard& board, Arc arc) const {
  const std::size_t label = board[arc.target];
  int change = apart(label, arc.target) - apart(label, arc.source);
  // A line that the piece moves along keeps its order.
  const auto& across = row_[arc.source] == row_[arc.target] ? column_ : row_;
  change += 2 * joined(lines_[across[arc.target]], board, arc.target);
  const Line& left = lines_[across[arc.source]];
  if (left.home[label] == 0) return change;
  if (!left.leave.empty()) {
    const std::size_t after = number(left, board);
    return change + 2 * (left.leave[after] - left.leave[after + left.home[label] * left.weight[arc.source]]);
  }
  SlidingBoard before = board;
  before[arc.source] = board[arc.target];
  before[arc.target] = 0;
  return change - 2 * joined(left, before, arc.source);
}

}  // namespace farthest
