#include "bitmap_codec.hpp"

#include <nanobind/stl/string.h>

#include <map>
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

// The thread's own codec for an instruction set: its scratch memory is used again from call to call.
BitmapCodec& codec_for(Isa isa) {
  thread_local std::map<Isa, BitmapCodec> codecs;
  return codecs.try_emplace(isa, isa).first->second;
}

nb::bytes encode_bitmap(nb::handle bitmap, const std::string& isa) {
  const ByteView view(bitmap);
  const Isa set = isa_named(isa);
  std::unique_ptr<std::uint8_t[]> out;
  std::size_t size = 0;
  {
    const nb::gil_scoped_release release;
    out.reset(new std::uint8_t[BitmapCodec::bound(view.bytes().size())]);
    std::uint64_t ones = 0;
    size = codec_for(set).encode(view.bytes(), out.get(), ones);
  }
  return nb::bytes(reinterpret_cast<const char*>(out.get()), size);
}

void decode_bitmap(nb::handle blob, nb::handle out, const std::string& isa) {
  const ByteView view(blob);
  const WritableByteView bitmap(out);
  const Isa set = isa_named(isa);
  const nb::gil_scoped_release release;
  codec_for(set).decode(view.bytes(), bitmap.bytes());
}

std::uint64_t checksum(nb::handle data, const std::string& isa) {
  const ByteView view(data);
  const Isa set = isa_named(isa);
  const nb::gil_scoped_release release;
  return xxh3(view.bytes(), set);
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
  m.def("xxh3", &checksum, nb::sig("def xxh3(data: " BUFFER ", isa: str = '') -> int"), "data"_a,
        "isa"_a = "", "XXH3 of the data, with 64 bits, seed 0 and the default secret.");
}

}  // namespace farthest::python
