#include "farthest/reduced_runs.hpp"

#include <algorithm>
#include <limits>

#include "code_boxes.hpp"
#include "packed_words.hpp"
#include "parallel.hpp"

namespace farthest {
namespace {

constexpr std::size_t kContents = 256;

template <class Code>
class RunsOf final : public ReducedRuns {
 public:
  RunsOf(std::size_t width, const std::vector<PackedField>& fields, const std::vector<PointMap>& maps,
         std::vector<RunShard> shards)
      : width_(width), shards_(std::move(shards)), maps_(maps) {
    check_fields(fields, width);
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const bool in_order = i == 0 || fields[i].word > fields[i - 1].word ||
                            (fields[i].word == fields[i - 1].word && fields[i].shift < fields[i - 1].shift);
      if (!in_order) throw InvalidArgument("fields must be in their order in the code");
      cells_.push_back({static_cast<std::size_t>(fields[i].word), fields[i].shift,
                        (std::uint64_t{1} << fields[i].bits) - 1, images_of_map_});
      images_of_map_ += std::size_t{1} << fields[i].bits;
    }
    std::size_t word = 0;
    for (std::size_t i = 0; i < cells_.size(); ++i) {
      const Cell& cell = cells_[i];
      for (; word <= cell.word; ++word) first_of_word_.push_back(i);
      const bool last = i + 1 == cells_.size() || cells_[i + 1].word != cell.word;
      steps_.push_back({static_cast<std::uint32_t>(cell.shift - (last ? 0 : cells_[i + 1].shift)),
                        static_cast<std::uint32_t>(cell.mask), static_cast<std::uint32_t>(cell.first)});
    }
    first_of_word_.push_back(cells_.size());
    for (const PointMap& map : maps) add(map);
    for (const RunShard& shard : shards_) {
      for (const RunLink& link : shard.links)
        if (link.source >= shards_.size() || link.map >= maps.size())
          throw InvalidArgument("a link names a shard or a map that there is not");
      if (std::ranges::any_of(shard.fixing, [&](auto map) { return map >= maps.size(); }))
        throw InvalidArgument("a shard names a map that there is not");
    }
  }

  std::size_t shards() const override { return shards_.size(); }

  std::vector<FoundCodes> step(const std::vector<std::uint32_t>& shards, const std::vector<Bytes>& layer,
                               const std::vector<std::vector<Bytes>>& exclude, std::uint64_t most,
                               int threads) const override {
    if (layer.size() != shards_.size()) throw InvalidArgument("there must be codes for each shard");
    if (exclude.size() != shards.size())
      throw InvalidArgument("there must be a list of codes for each shard that is stepped");
    for (const Bytes codes : layer) check_whole(codes);
    for (const auto& all : exclude) std::ranges::for_each(all, [&](Bytes codes) { check_whole(codes); });
    if (std::ranges::any_of(shards, [&](auto shard) { return shard >= shards_.size(); }))
      throw InvalidArgument("no such shard");
    std::vector<FoundCodes> found(shards.size());
    const auto lanes = std::min<std::size_t>(shards.size(), static_cast<std::size_t>(std::max(threads, 1)));
    std::vector<CodeBoxes<Code>> boxes(lanes);
    std::atomic<std::size_t> next{0};
    in_parallel(lanes, threads, [&](std::uint64_t lane) {
      for (std::size_t i; (i = next.fetch_add(1, std::memory_order_relaxed)) < shards.size();)
        found[i] = step_one(shards_[shards[i]], layer, exclude[i], most, boxes[lane]);
    });
    return found;
  }

 private:
  struct Cell {
    std::size_t word;
    int shift;
    std::uint64_t mask;
    std::size_t first;  // image, of its content 0
  };

  // From the last cell of a word to its first one the shift to the next.
  struct Step {
    std::uint32_t shift, mask, first;
  };

  void add(const PointMap& map) {
    if (map.size() != cells_.size() * kContents) throw InvalidArgument("a map needs 256 points a cell");
    for (std::size_t i = 0; i < cells_.size(); ++i)
      for (std::size_t content = 0; content <= cells_[i].mask; ++content) {
        const std::uint16_t point = map[i * kContents + content];
        if (point / kContents >= cells_.size()) throw InvalidArgument("a map leads out of the board");
        const Cell& to = cells_[point / kContents];
        if (point % kContents > to.mask) throw InvalidArgument("a map gives more than a cell can hold");
        Code image{};
        word_of(image, to.word) = std::uint64_t{point % kContents} << to.shift;
        images_.push_back(image);
      }
  }

  void check_whole(Bytes codes) const {
    if (codes.size() % width_ != 0) throw InvalidArgument("the bytes are not whole codes");
  }

  static std::uint64_t content(const Cell& cell, const Code& code) {
    return word_of(code, cell.word) >> cell.shift & cell.mask;
  }

  // What the map makes of a code: each cell gives some of its bits.
  Code image(const Code* images, const Code& code) const {
    Code out{};
    for (std::size_t word = 0; word + 1 < first_of_word_.size(); ++word) {
      std::uint64_t rest = word_of(code, word);
      for (std::size_t i = first_of_word_[word + 1]; i-- > first_of_word_[word];) {
        rest >>= steps_[i].shift;
        const Code& part = images[steps_[i].first + (rest & steps_[i].mask)];
        if constexpr (std::is_same_v<Code, Key>)
          out |= part;
        else
          for (std::size_t w = 0; w < out.size(); ++w) out[w] |= part[w];
      }
    }
    return out;
  }

  // Of the last cell it is mostly clear: of the first ones symmetries of a shard keep much.
  bool is_fixed(const std::uint16_t* points, const Code& code) const {
    for (std::size_t i = cells_.size(); i-- > 0;) {
      const std::uint16_t point = points[i * kContents + content(cells_[i], code)];
      if (content(cells_[point / kContents], code) != point % kContents) return false;
    }
    return true;
  }

  FoundCodes step_one(const RunShard& shard, const std::vector<Bytes>& layer,
                      const std::vector<Bytes>& exclude, std::uint64_t most, CodeBoxes<Code>& boxes) const {
    std::size_t bytes = 0, old = 0;
    for (const RunLink& link : shard.links) bytes += layer[link.source].size();
    for (const Bytes codes : exclude) old += codes.size();
    boxes.begin(bytes / width_, old / width_);
    for (const RunLink& link : shard.links) {
      const Bytes codes = layer[link.source];
      const Code* images = &images_[link.map * images_of_map_];
      for (std::size_t at = 0; at < codes.size(); at += width_)
        boxes.put(image(images, load_code<Code>(codes.data() + at, width_)));
    }
    boxes.end_of_codes();
    for (const Bytes codes : exclude)
      for (std::size_t at = 0; at < codes.size(); at += width_)
        boxes.put_old(load_code<Code>(codes.data() + at, width_));
    FoundCodes found;
    std::vector<Code> kept;
    LeastCodes<Code> least(most, kept);
    std::uint64_t pairs = 0;
    for (std::size_t box = 0; box < boxes.count(); ++box) {
      const std::span<const Code> fresh = boxes.fresh(box);
      found.states += fresh.size();
      pairs += fixed(shard, fresh);
      if (most == std::numeric_limits<std::uint64_t>::max())
        store(fresh, found.codes);
      else
        least.add(fresh);
    }
    least.cut();
    if (!kept.empty()) store(kept, found.codes);
    found.codes.shrink_to_fit();
    found.classes = pairs / (shard.fixing.size() + 1);
    if (pairs % (shard.fixing.size() + 1) != 0)
      throw InvalidArgument("a shard is not closed under its symmetries");
    return found;
  }

  // How many pairs of a state and a symmetry there are that fixes it (Burnside's lemma).
  std::uint64_t fixed(const RunShard& shard, std::span<const Code> codes) const {
    std::uint64_t found = codes.size();
    for (const std::uint32_t map : shard.fixing)
      for (const Code& code : codes) found += is_fixed(maps_[map].data(), code) ? 1 : 0;
    return found;
  }

  void store(std::span<const Code> codes, std::vector<std::uint8_t>& out) const {
    const std::size_t at = out.size();
    out.resize(at + codes.size() * width_);
    store_codes<Code>(codes, std::span(out).subspan(at), width_);
  }

  std::size_t width_;
  std::vector<RunShard> shards_;
  std::vector<Cell> cells_;
  std::vector<Step> steps_;
  std::vector<std::size_t> first_of_word_;  // cell
  std::size_t images_of_map_ = 0;
  std::vector<Code> images_;  // [map][cell][content]
  std::vector<PointMap> maps_;
};

}  // namespace

std::unique_ptr<ReducedRuns> reduced_runs(std::size_t width, const std::vector<PackedField>& fields,
                                          const std::vector<PointMap>& maps, std::vector<RunShard> shards) {
  return with_code(width, [&]<class Code>(Code) -> std::unique_ptr<ReducedRuns> {
    return std::make_unique<RunsOf<Code>>(width, fields, maps, std::move(shards));
  });
}

}  // namespace farthest
