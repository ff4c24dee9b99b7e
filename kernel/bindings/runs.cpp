#include "runs.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <mutex>

#include "buffers.hpp"
#include "codes.hpp"
#include "farthest/expansion.hpp"
#include "farthest/map_runs.hpp"
#include "farthest/outboxes.hpp"
#include "farthest/thin_layers.hpp"
#include "farthest/user_expander.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

using States = std::pair<std::uint64_t, nb::bytes>;  // their number, and the run

// Many buffers at once, alive as long as this is.
class ByteViews {
 public:
  explicit ByteViews(const nb::sequence& objects) {
    for (const nb::handle object : objects) views_.emplace_back(object);
  }
  std::vector<Bytes> spans() const {
    std::vector<Bytes> out;
    for (const ByteView& view : views_) out.push_back(view.bytes());
    return out;
  }

 private:
  std::deque<ByteView> views_;
};

// Holds an object's mutex, which is waited for without the GIL: its holder may want that.
std::unique_lock<std::mutex> locked(std::mutex& mutex) {
  const nb::gil_scoped_release release;
  return std::unique_lock(mutex);
}

nb::bytes bytes_from(const Blob& blob) { return nb::bytes(blob.data(), blob.size()); }

// New bytes, and their memory, to be filled before anyone else has them.
nb::bytes fresh_bytes(std::size_t size) {
  nb::bytes out = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
  if (!out.is_valid()) nb::raise_python_error();
  return out;
}
std::span<std::uint8_t> span_of(const nb::bytes& fresh) {
  return {reinterpret_cast<std::uint8_t*>(PyBytes_AsString(fresh.ptr())), fresh.size()};
}

// New bytes, which write(span) fills without the GIL.
template <class Write>
nb::bytes written(std::size_t size, Write write) {
  nb::bytes out = fresh_bytes(size);
  const std::span<std::uint8_t> memory = span_of(out);
  const nb::gil_scoped_release release;
  write(memory);
  return out;
}

nb::bytes expand_codes(const Expander& expander, nb::handle codes, int threads) {
  const ByteView view(codes);
  const std::size_t width = expander.width();
  return with_code(width, [&]<class Code>(Code) {
    std::vector<Code> successors;
    {
      const nb::gil_scoped_release release;
      const auto loaded = load_codes<Code>(view.bytes(), width);
      successors = expand<Code>(expander_of<Code>(expander, width), loaded, std::max(threads, 1));
    }
    return written(successors.size() * width, [&](auto out) { store_codes<Code>(successors, out, width); });
  });
}

std::unique_ptr<Expander> expander_from(std::uintptr_t function, std::uintptr_t data, std::size_t moves,
                                        std::size_t width, bool words, std::uint64_t limit, bool undirected) {
  return user_expander({reinterpret_cast<UserFunction>(function), reinterpret_cast<const void*>(data), moves,
                        width, words, limit, undirected});
}

States states_from(const CountedRun& run) { return {run.states, bytes_from(run.blob)}; }

States run_from(std::size_t width, nb::handle codes) {
  const ByteView view(codes);
  return states_from([&] {
    const nb::gil_scoped_release release;
    return run_of(view.bytes(), width);
  }());
}

nb::bytes run_codes(std::size_t width, nb::handle run, std::uint64_t limit) {
  check_width(width);
  const ByteView view(run);
  const std::size_t states = std::min(states_of(view.bytes(), width), limit);
  return written(states * width, [&](std::span<std::uint8_t> out) { write_codes(view.bytes(), width, out); });
}

States merged(std::size_t width, const nb::sequence& runs, const nb::sequence& exclude) {
  const ByteViews views(runs), excluded(exclude);
  return states_from([&] {
    const nb::gil_scoped_release release;
    return merge_runs(views.spans(), excluded.spans(), width);
  }());
}

std::pair<std::vector<States>, States> found_thin(const Expander& expander, const nb::sequence& last,
                                                  const nb::sequence& older, Key keys, std::uint64_t layers,
                                                  std::uint64_t wide, std::uint64_t states) {
  const ByteViews views(last), known(older);
  const ThinLayers thin = [&] {
    const nb::gil_scoped_release release;
    return thin_layers(expander, views.spans(), known.spans(), expander.width(), keys,
                       {layers, wide, states});
  }();
  std::vector<States> out;
  for (const CountedRun& layer : thin.layers) out.push_back(states_from(layer));
  return {std::move(out), states_from(thin.all)};
}

class PyOutboxes {
 public:
  PyOutboxes(std::size_t width, std::uint64_t shards, std::uint64_t keys, std::size_t room)
      : width_(width), keys_(keys), boxes_(make_outboxes(width, sharding(width, shards, keys), room)) {}

  static Sharding sharding(std::size_t width, std::uint64_t shards, std::uint64_t keys) {
    if (keys != 0 && width != sizeof(Key)) throw InvalidArgument("keys have 8 bytes");
    return {shards, keys};
  }

  void add(nb::handle codes, int threads) {
    const auto lock = locked(mutex_);
    const ByteView view(codes);
    const nb::gil_scoped_release release;
    boxes_->add(view.bytes(), std::max(threads, 1));
  }

  void expand(const Expander& expander, const nb::sequence& runs, int threads, std::uint64_t first,
              std::uint64_t end) {
    const auto lock = locked(mutex_);
    const ByteViews views(runs);
    const nb::gil_scoped_release release;
    boxes_->expand(expander, views.spans(), first, end, std::max(threads, 1));
  }

  std::vector<std::uint64_t> filled() const {
    const auto lock = locked(mutex_);
    return boxes_->filled();
  }

  std::size_t bytes() const {
    const auto lock = locked(mutex_);
    return boxes_->bytes();
  }

  std::size_t filled_bytes() const {
    const auto lock = locked(mutex_);
    return boxes_->filled_bytes();
  }

  std::vector<States> take(const std::vector<std::uint64_t>& shards, const std::vector<nb::sequence>& exclude,
                           int threads, std::uint64_t most) {
    const auto lock = locked(mutex_);
    std::deque<ByteViews> views;
    std::vector<std::vector<Bytes>> spans;
    for (const auto& runs : exclude) spans.push_back(views.emplace_back(runs).spans());
    const auto fresh = [&] {
      const nb::gil_scoped_release release;
      return boxes_->take(shards, spans, most, std::max(threads, 1));
    }();
    std::vector<States> out;
    for (const CountedRun& run : fresh) out.push_back(states_from(run));
    return out;
  }

  void divide(std::uint64_t shards, std::size_t room) {
    const auto lock = locked(mutex_);
    boxes_->divide(sharding(width_, shards, keys_), room);
  }

  void trim() {
    const auto lock = locked(mutex_);
    boxes_->trim();
  }

 private:
  std::size_t width_;
  std::uint64_t keys_;
  mutable std::mutex mutex_;
  std::unique_ptr<Outboxes> boxes_;
};

std::vector<LayerRun> layer_runs(const std::vector<Bytes>& runs, const std::vector<std::uint16_t>& depths) {
  if (runs.size() != depths.size()) throw InvalidArgument("there must be a depth for each run");
  std::vector<LayerRun> out;
  for (std::size_t i = 0; i < runs.size(); ++i) out.push_back({runs[i], depths[i]});
  return out;
}

using AnyArray = nb::ndarray<nb::ndim<1>, nb::c_contig, nb::device::cpu>;

class PyMapReader {
 public:
  PyMapReader(std::size_t width, const nb::sequence& runs, const std::vector<std::uint16_t>& depths)
      : views_(runs), width_(width), reader_(make_map_reader(layer_runs(views_.spans(), depths), width)) {}

  void fill(Key first, const AnyArray& out) {
    const auto lock = locked(mutex_);
    const auto run = [&]<class Distance>(Distance) {
      const std::span<Distance> span = aligned<Distance>(out);
      const nb::gil_scoped_release release;
      reader_->fill(first, span);
    };
    if (out.dtype() == nb::dtype<std::uint8_t>()) return run(std::uint8_t{});
    if (out.dtype() == nb::dtype<std::uint16_t>()) return run(std::uint16_t{});
    throw InvalidArgument("distances must be uint8 or uint16");
  }

  std::pair<nb::bytes, nb::bytes> next(std::size_t states, std::size_t unit, int threads) {
    const auto lock = locked(mutex_);
    if (unit != 1 && unit != 2) throw InvalidArgument("distances have 1 or 2 bytes");
    if (states == 0) throw InvalidArgument("at least one state must be asked for");
    const std::size_t found = [&] {
      const nb::gil_scoped_release release;
      return reader_->next(states, std::max(threads, 1));
    }();
    nb::bytes distances = fresh_bytes(found * unit);
    nb::bytes codes = written(
        found * width_, [&](std::span<std::uint8_t> out) { reader_->write(out, span_of(distances), unit); });
    return {codes, distances};
  }

 private:
  ByteViews views_;
  std::size_t width_;
  mutable std::mutex mutex_;
  std::unique_ptr<MapReader> reader_;
};

class PyMapWriter {
 public:
  PyMapWriter(std::size_t width, std::uint64_t shards, std::uint64_t keys, std::uint16_t depth)
      : writer_(make_map_writer(width, PyOutboxes::sharding(width, shards, keys), depth)) {}

  void add(nb::handle codes, nb::handle distances, std::size_t unit) {
    const auto lock = locked(mutex_);
    const ByteView code_bytes(codes), distance_bytes(distances);
    const nb::gil_scoped_release release;
    writer_->add(code_bytes.bytes(), distance_bytes.bytes(), unit);
  }

  void add_keys(Key first, nb::handle distances, std::size_t unit) {
    const auto lock = locked(mutex_);
    const ByteView view(distances);
    const nb::gil_scoped_release release;
    writer_->add_keys(first, view.bytes(), unit);
  }

  std::vector<std::tuple<std::uint64_t, std::uint64_t, nb::bytes>> runs(std::uint16_t depth) const {
    const auto lock = locked(mutex_);
    std::vector<std::tuple<std::uint64_t, std::uint64_t, nb::bytes>> out;
    for (const auto& [shard, run] : writer_->runs(depth))
      out.emplace_back(shard, run.states, bytes_from(run.blob));
    return out;
  }

 private:
  mutable std::mutex mutex_;
  std::unique_ptr<MapWriter> writer_;
};

}  // namespace

void bind_runs(nb::module_& m) {
  nb::class_<Expander>(m, "Expander", "Gives the successors of codes; each family has its own.")
      .def_prop_ro("width", &Expander::width, "Bytes of a code.");
  m.def("expand_codes", &expand_codes,
        nb::sig("def expand_codes(expander: Expander, codes: " BUFFER ", threads: int = 1) -> bytes"),
        "expander"_a, "codes"_a, "threads"_a = 1,
        "The codes of all successors of `codes` (of 8 bytes: uint64, little endian); they may repeat. Raises "
        "ValueError.");
  m.def(
      "user_expander", &expander_from, "function"_a, "data"_a, "moves"_a, "width"_a, "words"_a, "limit"_a,
      "undirected"_a,
      "The successors that a user's compiled function gives (kernel/include/farthest/user_expander.hpp): its "
      "address, that of its data or 0, the number of moves, bytes of a code, whether keys are numbers, below "
      "which `limit` they must be (0: none), whether moves can be taken back. Where answers are wrong, what "
      "expands raises AnswerError. Raises ValueError.");
  m.def("run_of", &run_from, nb::sig("def run_of(width: int, codes: " BUFFER ") -> tuple[int, bytes]"),
        "width"_a, "codes"_a,
        "The run of any codes of `width` bytes (8: uint64, little endian; else byte strings): its number of "
        "states, and itself as bytes. Raises ValueError.");
  m.def("run_codes", &run_codes,
        nb::sig("def run_codes(width: int, run: " BUFFER ", limit: int = 18446744073709551615) -> bytes"),
        "width"_a, "run"_a, "limit"_a = ~std::uint64_t{0},
        "The least `limit` codes of a run, ascending. Raises ValueError where it is damaged.");
  m.def("merge_runs", &merged,
        nb::sig("def merge_runs(width: int, runs: Sequence[" BUFFER "], exclude: Sequence[" BUFFER
                "] = ()) -> tuple[int, bytes]"),
        "width"_a, "runs"_a, "exclude"_a = nb::make_tuple(),
        "The run of the codes that are in any of `runs` and in none of `exclude`, with its number of states. "
        "Raises ValueError where one is damaged.");

  m.def("thin_layers", &found_thin,
        nb::sig("def thin_layers(expander: Expander, last: Sequence[" BUFFER "], older: Sequence[" BUFFER
                "], keys: int, layers: int, wide: int, states: int) -> tuple[list[tuple[int, bytes]], "
                "tuple[int, bytes]]"),
        "expander"_a, "last"_a, "older"_a, "keys"_a, "layers"_a, "wide"_a, "states"_a,
        "The layers that follow the last one, whose runs are `last`, among states that are in none of these, "
        "nor "
        "of the runs `older`: the states and run of each, and of all of them. It stops after an empty layer, "
        "after `layers` "
        "of them, after one of more than `wide` states, and after `states` states in all. keys: of a dense "
        "space, else 0. Raises ValueError.");

  nb::class_<PyOutboxes>(
      m, "Outboxes",
      "Successors on their way to the shards that own them. keys: of a dense space, whose shards are equal "
      "ranges; 0: a sparse one, whose shards are by a hash. room: bytes before repeated codes are removed "
      "early.")
      .def(nb::init<std::size_t, std::uint64_t, std::uint64_t, std::size_t>(), "width"_a, "shards"_a,
           "keys"_a, "room"_a)
      .def("add", &PyOutboxes::add, nb::sig("def add(self, codes: " BUFFER ", threads: int = 1) -> None"),
           "codes"_a, "threads"_a = 1,
           "Puts codes in; they may repeat. Raises ValueError for a number that is no key of a dense space.")
      .def("expand", &PyOutboxes::expand,
           nb::sig("def expand(self, expander: Expander, runs: Sequence[" BUFFER
                   "], threads: int = 1, first: int = 0, end: int = 18446744073709551615) -> None"),
           "expander"_a, "runs"_a, "threads"_a = 1, "first"_a = 0, "end"_a = ~std::uint64_t{0},
           "Puts the successors of all codes of the runs in, those in shards `first` to `end` - 1. Raises "
           "ValueError as add does, and where a run is damaged.")
      .def("filled", &PyOutboxes::filled, "The shards that have codes, ascending.")
      .def_prop_ro("held_bytes", &PyOutboxes::bytes, "Bytes that the boxes take now.")
      .def_prop_ro("filled_bytes", &PyOutboxes::filled_bytes, "Bytes of them that hold codes.")
      .def("take", &PyOutboxes::take,
           nb::sig("def take(self, shards: Sequence[int], exclude: Sequence[Sequence[" BUFFER
                   "]], threads: int = 1, most: int = 18446744073709551615) -> list[tuple[int, bytes]]"),
           "shards"_a, "exclude"_a, "threads"_a = 1, "most"_a = ~std::uint64_t{0},
           "Takes all codes of the shards out: of each the number of those that are in none of its runs of "
           "`exclude`, and the run of the least `most` of these. Raises ValueError.")
      .def("divide", &PyOutboxes::divide, "shards"_a, "room"_a,
           "Divides the codes that come next among other shards. Raises ValueError while codes are there.")
      .def("trim", &PyOutboxes::trim, "Gives memory that is free now back to the system.");

  nb::class_<PyMapReader>(m, "MapReader",
                          "Reads the states of runs, each of one depth, in the order of their codes.")
      .def(nb::init<std::size_t, const nb::sequence&, const std::vector<std::uint16_t>&>(),
           nb::sig("def __init__(self, width: int, runs: Sequence[" BUFFER
                   "], depths: Sequence[int]) -> None"),
           "width"_a, "runs"_a, "depths"_a)
      .def(
          "fill", &PyMapReader::fill, nb::sig("def fill(self, first: int, out: " BUFFER ") -> None"),
          "first"_a, "out"_a.noconvert(),
          "Writes the distances of the keys from `first` on, the type's greatest number where there is none; "
          "call by call in the order of the keys. out: uint8 or uint16. Raises ValueError.")
      .def("next", &PyMapReader::next, "states"_a, "unit"_a, "threads"_a = 1,
           "The codes of the next `states` states and their distances, of `unit` bytes, little endian; fewer "
           "only at the end. Raises ValueError.");

  nb::class_<PyMapWriter>(m, "MapWriter",
                          "Makes the runs of a map's layers up to `depth`; shards as those of Outboxes.")
      .def(nb::init<std::size_t, std::uint64_t, std::uint64_t, std::uint16_t>(), "width"_a, "shards"_a,
           "keys"_a, "depth"_a)
      .def("add", &PyMapWriter::add,
           nb::sig("def add(self, codes: " BUFFER ", distances: " BUFFER ", unit: int) -> None"), "codes"_a,
           "distances"_a, "unit"_a,
           "Adds states in the order of their codes; distances of `unit` bytes. Raises ValueError.")
      .def("add_keys", &PyMapWriter::add_keys,
           nb::sig("def add_keys(self, first: int, distances: " BUFFER ", unit: int) -> None"), "first"_a,
           "distances"_a, "unit"_a,
           "Adds the keys from `first` on that have a distance: not their type's greatest number. Raises "
           "ValueError.")
      .def("runs", &PyMapWriter::runs, "depth"_a,
           "(shard, states, run) of each shard that has states at `depth`.");
}

}  // namespace farthest::python
