#include "farthest/line_survey.hpp"

#include <algorithm>
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

LineSurvey::LineSurvey(int size, int row, int most_pieces)
    : size_(size), row_(row), most_pieces_(std::min(most_pieces, kMostPieces)) {
  if (size < kLeastSize || size > kMostSize || row < 0 || row >= size || most_pieces < 1)
    throw InvalidArgument("expected a grid of 3 to 6 cells a side, one of its rows, and 1 piece or more");
  std::vector<std::vector<int>> lengths{{}, {2}};
  for (std::size_t i = 0; i < lengths.size(); ++i)
    for (const int length : {2, 3}) {
      auto more = lengths[i];
      more.push_back(length);
      int cells = 0;
      for (const int each : more) cells += each;
      if (cells < size && std::ranges::find(lengths, more) == lengths.end()) lengths.push_back(more);
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

// What does not change in a component: the sorts of its lines, rows first.
struct LineSurvey::Lines {
  std::array<std::uint8_t, kMostLines> sorts{};
  std::array<std::uint32_t, kMostLines> weights{};
  std::array<int, kMostLines> used{};  // the lines that have pieces
  int lines = 0, pieces = 0;
  std::uint64_t codes = 1;
};

// The breadth-first searches of a thread, with the memory that they use again.
struct LineSurvey::Search {
  // A board of a component. digits: 4 bits of each line. covered: the cells of rows' pieces, column by
  // column, and those of columns' pieces, row by row.
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

  Lines lines_of(const std::array<std::uint8_t, kMostLines>& sorts) {
    Lines lines{.sorts = sorts};
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
    Board board{.digits = digits, .covered = {}, .code = 0, .parent = 0};
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

  // All boards of the component are in `flooded`, marked no more; false where one has a lesser code than the
  // start.
  bool flood(const Lines& lines, const Board& start) {
    flooded.assign(1, start);
    mark(start.code);
    bool least = true;
    for (std::size_t at = 0; least && at < flooded.size(); ++at)
      least = expand(lines, flooded, at, [&](const Board& next) { return next.code > start.code; });
    forget(flooded);
    return least;
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

  // Whether the board, which takes so many moves, can be solved in fewer without any one of the other pieces.
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
    const Lines without = lines_of(sorts);
    flooded.assign(1, board_of(without, digits ^ (std::uint64_t{now} ^ then) << at * kDigitBits));
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
    for (std::size_t piece = 0; piece < pieces.size(); ++piece)
      for (const std::size_t cell : pieces[piece]) board[cell] = static_cast<char>('A' + piece);
    return board;
  }
};

// Calls found(sorts, digits, pieces) for the starts of the part.
template <class Found>
void LineSurvey::each_start(std::uint64_t part, std::uint64_t parts, Found found) const {
  std::array<std::uint8_t, kMostLines> sorts{};
  std::uint64_t number = 0;
  const auto set = [&](int line, const Entry& entry, std::uint64_t digits) {
    sorts[static_cast<std::size_t>(line)] = entry.sort;
    return digits | std::uint64_t{entry.arrangement} << line * kDigitBits;
  };
  // covered, required: by rows' pieces, column by column.
  const auto fill_columns = [&](auto& self, int column, std::uint64_t digits, int pieces,
                                std::uint64_t covered, std::uint64_t required) -> void {
    if (column == size_) return found(sorts, digits, pieces);
    const std::uint64_t whole = (1u << size_) - 1;
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
    for (const Entry& entry : entries_) {
      if (pieces + entry.pieces > most_pieces_ || (row == row_ && entry.sort != 1)) continue;
      self(self, row + 1, set(row, entry, digits), pieces + entry.pieces, covered | crossing(entry.mask, row),
           required | crossing(entry.required, row));
    }
  };
  fill_rows(fill_rows, 0, 0, 0, 0, 0);
}

std::uint64_t LineSurvey::starts() const {
  std::uint64_t count = 0;
  each_start(0, 1, [&](const auto&, std::uint64_t, int) { ++count; });
  return count;
}

LineSurvey::Part LineSurvey::survey(std::uint64_t part, std::uint64_t parts, Keep keep) const {
  if (part >= parts) throw InvalidArgument("expected a part below the number of parts");
  Part found;
  Search search(*this);
  each_start(
      part, parts, [&](const std::array<std::uint8_t, kMostLines>& sorts, std::uint64_t digits, int pieces) {
        const Lines lines = search.lines_of(sorts);
        const auto start = search.board_of(lines, digits);
        Totals& totals = found.totals[static_cast<std::size_t>(pieces)];
        ++totals.starts;
        if (!search.flood(lines, start)) return;
        Row row{
            .pieces = pieces, .states = search.flooded.size(), .board = {}, .layers = {}, .minimal = false};
        ++totals.components;
        totals.states += row.states;
        std::uint64_t hardest = digits;
        if (std::ranges::any_of(search.flooded, [&](const auto& board) { return search.solved(board); })) {
          row.layers = search.measure(lines);
          const std::size_t moves = row.layers.size() - 1;
          std::size_t at = row.states - row.layers.back();
          for (std::size_t other = at + 1; other < row.states; ++other)
            if (search.masks(lines, search.layered[other]) < search.masks(lines, search.layered[at]))
              at = other;
          hardest = search.layered[at].digits;
          row.minimal = search.minimal(lines, at, moves);
          ++totals.solvable;
          totals.solvable_states += row.states;
          totals.moves = std::max<std::uint64_t>(totals.moves, moves);
          totals.minimal += row.minimal;
          totals.minimal_states += row.minimal ? row.states : 0;
        }
        if (keep == Keep::all || row.minimal || (keep == Keep::solvable && !row.layers.empty())) {
          row.board = search.text(lines, hardest);
          found.rows.push_back(std::move(row));
        }
      });
  return found;
}

}  // namespace farthest
