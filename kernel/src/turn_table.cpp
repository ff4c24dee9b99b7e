#include "farthest/turn_table.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>

#include "farthest/types.hpp"
#include "parallel.hpp"

namespace farthest {
namespace {

constexpr std::uint8_t kNoTurns = 255;
constexpr int kMostTurns = 63;
constexpr std::size_t kRowsTogether = 256;  // of entries, that a thread takes

// Where a symmetry takes numbers, from where it takes moves. row: of a number what comes after each move.
template <class Number, class Row>
std::vector<Number> images(std::size_t count, const TurnTable::Renaming& symmetry, const Row& row) {
  constexpr Number kUnmet = static_cast<Number>(~Number{0});
  std::vector<Number> image(count, kUnmet), reached{0};
  reached.reserve(count);
  image[0] = 0;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    const auto after = row(reached[i]), image_after = row(image[reached[i]]);
    for (std::size_t move = 0; move < symmetry.size(); ++move) {
      const Number next = after(move), its = image_after(symmetry[move]);
      if (image[next] == kUnmet) {
        image[next] = its;
        reached.push_back(next);
      }
      if (image[next] != its) throw InvalidArgument("a symmetry does not keep a coordinate");
    }
  }
  if (reached.size() != count) throw InvalidArgument("a coordinate has values that moves do not reach");
  return image;
}

// Of all symmetries: some of them are walked, the others are products of these.
template <class Number, class Row>
std::vector<std::vector<Number>> all_images(std::size_t count,
                                            const std::vector<TurnTable::Renaming>& symmetries,
                                            const Row& row) {
  std::vector<std::vector<Number>> all(symmetries.size());
  std::vector<std::size_t> known{0}, walked;
  all[0] = images<Number>(count, symmetries[0], row);
  for (std::size_t s = 1; s < symmetries.size(); ++s) {
    if (!all[s].empty()) continue;
    all[s] = images<Number>(count, symmetries[s], row);
    known.push_back(s);
    walked.push_back(s);
    for (std::size_t i = 0; i < known.size(); ++i)
      for (const std::size_t by : walked) {
        TurnTable::Renaming both;
        for (const auto move : symmetries[known[i]]) both.push_back(symmetries[by][move]);
        const auto found = static_cast<std::size_t>(std::ranges::find(symmetries, both) - symmetries.begin());
        if (found == symmetries.size()) throw InvalidArgument("the symmetries are not a group");
        if (!all[found].empty()) continue;
        for (const Number number : all[known[i]]) all[found].push_back(all[by][number]);
        known.push_back(found);
      }
  }
  return all;
}

}  // namespace

TurnTable::TurnTable(Coordinates coordinates, const std::vector<std::vector<std::uint8_t>>& faces,
                     const std::vector<Renaming>& symmetries, int threads)
    : coordinates_(std::move(coordinates)),
      moves_(symmetries.empty() ? 0 : symmetries[0].size()),
      told_((check(faces, symmetries), leads_ * sizeof(std::uint32_t))),
      codes_((classify(symmetries), entries() * sizeof(std::uint32_t))) {
  const Pages distance(entries());
  find_distances(distance.bytes().data(), threads);
  encode(distance.bytes().data(), faces, threads);
  std::vector<std::uint16_t>().swap(images_after_);
  read(faces, symmetries);
}

void TurnTable::check(const std::vector<std::vector<std::uint8_t>>& faces,
                      const std::vector<Renaming>& symmetries) {
  if (moves_ == 0 || moves_ > kMostMoves) throw InvalidArgument("there must be 1 to 24 moves");
  if (faces.empty() || faces.size() > kMostFaces) throw InvalidArgument("there must be 1 to 8 faces");
  if (symmetries.size() > kMostSymmetries) throw InvalidArgument("there must be 1 to 64 symmetries");
  std::vector<std::size_t> face_of(moves_, kMostFaces);
  std::size_t named = 0;
  for (std::size_t face = 0; face < faces.size(); ++face) {
    if (faces[face].size() > kMostOnFace) throw InvalidArgument("a face has at most three moves");
    for (const auto move : faces[face]) {
      if (move >= moves_ || std::exchange(face_of[move], face) != kMostFaces)
        throw InvalidArgument("each move must be on one face");
      ++named;
    }
  }
  if (named != moves_) throw InvalidArgument("each move must be on one face");
  for (std::size_t s = 0; s < symmetries.size(); ++s) {
    std::uint32_t met = 0;
    if (symmetries[s].size() != moves_ ||
        std::ranges::any_of(symmetries[s], [&](auto move) { return move >= moves_; }))
      throw InvalidArgument("a symmetry needs a move for each move");
    for (std::size_t move = 0; move < moves_; ++move) {
      const auto image = symmetries[s][move];
      met |= std::uint32_t{1} << image;
      for (const auto beside : faces[face_of[move]])
        if (face_of[symmetries[s][beside]] != face_of[image])
          throw InvalidArgument("a symmetry must take faces to faces");
      if (s == 0 && image != move) throw InvalidArgument("the first symmetry must be the identity");
    }
    if (std::popcount(met) != static_cast<int>(moves_))
      throw InvalidArgument("a symmetry takes two moves to one");
  }
  const auto count = [&](const std::vector<std::uint16_t>& after) {
    const std::size_t numbers = after.size() / moves_;
    if (numbers == 0 || numbers >= 0xffff || after.size() != numbers * moves_ ||
        std::ranges::any_of(after, [&](auto number) { return number >= numbers; }))
      throw InvalidArgument("a coordinate's table must name one of its values for each value and move");
    return static_cast<std::uint32_t>(numbers);
  };
  const std::uint64_t leads =
      std::uint64_t{count(coordinates_.first_after)} * count(coordinates_.second_after);
  if (leads >= ~std::uint32_t{0} / kMostSymmetries)
    throw InvalidArgument("the first two coordinates have too many values together");
  leads_ = static_cast<std::uint32_t>(leads);
  seconds_ = count(coordinates_.second_after);
  others_ = count(coordinates_.other_after);
  if (leads * others_ >= ~std::uint32_t{0}) throw InvalidArgument("there are too many states");
}

void TurnTable::check(State state) const {
  if (lead(state) >= leads_ || state.second >= seconds_ || state.other >= others_)
    throw InvalidArgument("there is no such state");
}

void TurnTable::classify(const std::vector<Renaming>& symmetries) {
  const auto leads = all_images<std::uint32_t>(leads_, symmetries, [&](std::uint32_t lead) {
    const auto *first = coordinates_.first_after.data() + lead / seconds_ * moves_,
               *second = coordinates_.second_after.data() + lead % seconds_ * moves_;
    return [=, this](std::size_t move) { return first[move] * seconds_ + second[move]; };
  });
  const auto others = all_images<std::uint16_t>(others_, symmetries, [&](std::uint16_t other) {
    const auto* after = coordinates_.other_after.data() + other * moves_;
    return [=](std::size_t move) { return after[move]; };
  });
  auto* told = reinterpret_cast<std::uint32_t*>(told_.bytes().data());
  std::vector<std::uint32_t> least(leads_, ~std::uint32_t{0});
  for (std::uint32_t s = 0; s < symmetries.size(); ++s) {
    other_images_.insert(other_images_.end(), others[s].begin(), others[s].end());
    for (std::size_t move = 0; move < moves_; ++move)
      for (std::size_t number = 0; number < others_; ++number)
        images_after_.push_back(others[s][coordinates_.other_after[number * moves_ + move]]);
    for (std::uint32_t number = 0; number < leads_; ++number)
      if (leads[s][number] < least[number]) {
        least[number] = leads[s][number];
        told[number] = s;
      }
  }
  std::vector<std::uint32_t> class_of(leads_);
  for (std::uint32_t number = 0; number < leads_; ++number) {
    if (least[number] == number) {
      class_of[number] = classes();
      firsts_.push_back(number);
      std::uint64_t stays = 0;
      for (std::size_t s = 0; s < symmetries.size(); ++s)
        stays |= std::uint64_t{leads[s][number] == number} << s;
      stays_.push_back(stays);
    }
    told[number] += class_of[least[number]] * static_cast<std::uint32_t>(kMostSymmetries);
  }
}

TurnTable::Neighbours TurnTable::neighbours(std::uint32_t cls, std::size_t move) const {
  const std::uint32_t word = told()[lead_after(firsts_[cls], move)];
  const std::uint32_t other = word / kMostSymmetries;
  return {std::uint64_t{other} * others_, other,
          images_after_.data() + (word % kMostSymmetries * moves_ + move) * others_};
}

// Of each entry, one more than its distance, by passes over rows of entries: those of a distance give the
// next one to their neighbours. A state has more than one entry where symmetries keep its lead: what one of
// these gets the others get too.
void TurnTable::find_distances(std::uint8_t* all, int threads) const {
  all[0] = 1;
  std::uint64_t left = entries() - 1;
  std::vector<std::uint8_t> fresh(classes());  // by class: whether its row has the distance
  fresh[0] = 1;
  const std::uint64_t parts = (classes() + kRowsTogether - 1) / kRowsTogether;
  for (std::uint8_t d = 1; left > 0; ++d) {
    if (d > kMostTurns) throw InvalidArgument("a state is more than 63 moves away, or not reached");
    std::atomic<std::uint64_t> found{0};
    const auto each_row = [&](const auto& work) {
      in_parallel(parts, threads, [&](std::uint64_t part) {
        std::uint64_t some = 0;
        const std::uint64_t end = std::min<std::uint64_t>(classes(), (part + 1) * kRowsTogether);
        for (std::uint64_t cls = part * kRowsTogether; cls < end; ++cls)
          some += work(static_cast<std::uint32_t>(cls), all + cls * others_);
        found += some;
      });
    };
    each_row([&](std::uint32_t cls, const std::uint8_t* row) {
      if (fresh[cls] == 0) return std::uint64_t{0};
      std::vector<std::uint16_t> those(others_);
      std::size_t count = 0;
      for (std::uint32_t number = 0; number < others_; ++number) {
        those[count] = static_cast<std::uint16_t>(number);
        count += __atomic_load_n(row + number, __ATOMIC_RELAXED) == d;
      }
      for (std::size_t move = 0; move < moves_; ++move) {
        const Neighbours near = neighbours(cls, move);
        for (std::size_t i = 0; i < count; ++i) {
          std::uint8_t* there = all + near.row + near.images[those[i]];
          if (__atomic_load_n(there, __ATOMIC_RELAXED) == 0)
            __atomic_store_n(there, static_cast<std::uint8_t>(d + 1), __ATOMIC_RELAXED);
        }
      }
      return std::uint64_t{0};
    });
    each_row([&](std::uint32_t cls, std::uint8_t* row) {
      for (std::uint64_t rest = stays_[cls] & ~std::uint64_t{1}; rest != 0; rest &= rest - 1) {
        const std::uint16_t* to =
            other_images_.data() + static_cast<std::size_t>(std::countr_zero(rest)) * others_;
        for (std::uint32_t number = 0; number < others_; ++number)
          if (row[number] == d + 1) row[to[number]] = static_cast<std::uint8_t>(d + 1);
      }
      const auto count = std::count(row, row + others_, static_cast<std::uint8_t>(d + 1));
      fresh[cls] = count != 0;
      return static_cast<std::uint64_t>(count);
    });
    if (found == 0) throw InvalidArgument("moves do not reach all states");
    left -= found;
  }
}

void TurnTable::encode(const std::uint8_t* distance, const std::vector<std::vector<std::uint8_t>>& faces,
                       int threads) {
  // By 0, 1 or 2 for each turn, two bits: it leads nearer, keeps the distance, or leads away.
  constexpr std::uint8_t kMixed = 0x10;
  std::uint8_t code_of[64];
  for (std::uint32_t turns = 0; turns < 64; ++turns) {
    std::uint32_t nearer = 0, same = 0;
    for (std::uint32_t i = 0; i < kMostOnFace; ++i) {
      nearer |= std::uint32_t{(turns >> 2 * i & 3) == 0} << i;
      same |= std::uint32_t{(turns >> 2 * i & 3) == 1} << i;
    }
    code_of[turns] = static_cast<std::uint8_t>(nearer == 0 ? same : nearer | 8);
    if (nearer != 0 && (nearer | same) != 7) code_of[turns] = kMixed;
  }
  auto* all = reinterpret_cast<std::uint32_t*>(codes_.bytes().data());
  in_parallel(classes(), threads, [&](std::uint64_t cls) {
    std::uint32_t* codes = all + cls * others_;
    const std::uint8_t* row = distance + cls * others_;
    std::vector<std::uint16_t> same(others_);
    for (std::size_t number = 0; number < others_; ++number)
      same[number] = static_cast<std::uint16_t>(number);
    std::uint32_t problems = 0;
    for (std::size_t face = 0; face < faces.size(); ++face) {
      const std::uint8_t* there[kMostOnFace] = {row, row,
                                                row};  // a turn that is not there keeps the distance
      const std::uint16_t* images[kMostOnFace] = {same.data(), same.data(), same.data()};
      for (std::size_t i = 0; i < faces[face].size(); ++i) {
        const Neighbours near = neighbours(static_cast<std::uint32_t>(cls), faces[face][i]);
        there[i] = distance + near.row;
        images[i] = near.images;
      }
      const std::uint32_t kept = 7u >> (kMostOnFace - faces[face].size()) | 8;
      for (std::size_t number = 0; number < others_; ++number) {
        const std::uint32_t before = row[number] - 1u, first = there[0][images[0][number]] - before,
                            second = there[1][images[1][number]] - before,
                            third = there[2][images[2][number]] - before;
        const std::uint32_t code = code_of[(first | second << 2 | third << 4) & 63];
        problems |= code | std::uint32_t{first > 2 || second > 2 || third > 2} << 5;
        codes[number] |= (code & kept) << (4 * face);
      }
    }
    if (problems >> 5 != 0) throw InvalidArgument("a move has no inverse");
    if ((problems & kMixed) != 0) throw InvalidArgument("the moves of a face must be the powers of one turn");
  });
}

// A code is of the first lead; the moves that a state itself has follow by its symmetry.
void TurnTable::read(const std::vector<std::vector<std::uint8_t>>& faces,
                     const std::vector<Renaming>& symmetries) {
  std::vector<std::pair<std::size_t, std::size_t>> at(moves_);  // by move: its face, and its number there
  for (std::size_t face = 0; face < faces.size(); ++face)
    for (std::size_t i = 0; i < faces[face].size(); ++i) at[faces[face][i]] = {face, i};
  readings_.resize(symmetries.size() * kReadings);
  for (std::size_t s = 0; s < symmetries.size(); ++s)
    for (std::size_t move = 0; move < moves_; ++move) {
      const auto [face, number] = at[symmetries[s][move]];
      for (std::size_t byte = 0; byte < 256; ++byte) {
        const std::size_t code = face % 2 != 0 ? byte >> 4 : byte & 15;
        const bool some = code >> 3 != 0, named = (code >> number & 1) != 0;
        std::uint64_t& reading = readings_[s * kReadings + face / 2 * 256 + byte];
        if (some && named) reading |= std::uint64_t{1} << move;
        if (some || named) reading |= std::uint64_t{1} << (32 + move);
      }
    }
}

std::vector<std::uint16_t> TurnTable::way(State state) const {
  std::vector<std::uint16_t> made;
  for (std::uint32_t nearer; (nearer = turns(place(state)).nearer) != 0;) {
    const int move = std::countr_zero(nearer);
    made.push_back(static_cast<std::uint16_t>(move));
    state = after(state, static_cast<std::size_t>(move));
  }
  return made;
}

}  // namespace farthest
