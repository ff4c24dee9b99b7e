// Runs: ascending sequences of codes, none twice. A layer of a shard is one run.
#pragma once

#include <span>
#include <vector>

#include "farthest/codes.hpp"

namespace farthest {

template <class Code>
using Run = std::vector<Code>;

// Memory for sorting, used again from call to call.
template <class Code>
struct SortBuffers {
  std::vector<Code> one, other;
};

// The run of all codes in the parts: fewer than 2^32. It lies in the buffers until the next call.
template <class Code>
std::span<Code> sorted_unique(const std::vector<std::span<const Code>>& parts, SortBuffers<Code>& buffers);

// Takes the codes of `other` out of `run`, whose rest lies at its beginning. Returns that.
template <class Code>
std::span<Code> subtract(std::span<Code> run, std::span<const Code> other);

}  // namespace farthest
