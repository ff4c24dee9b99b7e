// The codec of bitmaps, and its checksum.
#pragma once

#include <nanobind/nanobind.h>

namespace farthest::python {

void bind_bitmap_codec(nanobind::module_& m);

}  // namespace farthest::python
