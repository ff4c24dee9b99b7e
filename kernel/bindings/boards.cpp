#include "boards.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

#include "buffers.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

// How boards lie in a caller's bytes: `stride` bytes a board, the label of slot i at positions[i].
struct BoardFormat {
  std::size_t stride;
  std::vector<std::size_t> positions;

  BoardFormat(const Space& space, std::size_t row, std::vector<std::size_t> places)
      : stride(row), positions(std::move(places)) {
    if (positions.size() != static_cast<std::size_t>(space.layout().slots()))
      throw InvalidArgument("positions must have one entry a slot");
    for (const auto p : positions)
      if (p >= stride) throw InvalidArgument("positions must lie within the stride");
  }
};

void encode(const Space& space, Array<const std::uint8_t> boards, std::size_t stride,
            std::vector<std::size_t> positions, Array<const std::uint8_t> class_of,
            Array<std::uint64_t> keys) {
  const BoardFormat format(space, stride, std::move(positions));
  if (class_of.size() != 256) throw InvalidArgument("class_of must have 256 entries");
  if (boards.size() % stride != 0 || boards.size() / stride != keys.size())
    throw InvalidArgument("boards and keys must be equally many");
  const auto out = aligned<std::uint64_t>(keys);
  const nb::gil_scoped_release release;
  std::vector<std::uint8_t> classes(format.positions.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::uint8_t* board = boards.data() + i * stride;
    for (std::size_t s = 0; s < classes.size(); ++s) classes[s] = class_of.data()[board[format.positions[s]]];
    out[i] = space.layout().encode(classes);
  }
}

template <class KeyAt>
void decode_into(const Space& space, std::size_t count, KeyAt key_at, const BoardFormat& format,
                 Array<const std::uint8_t> label_of, Array<std::uint8_t> boards) {
  if (label_of.size() != static_cast<std::size_t>(space.layout().classes()))
    throw InvalidArgument("label_of must have one entry a class");
  if (boards.size() % format.stride != 0 || boards.size() / format.stride != count)
    throw InvalidArgument("boards and keys must be equally many");
  const nb::gil_scoped_release release;
  std::vector<std::uint8_t> classes(format.positions.size());
  for (std::size_t i = 0; i < count; ++i) {
    const Key key = key_at(i);
    if (key >= space.layout().keys()) throw InvalidArgument("no such key: " + std::to_string(key));
    space.layout().decode(key, classes);
    std::uint8_t* board = boards.data() + i * format.stride;
    for (std::size_t s = 0; s < classes.size(); ++s) board[format.positions[s]] = label_of.data()[classes[s]];
  }
}

void decode(const Space& space, Array<const std::uint64_t> keys, std::size_t stride,
            std::vector<std::size_t> positions, Array<const std::uint8_t> label_of,
            Array<std::uint8_t> boards) {
  const BoardFormat format(space, stride, std::move(positions));
  const auto wanted = aligned<const std::uint64_t>(keys);
  decode_into(space, wanted.size(), [&](std::size_t i) { return wanted[i]; }, format, label_of, boards);
}

void decode_range(const Space& space, Key first, std::size_t count, std::size_t stride,
                  std::vector<std::size_t> positions, Array<const std::uint8_t> label_of,
                  Array<std::uint8_t> boards) {
  const BoardFormat format(space, stride, std::move(positions));
  if (first > space.layout().keys() || count > space.layout().keys() - first)
    throw InvalidArgument("keys out of range");
  decode_into(space, count, [&](std::size_t i) { return first + i; }, format, label_of, boards);
}

}  // namespace

void bind_boards(nb::class_<Space>& space) {
  space
      .def(
          "encode", &encode,
          nb::sig("def encode(self, boards: " BUFFER
                  ", stride: int, positions: Sequence[int], class_of: " BUFFER ", keys: " BUFFER ") -> None"),
          "boards"_a.noconvert(), "stride"_a, "positions"_a, "class_of"_a.noconvert(), "keys"_a.noconvert(),
          "Writes the key of each board (2**64-1: none). boards: uint8, `stride` bytes each, slot i at "
          "positions[i]; "
          "class_of: uint8[256], class of each label byte.")
      .def("decode", &decode,
           nb::sig("def decode(self, keys: " BUFFER
                   ", stride: int, positions: Sequence[int], label_of: " BUFFER ", boards: " BUFFER
                   ") -> None"),
           "keys"_a.noconvert(), "stride"_a, "positions"_a, "label_of"_a.noconvert(), "boards"_a.noconvert(),
           "Inverse of encode; other bytes of `boards` are left alone.")
      .def("decode_range", &decode_range,
           nb::sig("def decode_range(self, first: int, count: int, stride: int, positions: Sequence[int], "
                   "label_of: " BUFFER ", boards: " BUFFER ") -> None"),
           "first"_a, "count"_a, "stride"_a, "positions"_a, "label_of"_a.noconvert(), "boards"_a.noconvert(),
           "decode() of the keys first .. first + count - 1.");
}

}  // namespace farthest::python
