#include "farthest/packed.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <tuple>

#include "packed_lines.hpp"
#include "packed_words.hpp"

namespace farthest {
namespace {

constexpr std::size_t kContents = 256;

bool is_identity(const ContentTable& table) {
  for (std::size_t content = 0; content < kContents; ++content)
    if (table[content] != content) return false;
  return true;
}

void check(const PackedBoards& boards, std::size_t width) {
  const std::size_t cells = boards.fields.size() + (boards.sum ? 1 : 0);
  if (cells == 0 || cells > kMaxPackedCells) throw InvalidArgument("there must be 1 to 1024 cells");
  check_fields(boards.fields, width);
  if (boards.tables.empty() ||
      std::ranges::any_of(boards.tables, [](const auto& table) { return table.size() != kContents; }))
    throw InvalidArgument("there must be tables of 256 contents each");
  // A content of the last cell then fits no narrower field, and backends need not look it up whole.
  if (boards.sum && !std::ranges::all_of(boards.tables, is_identity))
    throw InvalidArgument("where the sum of contents is known, no table may change them");
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
  if ((asked != 0 || !move.guards.empty()) && cells > static_cast<std::size_t>(kMaxSlots))
    throw InvalidArgument("moves that ask for cells need 64 cells at most");
  if (asked != 0 && (asked & ~first_slots(static_cast<int>(cells))) != 0)
    throw InvalidArgument("a move asks for a cell that there is not");
  for (const PackedGuard& guard : move.guards) {
    if (std::ranges::any_of(guard.kinds,
                            [](int kind) { return kind < 1 || kind >= static_cast<int>(kContents); }))
      throw InvalidArgument("a guard names a kind that is not 1 to 255");
  }
}

PackedBackend packed_backend(Isa isa, const PackedBoards& boards) {
#ifdef FARTHEST_X86
  __builtin_cpu_init();
  const bool narrow = std::ranges::all_of(
      boards.fields, [](const PackedField& field) { return field.bits <= kPackedShuffleBits; });
  if (isa == Isa::avx512 && narrow && __builtin_cpu_supports("avx512vbmi")) return avx512_packed();
#endif
  static_cast<void>(isa), static_cast<void>(boards);
  return portable_packed();
}

template <class Code>
class PackedExpander final : public ExpanderOf<Code> {
 public:
  PackedExpander(std::size_t width, const PackedBoards& boards, const std::vector<PackedMove>& moves, Isa isa)
      : width_(width), fields_(boards.fields), sum_(boards.sum), backend_(packed_backend(isa, boards)) {
    check(boards, width);
    for (const PackedField& field : fields_)
      field_words_ = std::max(field_words_, static_cast<std::size_t>(field.word) + 1);
    for (const ContentTable& kinds : boards.kinds)
      kind_of_.insert(kind_of_.end(), kinds.begin(), kinds.end());
    for (const PackedMove& move : moves) {
      check(move, cells(), boards.tables.size());
      add(move, boards);
      masked_ = masked_ || (move.require | move.forbid) != 0;
      if (!move.guards.empty() && kind_of_.empty())
        throw InvalidArgument("a move has guards, but there are no kinds");
    }
    for (std::size_t i = 0; i < changes_.size(); ++i) {
      changes_[i].fields = &fields_of_[tables_[i] * kContents];
      changes_[i].contents = &contents_of_[tables_[i] * kContents];
    }
  }

  std::size_t width() const override { return width_; }

  void successors(std::span<const Code> codes, std::vector<Code>& out) const override {
    Block block(*this);
    for (; !codes.empty(); codes = codes.subspan(block.boards)) {
      block.boards = std::min(codes.size(), kPackedBlock);
      read(codes.first(block.boards), block);
      if (!guards_.empty()) find_held(block);
      std::size_t found = 0;
      for (std::size_t i = 0; i < moves_.size(); ++i)
        found += static_cast<std::size_t>(std::popcount(block.made[i] = boards_for(moves_[i], block)));
      const std::size_t at = out.size();
      out.resize(at + found);
      Code* to = out.data() + at;
      for (std::size_t i = 0; i < moves_.size(); ++i)
        if (block.made[i] != 0) to = make(moves_[i], block.made[i], codes, block, to);
    }
  }

 private:
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

  // Boards side by side, and what is known of them: by cell, by guard and by move masks of boards.
  struct Block {
    explicit Block(const PackedExpander& of)
        : words(of.field_words_ * kPackedBlock),
          contents(of.cells() * kPackedBlock),
          blank(of.masked_ ? of.cells() : 0),
          held(of.guards_.size()),
          made(of.moves_.size()) {}

    std::size_t boards = 0;
    std::vector<Key> words;              // [word][board]
    std::vector<std::uint8_t> contents;  // [cell][board]
    std::vector<SlotMask> blank, held, made;
    std::array<Key, kPackedBlock> word{};  // of one move
  };

  std::size_t cells() const { return fields_.size() + (sum_ ? 1 : 0); }

  using Places = std::array<SlotMask, kContents>;  // of each kind the cells where it stands

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
      const std::uint32_t number_of_table = table_of(table, fields_[to], boards);
      changes_.insert(changes_.begin() + word->last++, {nullptr, nullptr, static_cast<std::uint32_t>(from),
                                                        static_cast<std::uint32_t>(fields_[to].shift)});
      tables_.insert(tables_.begin() + word->last - 1, number_of_table);
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
    moves_.push_back(made);
  }

  std::uint32_t count() const { return static_cast<std::uint32_t>(changes_.size()); }

  // The number of the table of what any contents are in the field `to`.
  std::uint32_t table_of(std::size_t table, const PackedField& to, const PackedBoards& boards) {
    const auto [known, fresh] =
        known_.try_emplace({table, to.shift, to.bits}, static_cast<std::uint32_t>(known_.size()));
    for (std::size_t content = 0; fresh && content < kContents; ++content) {
      const Key field = boards.tables[table][content] & ((Key{1} << to.bits) - 1);
      fields_of_.push_back(field << to.shift);
      contents_of_.push_back(static_cast<std::uint8_t>(field));
    }
    return known->second;
  }

  void read(std::span<const Code> codes, Block& block) const {
    for (std::size_t word = 0; word < field_words_; ++word)
      for (std::size_t i = 0; i < codes.size(); ++i)
        block.words[word * kPackedBlock + i] = word_of(codes[i], word);
    for (std::size_t cell = 0; cell < fields_.size(); ++cell)
      backend_.read(&block.words[static_cast<std::size_t>(fields_[cell].word) * kPackedBlock],
                    fields_[cell].shift, (Key{1} << fields_[cell].bits) - 1,
                    &block.contents[cell * kPackedBlock]);
    if (sum_) {
      std::uint8_t* const last = &block.contents[fields_.size() * kPackedBlock];
      std::fill_n(last, kPackedBlock, static_cast<std::uint8_t>(*sum_));
      for (std::size_t cell = 0; cell < fields_.size(); ++cell)
        for (std::size_t i = 0; i < kPackedBlock; ++i)
          last[i] = static_cast<std::uint8_t>(last[i] - block.contents[cell * kPackedBlock + i]);
    }
    for (std::size_t cell = 0; cell < block.blank.size(); ++cell)
      block.blank[cell] = backend_.blanks(&block.contents[cell * kPackedBlock]);
  }

  // For each guard the boards that it holds for.
  void find_held(Block& block) const {
    std::ranges::fill(block.held, 0);
    Places places{};
    for (std::size_t i = 0; i < block.boards; ++i) {
      places.fill(0);
      for (std::size_t cell = 0; cell < cells(); ++cell)
        places[kind_of_[cell * kContents + block.contents[cell * kPackedBlock + i]]] |= SlotMask{1} << cell;
      for (std::size_t guard = 0; guard < guards_.size(); ++guard)
        block.held[guard] |= SlotMask{holds(guards_[guard], places)} << i;
    }
  }

  bool holds(const Guard& guard, const Places& places) const {
    SlotMask there = 0;
    for (std::uint32_t i = guard.first; i < guard.last; ++i) there |= places[kinds_[i]];
    return (there & guard.cells) == 0 || (guard.joined && (there & ~guard.cells) == 0);
  }

  // The boards that the move can be made on.
  SlotMask boards_for(const Made& move, const Block& block) const {
    SlotMask boards = first_slots(static_cast<int>(block.boards));
    for (SlotMask left = move.require; left != 0; left &= left - 1)
      boards &= block.blank[static_cast<std::size_t>(lowest(left))];
    for (SlotMask left = move.forbid; left != 0; left &= left - 1)
      boards &= ~block.blank[static_cast<std::size_t>(lowest(left))];
    for (std::uint32_t i = move.first_guard; i < move.last_guard; ++i) boards &= block.held[i];
    return boards;
  }

  // Writes the codes that the move makes of some boards; returns where they end.
  Code* make(const Made& move, SlotMask boards, std::span<const Code> codes, Block& block, Code* to) const {
    Code* end = to;
    for (SlotMask left = boards; left != 0; left &= left - 1)
      *end++ = codes[static_cast<std::size_t>(lowest(left))];
    for (std::uint32_t i = move.first; i < move.last; ++i) {
      const Word& changed = words_[i];
      backend_.make(&changes_[changed.first], changed.last - changed.first, block.contents.data(),
                    &block.words[changed.number * kPackedBlock], changed.kept, boards, block.word.data());
      for (Code* code = to; code != end; ++code)
        word_of(*code, changed.number) = block.word[static_cast<std::size_t>(code - to)];
    }
    return end;
  }

  std::size_t width_;
  std::vector<PackedField> fields_;
  std::optional<std::uint32_t> sum_;
  PackedBackend backend_;
  std::size_t field_words_ = 0;  // the words of a code that fields are in, and those before
  std::map<std::tuple<std::size_t, int, int>, std::uint32_t> known_;  // tables, of kContents each
  std::vector<Key> fields_of_;
  std::vector<std::uint8_t> contents_of_;
  std::vector<PackedChange> changes_;
  std::vector<std::uint32_t> tables_;  // of changes
  std::vector<Word> words_;
  std::vector<Made> moves_;
  std::vector<std::uint8_t> kind_of_;  // for each cell 256 contents
  std::vector<std::uint8_t> kinds_;    // of the guards, one after another
  std::vector<Guard> guards_;
  bool masked_ = false;
};

}  // namespace

std::unique_ptr<Expander> packed_expander(std::size_t width, const PackedBoards& boards,
                                          const std::vector<PackedMove>& moves, Isa isa) {
  return with_code(width, [&]<class Code>(Code) -> std::unique_ptr<Expander> {
    return std::make_unique<PackedExpander<Code>>(width, boards, moves, isa);
  });
}

}  // namespace farthest
