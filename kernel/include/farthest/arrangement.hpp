// An arrangement space: a layout and its moves, compiled for pulling. Immutable but for the rows, which
// prepare() builds.
//
// A shard is the run of lines that share the places of the first `shard_classes` classes. Moves are legal by
// the places of class 0 alone, so all lines of a shard have the same legal moves, and a move takes all of
// them from one source shard.
//
// The *rows* of a shard have, for each of its lines and each of its moves, the source line within the source
// shard and the program that carries it over.
#pragma once

#include <memory>
#include <vector>

#include "farthest/isa.hpp"
#include "farthest/layout.hpp"
#include "farthest/move.hpp"
#include "farthest/program.hpp"
#include "farthest/space.hpp"

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

class ArrangementSpace final : public Space {
 public:
  // isa: one of available_isas().
  // Throws InvalidArgument when the moves do not fit the layout or shard_classes is not 1..upper classes.
  ArrangementSpace(Layout layout, std::vector<Move> moves, int shard_classes, Isa isa);
  ~ArrangementSpace() override;

  const Layout& layout() const { return layout_; }
  const std::vector<Move>& moves() const { return moves_; }
  const Shard& shard(std::uint64_t index) const { return shards_[index]; }

  int shard_levels() const override { return layout_.upper_classes(); }
  bool reversible() const override { return reversible_; }
  const std::vector<std::uint8_t>& colours() const override { return colours_; }
  const std::vector<std::uint32_t>& sources(std::uint64_t shard) const override {
    return shards_[shard].sources;
  }
  void prepare(const std::vector<std::uint64_t>& shards, int threads) override;
  bool prepared(std::uint64_t shard) const override { return shards_[shard].prepared; }
  std::uint64_t row_bytes() const override;
  std::uint64_t step_lines(const LineRange& range) const override;

 private:
  void link_shards();
  void colour_shards();

  Layout layout_;
  std::vector<Move> moves_;
  // Inverses: slot of the result -> slot that its content came from, and what its orientation was more there.
  std::vector<Move> pulls_;
  bool reversible_;
  int shard_classes_;
  std::vector<Shard> shards_;
  std::vector<std::uint8_t> colours_;
  ProgramTable programs_;
  Isa isa_;
  std::unique_ptr<Shufflers> shufflers_;  // of the programs' maps
};

}  // namespace farthest
