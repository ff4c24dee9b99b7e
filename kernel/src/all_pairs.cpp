#include "farthest/all_pairs.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include "parallel.hpp"

namespace farthest {

namespace {

constexpr std::size_t kWords = Graph::kSources / 64;
constexpr Graph::Vertex kUnranked = ~Graph::Vertex{0};

// A bit for each source.
struct alignas(64) Sources {
  std::array<Word, kWords> words{};

  bool any() const {
    Word all = 0;
    for (const Word word : words) all |= word;
    return all != 0;
  }
  // By bytes of all words side by side: std::popcount is a call where the processor may lack the instruction.
  std::uint64_t count() const {
    Word bytes = 0;
    for (Word word : words) {
      word -= word >> 1 & 0x5555555555555555;
      word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
      bytes += (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    }
    // A byte has at most 64.
    return ((bytes & 0x00ff00ff00ff00ff) + (bytes >> 8 & 0x00ff00ff00ff00ff)) * 0x0001000100010001 >> 48;
  }
  void operator|=(const Sources& other) {
    for (std::size_t i = 0; i < kWords; ++i) words[i] |= other.words[i];
  }
};

}  // namespace

Graph::Graph(std::span<const std::uint64_t> offsets, std::span<const Vertex> targets) {
  if (offsets.empty() || offsets.size() > kUnranked || offsets.front() != 0 ||
      offsets.back() != targets.size() || !std::ranges::is_sorted(offsets))
    throw InvalidArgument("offsets must ascend from 0 to the number of targets");
  const std::size_t count = offsets.size() - 1;
  if (std::ranges::any_of(targets, [&](Vertex to) { return to >= count; }))
    throw InvalidArgument("targets must be vertices");
  // Balls of kSources vertices, each grown breadth first among the vertices that have no rank yet.
  ranks_.assign(count, kUnranked);
  const auto number = [&](std::size_t vertex) {
    ranks_[vertex] = static_cast<Vertex>(names_.size());
    names_.push_back(static_cast<Vertex>(vertex));
  };
  std::size_t seed = 0;
  while (names_.size() < count) {
    std::size_t next = names_.size();
    const std::size_t end = std::min(next + kSources, count);
    while (names_.size() < end) {
      if (next == names_.size()) {
        while (ranks_[seed] != kUnranked) ++seed;
        number(seed);
      }
      const Vertex from = names_[next++];
      for (std::uint64_t edge = offsets[from]; edge < offsets[from + 1] && names_.size() < end; ++edge)
        if (ranks_[targets[edge]] == kUnranked) number(targets[edge]);
    }
  }
  offsets_.assign(1, 0);
  offsets_.reserve(count + 1);
  targets_.reserve(targets.size());
  for (const Vertex name : names_) {
    for (std::uint64_t edge = offsets[name]; edge < offsets[name + 1]; ++edge)
      targets_.push_back(ranks_[targets[edge]]);
    offsets_.push_back(targets_.size());
  }
}

void Graph::search(std::size_t first, std::size_t last, int threads, std::span<std::uint32_t> eccentricities,
                   std::vector<std::uint64_t>& pairs) const {
  if (first > last || last > vertices() || eccentricities.size() != vertices())
    throw InvalidArgument("expected a range of vertices, and an eccentricity for each vertex");
  std::mutex adding;
  in_parallel((last - first + kSources - 1) / kSources, threads, [&](std::uint64_t batch) {
    const std::size_t begin = first + batch * kSources, end = std::min(begin + kSources, last);
    std::vector<Sources> seen(vertices()), front(vertices()), next(vertices());
    std::vector<Vertex> active, touched;
    std::vector<std::uint64_t> found;
    for (std::size_t rank = begin; rank < end; ++rank) {
      seen[rank].words[(rank - begin) / 64] = front[rank].words[(rank - begin) / 64] =
          bit(static_cast<int>((rank - begin) % 64));
      active.push_back(static_cast<Vertex>(rank));
    }
    found.push_back(end - begin);
    while (!active.empty()) {
      touched.clear();
      for (const Vertex from : active) {
        const Sources& here = front[from];
        for (std::uint64_t edge = offsets_[from]; edge < offsets_[from + 1]; ++edge) {
          Sources& there = next[targets_[edge]];
          if (!there.any()) touched.push_back(targets_[edge]);
          there |= here;
        }
      }
      for (const Vertex from : active) front[from] = {};
      active.clear();
      Sources alive;
      std::uint64_t states = 0;
      for (const Vertex to : touched) {
        Sources fresh;
        for (std::size_t i = 0; i < kWords; ++i) fresh.words[i] = next[to].words[i] & ~seen[to].words[i];
        next[to] = {};
        if (!fresh.any()) continue;
        states += fresh.count();
        seen[to] |= fresh;
        front[to] = fresh;
        alive |= fresh;
        active.push_back(to);
      }
      if (active.empty()) break;
      for (std::size_t rank = begin; rank < end; ++rank)
        if ((alive.words[(rank - begin) / 64] >> (rank - begin) % 64 & 1) != 0)
          eccentricities[names_[rank]] = static_cast<std::uint32_t>(found.size());
      found.push_back(states);
    }
    const std::lock_guard lock(adding);
    pairs.resize(std::max(pairs.size(), found.size()));
    for (std::size_t depth = 0; depth < found.size(); ++depth) pairs[depth] += found[depth];
  });
}

std::vector<std::int32_t> Graph::distances(std::span<const Vertex> from) const {
  std::vector<std::int32_t> found(vertices(), -1);
  std::vector<Vertex> queue;
  for (const Vertex vertex : from) {
    if (vertex >= vertices()) throw InvalidArgument("no such vertex");
    if (found[vertex] == 0) continue;
    found[vertex] = 0;
    queue.push_back(ranks_[vertex]);
  }
  for (std::size_t at = 0; at < queue.size(); ++at)
    for (std::uint64_t edge = offsets_[queue[at]]; edge < offsets_[queue[at] + 1]; ++edge) {
      std::int32_t& distance = found[names_[targets_[edge]]];
      if (distance >= 0) continue;
      distance = found[names_[queue[at]]] + 1;
      queue.push_back(targets_[edge]);
    }
  return found;
}

}  // namespace farthest
