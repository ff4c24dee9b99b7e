#include "farthest/turn_table.hpp"

#include <algorithm>
#include <utility>

#include "farthest/types.hpp"

namespace farthest {
namespace {

constexpr std::uint8_t kNoTurns = 255;
constexpr int kMostTurns = 63;  // bits of a set of distances

// Where a symmetry takes numbers, from where it takes moves.
template <class Number>
std::vector<Number> images(std::size_t count, const std::vector<Number>& after,
                           const TurnTable::Renaming& symmetry) {
  constexpr Number kUnmet = static_cast<Number>(~Number{0});
  const std::size_t moves = symmetry.size();
  std::vector<Number> image(count, kUnmet), reached{0};
  image[0] = 0;
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (std::size_t move = 0; move < moves; ++move) {
      const Number next = after[reached[i] * moves + move];
      const Number its = after[image[reached[i]] * moves + symmetry[move]];
      if (image[next] == kUnmet) {
        image[next] = its;
        reached.push_back(next);
      }
      if (image[next] != its) throw InvalidArgument("a symmetry does not keep a coordinate");
    }
  if (reached.size() != count) throw InvalidArgument("a coordinate has values that moves do not reach");
  return image;
}

}  // namespace

TurnTable::TurnTable(Coordinates coordinates, const std::vector<std::vector<std::uint8_t>>& faces,
                     const std::vector<Renaming>& symmetries)
    : coordinates_(std::move(coordinates)),
      moves_(symmetries.empty() ? 0 : symmetries[0].size()),
      bytes_((faces.size() + 1) / 2),
      codes_((check(faces, symmetries), classify(symmetries), entries() * sizeof(std::uint32_t))) {
  encode(distances(), faces);
  images_after_ = {};
  read(faces, symmetries);
}

void TurnTable::check(const std::vector<std::vector<std::uint8_t>>& faces,
                      const std::vector<Renaming>& symmetries) const {
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
  const auto bad = [&](const auto& after, std::size_t count) {
    return after.size() != count * moves_ ||
           std::ranges::any_of(after, [&](auto number) { return number >= count; });
  };
  if (coordinates_.leads == 0 || coordinates_.leads >= ~std::uint32_t{0} / kMostSymmetries ||
      coordinates_.others == 0 || coordinates_.others == 0xffff ||
      bad(coordinates_.lead_after, coordinates_.leads) || bad(coordinates_.other_after, coordinates_.others))
    throw InvalidArgument("a coordinate's table must name one of its values for each value and move");
}

void TurnTable::classify(const std::vector<Renaming>& symmetries) {
  std::vector<std::uint32_t> least(coordinates_.leads, ~std::uint32_t{0});
  told_.resize(coordinates_.leads);
  for (std::uint32_t s = 0; s < symmetries.size(); ++s) {
    const auto lead = images(coordinates_.leads, coordinates_.lead_after, symmetries[s]);
    const auto other = images(coordinates_.others, coordinates_.other_after, symmetries[s]);
    other_images_.insert(other_images_.end(), other.begin(), other.end());
    for (std::size_t move = 0; move < moves_; ++move)
      for (std::size_t number = 0; number < coordinates_.others; ++number)
        images_after_.push_back(other[coordinates_.other_after[number * moves_ + move]]);
    for (std::uint32_t number = 0; number < coordinates_.leads; ++number)
      if (lead[number] < least[number]) {
        least[number] = lead[number];
        told_[number] = s;
      }
  }
  std::vector<std::uint32_t> class_of(coordinates_.leads);
  for (std::uint32_t number = 0; number < coordinates_.leads; ++number) {
    if (least[number] == number) {
      class_of[number] = classes();
      firsts_.push_back(number);
    } else if (least[least[number]] != least[number]) {
      throw InvalidArgument("the symmetries are not a group");
    }
    told_[number] += class_of[least[number]] * static_cast<std::uint32_t>(kMostSymmetries);
  }
}

TurnTable::Neighbours TurnTable::neighbours(std::uint32_t cls, std::size_t move) const {
  const std::uint32_t told = told_[coordinates_.lead_after[firsts_[cls] * moves_ + move]];
  const std::uint32_t other = told / kMostSymmetries;
  return {std::uint64_t{other} * coordinates_.others, other,
          images_after_.data() + (told % kMostSymmetries * moves_ + move) * coordinates_.others};
}

// Of each entry, by passes over rows of entries: one that has no distance gets one where a neighbour has the
// distance before.
std::vector<std::uint8_t> TurnTable::distances() const {
  const std::size_t others = coordinates_.others;
  std::vector<std::uint8_t> distance(entries(), kNoTurns);
  std::vector<std::uint64_t> present(classes());  // by class: the distances in its row
  distance[0] = 0;
  present[0] = 1;
  std::uint64_t left = entries() - 1;
  for (int d = 1; left > 0; ++d) {
    if (d > kMostTurns) throw InvalidArgument("a state is more than 63 moves away, or not reached");
    std::uint64_t found = 0;
    for (std::uint32_t cls = 0; cls < classes(); ++cls) {
      std::uint8_t* row = distance.data() + cls * others;
      std::uint64_t here = 0;
      for (std::size_t move = 0; move < moves_; ++move) {
        const Neighbours those = neighbours(cls, move);
        if ((present[those.cls] >> (d - 1) & 1) == 0) continue;
        const std::uint8_t* there = distance.data() + those.row;
        for (std::size_t number = 0; number < others; ++number) {
          const bool is = row[number] == kNoTurns && there[those.images[number]] == d - 1;
          row[number] = is ? static_cast<std::uint8_t>(d) : row[number];
          here += is;
        }
      }
      if (here > 0) present[cls] |= std::uint64_t{1} << d;
      found += here;
    }
    if (found == 0) throw InvalidArgument("moves do not reach all states");
    left -= found;
  }
  return distance;
}

void TurnTable::encode(std::span<const std::uint8_t> distance,
                       const std::vector<std::vector<std::uint8_t>>& faces) {
  auto* codes = reinterpret_cast<std::uint32_t*>(codes_.bytes().data());
  for (std::uint32_t cls = 0; cls < classes(); ++cls) {
    const std::uint64_t first = std::uint64_t{cls} * coordinates_.others;
    for (std::size_t face = 0; face < faces.size(); ++face) {
      std::vector<Neighbours> turned;
      for (const auto move : faces[face]) turned.push_back(neighbours(cls, move));
      for (std::size_t number = 0; number < coordinates_.others; ++number) {
        const int here = distance[first + number];
        std::uint32_t nearer = 0, same = 0;
        for (std::size_t i = 0; i < turned.size(); ++i) {
          const int there = distance[turned[i].row + turned[i].images[number]];
          nearer |= std::uint32_t{there < here} << i;
          same |= std::uint32_t{there == here} << i;
          if (there < here - 1 || there > here + 1) throw InvalidArgument("a move has no inverse");
        }
        if (nearer != 0 && std::popcount(nearer) + std::popcount(same) != static_cast<int>(turned.size()))
          throw InvalidArgument("the moves of a face must be the powers of one turn");
        codes[first + number] |= (nearer != 0 ? 8 | nearer : same) << (4 * face);
      }
    }
  }
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

}  // namespace farthest
