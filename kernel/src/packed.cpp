#include "farthest/packed.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <tuple>

#include "packed_words.hpp"

namespace farthest {
namespace {

constexpr std::size_t kContents = 256;

void check(const PackedBoards& boards, std::size_t width) {
  const std::size_t cells = boards.fields.size() + (boards.sum ? 1 : 0);
  if (cells == 0 || cells > kMaxPackedCells) throw InvalidArgument("there must be 1 to 1024 cells");
  check_fields(boards.fields, width);
  if (boards.tables.empty() ||
      std::ranges::any_of(boards.tables, [](const auto& table) { return table.size() != kContents; }))
    throw InvalidArgument("there must be tables of 256 contents each");
  if ((!boards.kinds.empty() && boards.kinds.size() != cells) ||
      std::ranges::any_of(boards.kinds, [](const auto& table) { return table.size() != kContents; }))
    throw InvalidArgument("there must be kinds of 256 contents for each cell");
}

void check(const PackedMove& move, std::size_t cells, std::size_t tables) {
  if (move.to.size() != cells || move.turns.size() != cells)
    throw InvalidArgument("a move must name a cell and a table for each cell");
  std::vector<bool> reached(cells);
  for (const int cell : move.to) {
    if (cell < 0 || cell >= static_cast<int>(cells)) throw InvalidArgument("a move leads out of the board");
    if (reached[static_cast<std::size_t>(cell)]) throw InvalidArgument("a move must permute the cells");
    reached[static_cast<std::size_t>(cell)] = true;
  }
  if (std::ranges::any_of(move.turns,
                          [&](int table) { return table < 0 || table >= static_cast<int>(tables); }))
    throw InvalidArgument("a move names a table that there is not");
  SlotMask asked = move.require | move.forbid;
  for (const PackedGuard& guard : move.guards) asked |= guard.cells;
  if (asked != 0 && cells > static_cast<std::size_t>(kMaxSlots))
    throw InvalidArgument("moves that ask for cells need 64 cells at most");
  if (asked != 0 && (asked & ~first_slots(static_cast<int>(cells))) != 0)
    throw InvalidArgument("a move asks for a cell that there is not");
  for (const PackedGuard& guard : move.guards) {
    if (std::ranges::any_of(guard.kinds,
                            [](int kind) { return kind < 1 || kind >= static_cast<int>(kContents); }))
      throw InvalidArgument("a guard names a kind that is not 1 to 255");
  }
}

template <class Code>
class PackedExpander final : public ExpanderOf<Code> {
 public:
  PackedExpander(std::size_t width, const PackedBoards& boards, const std::vector<PackedMove>& moves)
      : width_(width), fields_(boards.fields), sum_(boards.sum) {
    check(boards, width);
    for (const ContentTable& kinds : boards.kinds)
      kind_of_.insert(kind_of_.end(), kinds.begin(), kinds.end());
    const std::size_t cells = fields_.size() + (sum_ ? 1 : 0);
    for (const PackedMove& move : moves) {
      check(move, cells, boards.tables.size());
      add(move, boards);
      masked_ = masked_ || (move.require | move.forbid) != 0;
      if (!move.guards.empty() && kind_of_.empty())
        throw InvalidArgument("a move has guards, but there are no kinds");
    }
  }

  std::size_t width() const override { return width_; }

  void successors(std::span<const Code> codes, std::vector<Code>& out) const override {
    Contents contents{};
    Places places{};
    for (const Code& code : codes) {
      read(code, contents);
      if (!guards_.empty()) find(contents, places);
      SlotMask blanks = 0;
      if (masked_)
        for (std::size_t cell = 0; cell < fields_.size() + (sum_ ? 1 : 0); ++cell)
          blanks |= SlotMask{contents[cell] == 0 ? 1U : 0U} << cell;
      for (const Made& move : moves_[kAlways]) make(move, blanks, places, code, contents, out);
      for (SlotMask left = blanks; left != 0; left &= left - 1)
        for (const Made& move : moves_[static_cast<std::size_t>(lowest(left))])
          make(move, blanks, places, code, contents, out);
    }
  }

 private:
  static constexpr std::size_t kAlways = kMaxSlots;
  using Contents = std::array<std::uint8_t, kMaxPackedCells>;
  using Places = std::array<SlotMask, kContents>;  // of each kind the cells where it stands

  // A field gets what stood in `from`: the table from `table` on has, for each content there, its bits.
  struct Change {
    std::uint32_t table;
    std::uint16_t from;
  };
  // A word of a code in which a move changes fields; `kept`: the bits of all others.
  struct Word {
    std::uint64_t kept;
    std::uint32_t first, last;  // changes
    std::size_t number;
  };
  struct Made {
    SlotMask require, forbid;
    std::uint32_t first, last;  // words
    std::uint32_t first_guard, last_guard;
  };
  struct Guard {
    std::uint32_t first, last;  // kinds
    SlotMask cells;
    bool joined;
  };

  void add(const PackedMove& move, const PackedBoards& boards) {
    Made made{move.require,
              move.forbid,
              static_cast<std::uint32_t>(words_.size()),
              0,
              static_cast<std::uint32_t>(guards_.size()),
              0};
    for (std::size_t from = 0; from < move.to.size(); ++from) {
      const auto to = static_cast<std::size_t>(move.to[from]);
      const auto table = static_cast<std::size_t>(move.turns[from]);
      if (to >= fields_.size()) continue;  // it follows from the others
      if (to == from && is_identity(boards.tables[table])) continue;
      const auto number = static_cast<std::size_t>(fields_[to].word);
      // Of one move the changes of a word lie together.
      auto word = std::find_if(words_.begin() + made.first, words_.end(),
                               [&](const Word& one) { return one.number == number; });
      if (word == words_.end()) word = words_.insert(word, {~std::uint64_t{0}, count(), count(), number});
      changes_.insert(changes_.begin() + word->last++,
                      {table_of(table, from, fields_[to], boards), static_cast<std::uint16_t>(from)});
      word->kept &= ~(((std::uint64_t{1} << fields_[to].bits) - 1) << fields_[to].shift);
      for (auto later = word + 1; later != words_.end(); ++later) ++later->first, ++later->last;
    }
    made.last = static_cast<std::uint32_t>(words_.size());
    for (const PackedGuard& guard : move.guards) {
      const auto first = static_cast<std::uint32_t>(kinds_.size());
      for (const int kind : guard.kinds) kinds_.push_back(static_cast<std::uint8_t>(kind));
      guards_.push_back({first, static_cast<std::uint32_t>(kinds_.size()), guard.cells, guard.joined});
    }
    made.last_guard = static_cast<std::uint32_t>(guards_.size());
    moves_[move.require == 0 ? kAlways : static_cast<std::size_t>(lowest(move.require))].push_back(made);
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(changes_.size()); }

  // Where the table begins of what the contents of `from` are in the field `to`.
  std::uint32_t table_of(std::size_t table, std::size_t from, const PackedField& to,
                         const PackedBoards& boards) {
    const std::size_t contents = from < fields_.size() ? std::size_t{1} << fields_[from].bits : kContents;
    const auto [known, fresh] = known_.try_emplace({table, contents, to.shift, to.bits},
                                                   static_cast<std::uint32_t>(fields_of_.size()));
    for (std::size_t content = 0; fresh && content < contents; ++content)
      fields_of_.push_back((boards.tables[table][content] & ((std::uint64_t{1} << to.bits) - 1)) << to.shift);
    return known->second;
  }

  static bool is_identity(const ContentTable& table) {
    for (std::size_t content = 0; content < kContents; ++content)
      if (table[content] != content) return false;
    return true;
  }

  void read(const Code& code, Contents& contents) const {
    std::uint32_t sum = 0;
    std::size_t cell = 0;
    for (const PackedField& field : fields_) {
      const std::uint64_t content = word_of(code, static_cast<std::size_t>(field.word)) >> field.shift;
      contents[cell] = static_cast<std::uint8_t>(content & ((1U << field.bits) - 1));
      sum += contents[cell++];
    }
    if (sum_) contents[cell] = static_cast<std::uint8_t>(*sum_ - sum);
  }

  void find(const Contents& contents, Places& places) const {
    places.fill(0);
    for (std::size_t cell = 0; cell < kind_of_.size() / kContents; ++cell)
      places[kind_of_[cell * kContents + contents[cell]]] |= SlotMask{1} << cell;
  }

  bool holds(const Guard& guard, const Places& places) const {
    SlotMask there = 0;
    for (std::uint32_t i = guard.first; i < guard.last; ++i) there |= places[kinds_[i]];
    return (there & guard.cells) == 0 || (guard.joined && (there & ~guard.cells) == 0);
  }

  void make(const Made& move, SlotMask blanks, const Places& places, const Code& code,
            const Contents& contents, std::vector<Code>& out) const {
    if ((blanks & move.require) != move.require || (blanks & move.forbid) != 0) return;
    for (std::uint32_t i = move.first_guard; i < move.last_guard; ++i)
      if (!holds(guards_[i], places)) return;
    Code& after = out.emplace_back(code);  // in place: copied at once, it would wait for its words
    for (std::uint32_t i = move.first; i < move.last; ++i) {
      const Word& changed = words_[i];
      std::uint64_t word = word_of(code, changed.number) & changed.kept;
      for (std::uint32_t j = changed.first; j < changed.last; ++j)
        word |= fields_of_[changes_[j].table + contents[changes_[j].from]];
      word_of(after, changed.number) = word;
    }
  }

  std::size_t width_;
  std::vector<PackedField> fields_;
  std::optional<std::uint32_t> sum_;
  std::vector<std::uint64_t> fields_of_;  // all tables, one after another
  std::map<std::tuple<std::size_t, std::size_t, int, int>, std::uint32_t> known_;  // tables
  std::vector<Change> changes_;
  std::vector<Word> words_;
  std::array<std::vector<Made>, kMaxSlots + 1> moves_;  // by the lowest cell that must be blank
  std::vector<std::uint8_t> kind_of_;                   // for each cell 256 contents
  std::vector<std::uint8_t> kinds_;                     // of the guards, one after another
  std::vector<Guard> guards_;
  bool masked_ = false;
};

}  // namespace

std::unique_ptr<Expander> packed_expander(std::size_t width, const PackedBoards& boards,
                                          const std::vector<PackedMove>& moves) {
  return with_code(width, [&]<class Code>(Code) -> std::unique_ptr<Expander> {
    return std::make_unique<PackedExpander<Code>>(width, boards, moves);
  });
}

}  // namespace farthest
