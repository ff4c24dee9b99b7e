#include "unit_step.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <tuple>
#include <utility>

#include "buffers.hpp"
#include "codes.hpp"
#include "farthest/unit_step.hpp"
#include "isas.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

void make_stepper(UnitStepper* place, const Space& space, std::size_t slots, const std::string& isa) {
  new (place) UnitStepper(space, slots, isa_named(isa));
}

using LoadArgs = std::pair<std::size_t, nb::handle>;

void load(UnitStepper& stepper, const std::vector<LoadArgs>& args, int threads) {
  std::deque<ByteView> views;
  std::vector<SlotLoad> loads;
  for (const auto& [slot, blob] : args) loads.push_back({slot, views.emplace_back(blob).bytes()});
  const nb::gil_scoped_release release;
  stepper.load(loads, std::max(threads, 1));
}

using StepArgs = std::tuple<std::uint64_t, std::vector<std::uint32_t>, std::vector<nb::handle>>;
using StepResult = std::vector<std::tuple<nb::bytes, std::uint64_t, nb::bytes>>;

nb::bytes bytes_of(const std::vector<std::uint8_t>& blob) {
  return nb::bytes(reinterpret_cast<const char*>(blob.data()), blob.size());
}

StepResult step(UnitStepper& stepper, const std::vector<StepArgs>& args, int threads, bool unite) {
  std::deque<ByteView> views;
  std::vector<ShardStep> shards;
  for (const auto& [shard, slots, exclude] : args) {
    ShardStep one{shard, slots, {}, unite};
    for (const auto& blob : exclude) one.exclude.push_back(views.emplace_back(blob).bytes());
    shards.push_back(std::move(one));
  }
  std::vector<FreshShard> fresh;
  {
    const nb::gil_scoped_release release;
    fresh = stepper.step(shards, std::max(threads, 1));
  }
  StepResult result;
  for (FreshShard& one : fresh) {
    result.emplace_back(bytes_of(one.blob), one.states, bytes_of(one.united));
    one = {};
  }
  return result;
}

nb::bytes blob_of(UnitStepper& stepper, const std::vector<Key>& keys) {
  return bytes_of(stepper.blob_of(keys));
}

std::vector<Key> keys_of(UnitStepper& stepper, nb::handle blob, std::size_t limit, nb::handle without) {
  const ByteView view(blob), other(without);
  const nb::gil_scoped_release release;
  return stepper.keys_of(view.bytes(), limit, other.bytes());
}

void mark(UnitStepper& stepper, nb::handle blob, unsigned number, std::size_t planes,
          const Array<std::uint64_t>& words) {
  const ByteView view(blob);
  const auto to = aligned<Word>(words);
  const nb::gil_scoped_release release;
  stepper.mark(view.bytes(), number, planes, to);
}

}  // namespace

void bind_unit_step(nb::module_& m) {
  nb::class_<UnitStepper>(m, "UnitStepper",
                          "Steps shards whose layers are blobs. Source shards are decoded into `slots` slots "
                          "and stay there until "
                          "another takes the slot. isa: empty for the best available. Raises MemoryError.")
      .def("__init__", &make_stepper, "space"_a, "slots"_a, "isa"_a = "", nb::keep_alive<1, 2>())
      .def_static("slot_bytes", &UnitStepper::slot_bytes, "space"_a, "Bytes of memory that a slot takes.")
      .def("load", &load,
           nb::sig("def load(self, loads: Sequence[tuple[int, " BUFFER "]], threads: int = 1) -> None"),
           "loads"_a, "threads"_a = 1,
           "Decodes blobs of shards, each into its slot: (slot, blob). Raises ValueError where one is "
           "damaged; "
           "its slot is then of no use.")
      .def(
          "step", &step,
          nb::sig("def step(self, shards: Sequence[tuple[int, Sequence[int], Sequence[" BUFFER
                  "]]], threads: int = 1, unite: bool = False) -> list[tuple[bytes, int, bytes]]"),
          "shards"_a, "threads"_a = 1, "unite"_a = false,
          "Takes the step of shards, which are prepared and distinct: (shard, slots of its sources as "
          "Space.sources() has them, blobs of its states that are not new). Returns for each shard the blob "
          "of "
          "what is fresh, its number of states, and with `unite` the blob of these states and those that are "
          "not new, else nothing. Where layers are united, the slot of the shard itself comes last, and the "
          "first blob is of all its states. Raises ValueError.")
      .def_prop_ro("classes", &UnitStepper::classes,
                   "Of the fresh states of the last step the classes under symmetries, where the space keeps "
                   "representatives of these.")
      .def("blob_of", &blob_of, "keys"_a,
           "The blob of a shard that has these states, as keys counted from the shard's first. Raises "
           "ValueError.")
      .def("keys_of", &keys_of,
           nb::sig("def keys_of(self, blob: " BUFFER ", limit: int, without: " BUFFER " = b'') -> list[int]"),
           "blob"_a, "limit"_a, "without"_a = nb::bytes("", 0),
           "The least `limit` states of a shard's blob that `without`, another one, has not, ascending, as "
           "keys counted from the shard's first. Raises ValueError where one is damaged.")
      .def("mark", &mark,
           nb::sig("def mark(self, blob: " BUFFER ", number: int, planes: int, words: " BUFFER ") -> None"),
           "blob"_a, "number"_a, "planes"_a, "words"_a.noconvert(),
           "Adds a shard's states to its words of a residue map (uint64; word w of plane p is element w * "
           "planes + p): sets the bit of each in the planes that `number` names. Raises ValueError.");
}

}  // namespace farthest::python
