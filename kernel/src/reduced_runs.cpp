#include "farthest/reduced_runs.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "packed_words.hpp"
#include "parallel.hpp"

namespace farthest {
namespace {

constexpr std::size_t kContents = 256;

// Codes are divided by their hash into boxes of about so many, which stay in the cache with their table.
constexpr std::size_t kBoxCodes = 8192, kMostBoxes = 2048;

constexpr std::uint64_t kMultiplier = 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio

inline std::uint64_t hash_of(Key code) { return code * kMultiplier; }

template <std::size_t Words>
std::uint64_t hash_of(const WideCode<Words>& code) {
  std::uint64_t hash = 0;
  for (const std::uint64_t word : code) hash = (hash ^ word ^ (hash >> 32)) * kMultiplier;
  return hash;
}

// Faster than load_code for the narrowest strings, which are of two words.
template <class Code>
Code loaded(const std::uint8_t* bytes, std::size_t width) {
  if constexpr (std::is_same_v<Code, WideCode<2>>) {
    if (width > 8) return {load_word(bytes), load_word(bytes + width - 8) << 8 * (16 - width)};
  }
  return load_code<Code>(bytes, width);
}

// Of one thread, used again from shard to shard.
template <class Code>
struct Boxes {
  std::vector<std::vector<Code>> boxes;
  std::vector<std::size_t> old;      // of each box the first codes, which are not new
  std::vector<std::uint32_t> table;  // by hash: the place of a code in the box, and one; 0: none
  std::vector<Code> kept;
  int bits = 0;

  void begin(std::size_t codes) {
    bits = static_cast<int>(std::bit_width(std::min(codes / kBoxCodes, kMostBoxes - 1)));
    boxes.resize(std::max(boxes.size(), count()));
    for (auto& box : boxes) box.clear();
    kept.clear();
  }
  std::size_t count() const { return std::size_t{1} << bits; }
  void put(const Code& code) {
    boxes[bits == 0 ? 0 : static_cast<std::size_t>(hash_of(code) >> (64 - bits))].push_back(code);
  }
  void end_of_old() {
    old.clear();
    for (std::size_t box = 0; box < count(); ++box) old.push_back(boxes[box].size());
  }

  // The codes of a box that are not old, each once.
  std::span<const Code> fresh(std::size_t number) {
    std::vector<Code>& box = boxes[number];
    const int table_bits = static_cast<int>(std::bit_width(box.size())) + 1;
    const std::size_t mask = (std::size_t{1} << table_bits) - 1;
    table.assign(mask + 1, 0);
    std::uint32_t count = 0;
    const auto take = [&](std::span<const Code> codes) {
      for (const Code& code : codes) {
        std::size_t at = hash_of(code) << bits >> (64 - table_bits);
        while (table[at] != 0 && !equal(box[table[at] - 1], code)) at = (at + 1) & mask;
        if (table[at] != 0) continue;
        box[count] = code;
        table[at] = ++count;
      }
    };
    const std::span<const Code> all(box);
    take(all.first(old[number]));
    const std::uint32_t first = count;
    take(all.subspan(old[number]));
    return all.subspan(first, count - first);
  }
};

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
    std::vector<Boxes<Code>> boxes(lanes);
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
                      const std::vector<Bytes>& exclude, std::uint64_t most, Boxes<Code>& boxes) const {
    std::size_t bytes = 0;
    for (const Bytes codes : exclude) bytes += codes.size();
    for (const RunLink& link : shard.links) bytes += layer[link.source].size();
    boxes.begin(bytes / width_);
    for (const Bytes codes : exclude)
      for (std::size_t at = 0; at < codes.size(); at += width_)
        boxes.put(loaded<Code>(codes.data() + at, width_));
    boxes.end_of_old();
    for (const RunLink& link : shard.links) {
      const Bytes codes = layer[link.source];
      const Code* images = &images_[link.map * images_of_map_];
      for (std::size_t at = 0; at < codes.size(); at += width_)
        boxes.put(image(images, loaded<Code>(codes.data() + at, width_)));
    }
    FoundCodes found;
    std::uint64_t pairs = 0;
    for (std::size_t box = 0; box < boxes.count(); ++box) {
      const std::span<const Code> fresh = boxes.fresh(box);
      found.states += fresh.size();
      pairs += fixed(shard, fresh);
      if (most == std::numeric_limits<std::uint64_t>::max())
        store(fresh, found.codes);
      else
        keep_least(fresh, most, boxes.kept);
    }
    if (!boxes.kept.empty()) store(boxes.kept, found.codes);
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

  static void keep_least(std::span<const Code> codes, std::uint64_t most, std::vector<Code>& kept) {
    for (const Code& code : codes) {
      if (kept.size() < most) {
        kept.push_back(code);
        std::ranges::push_heap(kept);
      } else if (most != 0 && code < kept.front()) {
        std::ranges::pop_heap(kept);
        kept.back() = code;
        std::ranges::push_heap(kept);
      }
    }
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
