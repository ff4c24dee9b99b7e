// Successors that a user's compiled function gives (docs/python.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "farthest/expander.hpp"

namespace farthest {

// Gets `count` keys one after another; `out` has room for a key for each of them and each move, and is full
// of bytes 255: no state. Returns `count`; another number: something went wrong. Called by several threads at
// once.
using UserFunction = std::size_t (*)(const void* keys, std::size_t count, void* out, const void* data);

struct UserMoves {
  UserFunction ask = nullptr;
  const void* data = nullptr;
  std::size_t moves = 0;  // keys that answer one
  std::size_t width = 0;  // of a code, bytes
  bool words = false;  // keys are numbers of 64 bits, or pairs of them, the high one first; else byte strings
  std::uint64_t limit = 0;  // of numbers of 64 bits, which must be below; 0: none
  bool undirected = false;  // each move can be taken back by a move: looked at for a state of each call
};

// Its `successors` throws WrongAnswer.
std::unique_ptr<Expander> user_expander(const UserMoves& moves);

}  // namespace farthest
