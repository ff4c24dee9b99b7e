#include "bitmap_codec.hpp"

#include <nanobind/stl/string.h>

#include <memory>
#include <string>

#include "buffers.hpp"
#include "codes.hpp"
#include "farthest/bitmap_codec.hpp"
#include "farthest/xxh3.hpp"
#include "isas.hpp"

namespace farthest::python {

using namespace nb::literals;

namespace {

nb::bytes encode_bitmap(nb::handle bitmap, const std::string& isa) {
  const ByteView view(bitmap);
  const Isa set = isa_named(isa);
  std::unique_ptr<std::uint8_t[]> out;
  const std::size_t size = [&] {
    const nb::gil_scoped_release release;
    BitmapCodec codec(set);
    out = std::make_unique_for_overwrite<std::uint8_t[]>(BitmapCodec::bound(view.bytes().size()));
    std::uint64_t ones = 0;
    return codec.encode(view.bytes(), out.get(), ones);
  }();
  return nb::bytes(out.get(), size);
}

void decode_bitmap(nb::handle blob, nb::handle out, const std::string& isa) {
  const ByteView view(blob);
  const WritableByteView bitmap(out);
  const Isa set = isa_named(isa);
  const nb::gil_scoped_release release;
  BitmapCodec(set).decode(view.bytes(), bitmap.bytes());
}

std::uint64_t checksum(nb::handle data) {
  const ByteView view(data);
  const nb::gil_scoped_release release;
  return xxh3(view.bytes());
}

}  // namespace

void bind_bitmap_codec(nb::module_& m) {
  m.def("encode_bitmap", &encode_bitmap,
        nb::sig("def encode_bitmap(bitmap: " BUFFER ", isa: str = '') -> bytes"), "bitmap"_a, "isa"_a = "",
        "The blob of a bitmap, a multiple of 64 bytes; of no bytes if there are no ones. isa: one of "
        "available_isas(), '' for the best; all write the same. Raises ValueError.");
  m.def("decode_bitmap", &decode_bitmap,
        nb::sig("def decode_bitmap(blob: " BUFFER ", out: " BUFFER ", isa: str = '') -> None"), "blob"_a,
        "out"_a, "isa"_a = "",
        "Inverse of encode_bitmap: fills `out`, which has the bitmap's size. Raises ValueError where `blob` "
        "is damaged or of another size; `out` holds anything then.");
  m.def("xxh3", &checksum, nb::sig("def xxh3(data: " BUFFER ") -> int"), "data"_a,
        "XXH3 of the data, with 64 bits, seed 0 and the default secret.");
}

}  // namespace farthest::python
