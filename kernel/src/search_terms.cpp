#include "search_terms.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace farthest {

SearchPattern::SearchPattern(const PatternTable& part, const SearchGraph& graph)
    : distances_(part.distances), weights_(graph.kinds()), crossings_(graph.kinds() * kMaxSlots) {
  const std::size_t cells = graph.cells();
  if (part.labels.empty()) throw InvalidArgument("a pattern must have pieces");
  std::vector<bool> seen(cells);
  for (const int cell : part.cell_of) {
    if (cell < 0 || static_cast<std::size_t>(cell) >= cells || seen[static_cast<std::size_t>(cell)])
      throw InvalidArgument("cell_of must renumber the cells");
    seen[static_cast<std::size_t>(cell)] = true;
    cell_of_.push_back(static_cast<std::size_t>(cell));
  }
  if (cell_of_.size() != cells) throw InvalidArgument("cell_of must renumber the cells");
  for (const int label : part.labels) {
    const auto at = static_cast<std::size_t>(label);
    if (label < 1 || at >= graph.kinds() || graph.counts()[at] != 1 ||
        std::ranges::count(part.labels, label) != 1)
      throw InvalidArgument("a pattern's pieces must all be different from all others");
    labels_.push_back(at);
  }
  std::size_t places = 1;
  for (std::size_t k = labels_.size(); k-- > 0;) {
    weights_[labels_[k]] = static_cast<std::int64_t>(places);
    if (places > distances_.size()) break;
    places *= cells - k;
  }
  if (distances_.size() != places) throw InvalidArgument("a pattern must have a distance for each placement");
  for (std::size_t j = 0; j < labels_.size(); ++j)
    for (std::size_t k = 0; k < labels_.size(); ++k) {
      if (j == k) continue;
      const std::size_t later = labels_[std::max(j, k)];
      crossings_[labels_[j] * kMaxSlots + labels_[k]] = j < k ? weights_[later] : -weights_[later];
    }
  std::vector<std::vector<std::uint8_t>> passed;
  for (const Arc arc : graph.arcs()) {
    const std::size_t from = cell_of_[arc.source], to = cell_of_[arc.target];
    const auto [first, last] = std::minmax(from, to);
    passages_.push_back({static_cast<std::int64_t>(last - first), to < from ? -1 : 0});
    auto& cells_passed = passed.emplace_back();
    for (std::size_t cell = 0; cell < cells; ++cell)
      if (first < cell_of_[cell] && cell_of_[cell] < last)
        cells_passed.push_back(static_cast<std::uint8_t>(cell));
    passing_ = std::max(passing_, (cells_passed.size() + 3) / 4 * 4);
  }
  for (std::size_t arc = 0; arc < passed.size(); ++arc) {
    passed[arc].resize(passing_, graph.arcs()[arc].target);
    passed_.insert(passed_.end(), passed[arc].begin(), passed[arc].end());
  }
}

std::size_t SearchPattern::place(const SlidingBoard& board) const {
  std::size_t place = 0;
  SlotMask taken = 0;
  for (std::size_t k = 0; k < labels_.size(); ++k) {
    const auto at = std::ranges::find(board, static_cast<std::uint8_t>(labels_[k])) - board.begin();
    const auto cell = static_cast<int>(cell_of_[static_cast<std::size_t>(at)]);
    place = place * (cell_of_.size() - k) + static_cast<std::size_t>(below(~taken, cell));
    taken |= bit(cell);
  }
  return place;
}

SearchTerms::SearchTerms(const std::vector<HeuristicTerm>& terms, const SearchGraph& graph)
    : graph_(&graph), terms_(std::max<std::size_t>(terms.size(), 1)), patterns_with_(graph.kinds()) {
  for (std::size_t term = 0; term < terms.size(); ++term) {
    std::vector<int> sum(graph.kinds() * graph.cells());
    bool tabled = terms.size() == 1 && terms[0].empty();
    for (const HeuristicPart& part : terms[term]) {
      if (const auto* table = std::get_if<CellTable>(&part)) {
        if (table->values.size() != sum.size())
          throw InvalidArgument("a table must have a value for each label and cell");
        for (std::size_t i = 0; i < sum.size(); ++i) {
          if (table->values[i] < 0 || table->values[i] > 255)
            throw InvalidArgument("a table's values must be 0 to 255");
          sum[i] += table->values[i];
        }
        tabled = true;
      } else if (const auto* pattern = std::get_if<PatternTable>(&part)) {
        patterns_.push_back({term, SearchPattern(*pattern, graph)});
      } else if (const auto* lines = std::get_if<LinearConflict>(&part)) {
        lines_.push_back({term, SearchLines(*lines, graph)});
      } else {
        matchings_.push_back({term, SearchMatching(std::get<Matching>(part), graph)});
      }
    }
    if (tabled) tables_.push_back({term, Table(std::move(sum), graph)});
  }
  if (terms.empty()) tables_.push_back({0, Table(std::vector<int>(graph.kinds() * graph.cells()), graph)});
  for (std::size_t label = 0; label < graph.kinds(); ++label) {
    for (std::size_t i = 0; i < patterns_.size(); ++i)
      if (patterns_[i].part.holds(label)) patterns_with_[label].push_back(i);
    most_patterns_ = std::max(most_patterns_, patterns_with_[label].size());
  }
  for (std::size_t blank = 0; blank < graph.cells(); ++blank)
    most_children_ = std::max(most_children_, graph.end(blank) - graph.first(blank));
}

SearchTerms::Table::Table(std::vector<int> sums, const SearchGraph& graph) : values(std::move(sums)) {
  constexpr int kMost = std::numeric_limits<std::int16_t>::max();
  const std::size_t cells = graph.cells();
  std::fill_n(values.begin(), cells, 0);  // blanks
  if (std::ranges::max(values) > kMost) throw InvalidArgument("a term has too many tables");
  for (const Arc arc : graph.arcs())
    for (std::size_t label = 0; label < graph.kinds(); ++label)
      changes.push_back(
          static_cast<std::int16_t>(values[label * cells + arc.target] - values[label * cells + arc.source]));
}

bool SearchTerms::only_table() const {
  return terms_ == 1 && patterns_.empty() && lines_.empty() && matchings_.empty();
}

bool SearchTerms::only_patterns() const {
  return !patterns_.empty() && tables_.empty() && lines_.empty() && matchings_.empty();
}

int SearchTerms::value(const SlidingBoard& board) const {
  TermGuide guide(*this);
  return guide.start(board);
}

int TermGuide::start(const SlidingBoard& board) {
  grow(0);
  std::fill_n(sums_.begin(), terms_.terms_, 0);
  const std::size_t cells = graph().cells();
  for (const auto& [term, table] : terms_.tables_)
    for (std::size_t cell = 0; cell < cells; ++cell) sums_[term] += table.values[board[cell] * cells + cell];
  for (std::size_t i = 0; i < terms_.patterns_.size(); ++i) {
    const auto& [term, pattern] = terms_.patterns_[i];
    places_[i] = pattern.place(board);
    distances_[i] = pattern.view().distances[places_[i]];
    sums_[term] += distances_[i];
  }
  for (const auto& [term, lines] : terms_.lines_) sums_[term] += lines.value(board);
  for (const auto& [term, matching] : terms_.matchings_) sums_[term] += matching.value(board);
  return *std::max_element(sums_.begin(), sums_.begin() + static_cast<std::ptrdiff_t>(terms_.terms_));
}

void TermGuide::grow(std::size_t level) {
  if (level + 1 < levels_) return;
  levels_ = 2 * level + 2;
  sums_.resize(levels_ * terms_.terms_);
  places_.resize(levels_ * terms_.patterns_.size());
  distances_.resize(places_.size());
  child_places_.resize(levels_ * terms_.most_children_ * terms_.most_patterns_);
}

void TermGuide::expand(std::size_t level, std::size_t blank, const SlidingBoard& board) {
  grow(level);
  const std::size_t* places = places_.data() + level * terms_.patterns_.size();
  for (std::size_t arc = graph().first(blank); arc < graph().end(blank); ++arc) {
    const std::uint8_t label = board[graph().arcs()[arc].source];
    std::size_t* to = child_places(level, arc - graph().first(blank));
    for (const std::size_t i : terms_.patterns_with_[label]) {
      const SearchPattern::View view = terms_.patterns_[i].part.view();
      *to = places[i] + static_cast<std::size_t>(view.change(board, arc, label));
      __builtin_prefetch(view.distances + *to++);
    }
  }
}

int TermGuide::moved(std::size_t level, std::size_t arc, Arc cells, const SlidingBoard& board) {
  const std::uint8_t label = board[cells.target];
  int* sums = sums_.data() + (level + 1) * terms_.terms_;
  std::copy_n(sums - terms_.terms_, terms_.terms_, sums);
  for (const auto& [term, table] : terms_.tables_) sums[term] += table.changes[arc * graph().kinds() + label];
  if (!terms_.patterns_.empty()) {
    const std::size_t count = terms_.patterns_.size();
    std::size_t* places = places_.data() + (level + 1) * count;
    int* distances = distances_.data() + (level + 1) * count;
    std::copy_n(places - count, count, places);
    std::copy_n(distances - count, count, distances);
    const std::size_t* from = child_places(level, arc - graph().first(cells.target));
    for (const std::size_t i : terms_.patterns_with_[label]) {
      const auto& [term, pattern] = terms_.patterns_[i];
      places[i] = *from++;
      const int distance = pattern.view().distances[places[i]];
      sums[term] += distance - distances[i];
      distances[i] = distance;
    }
  }
  for (const auto& [term, lines] : terms_.lines_) sums[term] += lines.change(board, cells);
  for (const auto& [term, matching] : terms_.matchings_) sums[term] += matching.change(board, cells);
  int value = sums[0];
  for (std::size_t term = 1; term < terms_.terms_; ++term) value = std::max(value, sums[term]);
  return value;
}

}  // namespace farthest
