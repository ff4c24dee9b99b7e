// One layer's step: pull the frontier, subtract what is known, keep what is new.
//
//   fresh[line] = (OR over moves of program(frontier[source line])) AND NOT exclude... ; visited |= fresh
//
// Each line of the result is written by one thread and read by none, so there are no atomics, the result does
// not depend on the number of threads, and `fresh` may be the same memory as an excluded layer:
//
// clang-format off
//   graph                  frontier  exclude       fresh is written over
//   bipartite, undirected  L(d)      L(d-1)        L(d-1): the other colour's lines of the same array
//   undirected             L(d)      L(d), L(d-1)  L(d-1)
//   any                    L(d)      visited       a spare array
//   any, united            V(d)      V(d)          V(d-1)
// clang-format on
//
// (In an undirected graph a neighbour of layer d lies in layer d-1, d or d+1.) V(d): all states up to depth
// d; V(d+1), the fresh states together with V(d), is what is written.
#pragma once

#include <vector>

#include "farthest/space.hpp"

namespace farthest {

// A bitmap of the states of shards [first_shard, first_shard + shards), and a flag for each line (space.hpp;
// a stale 1 costs time, nothing else). Views memory that it does not own.
struct LayerView {
  std::uint64_t first_shard = 0;
  std::uint64_t shards = 0;
  Word* words = nullptr;
  std::uint8_t* flags = nullptr;
};

struct StepInput {
  std::vector<LayerView> frontier;  // pieces that cover every source shard
  std::vector<LayerView> fresh;     // pieces that cover every shard stepped; each list below likewise
  std::vector<std::vector<LayerView>> exclude;
  std::vector<std::vector<LayerView>>
      accumulate;      // fresh is OR-ed into these: visited, planes of the distance
  bool unite = false;  // layers are united; `exclude` is one layer, as `frontier`
};

// Steps `shards` (prepared, distinct). Returns the number of fresh states in each, and adds that of their
// classes (Space::classes) to `classes`, where that is not null.
// Throws InvalidArgument when a piece is missing, a shard is not prepared, or layers of the space are not
// united.
std::vector<std::uint64_t> step(const Space& space, const std::vector<std::uint64_t>& shards,
                                const StepInput& input, int threads, std::uint64_t* classes = nullptr);

}  // namespace farthest
