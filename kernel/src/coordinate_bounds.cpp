#include <algorithm>
#include <map>
#include <set>

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
  out.compare();
  out.lay();
  out.goal_sums.assign(out.terms.size(), kNoKey);
  bool closed = true;  // the moves, under inverses
  for (int m = 0; m < moves.count(); ++m) closed = closed && moves.back(m) >= 0;
  if (shortest && closed && !goals.only().empty()) {
    out.tie(moves, goals.only(), bounds);
    out.invert(moves, goals.only());
    out.find_goal(moves, goals.only());
  }
  return out;
}

// Whether what a map tells of a board follows from what the other one tells.
static bool follows(const MapTable& coarse, const MapTable& fine) {
  if (coarse.places != fine.places || coarse.turn_places != fine.turn_places ||
      coarse.turn_image != fine.turn_image)
    return false;
  std::map<std::uint8_t, std::uint8_t> class_after;
  for (std::size_t label = 0; label < fine.class_of.size(); ++label)
    if (class_after.try_emplace(fine.class_of[label], coarse.class_of[label]).first->second !=
        coarse.class_of[label])
      return false;
  std::set<int> told;  // slots whose orientations it tells
  for (int digit = 0; digit < fine.layout->twist_digits(); ++digit)
    told.insert(fine.layout->twist_digit(digit).slot);
  for (int digit = 0; digit < coarse.layout->twist_digits(); ++digit) {
    const auto each = coarse.layout->twist_digit(digit);
    if (each.cls >= 0 || !told.contains(each.slot)) return false;
  }
  return true;
}

// A table cuts nothing off where more moves are left than it tells of. A term that follows from one with a
// floor is of use where that proves nothing.
void CoordinateBounds::compare() {
  coarse.resize(terms.size());
  for (std::size_t t = 0; t < terms.size(); ++t) {
    until.push_back(kUnreachable);
    if (terms[t].size() != 1) continue;
    const MapTable& map = maps[terms[t][0]].map();
    until[t] = map.table.greatest() - 1;
    for (const auto& other : terms) {
      if (other.size() != 1) continue;
      const MapTable& fine = maps[other[0]].map();
      if (map.table.floor() >= 0 || fine.table.floor() < 0 || !follows(map, fine)) continue;
      until[t] = std::min(until[t], fine.table.floor());
      coarse[t] = true;
    }
  }
}

// The places of coordinates: first those of terms that do not follow from others.
void CoordinateBounds::lay() {
  std::vector<bool> laid(maps.size());
  const auto alone = [&](MapCoordinates& map) {
    std::vector<std::size_t> at(map.size());
    for (auto& each : at) each = width++;
    map.lay(std::move(at));
  };
  for (std::size_t t = 0; t < terms.size(); ++t)
    for (const auto map : terms[t])
      if (!coarse[t] && !laid[map]) {
        alone(maps[map]);
        laid[map] = true;
      }
  for (std::size_t t = 0; t < terms.size(); ++t) {
    if (!coarse[t]) continue;
    MapCoordinates& map = maps[terms[t][0]];
    std::optional<std::vector<std::size_t>> at;
    for (std::size_t other = 0; other < terms.size() && !at; ++other)
      if (!coarse[other] && terms[other].size() == 1 && follows(map.map(), maps[terms[other][0]].map()))
        at = map.among(maps[terms[other][0]]);
    coarse[t] = at.has_value();
    if (at)
      map.lay(std::move(*at));
    else
      alone(map);
  }
}

void CoordinateBounds::find_goal(const BoardMoves& moves, const std::vector<std::uint8_t>& board) {
  if (moves.count() == 0) return;
  std::vector<std::uint8_t> moved = board;  // a move and its inverse
  moves.apply(0, board.data(), moved.data());
  const auto back = static_cast<std::uint16_t>(moves.back(0));
  std::vector<std::uint32_t> values(width), after(width * static_cast<std::size_t>(moves.count()));
  for (std::size_t t = 0; t < terms.size(); ++t) {
    if (terms[t].size() != 1) continue;
    const MapCoordinates& map = maps[terms[t][0]];
    map.start(moved.data(), values.data());
    map.step(values.data(), &back, 1, after.data(), width, &goal_sums[t]);
  }
}

void CoordinateBounds::tie(const BoardMoves& moves, const std::vector<std::uint8_t>& goal,
                           const BoardBounds& bounds) {
  const auto count = static_cast<std::size_t>(moves.count());
  std::vector<std::vector<bool>> kept(terms.size(), std::vector<bool>(count));  // by term: moves that leave 0
  for (std::size_t m = 0; m < count; ++m) {
    std::vector<std::uint8_t> board = goal;
    moves.apply(static_cast<int>(m), goal.data(), board.data());
    for (std::size_t t = 0; t < terms.size(); ++t) {
      if (terms[t].size() != 1 || coarse[t]) continue;
      // A table may not tell whether a distance is 0: that is so for the key of the goal alone.
      const MapTable& map = bounds.maps()[terms[t][0]];
      kept[t][m] = bounds.key_in(map, board.data()) == bounds.key_in(map, goal.data());
    }
  }
  // Few terms that have all moves: each time the one with most of those that are left. A term that follows
  // from another is never greater, so it is taken only where the others do not have all moves.
  for (const bool finest : {true, false}) {
    std::vector<bool> left(count, true), chosen(terms.size());
    const auto taken = [&](std::size_t t) {
      return !finest || std::ranges::none_of(terms, [&](const auto& other) {
        return terms[t].size() == 1 && other.size() == 1 &&
               follows(maps[terms[t][0]].map(), maps[other[0]].map()) &&
               !follows(maps[other[0]].map(), maps[terms[t][0]].map());
      });
    };
    while (std::ranges::find(left, true) != left.end()) {
      std::size_t best = 0, most = 0;
      for (std::size_t t = 0; t < terms.size(); ++t) {
        std::size_t found = 0;
        for (std::size_t m = 0; m < count; ++m) found += left[m] && kept[t][m] ? 1 : 0;
        if (found > most && taken(t)) {
          best = t;
          most = found;
        }
      }
      if (most == 0) break;
      chosen[best] = true;
      for (std::size_t m = 0; m < count; ++m)
        if (kept[best][m]) left[m] = false;
    }
    if (std::ranges::find(left, true) == left.end()) {
      tied = chosen;
      return;
    }
  }
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
  for (std::size_t place = 0; place < inverse->maps().size(); ++place) {
    const std::size_t term = term_of[inverse->maps()[place]];
    if (tied[term]) inverse_tied.push_back(place);
    inverse_until.push_back(until[term]);
  }
  if (inverse_tied.size() != static_cast<std::size_t>(std::ranges::count(tied, true))) inverse_tied.clear();
}

}  // namespace farthest
