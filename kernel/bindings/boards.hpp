// Boards to keys and back, for many boards at once.
#pragma once

#include <nanobind/nanobind.h>

#include "farthest/space.hpp"

namespace farthest::python {

// Adds the methods encode, decode and decode_range to Space.
void bind_boards(nanobind::class_<Space>& space);

}  // namespace farthest::python
