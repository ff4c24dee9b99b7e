// A space: a layout and its moves, compiled for pulling. Immutable but for the rows, which prepare() builds.
//
// A *shard* is the run of lines that share the places of the first `shard_classes` classes: a contiguous
// range of keys. Moves are legal by the places of class 0 alone, so all lines of a shard have the same legal
// moves, and a move takes all of them from one source shard.
//
// The *rows* of a shard have, for each of its lines and each of its moves, the source line within the source
// shard and the program that carries it over.
#pragma once

#include <memory>
#include <shared_mutex>
#include <vector>

#include "farthest/isa.hpp"
#include "farthest/layout.hpp"
#include "farthest/move.hpp"
#include "farthest/program.hpp"

namespace farthest {

struct RowEntry {
  std::uint32_t line;     // within the source shard
  std::uint32_t program;  // index into the program table
};

struct Shard {
  std::vector<std::uint32_t> sources;  // source shard of each move that can lead into this one
  std::vector<std::uint32_t> moves;    // the same moves, by number
  std::vector<RowEntry> rows;          // [line][move]; empty until prepared
  bool prepared = false;
};

class Shufflers;

class Space {
 public:
  // isa: one of available_isas().
  // Throws InvalidArgument when the moves do not fit the layout or shard_classes is not 1..upper classes.
  Space(Layout layout, std::vector<Move> moves, int shard_classes, Isa isa);
  ~Space();

  const Layout& layout() const { return layout_; }
  const std::vector<Move>& moves() const { return moves_; }
  bool reversible() const { return reversible_; }
  std::uint64_t shards() const { return shards_.size(); }
  std::uint64_t lines_per_shard() const { return lines_per_shard_; }
  std::uint64_t words_per_shard() const { return lines_per_shard_ * layout_.words_per_line(); }
  const Shard& shard(std::uint64_t index) const { return shards_[index]; }

  // For each shard 0 or 1 so that every move leads from one colour to the other; empty when there is no such
  // colouring of the shards.
  const std::vector<std::uint8_t>& colours() const { return colours_; }

  // Builds the rows of the shards, on `threads` threads. Idempotent; waits for running steps.
  void prepare(const std::vector<std::uint64_t>& shards, int threads);

  const ProgramTable& programs() const { return programs_; }
  const Shufflers& shufflers() const { return *shufflers_; }  // of the programs' maps
  // Held shared by readers of rows and programs.
  std::shared_mutex& mutex() const { return mutex_; }
  // Bytes of the rows of all shards.
  std::uint64_t row_bytes() const;

 private:
  void link_shards(int shard_classes);
  void colour_shards();

  Layout layout_;
  std::vector<Move> moves_;
  // Inverses: slot of the result -> slot that its content came from, and what its orientation was more there.
  std::vector<Move> pulls_;
  bool reversible_;
  int shard_classes_;
  std::uint64_t lines_per_shard_ = 0;
  std::vector<Shard> shards_;
  std::vector<std::uint8_t> colours_;
  ProgramTable programs_;
  Isa isa_;
  std::unique_ptr<Shufflers> shufflers_;
  mutable std::shared_mutex mutex_;
};

}  // namespace farthest
