#include "farthest/step.hpp"

#include <shared_mutex>
#include <string>

#include "parallel.hpp"

namespace farthest {
namespace {

class Pieces {
 public:
  Pieces(const Space& space, const std::vector<LayerView>& pieces) : space_(space), pieces_(pieces) {}
  // The piece's memory from the first line of `shard` on.
  LayerView at(std::uint64_t shard) const {
    for (const LayerView& piece : pieces_) {
      if (shard < piece.first_shard || shard - piece.first_shard >= piece.shards) continue;
      const std::uint64_t skip = shard - piece.first_shard;
      return {shard, 1, piece.words + skip * space_.words_per_shard(),
              piece.flags + skip * space_.lines_per_shard()};
    }
    throw InvalidArgument("no piece of the layer holds shard " + std::to_string(shard));
  }

 private:
  const Space& space_;
  const std::vector<LayerView>& pieces_;
};

struct ShardTask {
  LineRange range;  // the whole shard
  std::vector<const Word*> source_words;
  std::vector<const std::uint8_t*> source_flags;
};

ShardTask make_task(const Space& space, std::uint64_t index, const StepInput& input) {
  if (!space.prepared(index)) throw InvalidArgument("shard " + std::to_string(index) + " is not prepared");
  ShardTask task;
  const Pieces frontier(space, input.frontier);
  for (const auto source : space.sources(index)) {
    const LayerView view = frontier.at(source);
    task.source_words.push_back(view.words);
    task.source_flags.push_back(view.flags);
  }
  LineRange& range = task.range;
  range.shard = index;
  range.source_words = task.source_words;
  range.source_flags = task.source_flags;
  const LayerView fresh = Pieces(space, input.fresh).at(index);
  range.fresh = fresh.words;
  range.fresh_flags = fresh.flags;
  for (const auto& pieces : input.exclude) {
    const LayerView view = Pieces(space, pieces).at(index);
    range.exclude[range.excludes++] = view.words;
    if (input.unite) range.known_flags = view.flags;
  }
  for (const auto& pieces : input.accumulate) {
    const LayerView view = Pieces(space, pieces).at(index);
    range.accumulate[range.accumulates] = view.words;
    range.accumulate_flags[range.accumulates++] = view.flags;
  }
  return task;
}

}  // namespace

std::vector<std::uint64_t> step(const Space& space, const std::vector<std::uint64_t>& shards,
                                const StepInput& input, int threads, std::uint64_t* classes) {
  if (input.exclude.size() > kMaxExclude || input.accumulate.size() > kMaxAccumulate)
    throw InvalidArgument("too many layers to exclude or to accumulate into");
  if (input.unite && (!space.united() || input.exclude.size() != 1))
    throw InvalidArgument("layers are united in spaces that have them so, with one layer to exclude");
  const std::shared_lock lock(space.mutex());
  std::vector<ShardTask> tasks;
  tasks.reserve(shards.size());
  for (const auto index : shards) {
    if (index >= space.shards()) throw InvalidArgument("no shard " + std::to_string(index));
    tasks.push_back(make_task(space, index, input));
  }
  const std::uint64_t lines = space.lines_per_shard();
  const std::uint64_t at_once = space.lines_at_once(), pieces = (lines + at_once - 1) / at_once;
  std::vector<std::atomic<std::uint64_t>> counts(shards.size()), fixed(shards.size());
  in_parallel(shards.size() * pieces, useful_threads(shards.size() * lines, threads), [&](std::uint64_t i) {
    LineRange range = tasks[i / pieces].range;
    range.first = i % pieces * at_once;
    range.last = std::min(range.first + at_once, lines);
    const std::uint64_t fresh = space.step_lines(range);
    if (fresh == 0) return;
    counts[i / pieces].fetch_add(fresh, std::memory_order_relaxed);
    if (space.stabiliser(range.shard) > 1)
      fixed[i / pieces].fetch_add(space.fixed_states(range), std::memory_order_relaxed);
  });
  for (std::size_t i = 0; i < shards.size(); ++i) {
    const std::uint64_t found = space.classes(shards[i], counts[i], fixed[i]);
    if (classes != nullptr) *classes += found;
  }
  return {counts.begin(), counts.end()};
}

}  // namespace farthest
