#include "farthest/large_cosets.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <string>
#include <utility>

#include "farthest/types.hpp"
#include "parallel.hpp"
#include "sequence_listing.hpp"
#include "subgroup_marks.hpp"

namespace farthest {
namespace {

constexpr std::size_t kRoots = 1 << 15;

std::vector<LargeCosets::Slots> chosen(const std::vector<LargeCosets::Slots>& moves,
                                       const std::vector<bool>& own) {
  if (own.size() != moves.size()) throw InvalidArgument("for each move it must be told whether it is in H");
  std::vector<LargeCosets::Slots> found;
  for (std::size_t move = 0; move < moves.size(); ++move)
    if (own[move]) found.push_back(moves[move]);
  return found;
}

ListingBackend listing_of(Isa isa) {
#ifdef FARTHEST_X86
  if (isa != Isa::portable) return avx2_listing();
#else
  static_cast<void>(isa);
#endif
  return portable_listing();
}

// Sequences of moves that are made backwards, from H on, by the state that they lead from.
class TailList {
 public:
  TailList(const TurnTable& table, const ListingMoves& moves, std::size_t length)
      : table_(table), moves_(moves), length_(length) {
    word_.fill(moves.from.size());
    add({}, length);
  }

  std::vector<std::pair<std::uint32_t, std::uint32_t>> found;  // key of the state, tail

 private:
  // `left` moves are still to be put before those that are there.
  void add(TurnTable::State state, std::size_t left) {
    const std::size_t count = moves_.from.size();
    if (left == 0) {
      const auto word = [&](std::size_t i) {
        return static_cast<std::uint32_t>((word_[i] * (count + 1) + word_[i + 1]) * (count + 1) +
                                          word_[i + 2]);
      };
      const std::uint32_t face = length_ == 0 ? Tails::kAnyFace : moves_.face[word_[0]];
      found.emplace_back(table_.key(state), word(0) | word(3) << Tails::kWordBits | face << 28);
      return;
    }
    for (std::size_t move = 0; move < count; ++move) {
      const bool own = (moves_.own >> move & 1) != 0;
      if (left == length_ && own) continue;
      if (left < length_) {
        const std::size_t next = word_[left];
        if ((moves_.after[moves_.face[move]] >> next & 1) == 0) continue;
        if (left + 1 == length_ && own && (moves_.commuting[moves_.face[move]] >> moves_.face[next] & 1) != 0)
          continue;
      }
      word_[left - 1] = move;
      add(table_.after(state, moves_.inverse[move]), left - 1);
    }
    word_[left - 1] = count;
  }

  const TurnTable& table_;
  const ListingMoves& moves_;
  const std::size_t length_;
  std::array<std::size_t, ListingMoves::kMostTail> word_;
};

}  // namespace

Tails::Tails(const TurnTable& table, const ListingMoves& moves, int tail_length) : length(tail_length) {
  const std::size_t each = moves.from.size() + 1;
  Pieces none;
  for (std::size_t i = 0; i < none.at.size(); ++i) none.at[i] = static_cast<std::uint8_t>(i % 16);
  for (std::size_t word = 0; word < each * each * each; ++word) {
    Pieces made = none;
    for (const std::size_t move : {word / each / each, word / each % each, word % each}) {
      if (move + 1 == each) continue;
      const Pieces before = made;
      for (std::size_t i = 0; i < made.at.size(); ++i)
        made.at[i] = before.at[i / 16 * 16 + moves.from[move].at[i]];
    }
    words.push_back(made);
  }
  auto found = TailList(table, moves, static_cast<std::size_t>(length)).found;
  std::ranges::sort(found);
  std::size_t states = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (i == 0 || found[i].first != found[i - 1].first) ++states;
  }
  bits = std::max(1, static_cast<int>(std::bit_width(states + states / 4)));
  const std::size_t mask = (std::size_t{1} << bits) - 1;
  slots.assign(mask + 1, kEmpty);
  for (std::size_t i = 0, run = 0; i < found.size(); ++i) {
    const auto [key, tail] = found[i];
    if (run++ == 0) {
      std::size_t at = home(key);
      while (slots[at] != kEmpty) at = (at + 1) & mask;
      slots[at] = std::uint64_t{key} << 32 | i;
    }
    const bool last = i + 1 == found.size() || found[i + 1].first != key;
    tails.push_back(tail | std::uint32_t{last} << 31);
    longest = std::max(longest, run);
    if (last) run = 0;
  }
}

void LargeCosets::check(const std::vector<Slots>& own) { SubgroupBits::places(own); }

SubgroupBits::Bytes LargeCosets::bytes_of(std::span<const std::uint8_t> slots) const {
  if (slots.size() != places_.size()) throw InvalidArgument("a board has another number of slots");
  SubgroupBits::Bytes bytes;
  std::uint32_t met = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i % 16);
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (slots[slot] >= places_.size()) throw InvalidArgument("a board has slots that there are not");
    const std::uint8_t from = places_[slots[slot]], to = places_[slot];
    if (from / 16 != to / 16) throw InvalidArgument("the first orbit of the subgroup is not kept");
    if ((met >> from & 1) != 0) throw InvalidArgument("a board has two pieces alike");
    met |= std::uint32_t{1} << from;
    bytes[to] = from % 16;
  }
  return bytes;
}

LargeCosets::LargeCosets(TurnTable::Coordinates coordinates, const Moves& moves,
                         const std::vector<TurnTable::Renaming>& symmetries, int threads)
    : places_(SubgroupBits::places(chosen(moves.from, moves.own))),
      table_(std::move(coordinates), moves.faces, symmetries, threads),
      moves_(std::make_unique<ListingMoves>()) {
  const std::size_t count = table_.moves();
  if (moves.from.size() != count || moves.commuting.size() != moves.faces.size())
    throw InvalidArgument("there are other moves in the table");
  moves_->face.resize(count);
  for (std::size_t face = 0; face < moves.faces.size(); ++face)
    for (const auto move : moves.faces[face]) moves_->face[move] = static_cast<std::uint8_t>(face);
  moves_->own = 0;
  for (std::size_t move = 0; move < count; ++move) {
    moves_->from.push_back({bytes_of(moves.from[move])});
    if (!moves.own[move]) continue;
    moves_->own |= std::uint32_t{1} << move;
    own_.push_back(moves_->from.back().at);
  }
  for (std::size_t move = 0; move < count; ++move) {
    std::size_t back = 0;
    const auto undoes = [&] {
      for (std::size_t slot = 0; slot < moves.from[move].size(); ++slot)
        if (moves.from[move][moves.from[back][slot]] != slot) return false;
      return true;
    };
    while (back < count && !(moves_->face[back] == moves_->face[move] && undoes())) ++back;
    if (back == count) throw InvalidArgument("the inverse of a move is no move");
    moves_->inverse.push_back(static_cast<std::uint16_t>(back));
  }
  moves_->commuting.fill(0);
  for (std::size_t face = 0; face <= ListingMoves::kNone; ++face) {
    std::uint32_t after = (1u << moves.faces.size()) - 1;
    if (face < moves.faces.size()) {
      moves_->commuting[face] = moves.commuting[face];
      after &= ~(1u << face) & ~(moves.commuting[face] & ((1u << face) - 1));
    }
    moves_->faces_after[face] = after;
    moves_->after[face] = 0;
    for (std::size_t move = 0; move < count; ++move)
      moves_->after[face] |= (after >> moves_->face[move] & 1) << move;
  }
  moves_->faces_after[ListingMoves::kNone] |= 1u << Tails::kAnyFace;
  for (int length = 0; length <= LargeCosetRun::kTail; ++length)
    tails_.push_back(std::make_unique<Tails>(table_, *moves_, length));
}

LargeCosets::~LargeCosets() = default;

// A thread's room, kept from one call to the next.
struct LargeCosetRun::Worker {
  ListingWork work{};
  std::vector<ListingNode> nodes;
  std::vector<ListingWork::List> lists;
  std::vector<ListingWork::Leaf> leaves;
  std::vector<std::uint64_t> ends;
  std::vector<ListingNode> children;  // of the root that is under way, those that are still to be done
  bool done = false;                  // all, what was kept too

  Worker(const LargeCosets& cosets, const Tails& tails, SubgroupBits& bits)
      : nodes(static_cast<std::size_t>(ListingWork::kMostMoves) * kLevel),
        lists(kLevel),
        leaves(ListingWork::kLeaves + tails.longest),
        ends(leaves.size()) {
    work.table = &cosets.table();
    work.moves = cosets.moves_.get();
    work.tails = &tails;
    work.bits = &bits;
    for (std::size_t left = 0; left < ListingWork::kMostMoves; ++left)
      work.levels[left] = {nodes.data() + left * kLevel, 0};
    work.lists = lists.data();
    work.leaves = leaves.data();
    work.ends = ends.data();
  }

 private:
  static constexpr std::size_t kLevel = ListingWork::kTogether + TurnTable::kMostMoves;
};

LargeCosetRun::LargeCosetRun(const LargeCosets& cosets, const LargeCosets::Slots& board,
                             TurnTable::State state, int threads, int tail, Isa isa)
    : cosets_(cosets),
      threads_(std::max(1, threads)),
      tail_(std::clamp(tail, 0, kTail)),
      backend_(std::make_unique<ListingBackend>(listing_of(isa))),
      bits_(cosets.own_, isa),
      board_(cosets.bytes_of(board)),
      state_((cosets.table().check(state), state)),
      coset_distance_(static_cast<int>(cosets.table().way(state).size())) {}

LargeCosetRun::~LargeCosetRun() = default;

void LargeCosetRun::begin_listing() {
  const int length = std::min(distance_, tail_);
  for (int i = 0; i < threads_; ++i)
    workers_.push_back(
        std::make_unique<Worker>(cosets_, *cosets_.tails_[static_cast<std::size_t>(length)], bits_));
  for (const auto& worker : workers_) worker->work.watched = watched_.empty() ? nullptr : &watched_;
  const auto slack = static_cast<std::int8_t>(distance_ - coset_distance_);
  roots_.push_back({{board_}, state_, ListingMoves::kNone, slack, {}, {}});
  for (left_ = distance_; roots_.size() < kRoots && left_ > length + 1; --left_) {
    std::vector<ListingNode> children;
    std::size_t count = 0;
    for (ListingNode& root : roots_) {
      children.resize(count + TurnTable::kMostMoves);
      count += backend_->expand(workers_[0]->work, root, left_, children.data() + count);
    }
    children.resize(count);
    roots_ = std::move(children);
  }
}

// All sequences from the roots on, until the time is over. Each thread does a child of a root at least: where
// it did a whole root, the others would wait for it.
void LargeCosetRun::list(std::chrono::steady_clock::time_point until) {
  std::atomic<std::size_t> next{next_};
  in_parallel(workers_.size(), threads_, [&](std::uint64_t i) {
    Worker& worker = *workers_[i];
    if (worker.done) return;
    do
      if (!worker.children.empty())
        list_child(worker);
      else if (const std::size_t root = next.fetch_add(1); root < roots_.size())
        take(worker, roots_[root]);
      else
        backend_->flush(worker.work), worker.done = true;
    while (!worker.done && std::chrono::steady_clock::now() < until);
  });
  next_ = std::min(next.load(), roots_.size());
}

void LargeCosetRun::take(Worker& worker, ListingNode& root) {
  if (left_ == worker.work.tails->length) return backend_->search(worker.work, root, left_);
  worker.children.resize(TurnTable::kMostMoves);
  worker.children.resize(backend_->expand(worker.work, root, left_, worker.children.data()));
}

void LargeCosetRun::list_child(Worker& worker) {
  backend_->search(worker.work, worker.children.back(), left_ - 1);
  worker.children.pop_back();
}

std::optional<LargeCosetRun::Found> LargeCosetRun::advance(bool listed, std::chrono::milliseconds slice) {
  const auto until = std::chrono::steady_clock::now() + slice;
  if (!under_way_) {
    if (listed && distance_ >= kMostListed)
      throw LimitExceeded("sequences of more than " + std::to_string(kMostListed) + " moves are not listed");
    ++distance_;
    under_way_ = true;
  }
  if (!moved_) {
    moved_ = bits_.step(threads_, until);
    if (!moved_ || (listed && !watched_.empty())) return std::nullopt;
  }
  if (listed && workers_.empty() && distance_ >= coset_distance_) begin_listing();
  if (!workers_.empty()) {
    list(until);
    if (!std::ranges::all_of(workers_, [](const auto& worker) { return worker->done; })) return std::nullopt;
  }
  Found found{*moved_ - reached_, 0};
  for (const auto& worker : workers_) {
    found.fresh += worker->work.found.fresh;
    found.sequences += worker->work.found.sequences;
  }
  reached_ += found.fresh;
  end_distance();
  return found;
}

void LargeCosetRun::end_distance() {
  workers_.clear();
  roots_.clear();
  next_ = 0;
  moved_.reset();
  under_way_ = false;
}

std::optional<LargeCosetRun::Mark> LargeCosetRun::mark() {
  if (under_way_ && workers_.empty()) return {};
  Mark mark{static_cast<std::uint64_t>(distance_ + !under_way_),
            reached_,
            moved_.value_or(0),
            roots_.size(),
            next_,
            0,
            0};
  in_parallel(workers_.size(), threads_, [&](std::uint64_t i) {
    while (!workers_[i]->children.empty()) list_child(*workers_[i]);
    backend_->flush(workers_[i]->work);
  });
  for (const auto& worker : workers_) {
    mark.fresh += worker->work.found.fresh;
    mark.sequences += worker->work.found.sequences;
  }
  return mark;
}

void LargeCosetRun::resume(const Mark& mark) {
  const auto refuse = [] { throw InvalidArgument("the bits of a coset do not fit what is told of them"); };
  if (distance_ >= 0 || mark.distances > kMostListed || mark.next > mark.roots) refuse();
  if (bits_.ones(threads_) != (mark.roots == 0 ? mark.reached : mark.moved + mark.fresh)) refuse();
  distance_ = static_cast<int>(mark.distances) - 1;
  reached_ = mark.reached;
  if (mark.roots == 0) return;
  if (++distance_ < coset_distance_) refuse();
  under_way_ = true;
  moved_ = mark.moved;
  begin_listing();
  if (roots_.size() != mark.roots) refuse();
  next_ = mark.next;
  workers_[0]->work.found.fresh = mark.fresh;
  workers_[0]->work.found.sequences = mark.sequences;
}

void LargeCosetRun::clear() {
  end_distance();
  distance_ = -1;
  reached_ = 0;
  const std::vector<std::uint8_t> zeros(SubgroupBits::kPageBytes);
  for (std::size_t page = 0; page < SubgroupBits::kPages; ++page)
    if (bits_.filled()[page] != 0) bits_.set_pages(page, zeros);
}

std::uint64_t LargeCosetRun::bit_of(std::span<const std::uint8_t> board) {
  return SubgroupMarks(bits_).bit_of(Pieces{cosets_.bytes_of(board)});
}

double LargeCosetRun::share() const {
  return roots_.empty() ? 0 : static_cast<double>(next_) / static_cast<double>(roots_.size());
}

}  // namespace farthest
