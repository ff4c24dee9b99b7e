#include "groups.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <mutex>
#include <string>

#include "buffers.hpp"
#include "codes.hpp"
#include "farthest/cosets.hpp"
#include "farthest/group_expander.hpp"
#include "farthest/large_cosets.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

using LevelArgs = std::pair<std::uint16_t, nb::object>;

std::vector<std::uint16_t> images(nb::handle buffer) {
  const ByteView view(buffer);
  std::vector<std::uint16_t> found(view.bytes().size() / sizeof(std::uint16_t));
  if (view.bytes().size() != found.size() * sizeof(std::uint16_t))
    throw InvalidArgument("the bytes are not whole points");
  if (!found.empty()) std::memcpy(found.data(), view.bytes().data(), view.bytes().size());
  return found;
}

std::vector<GroupLevel> levels_of(const std::vector<LevelArgs>& levels) {
  std::vector<GroupLevel> made;
  for (const auto& [base, elements] : levels) made.push_back({base, images(elements)});
  return made;
}

std::vector<std::vector<std::uint16_t>> elements_of(const std::vector<nb::object>& buffers) {
  std::vector<std::vector<std::uint16_t>> made;
  for (const nb::object& each : buffers) made.push_back(images(each));
  return made;
}

void make_group(GroupExpander* place, std::size_t points, const std::vector<LevelArgs>& levels,
                const std::vector<nb::object>& moves) {
  auto made_levels = levels_of(levels);
  const auto made_moves = elements_of(moves);
  const nb::gil_scoped_release release;
  new (place) GroupExpander(points, std::move(made_levels), made_moves);
}

void make_cosets(Cosets* place, std::size_t points, const std::vector<LevelArgs>& levels,
                 const std::vector<nb::object>& moves, const std::vector<bool>& own,
                 const std::vector<nb::object>& symmetries, std::uint32_t most) {
  auto made_levels = levels_of(levels);
  const auto made_moves = elements_of(moves), renamings = elements_of(symmetries);
  const nb::gil_scoped_release release;
  new (place) Cosets(points, std::move(made_levels), made_moves, own, renamings, most);
}

using StateArg = std::tuple<std::uint16_t, std::uint16_t, std::uint16_t>;

TurnTable::State state_of(const StateArg& state) {
  return {std::get<0>(state), std::get<1>(state), std::get<2>(state)};
}

void make_large_cosets(LargeCosets* place, const std::vector<nb::object>& coordinates,
                       const std::vector<LargeCosets::Slots>& moves, const std::vector<bool>& own,
                       const std::vector<std::vector<std::uint8_t>>& faces,
                       const std::vector<std::uint32_t>& commuting, const std::vector<nb::object>& symmetries,
                       int threads) {
  if (coordinates.size() != 3) throw InvalidArgument("there must be three coordinates");
  TurnTable::Coordinates made{images(coordinates[0]), images(coordinates[1]), images(coordinates[2])};
  const auto renamings = elements_of(symmetries);
  const nb::gil_scoped_release release;
  new (place) LargeCosets(std::move(made), {moves, own, faces, commuting}, renamings, threads);
}

template <class Number>
using Rows = nb::ndarray<const Number, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A run that advances for one thread at a time. Number: of those of which a position is made.
template <class Run, class Number>
class PyRun {
 public:
  template <class... Arguments>
  explicit PyRun(const Arguments&... arguments) : run_(arguments...) {}

  std::optional<std::pair<std::uint64_t, std::uint64_t>> advance(bool listed) {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    const auto found = run_.advance(listed);
    if (!found) return std::nullopt;
    return std::pair{found->fresh, found->sequences};
  }
  double share() {
    const nb::gil_scoped_release release;
    const std::lock_guard lock(mutex_);
    return run_.share();
  }

  nb::bytes bits(const Rows<Number>& positions) {
    std::vector<std::uint64_t> found;
    for (std::size_t i = 0; i < positions.shape(0); ++i)
      found.push_back(run_.bit_of({positions.data() + i * positions.shape(1), positions.shape(1)}));
    return nb::bytes(reinterpret_cast<const char*>(found.data()), found.size() * sizeof(found[0]));
  }
  void watch(const Array<const std::uint64_t>& bits) {
    const std::lock_guard lock(mutex_);
    run_.watched().watch(aligned<const std::uint64_t>(bits));
  }
  nb::bytes reached(const Array<const std::uint64_t>& bits) {
    std::string found;
    {
      const nb::gil_scoped_release release;
      const std::lock_guard lock(mutex_);
      for (const auto bit : aligned<const std::uint64_t>(bits)) found.push_back(run_.reached(bit) ? 1 : 0);
    }
    return nb::bytes(found.data(), found.size());
  }
  std::vector<WatchedBits::Caught> caught() {
    const std::lock_guard lock(mutex_);
    return run_.watched().caught();
  }

  static void bind(nb::class_<PyRun>& bound) {
    bound
        .def("bits", &PyRun::bits, "positions"_a,
             "Of positions w of the coset, a row each, their bits (uint64): what r, then w, makes of each "
             "point "
             "(uint16), of a large subgroup as a board (uint8). Raises ValueError for others.")
        .def("watch", &PyRun::watch, "bits"_a,
             "Before the run: bits of which sequences are kept. Then advance gives None also before each "
             "listing, which may not be needed.")
        .def("reached", &PyRun::reached, "bits"_a,
             "For each bit a byte: 1: it is at most at the distance under way.")
        .def("caught", &PyRun::caught,
             "The watched bits that a listed sequence was the first to set, with that sequence; but for the "
             "one that needs no moves.");
  }

 private:
  Run run_;
  std::mutex mutex_;
};

using PyCosetRun = PyRun<CosetRun, std::uint16_t>;
using PyLargeCosetRun = PyRun<LargeCosetRun, std::uint8_t>;

}  // namespace

void bind_groups(nb::module_& m) {
  nb::class_<GroupExpander, Expander>(
      m, "GroupExpander",
      "Successors of the elements of a permutation group, numbered by a chain of stabilisers. levels: of "
      "each "
      "its base "
      "point, and the images of all points (uint16) under each of its elements, one after another; these fix "
      "the base "
      "points before. An element is made by one of each level, that of the last first; their numbers are the "
      "digits of "
      "its key, that of the first level the most significant. moves: the images of all points; a move comes "
      "after the "
      "element. Raises ValueError.")
      .def("__init__", &make_group,
           nb::sig("def __init__(self, points: int, levels: collections.abc.Sequence[tuple[int, " BUFFER
                   "]], moves: collections.abc.Sequence[" BUFFER "]) -> None"),
           "points"_a, "levels"_a, "moves"_a)
      .def_prop_ro("keys", &GroupExpander::keys, "The order of the group.");
  nb::class_<Cosets>(
      m, "Cosets",
      "The right cosets of a subgroup that some of the moves of a permutation puzzle generate (cosets.hpp). "
      "levels: of the subgroup, as of a GroupExpander. moves: the images of all points; their inverses are "
      "moves. own: for each whether it is in the subgroup. symmetries: a group; of each, uint16, for each "
      "move the one that takes its place. Raises ValueError; LimitError for more than `most` cosets.")
      .def("__init__", &make_cosets,
           nb::sig("def __init__(self, points: int, levels: collections.abc.Sequence[tuple[int, " BUFFER
                   "]], moves: collections.abc.Sequence[" BUFFER
                   "], own: collections.abc.Sequence[bool], symmetries: collections.abc.Sequence[" BUFFER
                   "], most: int) -> None"),
           "points"_a, "levels"_a, "moves"_a, "own"_a, "symmetries"_a, "most"_a)
      .def_prop_ro("count", &Cosets::count, "How many there are.")
      .def_prop_ro("positions", &Cosets::positions, "Of a coset.")
      .def(
          "coset_of",
          [](const Cosets& cosets, nb::handle element) { return cosets.coset_of(images(element)); },
          nb::sig("def coset_of(self, element: " BUFFER ") -> int"), "element"_a,
          "The number of the coset of an element; 0 is the subgroup. Raises ValueError.")
      .def("distance", &Cosets::distance, "coset"_a, "The moves from there to the subgroup.")
      .def("first_of_class", &Cosets::first_of_class, "coset"_a,
           "The first of the cosets that symmetries take this one to.")
      .def("class_size", &Cosets::class_size, "coset"_a, "How many these are.")
      .def("firsts", &Cosets::firsts, "The first coset of each class.")
      .def("way", &Cosets::way, "coset"_a, "A shortest sequence of moves from the solved position.");
  nb::class_<PyCosetRun> small_run(m, "CosetRun",
                                   "The positions w for which r, then w, is in the subgroup, enumerated "
                                   "distance by distance. element: r.");
  small_run
      .def(
          "__init__",
          [](PyCosetRun* place, const Cosets& cosets, nb::handle element) {
            const auto r = images(element);
            const nb::gil_scoped_release release;
            new (place) PyCosetRun(cosets, r);
          },
          nb::sig("def __init__(self, cosets: Cosets, element: " BUFFER ") -> None"), nb::keep_alive<1, 2>(),
          "cosets"_a, "element"_a)
      .def("advance", &PyCosetRun::advance, "listed"_a,
           "Goes on for a second or so with the next distance, from 0. The positions that are new there, and "
           "the sequences that were listed; None where it is not done yet. Without `listed` only own moves "
           "are made. Raises LimitError for sequences of more than 1,000 moves.");
  PyCosetRun::bind(small_run);
  nb::class_<LargeCosets>(
      m, "LargeCosets",
      "The cosets of a large subgroup (large_cosets.hpp). coordinates: three; of each, uint16, by value and "
      "move the value after the move; the subgroup's own is 0. moves: of each, by slot the slot that its "
      "content comes from; their inverses are moves. own: for each whether it is in the subgroup. faces: the "
      "moves of each, which are the powers of one turn. commuting: for each face the faces that commute with "
      "it, as bits. symmetries: a group, the identity first; of each, uint16, for each move the one that "
      "takes "
      "its place. Raises ValueError.")
      .def("__init__", &make_large_cosets,
           nb::sig("def __init__(self, coordinates: collections.abc.Sequence[" BUFFER
                   "], moves: collections.abc.Sequence[collections.abc.Sequence[int]], own: "
                   "collections.abc.Sequence[bool], faces: "
                   "collections.abc.Sequence[collections.abc.Sequence[int]], commuting: "
                   "collections.abc.Sequence[int], symmetries: collections.abc.Sequence[" BUFFER
                   "], threads: int) -> None"),
           "coordinates"_a, "moves"_a, "own"_a, "faces"_a, "commuting"_a, "symmetries"_a, "threads"_a)
      .def_prop_ro_static(
          "positions", [](nb::handle) { return SubgroupBits::kPositions; }, "Of a coset.")
      .def_prop_ro_static(
          "run_bytes", [](nb::handle) { return SubgroupBits::kMemory; }, "Memory of a run.")
      .def_static(
          "check", &LargeCosets::check, "own"_a,
          "Raises ValueError, with a reason, unless the moves of a subgroup have the structure that is "
          "needed.")
      .def(
          "way",
          [](const LargeCosets& cosets, const StateArg& state) {
            cosets.table().check(state_of(state));
            return cosets.table().way(state_of(state));
          },
          "coset"_a, "A shortest sequence of moves from a coset to the subgroup.");
  nb::class_<PyLargeCosetRun> large_run(
      m, "LargeCosetRun",
      "The positions w for which r, then w, is in the subgroup, enumerated distance by distance. board: for "
      "each slot the home slot of the piece that r brings there. coset: that of r. Raises ValueError.");
  large_run
      .def(
          "__init__",
          [](PyLargeCosetRun* place, const LargeCosets& cosets, const LargeCosets::Slots& board,
             const StateArg& state,
             int threads) { new (place) PyLargeCosetRun(cosets, board, state_of(state), threads); },
          nb::call_guard<nb::gil_scoped_release>(), nb::keep_alive<1, 2>(), "cosets"_a, "board"_a, "coset"_a,
          "threads"_a)
      .def("advance", &PyLargeCosetRun::advance, "listed"_a,
           "Goes on for a second or so with the next distance, from 0. The positions that are new there, and "
           "the sequences that were listed; None where it is not done yet. Without `listed` only own moves "
           "are made. Raises LimitError for sequences of more than 30 moves.")
      .def_prop_ro("share", &PyLargeCosetRun::share,
                   "Of the sequences of the distance under way the share that is listed.");
  PyLargeCosetRun::bind(large_run);
}

}  // namespace farthest::python
