// Making runs: ascending sequences of codes, none twice. A layer of a shard is one run.
#pragma once

#include <memory>

#include "farthest/run_blob.hpp"

namespace farthest {

template <class Code>
class CodeBoxes;  // code_boxes.hpp

// Makes runs of codes that come in any order. Its memory is used again from run to run.
template <class Code>
class RunMaker {
 public:
  RunMaker();
  RunMaker(RunMaker&&) noexcept;
  RunMaker& operator=(RunMaker&&) noexcept;
  ~RunMaker();

  // Finds the codes of the parts that none of the runs `old`, which are blobs, has, each once. Returns their
  // number, and keeps the least `most`. Takes memory for the codes of the parts, about three times, however
  // many old ones there are. Throws InvalidArgument where a run is damaged, or the parts have 2^32 codes or
  // more.
  std::size_t find(const std::vector<std::span<const Code>>& parts, const std::vector<Bytes>& old,
                   std::size_t width, std::uint64_t most = ~std::uint64_t{0});

  // Those that were kept, ascending, until find is called again; or in any order.
  std::span<const Code> run();
  std::span<const Code> kept() const { return kept_; }

  // Gives back the memory, but for that of the codes kept.
  void trim();

  // Bytes of memory.
  std::size_t bytes() const;

 private:
  std::unique_ptr<CodeBoxes<Code>> boxes_;
  std::vector<Code> kept_, other_;
  std::vector<Word> marks_;
  bool ascending_ = true;
};

// The run of codes that lie one after another. Throws InvalidArgument.
CountedRun run_of(Bytes codes, std::size_t width);

// The run of the codes that are in any of `runs` and in none of `exclude`. Throws InvalidArgument where one
// is damaged.
CountedRun merge_runs(const std::vector<Bytes>& runs, const std::vector<Bytes>& exclude, std::size_t width);

}  // namespace farthest
