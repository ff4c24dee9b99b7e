#include "farthest/group_expander.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "check.hpp"
#include "farthest/cosets.hpp"
#include "farthest/expansion.hpp"

namespace farthest::test {
namespace {

using Element = std::vector<std::uint16_t>;

Element unit(std::size_t points) {
  Element element(points);
  std::iota(element.begin(), element.end(), std::uint16_t{0});
  return element;
}

Element product(const Element& first, const Element& then) {
  Element both(first.size());
  for (std::size_t i = 0; i < both.size(); ++i) both[i] = then[first[i]];
  return both;
}

// All products of the generators that leave the first points where they are, from all products.
std::vector<Element> closure(std::size_t points, const std::vector<Element>& generators) {
  std::map<Element, bool> met{{unit(points), true}};
  std::vector<Element> all{unit(points)};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const Element& generator : generators) {
      Element next = product(all[i], generator);
      if (met.emplace(next, true).second) all.push_back(next);
    }
  return all;
}

// A chain of stabilisers of a group that is given by all its elements, with the bases asked for.
std::vector<GroupLevel> chain(std::vector<Element> group, const std::vector<std::uint16_t>& bases) {
  std::vector<GroupLevel> levels;
  for (const std::uint16_t base : bases) {
    std::map<std::uint16_t, Element> ways;
    for (const Element& element : group) ways.emplace(element[base], element);
    if (ways.size() > 1) {
      GroupLevel& level = levels.emplace_back();
      level.base = base;
      for (auto way = ways.rbegin(); way != ways.rend(); ++way)
        level.elements.insert(level.elements.end(), way->second.begin(), way->second.end());
    }
    std::erase_if(group, [&](const Element& element) { return element[base] != base; });
  }
  return levels;
}

// The elements in the order of their numbers, as the header says.
std::vector<Element> numbered(std::size_t points, const std::vector<GroupLevel>& levels) {
  std::vector<Element> all{unit(points)};
  for (std::size_t i = levels.size(); i-- > 0;) {
    std::vector<Element> more;
    for (std::size_t at = 0; at < levels[i].elements.size(); at += points) {
      const auto begin = levels[i].elements.begin() + static_cast<std::ptrdiff_t>(at);
      const Element way(begin, begin + static_cast<std::ptrdiff_t>(points));
      for (const Element& element : all) more.push_back(product(element, way));
    }
    all = more;
  }
  return all;
}

void check_group(std::size_t points, const std::vector<Element>& moves,
                 const std::vector<std::uint16_t>& bases) {
  const auto levels = chain(closure(points, moves), bases);
  const auto elements = numbered(points, levels);
  const GroupExpander expander(points, levels, moves);
  CHECK(expander.keys() == elements.size());
  std::map<Element, Key> number;
  for (Key key = 0; key < elements.size(); ++key) number[elements[key]] = key;
  CHECK(number.size() == elements.size());
  // All keys in their order; few of them, so that no two have many digits in common; out of order.
  for (const Key step : {Key{1}, Key{elements.size() / 50 + 2}, std::max<Key>(1, elements.size() - 1)}) {
    std::vector<Key> keys, wanted;
    for (Key i = 0, key = 0; i < elements.size() / std::min<Key>(step, 100); ++i, key += step)
      keys.push_back(key % elements.size());
    for (const Key key : keys)
      for (const Element& move : moves) wanted.push_back(number.at(product(elements[key], move)));
    auto found = expand<Key>(expander, keys, 2);
    std::ranges::sort(found);
    std::ranges::sort(wanted);
    CHECK(found == wanted);
  }
  std::vector<Key> kept{7};
  expander.successors({}, kept);
  CHECK(kept == std::vector<Key>{7});
  const std::vector<Key> outside{0, elements.size()};
  CHECK_THROWS((expander.successors(outside, kept), 0));
}

// Turns of all points, and one exchange: all permutations.
std::vector<Element> symmetric(std::size_t points) {
  Element turn = unit(points), swap = unit(points);
  std::ranges::rotate(turn, turn.begin() + 1);
  std::swap(swap[0], swap[1]);
  return {turn, swap};
}

TEST(elements_of_small_groups_are_numbered) {
  check_group(5, symmetric(5), {4, 2, 0, 1, 3});
  check_group(6, symmetric(6), {0, 1, 2, 3, 4});
  check_group(7, symmetric(7), {6, 1, 2, 5, 3, 0});
  check_group(600, {symmetric(600)[0]}, {17});  // more elements than are multiplied by a table
  check_group(3, {unit(3)}, {0, 1});            // the unit alone
}

TEST(elements_of_a_group_whose_stabiliser_has_tables_are_numbered) {
  constexpr std::size_t kTurned = 60, kPoints = kTurned + 6;  // beside all permutations of six points
  std::vector<Element> moves = symmetric(6);
  for (Element& move : moves) {
    Element moved = unit(kPoints);
    for (std::size_t i = 0; i < 6; ++i) moved[kTurned + i] = static_cast<std::uint16_t>(kTurned + move[i]);
    move = moved;
  }
  Element turn = unit(kPoints);
  std::rotate(turn.begin(), turn.begin() + 1, turn.begin() + kTurned);
  moves.push_back(turn);
  check_group(kPoints, moves, {0, 60, 61, 62, 63, 64});
}

TEST(elements_of_a_group_that_no_table_is_for_are_numbered) {
  constexpr std::size_t kTurned = 1500, kPoints = kTurned + 4;
  Element large = unit(kPoints), small = unit(kPoints);
  std::rotate(large.begin(), large.begin() + 1, large.begin() + kTurned);
  std::rotate(small.begin() + kTurned, small.begin() + kTurned + 1, small.begin() + kTurned + 3);
  check_group(kPoints, {large, small}, {5, kTurned + 1});
  check_group(kPoints, {large, small}, {kTurned + 1, 5});
}

// Distances of all products of the moves from the unit.
std::map<Element, std::size_t> distances(std::size_t points, const std::vector<Element>& moves) {
  std::map<Element, std::size_t> found{{unit(points), 0}};
  std::vector<Element> all{unit(points)};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (const Element& move : moves)
      if (const Element next = product(all[i], move); found.emplace(next, found.at(all[i]) + 1).second)
        all.push_back(next);
  return found;
}

using Counts = std::vector<std::uint64_t>;

// The new positions at each distance; up to `depth` sequences are listed. No time is too short to go on.
Counts counts_of(const Cosets& cosets, const Element& r, std::size_t depth) {
  CosetRun run(cosets, r, std::chrono::milliseconds(0));
  Counts counts;
  std::uint64_t left = cosets.positions();
  while (left > 0) {
    const bool listed = counts.size() <= depth;
    std::optional<CosetRun::Found> found;
    for (int slices = 1; !(found = run.advance(listed)); ++slices) CHECK(slices < 1000);
    if (!listed && found->fresh == 0) break;
    left -= found->fresh;
    counts.push_back(found->fresh);
  }
  return counts;
}

// A run in which all positions of the coset are watched, given with their distances.
void check_watched(const Cosets& cosets, const Element& r, const std::map<Element, std::size_t>& positions,
                   const std::vector<Element>& moves, const std::vector<bool>& own) {
  CosetRun run(cosets, r, std::chrono::milliseconds(0));
  std::map<std::uint64_t, std::size_t> wanted;
  std::vector<std::uint64_t> bits;
  std::size_t farthest = 0;
  for (const auto& [w, distance] : positions) {
    bits.push_back(run.bit_of(product(r, w)));
    wanted[bits.back()] = distance;
    farthest = std::max(farthest, distance);
  }
  run.watched().watch(bits);
  for (std::size_t distance = 0; distance <= farthest; ++distance) {
    while (!run.advance(true)) continue;
    for (const auto& [bit, moved] : wanted) CHECK(run.reached(bit) == (moved <= distance));
  }
  std::set<std::uint64_t> caught;
  for (const auto& [bit, way] : run.watched().caught()) {
    CHECK(caught.insert(bit).second && way.size() == wanted[bit] && !own[way.back()]);
    Element end = r;
    for (const auto move : way) end = product(end, moves[move]);
    CHECK(run.bit_of(end) == bit);
  }
  CHECK(!caught.empty() || positions.contains(unit(r.size())));
}

void check_cosets(std::size_t points, const std::vector<Element>& moves, const std::vector<bool>& own,
                  const std::vector<Element>& symmetries) {
  std::vector<Element> own_moves;
  for (std::size_t move = 0; move < moves.size(); ++move)
    if (own[move]) own_moves.push_back(moves[move]);
  std::vector<std::uint16_t> bases = unit(points);
  const auto subgroup = closure(points, own_moves);
  const std::map<Element, std::size_t> inside = distances(points, own_moves), all = distances(points, moves);
  const Cosets cosets(points, chain(subgroup, bases), moves, own, symmetries, 5000);
  CHECK(cosets.count() == all.size() / subgroup.size());
  CHECK(cosets.positions() == subgroup.size());
  std::vector<Counts> wanted(cosets.count()), found(cosets.count());
  std::vector<Element> first(cosets.count());
  for (const auto& [r, distance] : all) {
    const auto coset = cosets.coset_of(r);
    if (!first[coset].empty()) continue;
    first[coset] = r;
    std::map<Element, std::size_t> positions;
    for (const auto& [w, moved] : all)
      if (inside.contains(product(r, w))) {
        positions[w] = moved;
        if (wanted[coset].size() <= moved) wanted[coset].resize(moved + 1);
        ++wanted[coset][moved];
      }
    found[coset] = counts_of(cosets, r, 1000);
    CHECK(found[coset] == wanted[coset]);
    check_watched(cosets, r, positions, moves, own);
    const auto least = std::ranges::find_if(wanted[coset], [](auto count) { return count != 0; });
    CHECK(least - wanted[coset].begin() == cosets.distance(coset));
    CHECK(cosets.coset_of(product(subgroup.back(), r)) == coset);
    Element end = unit(points);
    for (const auto move : cosets.way(coset)) end = product(end, moves[move]);
    CHECK(cosets.coset_of(end) == coset);
    CHECK(cosets.way(coset).size() == static_cast<std::size_t>(cosets.distance(coset)));
    const Counts bounds = counts_of(cosets, r, 2);
    std::uint64_t exact = 0, bounded = 0;
    for (std::size_t at = 0; at < std::min(bounds.size(), wanted[coset].size()); ++at) {
      exact += wanted[coset][at];
      bounded += bounds[at];
      CHECK(at <= 2 ? bounded == exact : bounded <= exact);
    }
  }
  std::size_t members = 0;
  for (const auto coset : cosets.firsts()) members += cosets.class_size(coset);
  CHECK(members == cosets.count());
  for (std::uint32_t coset = 0; coset < cosets.count(); ++coset)
    CHECK(found[coset] == found[cosets.first_of_class(coset)]);
}

// Turns of six points to both sides and exchanges of two neighbours, of which there are three.
TEST(cosets_are_enumerated) {
  std::vector<Element> moves = symmetric(6);
  Element back = unit(6), other = unit(6), third = unit(6);
  std::ranges::rotate(back, back.end() - 1);
  std::swap(other[1], other[2]);
  std::swap(third[3], third[4]);
  moves.insert(moves.end(), {back, other, third});
  const Element same{0, 1, 2, 3, 4};
  check_cosets(6, moves, {false, true, false, true, true}, {same});   // twelve elements
  check_cosets(6, moves, {false, true, false, false, true}, {same});  // four
  check_cosets(6, moves, {true, false, true, false, false}, {same});  // the turns
  check_cosets(6, moves, {true, true, true, true, true}, {same});     // all
  moves.pop_back();
  moves.pop_back();
  check_cosets(6, moves, {false, true, false}, {{0, 1, 2}, {2, 1, 0}});  // seen from behind
}

// Turns of five points to both sides, and no own moves: a sequence is turns to one side.
TEST(sequences_are_listed_to_a_limit) {
  Element turn = unit(5), back = unit(5);
  std::ranges::rotate(turn, turn.begin() + 1);
  std::ranges::rotate(back, back.end() - 1);
  const Cosets cosets(5, {}, {turn, back}, {false, false}, {}, 5);
  CosetRun run(cosets, unit(5));
  for (int distance = 0; distance < CosetRun::kMostListed; ++distance) run.advance(false);
  CHECK(run.advance(true)->sequences == 2);
  CHECK_THROWS(run.advance(true));
  CHECK(run.advance(false)->sequences == 0);
}

TEST(what_has_no_cosets_is_refused) {
  const std::vector<Element> moves{{1, 2, 0}, {2, 0, 1}, {1, 0, 2}};
  const std::vector<GroupLevel> levels{{0, {0, 1, 2, 1, 0, 2}}};
  const std::vector<bool> own{false, false, true};
  const Cosets cosets(3, levels, moves, own, {}, 3);
  CHECK_THROWS(Cosets(3, levels, moves, own, {}, 2));
  CHECK_THROWS(Cosets(3, levels, moves, {true, true}, {}, 3));
  CHECK_THROWS(Cosets(3, levels, {moves[0], moves[2]}, {false, true}, {}, 3));  // no inverse
  CHECK_THROWS(Cosets(3, levels, moves, own, {{0, 1}}, 3));
  CHECK_THROWS(Cosets(3, levels, moves, own, {{2, 1, 0}}, 3));
  CHECK_THROWS(Cosets(65, levels, moves, own, {}, 3));
  CHECK_THROWS(Cosets(3, levels, {}, {}, {}, 3));
  CHECK_THROWS(cosets.coset_of({0, 1}));
  CHECK_THROWS(cosets.coset_of({0, 1, 3}));
  CHECK_THROWS(cosets.distance(3));
  CHECK_THROWS(cosets.way(3));
}

TEST(what_is_no_chain_is_refused) {
  const auto moves = symmetric(4);
  const auto levels = chain(closure(4, moves), {0, 1, 2});
  CHECK_THROWS(GroupExpander(0, {}, {}));
  CHECK_THROWS(GroupExpander(65535, {}, {}));
  CHECK_THROWS(GroupExpander(4, levels, {{0, 1, 2}}));
  CHECK_THROWS(GroupExpander(4, levels, {{0, 1, 2, 2}}));
  CHECK_THROWS(GroupExpander(4, levels, {{0, 1, 2, 4}}));
  const auto wrong = [&](auto change) {
    auto changed = levels;
    change(changed);
    return changed;
  };
  CHECK_THROWS(GroupExpander(4, wrong([](auto& l) { l[0].base = 4; }), moves));
  CHECK_THROWS(GroupExpander(4, wrong([](auto& l) { l[0].elements.pop_back(); }), moves));
  CHECK_THROWS(GroupExpander(4, wrong([](auto& l) { l[0].elements.resize(4); }), moves));
  CHECK_THROWS(GroupExpander(4, wrong([](auto& l) { l[0].elements[0] = l[0].elements[1]; }), moves));
  CHECK_THROWS(GroupExpander(4, wrong([](auto& l) { l[1].elements = l[0].elements; }), moves));
  CHECK_THROWS(GroupExpander(4, wrong([](auto& l) { l.push_back(l[2]); }), moves));
  CHECK_THROWS(GroupExpander(4, wrong([](auto& l) { l.erase(l.begin() + 1); }), moves));
  CHECK_THROWS(GroupExpander(
      8, std::vector<GroupLevel>(63, {0, {0, 1, 2, 3, 4, 5, 6, 7, 1, 0, 2, 3, 4, 5, 6, 7}}), {}));
}

TEST(moves_of_another_group_are_refused) {
  const auto even = chain(closure(4, {{1, 2, 0, 3}, {1, 0, 3, 2}}), {0, 1});
  CHECK_THROWS(GroupExpander(4, {even[1]}, symmetric(4)));
}

}  // namespace
}  // namespace farthest::test
