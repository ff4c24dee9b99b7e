#include "farthest/line_survey.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace farthest {

namespace {

// A set of cells has 8 bits for each line. Cells of columns' pieces lie row by row, those of rows' pieces
// column by column: so what blocks a line is a byte of the pieces that cross it.
constexpr int kLineBits = 8;
constexpr int kDigitBits = 4;

std::uint8_t cells_at(int place, int length) {
  return static_cast<std::uint8_t>(((1u << length) - 1) << place);
}

// The cells of a line, one in each of the lines that cross it.
std::uint64_t crossing(std::uint8_t cells, int line) {
  std::uint64_t found = 0;
  for (unsigned left = cells; left != 0; left &= left - 1)
    found |= std::uint64_t{1} << (std::countr_zero(left) * kLineBits + line);
  return found;
}

}  // namespace

LineSurvey::LineSurvey(int size, int row, int most_pieces, int most_walls)
    : size_(size), row_(row), most_pieces_(std::min(most_pieces, kMostPieces)), walls_{0} {
  if (size < kLeastSize || size > kMostSize || row < 0 || row >= size || most_pieces < 1 || most_walls < 0 ||
      most_walls > kMostWalls)
    throw InvalidArgument(
        "expected a grid of 3 to 6 cells a side, one of its rows, 1 piece or more, and 3 walls at most");
  for (std::size_t i = 0; i < walls_.size(); ++i)
    for (int cell = 0; std::popcount(walls_[i]) < most_walls && cell < size * size; ++cell) {
      const std::uint64_t wall = std::uint64_t{1} << (cell / size * kLineBits + cell % size);
      if (wall > walls_[i]) walls_.push_back(walls_[i] | wall);
    }
  std::vector<std::vector<int>> lengths{{}, {2}};
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (const int length : {2, 3}) {
      auto more = lengths[i];
      more.push_back(length);
      int cells = 0;
      for (const int each : more) cells += each;
      if (cells <= size && std::ranges::find(lengths, more) == lengths.end()) lengths.push_back(more);
    }
  for (const auto& each : lengths) {
    Sort sort{.lengths = each, .masks = {}, .places = {}, .reached = {}};
    std::vector<std::pair<LineMask, std::vector<int>>> found;
    const auto place = [&](auto& self, std::vector<int>& places, int next, LineMask mask) -> void {
      if (places.size() == each.size()) return found.emplace_back(mask, places), void();
      const int length = each[places.size()];
      for (int at = next; at + length <= size; ++at) {
        places.push_back(at);
        self(self, places, at + length, static_cast<LineMask>(mask | cells_at(at, length)));
        places.pop_back();
      }
    };
    std::vector<int> none;
    place(place, none, 0, 0);
    std::ranges::sort(found);
    for (auto& [mask, places] : found) {
      sort.masks.push_back(mask);
      sort.places.push_back(std::move(places));
    }
    sort.reached.resize(found.size() << size);
    for (std::size_t from = 0; from < found.size(); ++from)
      for (std::size_t to = 0; to < found.size(); ++to) {
        std::size_t moved = each.size();
        int differing = 0;
        for (std::size_t i = 0; i < each.size(); ++i)
          if (sort.places[from][i] != sort.places[to][i]) moved = i, ++differing;
        if (differing != 1) continue;
        const int one = sort.places[from][moved], other = sort.places[to][moved];
        const int first = std::min(one, other), last = std::max(one, other) + each[moved];
        // No other piece of the line is there: pieces keep their order.
        const unsigned way = cells_at(first, last - first) & ~unsigned{cells_at(one, each[moved])};
        for (unsigned blocked = 0; blocked < 1u << size; ++blocked)
          if ((blocked & way) == 0)
            sort.reached[from << size | blocked] |= static_cast<std::uint16_t>(1u << to);
      }
    const std::size_t number = sorts_.size();
    for (std::size_t arrangement = 0; arrangement < sort.masks.size(); ++arrangement) {
      const LineMask mask = sort.masks[arrangement];
      unsigned firsts = 0;
      for (const int at : sort.places[arrangement]) firsts |= 1u << at;
      if (std::popcount(mask) == size) continue;
      entries_.push_back({.sort = static_cast<std::uint8_t>(number),
                          .arrangement = static_cast<std::uint8_t>(arrangement),
                          .mask = mask,
                          .required = static_cast<LineMask>(firsts >> 1 & ~unsigned{mask}),
                          .pieces = static_cast<int>(each.size())});
    }
    sorts_.push_back(std::move(sort));
  }
  fitting_.resize(std::size_t{1} << 2 * size);
  for (unsigned covered = 0; covered < 1u << size; ++covered)
    for (unsigned required = 0; required < 1u << size; ++required)
      for (const Entry& entry : entries_)
        if ((entry.mask & covered) == 0 && (entry.required & ~covered) == 0 && (required & ~entry.mask) == 0)
          fitting_[covered << size | required].push_back(entry);
}

// What does not change in a component: the sorts of its lines, rows first, and its walls, column by column
// and row by row.
struct LineSurvey::Lines {
  std::array<std::uint8_t, kMostLines> sorts{};
  std::array<std::uint64_t, 2> walls{};
  std::array<std::uint32_t, kMostLines> weights{};
  std::array<int, kMostLines> used{};  // the lines that have pieces
  int lines = 0, pieces = 0;
  std::uint64_t codes = 1;
};

// The breadth-first searches of a thread, with the memory that they use again.
struct LineSurvey::Search {
  // A board of a component. digits: 4 bits of each line. covered: the walls and the cells of rows' pieces,
  // column by column, and the walls and those of columns' pieces, row by row.
  struct Board {
    std::uint64_t digits;
    std::array<std::uint64_t, 2> covered;
    std::uint32_t code, parent;
  };

  static constexpr std::uint64_t kMostCodes = std::uint64_t{1} << 31;

  const LineSurvey& survey;
  std::vector<std::uint64_t> seen;  // a bit for each code; all 0 between searches
  std::vector<Board> flooded, layered;

  explicit Search(const LineSurvey& of) : survey(of) {}

  int digit(std::uint64_t digits, int line) const {
    return static_cast<int>(digits >> line * kDigitBits & ((1 << kDigitBits) - 1));
  }

  // walls: row by row.
  Lines lines_of(const std::array<std::uint8_t, kMostLines>& sorts, std::uint64_t walls) {
    Lines lines{.sorts = sorts, .walls = {survey.crossed(walls), walls}};
    for (int line = 0; line < 2 * survey.size_; ++line) {
      const auto at = static_cast<std::size_t>(line);
      const Sort& sort = survey.sorts_[sorts[at]];
      if (sort.lengths.empty()) continue;
      lines.used[static_cast<std::size_t>(lines.lines++)] = line;
      lines.pieces += static_cast<int>(sort.lengths.size());
      lines.weights[at] = static_cast<std::uint32_t>(lines.codes);
      lines.codes *= sort.masks.size();
    }
    if (lines.codes > kMostCodes) throw LimitExceeded("a component of more than 2^31 codes");
    if (seen.size() * 64 < lines.codes) seen.resize(lines.codes / 64 + 1);
    return lines;
  }

  Board board_of(const Lines& lines, std::uint64_t digits) const {
    Board board{.digits = digits, .covered = lines.walls, .code = 0, .parent = 0};
    for (int i = 0; i < lines.lines; ++i) {
      const int line = lines.used[static_cast<std::size_t>(i)];
      board.code +=
          lines.weights[static_cast<std::size_t>(line)] * static_cast<std::uint32_t>(digit(digits, line));
      board.covered[side(line)] |= crossing(mask(lines, digits, line), place(line));
    }
    return board;
  }
  std::size_t side(int line) const { return line >= survey.size_; }
  int place(int line) const { return line >= survey.size_ ? line - survey.size_ : line; }
  LineMask mask(const Lines& lines, std::uint64_t digits, int line) const {
    const Sort& sort = survey.sorts_[lines.sorts[static_cast<std::size_t>(line)]];
    return sort.masks[static_cast<std::size_t>(digit(digits, line))];
  }
  bool solved(const Board& board) const { return digit(board.digits, survey.row_) == survey.size_ - 2; }

  bool mark(std::uint32_t code) {
    std::uint64_t& word = seen[code / 64];
    const std::uint64_t before = word;
    word |= std::uint64_t{1} << code % 64;
    return word != before;
  }
  void forget(const std::vector<Board>& boards) {
    for (const Board& board : boards) seen[board.code / 64] = 0;
  }

  // Appends the boards one move from boards[at] that are not marked, and marks them; false as soon as
  // found(board) is.
  template <class Found>
  bool expand(const Lines& lines, std::vector<Board>& boards, std::size_t at, Found found) {
    const Board board = boards[at];
    for (int i = 0; i < lines.lines; ++i) {
      const int line = lines.used[static_cast<std::size_t>(i)];
      const Sort& sort = survey.sorts_[lines.sorts[static_cast<std::size_t>(line)]];
      const std::size_t own = side(line);
      const auto blocked = static_cast<std::size_t>(board.covered[1 - own] >> place(line) * kLineBits &
                                                    ((1u << kLineBits) - 1));
      const auto now = static_cast<std::size_t>(digit(board.digits, line));
      for (unsigned left = sort.reached[now << survey.size_ | blocked]; left != 0; left &= left - 1) {
        const auto then = static_cast<std::size_t>(std::countr_zero(left));
        const std::uint32_t code = board.code + lines.weights[static_cast<std::size_t>(line)] *
                                                    static_cast<std::uint32_t>(then - now);
        if (!mark(code)) continue;
        Board next = board;
        next.digits ^= std::uint64_t{now ^ then} << line * kDigitBits;
        next.covered[own] ^= crossing(static_cast<LineMask>(sort.masks[now] ^ sort.masks[then]), place(line));
        next.code = code;
        next.parent = static_cast<std::uint32_t>(at);
        boards.push_back(next);
        if (!found(next)) return false;
      }
    }
    return true;
  }

  // All boards of the component are in `flooded`, marked no more; false where one has a code below `least`.
  bool flood(const Lines& lines, const Board& start, std::uint32_t least) {
    flooded.assign(1, start);
    mark(start.code);
    bool open = true;
    for (std::size_t at = 0; open && at < flooded.size(); ++at)
      open = expand(lines, flooded, at, [&](const Board& next) { return next.code >= least; });
    forget(flooded);
    return open;
  }

  // Counts the component in `flooded`, and adds its row if it is kept. digits: of its least code.
  void add(const Lines& lines, std::uint64_t digits, Keep keep, Part& found) {
    Row row{.pieces = lines.pieces, .states = flooded.size(), .board = {}, .layers = {}, .minimal = false};
    Totals& totals = found.totals[static_cast<std::size_t>(lines.pieces)];
    ++totals.components;
    totals.states += row.states;
    std::uint64_t hardest = digits;
    if (std::ranges::any_of(flooded, [&](const auto& board) { return solved(board); })) {
      row.layers = measure(lines);
      const std::size_t moves = row.layers.size() - 1;
      std::size_t at = row.states - row.layers.back();
      for (std::size_t other = at + 1; other < row.states; ++other)
        if (masks(lines, layered[other]) < masks(lines, layered[at])) at = other;
      hardest = layered[at].digits;
      row.minimal = minimal(lines, at, moves);
      ++totals.solvable;
      totals.solvable_states += row.states;
      totals.moves = std::max<std::uint64_t>(totals.moves, moves);
      totals.minimal += row.minimal;
      totals.minimal_states += row.minimal ? row.states : 0;
    }
    if (keep == Keep::all || row.minimal || (keep == Keep::solvable && !row.layers.empty())) {
      row.board = text(lines, hardest);
      found.rows.push_back(std::move(row));
    }
  }

  // The boards in `layered` by their distance from those that are solved: how many are at each.
  std::vector<std::uint64_t> measure(const Lines& lines) {
    layered.clear();
    for (const Board& board : flooded)
      if (solved(board)) {
        layered.push_back(board);
        mark(board.code);
      }
    std::vector<std::uint64_t> layers;
    for (std::size_t at = 0; at < layered.size();) {
      const std::size_t end = layered.size();
      layers.push_back(end - at);
      for (; at < end; ++at) expand(lines, layered, at, [](const Board&) { return true; });
    }
    forget(layered);
    return layers;
  }

  // The cells of rows' and of columns' pieces, row by row: what hardest boards are compared by.
  std::array<std::uint64_t, 2> masks(const Lines& lines, const Board& board) const {
    std::array<std::uint64_t, 2> found{0, board.covered[1]};
    for (int row = 0; row < survey.size_; ++row)
      found[0] |= std::uint64_t{mask(lines, board.digits, row)} << row * kLineBits;
    return found;
  }

  // Whether the board, which takes so many moves, can be solved in fewer without any one of the other pieces,
  // or of the walls.
  // Pieces that move in a solution are needed for that: it is shorter without them.
  bool minimal(const Lines& lines, std::size_t at, std::size_t moves) {
    std::array<unsigned, kMostLines> moved{};  // a bit for each piece of a line
    moved[static_cast<std::size_t>(survey.row_)] = 1;
    const std::uint64_t digits = layered[at].digits;
    for (std::size_t step = moves; step > 0; --step) {
      const Board& board = layered[at];
      const Board& next = layered[at = board.parent];
      for (int i = 0; i < lines.lines; ++i) {
        const int line = lines.used[static_cast<std::size_t>(i)];
        const Sort& sort = survey.sorts_[lines.sorts[static_cast<std::size_t>(line)]];
        const auto& before = sort.places[static_cast<std::size_t>(digit(board.digits, line))];
        const auto& after = sort.places[static_cast<std::size_t>(digit(next.digits, line))];
        for (std::size_t piece = 0; piece < before.size(); ++piece)
          if (before[piece] != after[piece]) moved[static_cast<std::size_t>(line)] |= 1u << piece;
      }
    }
    for (int i = 0; i < lines.lines; ++i) {
      const auto line = static_cast<std::size_t>(lines.used[static_cast<std::size_t>(i)]);
      const std::size_t pieces = survey.sorts_[lines.sorts[line]].lengths.size();
      for (std::size_t piece = 0; piece < pieces; ++piece)
        if ((moved[line] >> piece & 1) == 0 && !easier_without(lines, digits, line, piece, moves))
          return false;
    }
    for (std::uint64_t left = lines.walls[1]; left != 0; left &= left - 1)
      if (!takes_fewer(lines_of(lines.sorts, lines.walls[1] & ~(left & -left)), digits, moves)) return false;
    return true;
  }

  bool easier_without(const Lines& lines, std::uint64_t digits, std::size_t line, std::size_t piece,
                      std::size_t moves) {
    const Sort& sort = survey.sorts_[lines.sorts[line]];
    const int at = static_cast<int>(line);
    const auto now = static_cast<std::size_t>(digit(digits, at));
    auto lengths = sort.lengths;
    lengths.erase(lengths.begin() + static_cast<std::ptrdiff_t>(piece));
    const auto other = std::ranges::find(survey.sorts_, lengths, &Sort::lengths);
    const auto mask = static_cast<LineMask>(
        sort.masks[now] & ~unsigned{cells_at(sort.places[now][piece], sort.lengths[piece])});
    const auto then =
        static_cast<std::uint64_t>(std::ranges::find(other->masks, mask) - other->masks.begin());
    auto sorts = lines.sorts;
    sorts[line] = static_cast<std::uint8_t>(other - survey.sorts_.begin());
    return takes_fewer(lines_of(sorts, lines.walls[1]),
                       digits ^ (std::uint64_t{now} ^ then) << at * kDigitBits, moves);
  }

  // Whether a board can be solved in fewer moves.
  bool takes_fewer(const Lines& without, std::uint64_t digits, std::size_t moves) {
    flooded.assign(1, board_of(without, digits));
    mark(flooded[0].code);
    bool open = true;
    std::size_t next = 0;
    for (std::size_t depth = 1; open && depth < moves; ++depth)
      for (const std::size_t end = flooded.size(); open && next < end; ++next)
        open = expand(without, flooded, next, [&](const Board& found) { return !solved(found); });
    forget(flooded);
    return !open;
  }

  std::string text(const Lines& lines, std::uint64_t digits) const {
    const auto size = static_cast<std::size_t>(survey.size_);
    std::vector<std::vector<std::size_t>> pieces;
    for (int i = 0; i < lines.lines; ++i) {
      const int line = lines.used[static_cast<std::size_t>(i)];
      const auto of_line = static_cast<std::size_t>(place(line));
      const Sort& sort = survey.sorts_[lines.sorts[static_cast<std::size_t>(line)]];
      const auto& places = sort.places[static_cast<std::size_t>(digit(digits, line))];
      for (std::size_t piece = 0; piece < places.size(); ++piece) {
        auto& cells = pieces.emplace_back();
        for (int cell = places[piece]; cell < places[piece] + sort.lengths[piece]; ++cell) {
          const auto along = static_cast<std::size_t>(cell);
          cells.push_back(side(line) == 0 ? of_line * size + along : along * size + of_line);
        }
      }
    }
    const auto leaving = [&](const std::vector<std::size_t>& cells) {
      return cells[0] / size == static_cast<std::size_t>(survey.row_) && cells[1] == cells[0] + 1;
    };
    std::ranges::sort(pieces, [&](const auto& one, const auto& other) {
      return std::pair(!leaving(one), one[0]) < std::pair(!leaving(other), other[0]);
    });
    std::string board(size * size, 'o');
    for (std::uint64_t left = lines.walls[1]; left != 0; left &= left - 1) {
      const auto wall = static_cast<std::size_t>(std::countr_zero(left));
      board[wall / kLineBits * size + wall % kLineBits] = 'x';
    }
    for (std::size_t piece = 0; piece < pieces.size(); ++piece)
      for (const std::size_t cell : pieces[piece]) board[cell] = static_cast<char>('A' + piece);
    return board;
  }
};

// Calls found(sorts, walls, digits) for the starts of the part. Of many parts each has one set of walls, of
// few each has whole sets.
template <class Found>
void LineSurvey::each_start(std::uint64_t part, std::uint64_t parts, Found found) const {
  const std::uint64_t sets = walls_.size();
  for (std::uint64_t set = 0; set < sets; ++set)
    if (parts < sets ? set % parts == part : part % sets == set)
      each_start_of(walls_[set], parts < sets ? 0 : part / sets,
                    parts < sets ? 1 : (parts - set + sets - 1) / sets, found);
}

// Of those of one set of walls.
template <class Found>
void LineSurvey::each_start_of(std::uint64_t walls, std::uint64_t part, std::uint64_t parts,
                               Found found) const {
  std::array<std::uint8_t, kMostLines> sorts{};
  std::uint64_t number = 0;
  const std::uint64_t whole = (1u << size_) - 1;
  const auto set = [&](int line, const Entry& entry, std::uint64_t digits) {
    sorts[static_cast<std::size_t>(line)] = entry.sort;
    return digits | std::uint64_t{entry.arrangement} << line * kDigitBits;
  };
  // covered, required: by walls and rows' pieces, column by column.
  const auto fill_columns = [&](auto& self, int column, std::uint64_t digits, int pieces,
                                std::uint64_t covered, std::uint64_t required) -> void {
    if (column == size_) return found(sorts, walls, digits);
    const std::uint64_t here = covered >> column * kLineBits & whole,
                        wanted = required >> column * kLineBits & whole;
    for (const Entry& entry : fitting_[here << size_ | wanted]) {
      if (pieces + entry.pieces > most_pieces_) continue;
      self(self, column + 1, set(size_ + column, entry, digits), pieces + entry.pieces, covered, required);
    }
  };
  const auto fill_rows = [&](auto& self, int row, std::uint64_t digits, int pieces, std::uint64_t covered,
                             std::uint64_t required) -> void {
    if (row == size_) {
      if (number++ % parts == part) fill_columns(fill_columns, 0, digits, pieces, covered, required);
      return;
    }
    const auto here = static_cast<unsigned>(walls >> row * kLineBits & whole);
    for (const Entry& entry : entries_) {
      if (pieces + entry.pieces > most_pieces_ || (entry.mask & here) != 0 ||
          std::popcount(entry.mask | here) == size_)
        continue;
      if (row == row_ && (entry.sort != 1 || (here & ~(entry.mask - 1u)) != 0)) continue;
      self(self, row + 1, set(row, entry, digits), pieces + entry.pieces, covered | crossing(entry.mask, row),
           required | crossing(static_cast<LineMask>(entry.required & ~here), row));
    }
  };
  fill_rows(fill_rows, 0, 0, 0, crossed(walls), 0);
}

// Cells row by row as cells column by column.
std::uint64_t LineSurvey::crossed(std::uint64_t cells) const {
  std::uint64_t found = 0;
  for (int row = 0; row < size_; ++row)
    found |= crossing(static_cast<LineMask>(cells >> row * kLineBits), row);
  return found;
}

std::uint64_t LineSurvey::starts(std::uint64_t most_sets) const {
  const std::uint64_t sets = walls_.size(), step = (sets - 1) / most_sets + 1;
  std::uint64_t count = 0;
  for (std::uint64_t set = 0; set < sets; set += step)
    each_start_of(walls_[set], 0, 1, [&](const auto&, std::uint64_t, std::uint64_t) { ++count; });
  return count * sets / ((sets - 1) / step + 1);
}

LineSurvey::Part LineSurvey::survey(std::uint64_t part, std::uint64_t parts, Keep keep) const {
  if (part >= parts) throw InvalidArgument("expected a part below the number of parts");
  Part found;
  Search search(*this);
  each_start(
      part, parts,
      [&](const std::array<std::uint8_t, kMostLines>& sorts, std::uint64_t walls, std::uint64_t digits) {
        const Lines lines = search.lines_of(sorts, walls);
        const auto start = search.board_of(lines, digits);
        ++found.totals[static_cast<std::size_t>(lines.pieces)].starts;
        if (search.flood(lines, start, start.code)) search.add(lines, digits, keep, found);
      });
  return found;
}

// What a text says of a board.
struct LineSurvey::Read {
  std::array<std::uint8_t, kMostLines> sorts{};
  std::uint64_t walls = 0, digits = 0;
};

LineSurvey::Read LineSurvey::read(const std::string& text) const {
  const auto fail = [](const std::string& problem) { return InvalidArgument(problem); };
  const auto size = static_cast<std::size_t>(size_);
  if (text.size() != size * size) throw fail("expected " + std::to_string(size * size) + " characters");
  std::array<std::vector<std::pair<int, int>>, kMostLines> pieces;  // of each line: first cell and length
  Read found;
  for (std::size_t cell = 0; cell < text.size(); ++cell) {
    const char sign = text[cell];
    const std::size_t row = cell / size, column = cell % size;
    if (sign == 'x') found.walls |= std::uint64_t{1} << (row * kLineBits + column);
    if (sign == 'x' || sign == 'o' || text.find(sign) != cell) continue;
    const bool upright = text.find(sign, cell + 1) != cell + 1 || column + 1 == size;
    const std::size_t stride = upright ? size : 1;
    int length = 0;
    for (std::size_t at = cell; at < text.size() && text[at] == sign && length < 3; at += stride) ++length;
    if (length < 2 || std::ranges::count(text, sign) != length ||
        (!upright && column + 3 > size && length > 2))
      throw fail(std::string("car ") + sign + " is not 2 or 3 cells in a line; correct it");
    if (sign == 'A' && (upright || length != 2 || row != static_cast<std::size_t>(row_)))
      throw fail("car A is not 2 cells in row " + std::to_string(row_ + 1) +
                 ", by which it is to leave; correct it, or give its row");
    pieces[upright ? size + column : row].emplace_back(static_cast<int>(upright ? row : column), length);
  }
  for (std::size_t line = 0; line < 2 * size; ++line) {
    std::vector<int> lengths;
    unsigned mask = 0;
    std::ranges::sort(pieces[line]);
    for (const auto& [first, length] : pieces[line]) {
      lengths.push_back(length);
      mask |= cells_at(first, length);
    }
    const auto sort = std::ranges::find(sorts_, lengths, &Sort::lengths);
    const auto arrangement = std::ranges::find(sort->masks, mask) - sort->masks.begin();
    found.sorts[line] = static_cast<std::uint8_t>(sort - sorts_.begin());
    found.digits |= static_cast<std::uint64_t>(arrangement) << line * kDigitBits;
  }
  if (text.find('A') == std::string::npos || found.sorts[static_cast<std::size_t>(row_)] != 1)
    throw fail("car A is not the only one that lies in row " + std::to_string(row_ + 1) +
               "; turn the others, or leave the board out");
  return found;
}

void LineSurvey::check(const std::string& board) const { read(board); }

LineSurvey::Part LineSurvey::survey_boards(const std::vector<std::string>& boards, std::uint64_t part,
                                           std::uint64_t parts, Keep keep) const {
  if (part >= parts) throw InvalidArgument("expected a part below the number of parts");
  Part found;
  Search search(*this);
  std::set<std::tuple<std::array<std::uint8_t, kMostLines>, std::uint64_t, std::uint32_t>> seen;
  for (const std::string& text : boards) {
    const Read board = read(text);
    std::uint64_t hash = board.walls;
    for (const std::uint8_t sort : board.sorts) hash = (hash ^ sort) * 0x100000001b3;
    if ((hash >> 16) % parts != part) continue;
    const Lines lines = search.lines_of(board.sorts, board.walls);
    ++found.totals[static_cast<std::size_t>(lines.pieces)].starts;
    search.flood(lines, search.board_of(lines, board.digits), 0);
    const auto least = std::ranges::min_element(search.flooded, {}, &Search::Board::code);
    if (seen.emplace(board.sorts, board.walls, least->code).second)
      search.add(lines, least->digits, keep, found);
  }
  return found;
}

}  // namespace farthest
