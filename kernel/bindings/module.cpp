// The Python face of the kernel: checks shapes, types and ranges, releases the GIL, and nothing else.
//
// Arrays come in and go out through the buffer protocol (numpy arrays, memoryviews, bytes), C-contiguous and
// one-dimensional; the kernel never keeps memory of its own behind a Python object but for Space.
// InvalidArgument arrives in Python as ValueError.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "all_pairs.hpp"
#include "arrangement.hpp"
#include "arrangement_search.hpp"
#include "bitmap_codec.hpp"
#include "blocks.hpp"
#include "buffers.hpp"
#include "codes.hpp"
#include "digits.hpp"
#include "distance_table.hpp"
#include "farthest/planes.hpp"
#include "farthest/shard_blobs.hpp"
#include "farthest/step.hpp"
#include "groups.hpp"
#include "isas.hpp"
#include "line_survey.hpp"
#include "packed.hpp"
#include "pattern.hpp"
#include "pegs.hpp"
#include "recount.hpp"
#include "reduced.hpp"
#include "residues.hpp"
#include "runs.hpp"
#include "search.hpp"
#include "unit_step.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using farthest::InvalidArgument;
using farthest::Key;
using farthest::LayerView;
using farthest::LimitExceeded;
using farthest::Space;
using farthest::python::aligned;
using farthest::python::Array;
using farthest::python::ByteView;
using farthest::python::isa_named;

// A LayerView and the buffers that it looks into.
struct Layer {
  const Space* space;
  Array<std::uint64_t> words;
  Array<std::uint8_t> flags;
  LayerView view;

  Layer(const Space& of, Array<std::uint64_t> bits, Array<std::uint8_t> marks, std::uint64_t first_shard,
        std::uint64_t shards)
      : space(&of), words(std::move(bits)), flags(std::move(marks)) {
    if (first_shard > of.shards() || shards > of.shards() - first_shard)
      throw InvalidArgument("shards out of range");
    if (words.size() != shards * of.words_per_shard())
      throw InvalidArgument("words must hold words_per_shard a shard");
    if (flags.size() != shards * of.lines_per_shard())
      throw InvalidArgument("flags must hold lines_per_shard a shard");
    view = {first_shard, shards, aligned<farthest::Word>(words).data(), flags.data()};
  }
};

const LayerView& view_in(const Space& space, const Layer& layer) {
  if (layer.space != &space) throw InvalidArgument("the layer belongs to another space");
  return layer.view;
}

// nanobind passes None as a null pointer.
using Layers = std::vector<const Layer*>;

std::vector<LayerView> views_in(const Space& space, const Layers& layers) {
  std::vector<LayerView> out;
  for (const Layer* layer : layers) {
    if (layer == nullptr) throw InvalidArgument("expected a Layer, not None");
    out.push_back(view_in(space, *layer));
  }
  return out;
}

using Stepped = std::pair<std::vector<std::uint64_t>, std::uint64_t>;
Stepped step_counted(const Space& space, const std::vector<std::uint64_t>& shards, const Layers& frontier,
                     const Layers& fresh, const std::vector<Layers>& exclude,
                     const std::vector<Layers>& accumulate, int threads, bool unite) {
  farthest::StepInput input{views_in(space, frontier), views_in(space, fresh), {}, {}, unite};
  for (const auto& pieces : exclude) input.exclude.push_back(views_in(space, pieces));
  for (const auto& pieces : accumulate) input.accumulate.push_back(views_in(space, pieces));
  const nb::gil_scoped_release release;
  Stepped found;
  found.first = farthest::step(space, shards, input, std::max(threads, 1), &found.second);
  return found;
}

std::vector<std::uint64_t> step(const Space& space, const std::vector<std::uint64_t>& shards,
                                const Layers& frontier, const Layers& fresh,
                                const std::vector<Layers>& exclude, const std::vector<Layers>& accumulate,
                                int threads, bool unite) {
  return step_counted(space, shards, frontier, fresh, exclude, accumulate, threads, unite).first;
}

using AnyArray = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using AnyConstArray = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Calls visit with the distances as a span of uint8 or uint16, without the GIL.
template <class Array, class Visit>
void with_distances(const Array& array, Visit visit) {
  constexpr bool kConst = std::is_same_v<Array, AnyConstArray>;
  const auto run = [&]<class Distance>(Distance) {
    using Element = std::conditional_t<kConst, const Distance, Distance>;
    const std::span<Element> span = aligned<Element>(array);
    const nb::gil_scoped_release release;
    visit(span);
  };
  if (array.dtype() == nb::dtype<std::uint8_t>()) return run(std::uint8_t{});
  if (array.dtype() == nb::dtype<std::uint16_t>()) return run(std::uint16_t{});
  throw InvalidArgument("distances must be uint8 or uint16");
}

void expand(const Space& space, const Layers& planes, int shift, const std::vector<int>& parity, Key first,
            const AnyArray& out, int threads) {
  farthest::DistanceCode code{shift, {}};
  for (const int p : parity) code.parity.push_back(static_cast<std::uint8_t>(p & 1));
  if (shift < 0 || shift > 1 || (shift == 1 && code.parity.size() != space.shards()))
    throw InvalidArgument("shift must be 0, or 1 with one parity a shard");
  const auto views = views_in(space, planes);
  with_distances(out, [&](auto distances) {
    farthest::expand(space, views, code, first, distances, std::max(threads, 1));
  });
}

void collect(const Space& space, const Layers& planes, int shift, Key first, const AnyConstArray& distances,
             int threads) {
  if (shift < 0 || shift > 1) throw InvalidArgument("shift must be 0 or 1");
  const auto views = views_in(space, planes);
  with_distances(distances,
                 [&](auto all) { farthest::collect(space, first, all, shift, views, std::max(threads, 1)); });
}

void mark(const Space& space, const Layer& layer, Key first, const AnyConstArray& distances, int depth,
          int threads) {
  const LayerView& view = view_in(space, layer);
  with_distances(distances, [&]<class Distance>(std::span<const Distance> all) {
    if (depth < 0)
      farthest::mark_found(space, first, all, view, std::max(threads, 1));
    else if (depth < std::numeric_limits<Distance>::max())
      farthest::mark(space, first, all, static_cast<Distance>(depth), view, std::max(threads, 1));
  });
}

std::vector<Key> keys_of(const Space& space, const Layer& layer, std::size_t limit) {
  const nb::gil_scoped_release release;
  return farthest::keys_of(space, view_in(space, layer), limit);
}

std::vector<std::uint64_t> population(const Space& space, const Layer& layer) {
  const nb::gil_scoped_release release;
  return farthest::population(space, view_in(space, layer));
}

void clear(const Space& space, const Layer& layer) {
  const nb::gil_scoped_release release;
  farthest::clear(space, view_in(space, layer));
}

void insert(const Space& space, const Layer& layer, Key key) {
  if (key >= space.keys()) throw InvalidArgument("no such key: " + std::to_string(key));
  farthest::insert(space, key, view_in(space, layer));
}

std::vector<std::pair<nb::bytes, std::uint64_t>> encode_shards(const Space& space, const Layer& layer) {
  const LayerView& view = view_in(space, layer);
  std::vector<farthest::ShardBlob> shards;
  {
    const nb::gil_scoped_release release;
    shards = farthest::encode_shards(space, view, isa_named(""));
  }
  std::vector<std::pair<nb::bytes, std::uint64_t>> result;
  for (farthest::ShardBlob& one : shards) {
    result.emplace_back(nb::bytes(one.blob.data(), one.blob.size()), one.states);
    one.blob = {};
  }
  return result;
}

std::uint64_t decode_shards(const Space& space, const std::vector<nb::handle>& shards, const Layers& layers) {
  const auto views = views_in(space, layers);
  std::deque<ByteView> held;
  std::vector<farthest::Blob> blobs;
  for (const nb::handle shard : shards) blobs.push_back(held.emplace_back(shard).bytes());
  const nb::gil_scoped_release release;
  return farthest::decode_shards(space, blobs, views, isa_named(""));
}

}  // namespace

NB_MODULE(_kernel, m) {
  // A space that a script keeps until the interpreter ends is no leak that its author could mend.
  nb::set_leak_warnings(false);
  nb::exception<LimitExceeded>(m, "LimitError", PyExc_ValueError);
  nb::exception<farthest::WrongAnswer>(m, "AnswerError", PyExc_ValueError);
  nb::exception<farthest::NotClosed>(m, "NotClosedError", PyExc_RuntimeError);
  m.doc() = "The enumeration kernel: spaces, layers of states as bitmaps, and their images under moves.";
  m.def("available_isas", &farthest::python::isas,
        "Instruction sets that this processor can run, best last.");

  nb::class_<Space>(m, "Space",
                    "States with keys, and the moves between them: what layers, planes and steps are of.")
      .def_prop_ro("keys", &Space::keys, "Number of keys.")
      .def_prop_ro("states", &Space::states,
                   "Number of states that the keys stand for: more than keys where the space keeps "
                   "representatives of symmetries.")
      .def(
          "weight",
          [](const Space& space, std::uint64_t shard) {
            if (shard >= space.shards()) throw InvalidArgument("no such shard");
            return space.weight(shard);
          },
          "shard"_a, "Number of states that each key of a shard stands for.")
      .def_prop_ro("lines", &Space::lines, "Lines of a whole layer: runs of words that are stepped together.")
      .def_prop_ro("words", &Space::words, "64-bit words of a whole layer.")
      .def_prop_ro("bits", &Space::bits, "States in a word.")
      .def_prop_ro("words_per_group", &Space::words_per_group,
                   "Words that keys fill together before the next ones begin.")
      .def_prop_ro(
          "order", [](const Space& s) { return std::vector<int>(s.order().begin(), s.order().end()); },
          "Place of the k-th key of a group of words, word * 64 + bit; empty where it is k.")
      .def_prop_ro("shard_levels", &Space::shard_levels,
                   "How finely shards can be cut: most classes or bits.")
      .def_prop_ro("shards", &Space::shards, "Number of shards.")
      .def_prop_ro("lines_per_shard", &Space::lines_per_shard,
                   "Lines in a shard: flags of its part of a layer.")
      .def_prop_ro("words_per_shard", &Space::words_per_shard, "64-bit words in a shard.")
      .def_prop_ro("row_bytes", &Space::row_bytes, "Bytes that prepare() takes for all shards.")
      .def_prop_ro("reversible", &Space::reversible, "Whether the inverse of every move is a move.")
      .def_prop_ro(
          "graded", &Space::graded,
          "Whether all paths from one state to another are equally long: then no layer has a state of "
          "an earlier one.")
      .def_prop_ro("united", &Space::united,
                   "Whether layers are best kept united: all states so far instead of one layer.")
      .def_prop_ro(
          "colours", [](const Space& s) { return std::vector<int>(s.colours().begin(), s.colours().end()); },
          "0 or 1 for each shard so that all moves change the colour; empty if there is no such "
          "colouring.")
      .def(
          "sources",
          [](const Space& s, std::uint64_t i) {
            if (i >= s.shards()) throw InvalidArgument("no such shard");
            const auto sources = s.sources(i);
            return std::vector<std::uint32_t>(sources.begin(), sources.end());
          },
          "shard"_a, "The shards that moves lead from into `shard`, one for each move.")
      .def(
          "prepare",
          [](Space& s, const std::vector<std::uint64_t>& shards, int threads) {
            if (std::ranges::any_of(shards, [&](auto i) { return i >= s.shards(); }))
              throw InvalidArgument("no such shard");
            s.prepare(shards, std::max(threads, 1));
          },
          "shards"_a, "threads"_a = 1, nb::call_guard<nb::gil_scoped_release>(),
          "Builds what step() needs for these shards; idempotent.");
  farthest::python::bind_all_pairs(m);
  farthest::python::bind_arrangement(m);
  farthest::python::bind_line_survey(m);
  farthest::python::bind_reduced(m);
  farthest::python::bind_distance_table(m);
  farthest::python::bind_arrangement_search(m);
  farthest::python::bind_residues(m);
  farthest::python::bind_recount(m);
  farthest::python::bind_runs(m);
  farthest::python::bind_pegs(m);
  farthest::python::bind_blocks(m);
  farthest::python::bind_digits(m);
  farthest::python::bind_groups(m);
  farthest::python::bind_packed(m);
  farthest::python::bind_search(m);
  farthest::python::bind_pattern(m);
  farthest::python::bind_unit_step(m);
  farthest::python::bind_bitmap_codec(m);

  nb::class_<Layer>(
      m, "Layer",
      "A bitmap over the states of shards [first_shard, first_shard + shards): words uint64 and flags "
      "uint8 are the caller's memory, kept alive; a line's flag is 0 only if the line is empty.")
      .def(nb::init<const Space&, Array<std::uint64_t>, Array<std::uint8_t>, std::uint64_t, std::uint64_t>(),
           nb::sig("def __init__(self, space: Space, words: " BUFFER ", flags: " BUFFER
                   ", first_shard: int, shards: int) -> None"),
           "space"_a, "words"_a.noconvert(), "flags"_a.noconvert(), "first_shard"_a, "shards"_a,
           nb::keep_alive<1, 2>());

  m.def("step", &step, "space"_a, "shards"_a, "frontier"_a, "fresh"_a, "exclude"_a, "accumulate"_a,
        "threads"_a = 1, "unite"_a = false,
        "Steps the shards by one layer and returns the number of fresh states of each. frontier, fresh and "
        "each entry "
        "of exclude (at most 2) and accumulate (at most 18) is a list of Layers that together hold the "
        "shards needed. "
        "fresh = image of frontier without exclude; it is OR-ed into accumulate. With `unite`, in spaces "
        "that are "
        "united, fresh is written together with exclude, which is then one layer. Raises ValueError.");
  m.def("step_counted", &step_counted, "space"_a, "shards"_a, "frontier"_a, "fresh"_a, "exclude"_a,
        "accumulate"_a, "threads"_a = 1, "unite"_a = false,
        "As step, and the number of classes of the fresh states, where the space keeps representatives of "
        "symmetries. Raises NotClosedError where symmetries take some of them to others.");
  m.def("expand", &expand,
        nb::sig("def expand(space: Space, planes: Sequence[Layer], shift: int, parity: Sequence[int], first: "
                "int, out: " BUFFER ", threads: int = 1) -> None"),
        "space"_a, "planes"_a, "shift"_a, "parity"_a, "first"_a, "out"_a.noconvert(), "threads"_a = 1,
        "Writes the distances of the keys from `first` on: the planes' number n is the greatest of its type "
        "(n = 0) or "
        "((n - 1) << shift) + parity of the shard. parity: one a shard of the space. Planes may be of some "
        "shards, the same for all; the keys must lie in them. Raises ValueError.");
  m.def(
      "collect", &collect,
      nb::sig("def collect(space: Space, planes: Sequence[Layer], shift: int, first: int, distances: " BUFFER
              ", threads: int = 1) -> None"),
      "space"_a, "planes"_a, "shift"_a, "first"_a, "distances"_a.noconvert(), "threads"_a = 1,
      "Inverse of expand: adds the states with a distance to the planes. Raises ValueError.");
  m.def("mark", &mark,
        nb::sig("def mark(space: Space, layer: Layer, first: int, distances: " BUFFER
                ", depth: int, threads: int = 1) -> None"),
        "space"_a, "layer"_a, "first"_a, "distances"_a.noconvert(), "depth"_a, "threads"_a = 1,
        "Adds to the layer the states at distance `depth`, or all that have a distance if depth is -1. The "
        "keys must lie in the layer's shards. Raises ValueError.");
  m.def("keys_of", &keys_of, "space"_a, "layer"_a, "limit"_a,
        "The least `limit` keys in the layer, ascending.");
  m.def("insert", &insert, "space"_a, "layer"_a, "key"_a,
        "Adds one state, in the layer's shards. Raises ValueError.");
  m.def("population", &population, "space"_a, "layer"_a, "Number of states in each shard of the layer.");
  m.def("clear", &clear, "space"_a, "layer"_a, "Empties the layer.");
  m.def(
      "encode_shards", &encode_shards, "space"_a, "layer"_a,
      "For each shard of the layer its blob (shard_blobs.hpp), of no bytes where it is empty, and its number "
      "of states.");
  m.def("decode_shards", &decode_shards,
        nb::sig("def decode_shards(space: Space, shards: Sequence[" BUFFER
                "], layers: Sequence[Layer]) -> int"),
        "space"_a, "shards"_a, "layers"_a,
        "Adds the states of blobs, one for each shard of the layers, to each of these and returns their "
        "number. "
        "Raises ValueError where a blob is damaged or of another space; the layers hold anything then.");
  m.def("longest_shard_blob", &farthest::longest_shard_blob, "space"_a, "No blob of a shard has more bytes.");
}
