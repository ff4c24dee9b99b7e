#include "boards.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "buffers.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

// How boards lie in a caller's bytes: `stride` bytes a board, the label of slot i at positions[i], and its
// orientation at twists[i] unless that is empty.
struct BoardFormat {
  std::size_t stride;
  std::vector<std::size_t> positions, twists;

  BoardFormat(const ArrangementSpace& space, std::size_t row, std::vector<std::size_t> places,
              std::vector<std::size_t> turns)
      : stride(row), positions(std::move(places)), twists(std::move(turns)) {
    const auto slots = static_cast<std::size_t>(space.layout().slots());
    if (positions.size() != slots || (!twists.empty() && twists.size() != slots))
      throw InvalidArgument("positions must have one entry a slot");
    for (const auto* list : {&positions, &twists})
      for (const auto p : *list)
        if (p >= stride) throw InvalidArgument("positions must lie within the stride");
  }
};

void encode(const ArrangementSpace& space, Array<const std::uint8_t> boards, std::size_t stride,
            std::vector<std::size_t> positions, Array<const std::uint8_t> class_of, Array<std::uint64_t> keys,
            std::vector<std::size_t> twists) {
  const BoardFormat format(space, stride, std::move(positions), std::move(twists));
  if (class_of.size() != 256) throw InvalidArgument("class_of must have 256 entries");
  if (boards.size() % stride != 0 || boards.size() / stride != keys.size())
    throw InvalidArgument("boards and keys must be equally many");
  const auto out = aligned<std::uint64_t>(keys);
  const nb::gil_scoped_release release;
  std::vector<std::uint8_t> classes(format.positions.size()), turns(format.twists.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint8_t* board = boards.data() + i * stride;
    for (std::size_t s = 0; s < classes.size(); ++s) classes[s] = class_of.data()[board[format.positions[s]]];
    for (std::size_t s = 0; s < turns.size(); ++s) turns[s] = board[format.twists[s]];
    out[i] = space.layout().encode(classes, turns);
  }
}

template <class KeyAt>
void decode_into(const ArrangementSpace& space, std::size_t count, KeyAt key_at, const BoardFormat& format,
                 Array<const std::uint8_t> label_of, Array<std::uint8_t> boards) {
  if (label_of.size() != static_cast<std::size_t>(space.layout().classes()))
    throw InvalidArgument("label_of must have one entry a class");
  if (boards.size() % format.stride != 0 || boards.size() / format.stride != count)
    throw InvalidArgument("boards and keys must be equally many");
  const nb::gil_scoped_release release;
  std::vector<std::uint8_t> classes(format.positions.size()), turns(format.twists.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Key key = key_at(i);
    if (key >= space.layout().keys()) throw InvalidArgument("no such key: " + std::to_string(key));
    space.layout().decode(key, classes, turns);
    std::uint8_t* board = boards.data() + i * format.stride;
    for (std::size_t s = 0; s < classes.size(); ++s) board[format.positions[s]] = label_of.data()[classes[s]];
    for (std::size_t s = 0; s < turns.size(); ++s) board[format.twists[s]] = turns[s];
  }
}

void decode(const ArrangementSpace& space, Array<const std::uint64_t> keys, std::size_t stride,
            std::vector<std::size_t> positions, Array<const std::uint8_t> label_of,
            Array<std::uint8_t> boards, std::vector<std::size_t> twists) {
  const BoardFormat format(space, stride, std::move(positions), std::move(twists));
  const auto wanted = aligned<const std::uint64_t>(keys);
  decode_into(space, wanted.size(), [&](std::size_t i) { return wanted[i]; }, format, label_of, boards);
}

void decode_range(const ArrangementSpace& space, Key first, std::size_t count, std::size_t stride,
                  std::vector<std::size_t> positions, Array<const std::uint8_t> label_of,
                  Array<std::uint8_t> boards, std::vector<std::size_t> twists) {
  const BoardFormat format(space, stride, std::move(positions), std::move(twists));
  if (first > space.layout().keys() || count > space.layout().keys() - first)
    throw InvalidArgument("keys out of range");
  decode_into(space, count, [&](std::size_t i) { return first + i; }, format, label_of, boards);
}

}  // namespace

void bind_boards(nb::class_<ArrangementSpace, Space>& space) {
  space
      .def("encode", &encode,
           nb::sig("def encode(self, boards: " BUFFER
                   ", stride: int, positions: Sequence[int], class_of: " BUFFER ", keys: " BUFFER
                   ", twists: Sequence[int] = ()) -> None"),
           "boards"_a.noconvert(), "stride"_a, "positions"_a, "class_of"_a.noconvert(), "keys"_a.noconvert(),
           "twists"_a = std::vector<std::size_t>{},
           "Writes the key of each board (2**64-1: none). boards: uint8, `stride` bytes each, slot i at "
           "positions[i], its orientation at twists[i] (empty: all 0); class_of: uint8[256], class of each "
           "label byte.")
      .def("decode", &decode,
           nb::sig("def decode(self, keys: " BUFFER
                   ", stride: int, positions: Sequence[int], label_of: " BUFFER ", boards: " BUFFER
                   ", twists: Sequence[int] = ()) -> None"),
           "keys"_a.noconvert(), "stride"_a, "positions"_a, "label_of"_a.noconvert(), "boards"_a.noconvert(),
           "twists"_a = std::vector<std::size_t>{},
           "Inverse of encode; other bytes of `boards` are left alone. Orientations that the key does not "
           "hold are 0.")
      .def("decode_range", &decode_range,
           nb::sig("def decode_range(self, first: int, count: int, stride: int, positions: Sequence[int], "
                   "label_of: " BUFFER ", boards: " BUFFER ", twists: Sequence[int] = ()) -> None"),
           "first"_a, "count"_a, "stride"_a, "positions"_a, "label_of"_a.noconvert(), "boards"_a.noconvert(),
           "twists"_a = std::vector<std::size_t>{}, "decode() of the keys first .. first + count - 1.");
}

}  // namespace farthest::python
