#include "farthest/run_blob.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>

namespace farthest {
namespace {

constexpr std::uint8_t kDeltas = 0, kBitmap = 1, kStrings = 2;

[[noreturn]] void damaged() { throw InvalidArgument("the run is damaged: it is not what was written"); }

void put_number(Blob& out, std::uint64_t number) {
  for (; number >= 128; number >>= 7) out.push_back(static_cast<std::uint8_t>(number | 128));
  out.push_back(static_cast<std::uint8_t>(number));
}

std::size_t bytes_of_number(std::uint64_t number) {
  return static_cast<std::size_t>(std::bit_width(number | 1) + 6) / 7;
}

// The eight bytes from there on, the first the lowest; compilers make one instruction of it.
std::uint64_t low_word(const std::uint8_t* bytes) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < 8; ++i) word |= std::uint64_t{bytes[i]} << (8 * i);
  return word;
}

std::uint64_t take_number(Bytes blob, std::size_t& at) {
  if (at < blob.size() && blob[at] < 128) return blob[at++];
  if (blob.size() - at >= 8) {  // without a loop, whose length nobody can foretell
    std::uint64_t word = low_word(blob.data() + at);
    const std::uint64_t ends = ~word & 0x8080808080808080;
    if (ends != 0) {
      at += static_cast<std::size_t>(std::countr_zero(ends)) / 8 + 1;
      word &= ends ^ (ends - 1);  // up to the end of the number
      word = (word & 0x007F007F007F007F) | (word & 0x7F007F007F007F00) >> 1;
      word = (word & 0x00003FFF00003FFF) | (word & 0x3FFF00003FFF0000) >> 2;
      return (word & 0x0FFFFFFF) | (word & 0x0FFFFFFF00000000) >> 4;
    }
  }
  std::uint64_t number = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at == blob.size()) damaged();
    const std::uint8_t byte = blob[at++];
    const std::uint64_t part = byte & 127;
    if (part << shift >> shift != part) damaged();
    number |= part << shift;
    if (byte < 128) return number;
  }
  damaged();
}

Blob begun(std::uint8_t kind, std::uint64_t states) {
  Blob blob{kind};
  put_number(blob, states);
  return blob;
}

Blob bitmap(std::span<const Key> run) {
  const Key span = run.back() - run.front();
  Blob blob = begun(kBitmap, run.size());
  put_number(blob, run.front());
  put_number(blob, span);
  const std::size_t at = blob.size();
  blob.resize(at + span / 8 + 1);
  for (const Key code : run) {
    const Key bit = code - run.front();
    blob[at + bit / 8] = static_cast<std::uint8_t>(blob[at + bit / 8] | 1 << bit % 8);
  }
  return blob;
}

// The blob of a run whose deltas have been written.
Blob of_numbers(std::uint64_t states, Key first, Key last, Bytes deltas) {
  Blob blob = begun(kDeltas, states);
  if (states == 0) return blob;
  put_number(blob, first);
  put_number(blob, last - first);
  blob.insert(blob.end(), deltas.begin(), deltas.end());
  return blob;
}

// How many leading bytes two codes share.
template <std::size_t Words>
std::size_t shared_bytes(const WideCode<Words>& one, const WideCode<Words>& other) {
  for (std::size_t word = 0; word < Words; ++word)
    if (one[word] != other[word])
      return 8 * word + static_cast<std::size_t>(std::countl_zero(one[word] ^ other[word])) / 8;
  return 8 * Words;
}

// As RunWriter writes it, in one piece of memory.
template <std::size_t Words>
Blob strings(std::span<const WideCode<Words>> run, std::size_t width) {
  Blob blob = begun(kStrings, run.size());
  std::size_t at = blob.size();
  blob.resize(at + run.size() * (width + 2) + 8 * Words);  // room for the whole words of the last code
  WideCode<Words> before{};
  std::array<std::uint8_t, 8 * Words> string;
  const std::size_t words = std::min(Words, (width + 7) / 8);
  for (const WideCode<Words>& code : run) {
    const std::size_t shared = std::min(shared_bytes(code, before), width - 1);
    if (shared >= 128) blob[at++] = static_cast<std::uint8_t>(shared | 128);
    blob[at++] = static_cast<std::uint8_t>(shared >= 128 ? shared >> 7 : shared);
    for (std::size_t word = 0; word < words; ++word) store_word(code[word], string.data() + 8 * word);
    std::memcpy(blob.data() + at, string.data() + shared, 8 * words - shared);
    at += width - shared;
    before = code;
  }
  blob.resize(at);
  blob.shrink_to_fit();
  return blob;
}

}  // namespace

template <class Code>
Blob encode_run(std::span<const Code> run, std::size_t width) {
  if constexpr (std::is_same_v<Code, Key>) {
    if (!run.empty()) {
      std::size_t deltas = 0;
      for (std::size_t i = 1; i < run.size(); ++i) deltas += bytes_of_number(run[i] - run[i - 1] - 1);
      if ((run.back() - run.front()) / 8 + 1 < deltas) return bitmap(run);
      Blob blob = begun(kDeltas, run.size());
      put_number(blob, run.front());
      put_number(blob, run.back() - run.front());
      const std::size_t at = blob.size();
      blob.resize(at + deltas);
      std::uint8_t* out = blob.data() + at;
      for (std::size_t i = 1; i < run.size(); ++i) {
        std::uint64_t delta = run[i] - run[i - 1] - 1;
        for (; delta >= 128; delta >>= 7) *out++ = static_cast<std::uint8_t>(delta | 128);
        *out++ = static_cast<std::uint8_t>(delta);
      }
      return blob;
    }
  } else if (!run.empty()) {
    return strings(run, width);
  }
  RunWriter<Code> writer;
  for (const Code& code : run) writer.add(code, width);
  return writer.finish(width);
}

std::uint64_t states_of(Bytes blob, std::size_t width) {
  if (blob.empty() || (blob[0] != kStrings && (blob[0] > kBitmap || width != sizeof(Key))) ||
      (blob[0] == kStrings && width == sizeof(Key)))
    damaged();
  std::size_t at = 1;
  const std::uint64_t states = take_number(blob, at);
  // A bitmap has eight states a byte at most, a delta one byte at least, a string two: so no claim takes more
  // room than a run of the blob's size can.
  const std::uint64_t most =
      blob[0] == kBitmap ? 8 * blob.size() : blob.size() / (blob[0] == kDeltas ? 1 : 2);
  if (states > most) damaged();
  return states;
}

template <class Code>
RunReader<Code>::RunReader(Bytes blob, std::size_t width) : blob_(blob), width_(width) {
  states_ = left_ = states_of(blob, width);
  kind_ = blob[0];
  at_ = 1;
  take_number(blob, at_);
  if (states_ == 0) {
    finish();
    return;
  }
  if constexpr (std::is_same_v<Code, Key>) {
    head_ = take_number(blob, at_);
    const Key span = take_number(blob, at_);
    if (span > std::numeric_limits<Key>::max() - head_ || states_ - 1 > span) damaged();
    last_ = head_ + span;
    if (kind_ == kBitmap) {
      if (blob.size() - at_ != span / 8 + 1 || (blob[at_] & 1) == 0 || blob.back() >> span % 8 != 1)
        damaged();
      base_ = head_;
      bits_ = blob[at_++] & ~std::uint64_t{1};
    }
    if (left_ == 1 && last_ != head_) damaged();
    if (left_ == 1) finish();
  } else {
    string_.assign(width, 0);
    ++left_;
    advance();
  }
}

template <class Code>
void RunReader<Code>::advance() {
  if (--left_ == 0) return finish();
  if constexpr (std::is_same_v<Code, Key>) {
    if (kind_ == kDeltas) {
      const std::uint64_t delta = take_number(blob_, at_);
      if (delta >= last_ - head_) damaged();
      head_ += delta + 1;
    } else {
      while (bits_ == 0) {
        if (at_ == blob_.size()) damaged();
        bits_ = blob_[at_++];
        base_ += 8;
      }
      head_ = base_ + static_cast<Key>(std::countr_zero(bits_));
      bits_ &= bits_ - 1;
    }
    if ((left_ == 1) != (head_ == last_)) damaged();
  } else {
    const std::uint64_t shared = take_number(blob_, at_);
    if (shared >= width_ || blob_.size() - at_ < width_ - shared) damaged();
    const bool first = left_ == states_;
    if (!first && blob_[at_] <= string_[shared]) damaged();
    std::copy_n(blob_.begin() + static_cast<std::ptrdiff_t>(at_), width_ - shared,
                string_.begin() + static_cast<std::ptrdiff_t>(shared));
    at_ += width_ - shared;
    head_ = load_code<Code>(string_.data(), width_);
  }
  if (left_ == 1) finish();
}

template <class Code>
void RunReader<Code>::finish() const {
  if (at_ != blob_.size()) damaged();
}

template <class Code>
Run<Code> decode_run(Bytes blob, std::size_t width) {
  RunReader<Code> reader(blob, width);
  Run<Code> run;
  run.reserve(reader.states());
  for (; reader.left() != 0; reader.advance()) run.push_back(reader.head());
  return run;
}

void write_codes(Bytes blob, std::size_t width, std::span<std::uint8_t> out) {
  with_code(width, [&]<class Code>(Code) {
    RunReader<Code> reader(blob, width);
    for (; out.size() >= width; out = out.subspan(width), reader.advance())
      store_code(reader.head(), out.data(), width);
  });
}

template <class Code>
void RunWriter<Code>::add(const Code& code, std::size_t width) {
  if constexpr (std::is_same_v<Code, Key>) {
    if (states_ != 0)
      put_number(body_, code - last_ - 1);
    else
      first_ = code;
  } else {
    const std::size_t shared = std::min(shared_bytes(code, last_), width - 1);  // zeros before the first
    std::array<std::uint8_t, sizeof(Code)> string;
    store_code(code, string.data(), width);
    put_number(body_, shared);
    body_.insert(body_.end(), string.data() + shared, string.data() + width);
  }
  last_ = code;
  ++states_;
}

template <class Code>
Blob RunWriter<Code>::finish(std::size_t width) const {
  if constexpr (std::is_same_v<Code, Key>) {
    Blob blob = of_numbers(states_, first_, last_, body_);
    if (states_ == 0 || (last_ - first_) / 8 + 1 >= body_.size()) return blob;
    return bitmap(decode_run<Key>(blob, width));
  } else {
    Blob blob = begun(kStrings, states_);
    blob.insert(blob.end(), body_.begin(), body_.end());
    return blob;
  }
}

#define INSTANTIATE(Code)                                             \
  template Blob encode_run<Code>(std::span<const Code>, std::size_t); \
  template class RunReader<Code>;                                     \
  template Run<Code> decode_run<Code>(Bytes, std::size_t);            \
  template class RunWriter<Code>
FARTHEST_FOR_CODES(INSTANTIATE);
#undef INSTANTIATE

}  // namespace farthest
