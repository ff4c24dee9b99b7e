// Runs as blobs, for storage and transport.
//
//   kind     one byte: 0 deltas, 1 bitmap, 2 strings
//   states   their number
//   first    the first code            } not where there are no states
//   span     the last code minus it    } nor in strings
//   deltas   each code minus the one before, less one
//   bitmap   one bit a code from the first to the last, the lowest of a byte first, filled up with zeros
//   strings  for each code: how many leading bytes it shares with the one before (with zeros, for the
//            first), and the rest of its bytes
//
// Numbers are written in groups of seven bits, the lowest first; a byte of 128 or more is not the last. Kinds
// 0 and 1 are for codes of 8 bytes, whichever is shorter, deltas if neither is: a run is always written as
// the same blob.
#pragma once

#include <span>
#include <vector>

#include "farthest/codes.hpp"

namespace farthest {

template <class Code>
using Run = std::vector<Code>;

using Blob = std::vector<std::uint8_t>;

template <class Code>
Blob encode_run(std::span<const Code> run, std::size_t width);

// How many states a blob says that it has. Throws InvalidArgument where it does not begin as one.
std::uint64_t states_of(Bytes blob, std::size_t width);

// Reads a blob from its first code to the last. Throws InvalidArgument when it turns out to be none.
template <class Code>
class RunReader {
 public:
  RunReader(Bytes blob, std::size_t width);

  std::uint64_t states() const { return states_; }
  std::uint64_t left() const { return left_; }

  // The next code, where one is left.
  const Code& head() const { return head_; }

  // Goes on to the one after it; at the end checks that nothing follows.
  void advance();

 private:
  void finish() const;

  Bytes blob_;
  std::size_t width_;
  std::size_t at_ = 0;
  int kind_ = 0;
  std::uint64_t states_ = 0;
  std::uint64_t left_ = 0;
  Code head_{};
  Key last_ = 0;            // of numbers: the run's last code
  std::uint64_t bits_ = 0;  // of a bitmap: what is left of the byte under way
  Key base_ = 0;            // the code of that byte's lowest bit
  std::vector<std::uint8_t> string_;
};

// The whole run.
template <class Code>
Run<Code> decode_run(Bytes blob, std::size_t width);

// A run of codes of any width, and the number of its states.
struct CountedRun {
  std::uint64_t states;
  Blob blob;
};

// Writes the least codes of a run one after another, as many as `out` has room for: no more than it has
// states. Throws InvalidArgument where it is damaged.
void write_codes(Bytes blob, std::size_t width, std::span<std::uint8_t> out);

// Writes a run code by code, ascending, which the caller answers for.
template <class Code>
class RunWriter {
 public:
  void add(const Code& code, std::size_t width);
  std::uint64_t states() const { return states_; }
  Blob finish(std::size_t width) const;
  std::size_t bytes() const { return body_.capacity() + sizeof(*this); }

 private:
  Blob body_;
  std::uint64_t states_ = 0;
  Code first_{}, last_{};
};

}  // namespace farthest
