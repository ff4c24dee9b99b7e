#include "farthest/runs.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "code_boxes.hpp"
#include "packed_words.hpp"
#include "radix.hpp"

namespace farthest {
namespace {

// Where codes lie close together, as the keys of a dense space do, each is marked by a bit: that takes a
// third of the time of sorting them. Returns whether they do, and appends those that are not old, ascending.
bool find_by_marks(const std::vector<std::span<const Key>>& parts, std::size_t size,
                   const std::vector<Bytes>& old, std::vector<Word>& marks, std::vector<Key>& found) {
  constexpr Key kMostWords = 1 << 17;  // so that they stay in the cache
  Key least = ~Key{0}, most = 0;
  for (const auto part : parts)
    for (const Key code : part) {
      least = std::min(least, code);
      most = std::max(most, code);
    }
  if (size == 0 || (most - least) / 64 >= std::min<Key>(size, kMostWords)) return false;
  marks.assign((most - least) / 64 + 1, 0);
  for (const auto part : parts)
    for (const Key code : part) marks[(code - least) / 64] |= Word{1} << (code - least) % 64;
  for (const Bytes blob : old)
    for (RunReader<Key> run(blob, sizeof(Key)); run.left() != 0; run.advance())
      if (const Key code = run.head() - least; code <= most - least)
        marks[code / 64] &= ~(Word{1} << code % 64);
  for (std::size_t i = 0; i < marks.size(); ++i)
    for (Word left = marks[i]; left != 0; left &= left - 1)
      found.push_back(least + 64 * i + static_cast<Key>(std::countr_zero(left)));
  return true;
}

}  // namespace

template <class Code>
RunMaker<Code>::RunMaker() : boxes_(std::make_unique<CodeBoxes<Code>>()) {}
template <class Code>
RunMaker<Code>::RunMaker(RunMaker&&) noexcept = default;
template <class Code>
RunMaker<Code>& RunMaker<Code>::operator=(RunMaker&&) noexcept = default;
template <class Code>
RunMaker<Code>::~RunMaker() = default;

template <class Code>
std::size_t RunMaker<Code>::find(const std::vector<std::span<const Code>>& parts,
                                 const std::vector<Bytes>& old, std::size_t width, std::uint64_t most) {
  std::size_t size = 0, all = 0;
  for (const auto part : parts) size += part.size();
  kept_.clear();
  if constexpr (std::is_same_v<Code, Key>) {
    ascending_ = find_by_marks(parts, size, old, marks_, kept_);
    if (ascending_) {
      all = kept_.size();
      kept_.resize(static_cast<std::size_t>(std::min<std::uint64_t>(all, most)));
      return all;
    }
  }
  ascending_ = false;
  if (size > std::numeric_limits<std::uint32_t>::max())
    throw InvalidArgument("too many codes to sort at once");
  std::size_t known = 0;
  for (const Bytes blob : old) known += states_of(blob, width);
  boxes_->begin(size, known);
  for (const auto part : parts)
    for (const Code& code : part) boxes_->put(code);
  boxes_->end_of_codes();
  for (const Bytes blob : old)
    for (RunReader<Code> run(blob, width); run.left() != 0; run.advance()) boxes_->put_old(run.head());
  LeastCodes<Code> least(most, kept_);
  for (std::size_t box = 0; box < boxes_->count(); ++box) {
    const std::span<const Code> fresh = boxes_->fresh(box);
    all += fresh.size();
    if (most != std::numeric_limits<std::uint64_t>::max()) {
      least.add(fresh);
      continue;
    }
    if (kept_.size() + fresh.size() > kept_.capacity()) {  // the boxes left have about as many each
      const std::size_t left = fresh.size() * (boxes_->count() - box);
      kept_.reserve(kept_.size() + left + (box + 1 == boxes_->count() ? 0 : left / 16));
    }
    kept_.insert(kept_.end(), fresh.begin(), fresh.end());
  }
  least.cut();
  return all;
}

template <class Code>
std::span<const Code> RunMaker<Code>::run() {
  constexpr std::size_t kWords = sizeof(Code) / sizeof(Word);
  if (!ascending_)
    radix_sort(std::span(kept_), other_, kWords,
               [](auto& code, std::size_t word) { return word_of(code, word); });
  ascending_ = true;
  return kept_;
}

template <class Code>
void RunMaker<Code>::trim() {
  boxes_ = std::make_unique<CodeBoxes<Code>>();
  other_ = std::vector<Code>();
  marks_ = std::vector<Word>();
}

template <class Code>
std::size_t RunMaker<Code>::bytes() const {
  return boxes_->bytes() + (kept_.capacity() + other_.capacity()) * sizeof(Code) +
         marks_.capacity() * sizeof(Word);
}

CountedRun run_of(Bytes codes, std::size_t width) {
  return with_code(width, [&]<class Code>(Code) -> CountedRun {
    const auto loaded = load_codes<Code>(codes, width);
    RunMaker<Code> maker;
    const std::size_t states = maker.find({std::span<const Code>(loaded)}, {}, width);
    return {states, encode_run<Code>(maker.run(), width)};
  });
}

CountedRun merge_runs(const std::vector<Bytes>& runs, const std::vector<Bytes>& exclude, std::size_t width) {
  return with_code(width, [&]<class Code>(Code) -> CountedRun {
    std::vector<Run<Code>> decoded;
    for (const Bytes blob : runs) decoded.push_back(decode_run<Code>(blob, width));
    RunMaker<Code> maker;
    const std::size_t states = maker.find({decoded.begin(), decoded.end()}, exclude, width);
    decoded = std::vector<Run<Code>>();
    maker.trim();
    const auto run = maker.run();
    maker.trim();
    return {states, encode_run<Code>(run, width)};
  });
}

#define INSTANTIATE(Code) template class RunMaker<Code>
FARTHEST_FOR_CODES(INSTANTIATE);
#undef INSTANTIATE

}  // namespace farthest
