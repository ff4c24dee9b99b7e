// Distances between all pairs of vertices of a graph that fits in memory: breadth-first searches from 512
// vertices at once, a bit each.
//
// M. Then et al., The More the Merrier: Efficient Multi-Source Graph Traversal, VLDB 2014. Sources that are
// near each other meet most vertices at about the same depth, so a vertex is visited a few times for all of
// them. Vertices are therefore numbered anew, ball by ball, and neighbouring numbers searched from together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "farthest/types.hpp"

namespace farthest {

class Graph {
 public:
  using Vertex = std::uint32_t;

  static constexpr std::size_t kSources = 512;  // of one search

  // Edges lead from vertex v to targets[offsets[v]] .. targets[offsets[v + 1] - 1]. Throws InvalidArgument
  // where these are no graph.
  Graph(std::span<const std::uint64_t> offsets, std::span<const Vertex> targets);

  std::size_t vertices() const { return names_.size(); }

  // Searches from the sources of ranks first .. last - 1, in the order that suits the graph: writes the
  // greatest distance from each to the place of its vertex in `eccentricities`, one for each vertex, and
  // adds the number of pairs (source, vertex) at each distance to `pairs`, which grows.
  void search(std::size_t first, std::size_t last, int threads, std::span<std::uint32_t> eccentricities,
              std::vector<std::uint64_t>& pairs) const;

  // The distance of each vertex from the nearest of some, -1 where no way leads.
  std::vector<std::int32_t> distances(std::span<const Vertex> from) const;

 private:
  std::vector<Vertex> names_, ranks_;   // the caller's number of a rank, and the rank of that
  std::vector<std::uint64_t> offsets_;  // of ranks, as those of the caller
  std::vector<Vertex> targets_;         // ranks
};

}  // namespace farthest
