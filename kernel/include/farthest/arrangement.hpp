// An arrangement space: a layout and its moves, compiled for pulling. Immutable but for the rows, which
// prepare() builds.
//
// A shard is the run of lines that share the places of the first `shard_classes` classes. Moves are legal by
// the places of class 0 alone, so all lines of a shard have the same legal moves, and a move takes all of
// them from one source shard. How it takes them is in a table of rows that shards share: rows.hpp.
//
// With symmetries a shard stands for those that they take to each other (shard_links.hpp). The number of a
// key within its shard is then that of the layout, and so is the place of its bit.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "farthest/isa.hpp"
#include "farthest/layout.hpp"
#include "farthest/move.hpp"
#include "farthest/program.hpp"
#include "farthest/shard_links.hpp"
#include "farthest/space.hpp"

namespace farthest {

class Shufflers;

class ArrangementSpace final : public Space {
 public:
  // isa: one of available_isas().
  // Throws InvalidArgument when the moves do not fit the layout, shard_classes is not 1..upper classes, or
  // check_orbits() does.
  ArrangementSpace(Layout layout, std::vector<Move> moves, int shard_classes, Isa isa,
                   const ShardOrbits& orbits = {});
  ~ArrangementSpace() override;

  const Layout& layout() const { return layout_; }
  const std::vector<Move>& moves() const { return moves_; }
  const ProgramTable& programs() const { return programs_; }

  std::uint64_t weight(std::uint64_t shard) const override { return weights_.empty() ? 1 : weights_[shard]; }
  int shard_levels() const override { return weights_.empty() ? layout_.upper_classes() : 1; }
  bool reversible() const override { return reversible_; }
  const std::vector<std::uint8_t>& colours() const override { return colours_; }
  std::span<const std::uint32_t> sources(std::uint64_t shard) const override {
    return of_shard(links_.sources, shard);
  }
  // Of a prepared shard: for each of its sources the table of rows, by line.
  std::span<const RowEntry* const> rows(std::uint64_t shard) const { return of_shard(rows_, shard); }
  // Tables of rows that all shards need together.
  std::uint64_t tables() const { return tables_.size(); }
  void prepare(const std::vector<std::uint64_t>& shards, int threads) override;
  bool prepared(std::uint64_t shard) const override { return prepared_[shard] != 0; }
  std::uint64_t row_bytes() const override;
  std::uint64_t step_lines(const LineRange& range) const override;

 private:
  template <class T>
  std::span<const T> of_shard(const std::vector<T>& by_link, std::uint64_t shard) const {
    return {by_link.begin() + static_cast<std::ptrdiff_t>(links_.first[shard]),
            by_link.begin() + static_cast<std::ptrdiff_t>(links_.first[shard + 1])};
  }

  Layout layout_;
  std::vector<Move> moves_;
  bool reversible_;
  int shard_classes_;
  std::vector<std::uint32_t> weights_;  // by shard; empty: each has 1
  ShardLinks links_;
  std::vector<std::uint8_t> colours_;
  std::vector<RowTable> tables_;        // of links_.keys; empty until a shard that needs it is prepared
  std::vector<const RowEntry*> rows_;   // by link, of prepared shards: the table's
  std::vector<std::uint8_t> prepared_;  // by shard
  ProgramTable programs_;
  Isa isa_;
  std::unique_ptr<Shufflers> shufflers_;  // of the programs' maps
};

}  // namespace farthest
