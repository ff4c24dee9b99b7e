#include "arrangement_search.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>

#include <algorithm>
#include "buffers.hpp"
#include "distance_table.hpp"

#include "farthest/arrangement.hpp"
#include "farthest/graph_search.hpp"
#include "farthest/staged_search.hpp"
#include "farthest/walk.hpp"

namespace farthest::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using MoveArgs = std::tuple<std::vector<int>, std::uint64_t, std::uint64_t, std::vector<int>>;
using TableArgs = std::tuple<int, nb::bytes, int>;
using GapArgs = std::tuple<int, nb::bytes, nb::bytes>;
using Numbers = std::vector<int>;

// A map and the buffer that it looks into.
struct BoardMap {
  MapTable map;
  Array<const std::uint8_t> bytes;
};

// A problem and what its maps look into.
struct Problem {
  WalkProblem problem;
  std::vector<Array<const std::uint8_t>> kept;
};

// Searches of several threads take turns.
struct Search {
  std::unique_ptr<GraphSearch> search;
  std::mutex turn;
};

std::vector<std::uint8_t> bytes_of(const nb::bytes& object) {
  const auto* data = static_cast<const std::uint8_t*>(object.data());
  return {data, data + object.size()};
}

std::vector<std::uint8_t> small(const Numbers& numbers, const char* what) {
  std::vector<std::uint8_t> out;
  for (const int number : numbers) {
    if (number < 0 || number > 255) throw InvalidArgument(std::string(what) + " must be 0 to 255");
    out.push_back(static_cast<std::uint8_t>(number));
  }
  return out;
}

void make_map(BoardMap* place, const ArrangementSpace* space, const nb::bytes& class_of,
              const Numbers& places, const Numbers& turn_places,
              const std::vector<std::tuple<int, int, int>>& digits, const Numbers& ignored,
              const KeptTable& table, int turns, const nb::bytes& turn_image) {
  MapTable map;
  if (space != nullptr) map.layout = space->layout();
  map.class_of = bytes_of(class_of);
  map.places = small(places, "cells");
  map.turn_places = small(turn_places, "cells");
  for (const auto& [label_cell, cell, radix] : digits) {
    const auto digit = small({label_cell, cell, radix}, "cells and radices");
    map.digits.push_back({digit[0], digit[1], digit[2]});
  }
  map.ignored = small(ignored, "marks");
  map.table = table.table;
  map.turn_image = bytes_of(turn_image);
  if (turns < 1 || turns > 64) throw InvalidArgument("turns must be 1 to 64");
  map.turns = static_cast<std::size_t>(turns);
  new (place) BoardMap{std::move(map), table.bytes};
}

std::vector<Move> moves_of(const std::vector<MoveArgs>& moves) {
  std::vector<Move> made;
  for (const auto& [to, require, forbid, delta] : moves)
    made.push_back({small(to, "slots"), require, forbid, small(delta, "deltas")});
  return made;
}

void make_problem(Problem* place, int slots, int labels, const Numbers& moduli, const Numbers& ignored,
                  const std::vector<MoveArgs>& moves, const std::vector<Numbers>& goals,
                  const std::vector<TableArgs>& tables, const std::vector<GapArgs>& gaps,
                  const std::vector<const BoardMap*>& maps, std::vector<Numbers> terms, bool shortest) {
  BoardMoves board_moves(slots, labels, small(moduli, "moduli"), small(ignored, "marks"), moves_of(moves));
  std::vector<std::vector<std::uint8_t>> patterns;
  for (const auto& goal : goals) patterns.push_back(small(goal, "contents"));
  std::vector<SlotTable> slot_tables;
  for (const auto& [turns, table, divisor] : tables) slot_tables.push_back({bytes_of(table), turns, divisor});
  std::vector<GapTable> gap_tables;
  for (const auto& [turns, pairs, last] : gaps)
    gap_tables.push_back({turns, bytes_of(pairs), bytes_of(last)});
  std::vector<MapTable> map_tables;
  std::vector<Array<const std::uint8_t>> kept;
  for (const BoardMap* map : maps) {
    if (map == nullptr) throw InvalidArgument("expected a BoardMap, not None");
    map_tables.push_back(map->map);
    kept.push_back(map->bytes);
  }
  BoardGoals board_goals(board_moves.cells(), patterns);
  BoardBounds bounds(board_moves, std::move(slot_tables), std::move(gap_tables), std::move(map_tables),
                     std::move(terms));
  new (place)
      Problem{{std::move(board_moves), std::move(board_goals), std::move(bounds), shortest}, std::move(kept)};
}

nb::tuple walk_below(const Problem& problem, const nb::bytes& board, int depth, int last, const Way& before,
                     int bound, std::uint64_t budget, bool first, std::size_t listed) {
  const auto cells = bytes_of(board);
  const WalkResult result = [&] {
    const nb::gil_scoped_release release;
    return walk(problem.problem, {cells, depth, last, before}, {bound, budget, first, listed});
  }();
  nb::list rest;
  for (const WalkNode& node : result.rest)
    rest.append(nb::make_tuple(nb::bytes(node.board.data(), node.board.size()), nb::cast(node.way)));
  const nb::object next = result.next_bound == WalkResult::kNone ? nb::none() : nb::cast(result.next_bound);
  return nb::make_tuple(result.nodes, result.solutions, nb::cast(result.listed), next, rest);
}

using ViewArgs = std::tuple<Numbers, nb::bytes>;
using StageArgs = std::tuple<std::vector<Way>, std::vector<ViewArgs>>;

void make_staged(StagedSearch* place, const Numbers& moduli, const std::vector<MoveArgs>& moves,
                 const nb::bytes& goal, const std::vector<StageArgs>& stages) {
  std::vector<StageParts> parts;
  for (const auto& [words, views] : stages) {
    parts.push_back({words, {}});
    for (const auto& [cells, classes] : views)
      parts.back().views.push_back({small(cells, "cells"), bytes_of(classes)});
  }
  const int slots = static_cast<int>(moduli.size());
  BoardMoves made(slots, slots, small(moduli, "moduli"), {}, moves_of(moves));
  auto cells = bytes_of(goal);
  const nb::gil_scoped_release release;
  new (place) StagedSearch(std::move(made), std::move(cells), parts);
}

std::tuple<std::uint64_t, std::optional<Way>> staged_search(const StagedSearch& search,
                                                            const nb::bytes& board, int below,
                                                            std::uint64_t budget) {
  const auto cells = bytes_of(board);
  const nb::gil_scoped_release release;
  StagedSearch::Result found = search.search(cells, below, budget);
  return {found.nodes, std::move(found.way)};
}

SearchOrder order_named(const std::string& name) {
  if (name == "breadth") return SearchOrder::breadth;
  if (name == "depth") return SearchOrder::depth;
  if (name == "best") return SearchOrder::best;
  throw InvalidArgument("the order must be breadth, depth or best");
}

void make_search(Search* place, const Problem& problem, const std::string& order, const nb::bytes& board,
                 std::uint64_t memory) {
  new (place) Search{graph_search(problem.problem, order_named(order), bytes_of(board), memory), {}};
}

const char* advance(Search& search, std::uint64_t boards) {
  const GraphSearch::State state = [&] {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(search.turn);
    return search.search->advance(boards);
  }();
  switch (state) {
    case GraphSearch::State::open:
      return "open";
    case GraphSearch::State::found:
      return "found";
    case GraphSearch::State::exhausted:
      return "exhausted";
    default:
      return "full";
  }
}

// A figure of the search, between two turns.
template <auto Figure>
auto figure(Search& search) {
  const nb::gil_scoped_release release;
  const std::lock_guard lock(search.turn);
  return (*search.search.*Figure)();
}

}  // namespace

void bind_arrangement_search(nb::module_& m) {
  nb::class_<BoardMap>(
      m, "BoardMap",
      "A table of a puzzle with labels made alike. space: ranks the labels, None where all are alike. "
      "class_of: "
      "its class of each label. places: for each of its slots the cell of the board with its label; "
      "turn_places: with its orientation, or empty. digits: (cell of the label, cell, radix) of "
      "orientations that follow in the key; ignored: for each label whether these are 0 with it. turn_image: "
      "empty, or by slot of the board, label and orientation, `turns` of these, the orientation that the map "
      "is read with.")
      .def("__init__", &make_map,
           nb::sig(
               "def __init__(self, space: ArrangementSpace | None, class_of: bytes, places: Sequence[int], "
               "turn_places: Sequence[int], digits: Sequence[tuple[int, int, int]], ignored: Sequence[int], "
               "table: DistanceTable, turns: int = 1, turn_image: bytes = ...) -> None"),
           "space"_a.none(), "class_of"_a, "places"_a, "turn_places"_a, "digits"_a, "ignored"_a, "table"_a,
           "turns"_a = 1, "turn_image"_a = nb::bytes("", 0));
  nb::class_<Problem>(
      m, "WalkProblem",
      "A puzzle to be searched board by board: `slots` slots, `labels` labels, of which 0 is the blank where "
      "moves need one. moduli: of the orientations in each slot, or empty; ignored: for each label whether "
      "its "
      "orientation is always 0. moves: (to, require, forbid, delta), as of ArrangementSpace. goals: boards, "
      "255 "
      "for any content. tables (turns, table, divisor), gaps (turns, pairs, last), maps: the components of "
      "the bound; terms: it is "
      "the "
      "greatest of these sums of components, by number through the three lists. shortest: the bound is never "
      "more than the distance, maps are distances, and searches are for shortest solutions alone. Raises "
      "ValueError.")
      .def("__init__", &make_problem, "slots"_a, "labels"_a, "moduli"_a, "ignored"_a, "moves"_a, "goals"_a,
           "tables"_a, "gaps"_a, "maps"_a, "terms"_a, "shortest"_a = false)
      .def_prop_ro(
          "by_coordinates", [](const Problem& problem) { return problem.problem.coordinates.has_value(); },
          "Whether the search keeps coordinates of its maps' keys in place of boards.")
      .def_prop_ro(
          "tied",
          [](const Problem& problem) {
            const auto& found = problem.problem.coordinates;
            return found ? std::ranges::count(found->tied, true) : 0;
          },
          "How many terms of the bound are tied: all but the goal is one move more away than the least of "
          "them.")
      .def_prop_ro(
          "inverses",
          [](const Problem& problem) {
            const auto& found = problem.problem.coordinates;
            return found && found->inverse ? found->inverse->maps().size() : 0;
          },
          "How many maps are looked up for the inverses of boards as well.")
      .def(
          "bound",
          [](const Problem& problem, const nb::bytes& board) {
            return bound_of(problem.problem, bytes_of(board));
          },
          "board"_a, "The bound of a board; 2**28 or more where no goal can be reached. Raises ValueError.")
      .def("walk", &walk_below,
           nb::sig("def walk(self, board: bytes, depth: int, last: int, before: Sequence[int], bound: int, "
                   "budget: int, "
                   "first: bool, listed: int) -> tuple[int, int, list[list[int]], int | None, "
                   "list[tuple[bytes, list[int]]]]"),
           "board"_a, "depth"_a, "last"_a, "before"_a, "bound"_a, "budget"_a, "first"_a, "listed"_a,
           "Searches below a board, `depth` moves from where the bound is counted from, depth first: (boards "
           "generated, solutions, the first `listed` of them, the least depth + bound cut off, the rest as "
           "(board, way)). last: the move that led to the board, or -1; before: the way of a board that was "
           "given "
           "back, with which all ways begin. first: "
           "ends at the first solution. budget: boards generated before the rest is given back. Raises "
           "ValueError.");
  nb::class_<StagedSearch>(
      m, "StagedSearch",
      "Short ways to a goal by stages; all pieces differ. moduli: of the orientations in each slot. moves: "
      "as of "
      "WalkProblem. stages: of each its words (moves by number), and its views (cells, the class of each of "
      "256 "
      "contents); a stage ends where all views see what they see of the goal. Raises ValueError.")
      .def("__init__", &make_staged, "moduli"_a, "moves"_a, "goal"_a, "stages"_a)
      .def("search", &staged_search, "board"_a, "below"_a, "budget"_a,
           "(nodes, a way of fewer than `below` moves or None): the best that about `budget` nodes find. "
           "Raises "
           "ValueError.");
  nb::class_<Search>(m, "GraphSearch",
                     "Searches from a board and keeps every board it meets, in at most `memory` bytes. "
                     "order: breadth, depth, "
                     "or best (A*). Raises ValueError.")
      .def("__init__", &make_search, "problem"_a, "order"_a, "board"_a, "memory"_a, nb::keep_alive<1, 2>())
      .def("advance", &advance, "boards"_a,
           "Takes at most so many boards more: open, found, exhausted, or full (more memory is needed).")
      .def("moves", &figure<&GraphSearch::moves>, "The moves, by number, to the goal that was found.")
      .def_prop_ro("expanded", &figure<&GraphSearch::expanded>, "Boards taken, with the goal.")
      .def_prop_ro("generated", &figure<&GraphSearch::generated>, "Boards that moves led to, known ones too.")
      .def_prop_ro("stored", &figure<&GraphSearch::stored>, "Different boards met.")
      .def_prop_ro("bytes", &figure<&GraphSearch::bytes>, "Memory taken.");
}

}  // namespace farthest::python
