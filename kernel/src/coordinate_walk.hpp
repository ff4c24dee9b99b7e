// The search of walk.hpp over coordinates of maps in place of boards.
#pragma once

#include "farthest/walk.hpp"

namespace farthest {

// problem.coordinates is there, and the root's fields have been checked.
WalkResult walk_by_coordinates(const WalkProblem& problem, const WalkRoot& root, const WalkLimits& limits);

}  // namespace farthest
