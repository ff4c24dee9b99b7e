#include "farthest/planes.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "parallel.hpp"
#include "pieces.hpp"

namespace farthest {
namespace {

constexpr std::size_t kMaxPlanes = 16;
constexpr std::size_t kMaxGroup = 4;  // words: see Space::words_per_group()

// spread[v]: byte i is bit i of v.
const std::array<std::uint64_t, 256>& spread() {
  static const auto table = [] {
    std::array<std::uint64_t, 256> t{};
    for (std::size_t v = 0; v < 256; ++v)
      for (std::size_t i = 0; i < 8; ++i) t[v] |= static_cast<std::uint64_t>(v >> i & 1) << (8 * i);
    return t;
  }();
  return table;
}

// The key `first` counted from the first one of the piece. A piece begins with a line, so the place of a key
// in the piece's memory follows from that number as its place in a whole layer follows from the key. Throws
// InvalidArgument unless the keys first .. first + count - 1 lie in the piece's shards.
Key key_in(const Space& space, const Piece& piece, Key first, std::size_t count) {
  const Key per_shard = space.keys_per_shard();
  const Key begin = piece.first_shard * per_shard, keys = piece.shards * per_shard;
  if (first < begin || first - begin > keys || count > keys - (first - begin))
    throw InvalidArgument("keys out of range");
  return first - begin;
}

// Distances of the 64 bits of a word, in bit order. All arithmetic is in the width of Distance, where 0 - 1
// is the number for "not found", so that it runs on whole vectors. parity: from the planes' first shard on.
template <class Distance>
class Expander {
 public:
  Expander(const Space& space, const std::vector<LayerView>& planes, int shift, const std::uint8_t* parity)
      : words_per_shard_(space.words_per_shard()), shift_(shift), parity_(parity) {
    if (planes.size() > kMaxPlanes) throw InvalidArgument("more than 16 planes");
    for (std::size_t p = 0; p < planes.size(); ++p) (p < 8 ? low_ : high_).push_back(planes[p].words);
  }

  void word(std::uint64_t index, std::array<Distance, 64>& out) {
    alignas(64) std::array<std::uint8_t, 64> low, high;
    transpose(low_, index, low.data());
    if constexpr (sizeof(Distance) > 1) transpose(high_, index, high.data());
    const auto twice = static_cast<Distance>(shift_ == 0 ? 0 : ~0);
    const auto add = static_cast<Distance>(twice == 0 ? 0 : parity_[index / words_per_shard_]);
    for (std::size_t b = 0; b < 64; ++b) {
      auto number = static_cast<Distance>(low[b]);
      if constexpr (sizeof(Distance) > 1) number = static_cast<Distance>(number | high[b] << 8);
      const auto less = static_cast<Distance>(number - 1);
      const auto distance = static_cast<Distance>(less + (less & twice) + add);
      out[b] = number == 0 ? std::numeric_limits<Distance>::max() : distance;
    }
  }

 private:
  // out[b] = the number whose bits are bit b of the planes' words at `index`.
  static void transpose(const std::vector<const Word*>& planes, std::uint64_t index, std::uint8_t* out) {
    std::array<Word, 8> words{};
    for (std::size_t p = 0; p < planes.size(); ++p) words[p] = planes[p][index];
    for (int byte = 0; byte < 8; ++byte) {
      std::uint64_t sum = 0;
      for (std::size_t p = 0; p < planes.size(); ++p) sum |= spread()[words[p] >> (8 * byte) & 255] << p;
      for (int i = 0; i < 8; ++i) out[8 * byte + i] = static_cast<std::uint8_t>(sum >> (8 * i));
    }
  }

  std::uint64_t words_per_shard_;
  int shift_;
  const std::uint8_t* parity_;
  std::vector<const Word*> low_, high_;
};

// first: as key_in() counts.
template <class Distance>
void expand_some(const Space& space, Expander<Distance> expander, Key first, std::span<Distance> out) {
  if (space.in_order()) {
    std::array<Distance, 64> states{};
    const auto bits = static_cast<std::size_t>(space.bits());
    auto [word, skip] = space.place(first);
    for (std::size_t done = 0; done < out.size(); ++word, skip = 0) {
      expander.word(word, states);
      const std::size_t take = std::min(bits - static_cast<std::size_t>(skip), out.size() - done);
      std::copy_n(states.begin() + skip, take, out.begin() + static_cast<std::ptrdiff_t>(done));
      done += take;
    }
    return;
  }
  std::array<std::array<Distance, 64>, kMaxGroup> group{};
  for (std::size_t done = 0; done < out.size();) {
    const Key key = first + done;
    for (std::uint64_t w = 0; w < space.words_per_group(); ++w)
      expander.word(key / space.keys_per_group() * space.words_per_group() + w, group[w]);
    for (Key k = key % space.keys_per_group(); k < space.keys_per_group() && done < out.size(); ++k)
      out[done++] = group[space.order()[k] / 64][space.order()[k] % 64];
  }
}

// Bit b of the word is bit `bit` of bytes[b].
Word bits_of(const std::array<std::uint8_t, 64>& bytes, unsigned bit) {
  Word gathered = 0;
  for (unsigned i = 0; i < 8; ++i) {
    std::uint64_t eight = 0;
    for (unsigned b = 0; b < 8; ++b) eight |= static_cast<std::uint64_t>(bytes[8 * i + b]) << (8 * b);
    // Byte b has one bit left, which the product moves to bit 56 + b. No two products of bits meet: no
    // carries.
    const std::uint64_t ones = eight >> bit & 0x0101010101010101U;
    gathered |= (ones * 0x0102040810204080U >> 56) << (8 * i);
  }
  return gathered;
}

// A number for each state of one word, whose bits are those of the layers.
template <class Distance>
class Picked {
 public:
  void clear() { numbers_.fill(0); }
  void set(std::size_t state, Distance number) { numbers_[state] = number; }

  // The word of layer p.
  Word word(std::size_t p) const {
    std::array<std::uint8_t, 64> bytes;
    for (std::size_t b = 0; b < 64; ++b) bytes[b] = static_cast<std::uint8_t>(numbers_[b] >> (p / 8 * 8));
    return bits_of(bytes, static_cast<unsigned>(p % 8));
  }

 private:
  std::array<Distance, 64> numbers_{};
};

template <class Distance>
void expand_all(const Space& space, const Expander<Distance>& expander, Key first, std::span<Distance> out,
                int threads) {
  constexpr std::size_t kKeys = std::size_t{1} << 18;
  in_parallel((out.size() + kKeys - 1) / kKeys, threads, [&](std::uint64_t i) {
    const std::size_t at = i * kKeys;
    expand_some(space, expander, first + at, out.subspan(at, std::min(kKeys, out.size() - at)));
  });
}

// Adds to each of `layers` the states that pick(distance) has the layer's bit set for. Runs over lines side
// by side: a word belongs to one line.
template <class Distance, class Pick>
void insert_picked(const Space& space, Key first, std::span<const Distance> distances,
                   const std::vector<LayerView>& layers, int threads, Pick pick) {
  first = key_in(space, piece_of(space, layers), first, distances.size());
  if (distances.empty()) return;
  const Key per_line = space.keys_per_line(), end = first + distances.size();
  const std::uint64_t first_line = first / per_line;
  const std::uint64_t lines = (end - 1) / per_line - first_line + 1;
  in_parallel(lines, useful_threads(lines, threads), [&](std::uint64_t i) {
    const std::uint64_t line = first_line + i;
    const Key until = std::min(end, (line + 1) * per_line);
    std::array<Picked<Distance>, kMaxGroup> picked;
    for (Key key = std::max(first, line * per_line); key < until;) {
      // One group of words at a time, which is one word where the keys are in the order of the bits.
      const Key group = key / space.keys_per_group(), begin = key % space.keys_per_group();
      const auto count = std::min(space.keys_per_group() - begin, until - key);
      const auto here = distances.subspan(key - first, count);
      key += count;
      Distance any = 0;
      for (const Distance d : here) any |= pick(d);
      if (any == 0) continue;
      for (std::uint64_t w = 0; w < space.words_per_group(); ++w) picked[w].clear();
      if (space.in_order())
        for (std::size_t k = 0; k < count; ++k) picked[0].set(begin + k, pick(here[k]));
      else
        for (std::size_t k = 0; k < count; ++k) {
          const int at = space.order()[begin + k];
          picked[static_cast<std::size_t>(at / 64)].set(static_cast<std::size_t>(at % 64), pick(here[k]));
        }
      for (std::uint64_t w = 0; w < space.words_per_group(); ++w)
        for (std::size_t p = 0; p < layers.size(); ++p) {
          const Word states = picked[w].word(p);
          layers[p].words[group * space.words_per_group() + w] |= states;
          if (states != 0) layers[p].flags[line] = 1;
        }
    }
  });
}

}  // namespace

template <class Distance>
void expand(const Space& space, const std::vector<LayerView>& planes, const DistanceCode& code, Key first,
            std::span<Distance> out, int threads) {
  const Piece piece = piece_of(space, planes);
  first = key_in(space, piece, first, out.size());
  const Expander<Distance> expander(space, planes, code.shift,
                                    code.shift == 0 ? nullptr : code.parity.data() + piece.first_shard);
  expand_all(space, expander, first, out, threads);
}

template void expand(const Space&, const std::vector<LayerView>&, const DistanceCode&, Key,
                     std::span<std::uint8_t>, int);
template void expand(const Space&, const std::vector<LayerView>&, const DistanceCode&, Key,
                     std::span<std::uint16_t>, int);

void insert(const Space& space, Key key, const LayerView& layer) {
  const auto [word, b] = space.place(key_in(space, {layer.first_shard, layer.shards}, key, 1));
  layer.words[word] |= Word{1} << b;
  layer.flags[word / space.words_per_line()] = 1;
}

template <class Distance>
void collect(const Space& space, Key first, std::span<const Distance> distances, int shift,
             const std::vector<LayerView>& planes, int threads) {
  if (planes.size() > kMaxPlanes) throw InvalidArgument("more than 16 planes");
  // Unreached, the type's greatest number, becomes 0 as the others become greater by 1: no branches, so that
  // both loops run on whole vectors.
  const auto number = [shift](Distance d) {
    return static_cast<Distance>((static_cast<Distance>(d + 1) + shift) >> shift);
  };
  Distance greatest = 0;
  for (const Distance d : distances) greatest = std::max(greatest, number(d));
  if (greatest >> planes.size() != 0) throw InvalidArgument("too few planes");
  insert_picked(space, first, distances, planes, threads, number);
}

template <class Distance>
void mark(const Space& space, Key first, std::span<const Distance> distances, Distance depth,
          const LayerView& layer, int threads) {
  insert_picked(space, first, distances, {layer}, threads,
                [depth](Distance d) { return static_cast<Distance>(d == depth); });
}

template <class Distance>
void mark_found(const Space& space, Key first, std::span<const Distance> distances, const LayerView& layer,
                int threads) {
  constexpr auto kUnreached = std::numeric_limits<Distance>::max();
  insert_picked(space, first, distances, {layer}, threads,
                [](Distance d) { return static_cast<Distance>(d != kUnreached); });
}

template void collect(const Space&, Key, std::span<const std::uint8_t>, int, const std::vector<LayerView>&,
                      int);
template void collect(const Space&, Key, std::span<const std::uint16_t>, int, const std::vector<LayerView>&,
                      int);
template void mark(const Space&, Key, std::span<const std::uint8_t>, std::uint8_t, const LayerView&, int);
template void mark(const Space&, Key, std::span<const std::uint16_t>, std::uint16_t, const LayerView&, int);
template void mark_found(const Space&, Key, std::span<const std::uint8_t>, const LayerView&, int);
template void mark_found(const Space&, Key, std::span<const std::uint16_t>, const LayerView&, int);

std::vector<Key> keys_of(const Space& space, const LayerView& view, std::size_t limit) {
  const auto words_per_line = space.words_per_line();
  const std::uint64_t first_line = view.first_shard * space.lines_per_shard();
  const Word states = ~Word{0} >> (64 - space.bits());
  std::vector<Key> keys;
  for (std::uint64_t line = 0; line < view.shards * space.lines_per_shard() && keys.size() < limit; ++line) {
    if (view.flags[line] == 0) continue;
    std::vector<Key> here;
    for (std::uint64_t w = line * words_per_line; w < (line + 1) * words_per_line; ++w)
      for (Word word = view.words[w] & states; word != 0; word &= word - 1)
        here.push_back(space.key_at(first_line * words_per_line + w, std::countr_zero(word)));
    std::ranges::sort(here);  // a split layout keeps the odd and the even arrangements of a prefix apart
    here.resize(std::min(here.size(), limit - keys.size()));
    keys.insert(keys.end(), here.begin(), here.end());
  }
  return keys;
}

std::vector<std::uint64_t> population(const Space& space, const LayerView& view) {
  std::vector<std::uint64_t> counts(view.shards);
  const Word* word = view.words;
  for (std::uint64_t i = 0; i < view.shards; ++i) {
    for (const Word* end = word + space.words_per_shard(); word != end; ++word)
      counts[i] += static_cast<std::uint64_t>(std::popcount(*word));
    counts[i] *= space.weight(view.first_shard + i);
  }
  return counts;
}

void clear(const Space& space, const LayerView& view) {
  std::fill_n(view.words, view.shards * space.words_per_shard(), Word{0});
  std::fill_n(view.flags, view.shards * space.lines_per_shard(), std::uint8_t{0});
}

}  // namespace farthest
