// Boards to keys and back, for many boards at once.
#pragma once

#include <nanobind/nanobind.h>

#include "farthest/arrangement.hpp"

namespace farthest::python {

// Adds the methods encode, decode and decode_range to ArrangementSpace.
void bind_boards(nanobind::class_<ArrangementSpace, Space>& space);

}  // namespace farthest::python
