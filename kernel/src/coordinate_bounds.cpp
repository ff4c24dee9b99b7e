#include <algorithm>

#include "farthest/walk.hpp"

namespace farthest {

std::optional<CoordinateBounds> CoordinateBounds::of(const BoardMoves& moves, const BoardGoals& goals,
                                                     const BoardBounds& bounds, bool shortest) {
  if (moves.blanked() || !bounds.maps_alone()) return {};
  CoordinateBounds out;
  for (const MapTable& map : bounds.maps()) {
    auto coordinates = MapCoordinates::of(moves, map);
    if (!coordinates) return {};
    out.maps.push_back(std::move(*coordinates));
  }
  for (const auto& term : bounds.terms()) {
    const auto based = [&](int map) {
      return bounds.maps()[static_cast<std::size_t>(map)].table.floor() >= 0;
    };
    if (term.size() > 1 && std::ranges::any_of(term, based)) return {};
    if (!term.empty()) out.terms.emplace_back(term.begin(), term.end());
  }
  if (out.terms.empty()) return {};
  out.tied.resize(out.terms.size());
  bool closed = true;  // the moves, under inverses
  for (int m = 0; m < moves.count(); ++m) closed = closed && moves.back(m) >= 0;
  if (shortest && closed && !goals.only().empty()) {
    out.tie(moves, goals.only(), bounds);
    out.invert(moves, goals.only());
  }
  return out;
}

void CoordinateBounds::tie(const BoardMoves& moves, const std::vector<std::uint8_t>& goal,
                           const BoardBounds& bounds) {
  const auto count = static_cast<std::size_t>(moves.count());
  std::vector<std::vector<bool>> kept(terms.size(), std::vector<bool>(count));  // by term: moves that leave 0
  std::vector<int> values(static_cast<std::size_t>(bounds.components()) + 1);
  for (std::size_t m = 0; m < count; ++m) {
    std::vector<std::uint8_t> board = goal;
    moves.apply(static_cast<int>(m), goal.data(), board.data());
    bounds.start(board.data(), values.data());
    for (std::size_t t = 0; t < terms.size(); ++t)
      kept[t][m] = terms[t].size() == 1 && values[terms[t][0]] == 0;
  }
  // Few terms that have all moves: each time the one with most of those that are left.
  std::vector<bool> left(count, true), chosen(terms.size());
  while (std::ranges::find(left, true) != left.end()) {
    std::size_t best = 0, most = 0;
    for (std::size_t t = 0; t < terms.size(); ++t) {
      std::size_t found = 0;
      for (std::size_t m = 0; m < count; ++m) found += left[m] && kept[t][m] ? 1 : 0;
      if (found > most) {
        best = t;
        most = found;
      }
    }
    if (most == 0) return;
    chosen[best] = true;
    for (std::size_t m = 0; m < count; ++m)
      if (kept[best][m]) left[m] = false;
  }
  tied = chosen;
}

void CoordinateBounds::invert(const BoardMoves& moves, const std::vector<std::uint8_t>& goal) {
  std::vector<const MapCoordinates*> single;
  std::vector<std::size_t> term_of;
  for (std::size_t t = 0; t < terms.size(); ++t)
    if (terms[t].size() == 1) {
      single.push_back(&maps[terms[t][0]]);
      term_of.push_back(t);
    }
  inverse = InverseLookUps::of(moves, goal, single);
  if (!inverse) return;
  for (std::size_t place = 0; place < inverse->maps().size(); ++place)
    if (tied[term_of[inverse->maps()[place]]]) inverse_tied.push_back(place);
  if (inverse_tied.size() != static_cast<std::size_t>(std::ranges::count(tied, true))) inverse_tied.clear();
}

}  // namespace farthest
