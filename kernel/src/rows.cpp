#include "farthest/rows.hpp"

#include "farthest/move.hpp"

namespace farthest {
namespace {

// Of each class from shard_classes on the positions of its orbit.
std::vector<SlotMask> homes_of_positions(const Layout& layout, int shard_classes) {
  std::vector<SlotMask> homes(static_cast<std::size_t>(layout.classes()));
  int first = 0;
  for (const Orbit& orbit : layout.orbits()) {
    int count = 0;
    for (int cls = shard_classes; cls < layout.classes(); ++cls)
      if (layout.home(cls) == orbit.slots) count += layout.count(cls);
    for (int cls = shard_classes; count != 0 && cls < layout.classes(); ++cls)
      if (layout.home(cls) == orbit.slots) homes[static_cast<std::size_t>(cls)] = first_slots(count) << first;
    first += count;
  }
  return homes;
}

// Walks the lines of a shard in order, class by class, carrying the rank of the source line.
class RowBuilder {
 public:
  RowBuilder(const Layout& layout, int shard_classes, const RowKey& key, ProgramTable& programs,
             std::mutex& interning)
      : layout_(layout),
        key_(key),
        programs_(programs),
        interning_(interning),
        homes_(homes_of_positions(layout, shard_classes)),
        digits_(key.digits),
        turn_weight_(static_cast<std::size_t>(layout.classes())),
        shard_classes_(static_cast<std::size_t>(shard_classes)),
        parity_matters_(parity_matters(layout, key.labels)),
        sources_(static_cast<std::size_t>(layout.classes())) {
    for (std::size_t i = 0; i < key.pattern.size(); ++i)
      if (key.pattern[i] == i) fixed_ |= bit(static_cast<int>(i));
    if (!layout.has_twists()) known_.resize(kKnown);
    std::uint64_t weight = 1;
    for (int digit = layout.twist_digits() - 1; digit >= 0 && !layout.exchanges_twists();
         weight *= layout.twist_radix(digit--))
      turn_weight_[static_cast<std::size_t>(layout.twist_digit(digit).cls)] = weight;
    std::uint64_t lines = layout.lines();
    for (int cls = 0; cls < shard_classes; ++cls) lines /= layout.radix(cls);
    rows_.reserve(lines);
    const SlotMask all = first_slots(static_cast<int>(key.pattern.size()));
    descend(shard_classes, {all, all, 0, key.turn, key.odd});
  }

  RowTable take() { return std::move(rows_); }

 private:
  // What the classes placed so far leave and make.
  struct Placed {
    SlotMask free, source_free;  // positions
    std::uint64_t line;          // rank of the source line
    std::uint64_t turn;          // twist rank of the source less (digit by digit) that of the line
    bool odd;                    // the sum of the digits that are left, where parity matters
  };
  struct KnownProgram {
    SlotMask free = 0;  // 0: unused
    std::uint32_t program = 0;
    bool odd = false;
  };
  static constexpr std::size_t kKnown = 256;

  int source(int position) const { return key_.pattern[static_cast<std::size_t>(position)]; }

  void descend(int cls, const Placed& at) {
    if (cls == layout_.upper_classes()) return finish(at);
    const auto i = static_cast<std::size_t>(cls);
    const SlotMask free = at.free & homes_[i], source_free = at.source_free & homes_[i];
    const std::uint64_t line = at.line * layout_.radix(cls);
    if (layout_.count(cls) != 1) {
      for (std::uint64_t digit = 0; digit < layout_.radix(cls); ++digit) {
        const SlotMask places = unrank_set(digit, layout_.count(cls), free);
        exchange(cls, places);
        const SlotMask from = (places & fixed_) | image(places & ~fixed_, key_.pattern);
        relabel(cls, from);
        descend(cls + 1, {at.free ^ places, at.source_free ^ from, line + rank_set(from, source_free),
                          at.turn, at.odd});
      }
      return;
    }
    for (SlotMask left = free; left != 0; left &= left - 1) {
      const int place = lowest(left), from = source(place);
      const std::uint64_t turn = turn_at(place);
      exchange(cls, bit(place));
      relabel(cls, bit(from));
      const bool odd = parity_matters_ && (below(free, place) & 1) != 0;
      descend(cls + 1, {at.free ^ bit(place), at.source_free ^ bit(from),
                        line + static_cast<std::uint64_t>(below(source_free, from)),
                        at.turn + turn * turn_weight_[i], at.odd != odd});
    }
  }

  std::uint8_t turn_at(int position) const {
    return key_.turns.empty() ? std::uint8_t{0} : key_.turns[static_cast<std::size_t>(position)];
  }

  // Notes what becomes of the class's twist digits when its pieces stand in `places`.
  void exchange(int cls, SlotMask places) {
    if (!layout_.exchanges_twists() || layout_.first_digit(cls) < 0) return;
    const auto first = static_cast<std::size_t>(layout_.first_digit(cls));
    const SlotMask from = image(places, key_.pattern);
    for (std::size_t piece = 0; places != 0; places &= places - 1, ++piece) {
      const auto source_piece = static_cast<std::size_t>(below(from, source(lowest(places))));
      digits_.from[first + source_piece] = static_cast<std::uint8_t>(first + piece);
      digits_.add[first + source_piece] = turn_at(lowest(places));
    }
  }

  // Notes where the class's pieces are in the source, as pieces of another class.
  void relabel(int cls, SlotMask from) {
    if (!key_.labels.empty()) sources_[key_.labels[static_cast<std::size_t>(cls) - shard_classes_]] = from;
  }

  std::uint64_t relabelled_line() const {
    SlotMask free = first_slots(static_cast<int>(key_.pattern.size()));
    std::uint64_t line = 0;
    for (std::size_t cls = shard_classes_; cls < static_cast<std::size_t>(layout_.upper_classes()); ++cls) {
      line = line * layout_.radix(static_cast<int>(cls)) + rank_set(sources_[cls], free & homes_[cls]);
      free ^= sources_[cls];
    }
    return line;
  }

  void finish(const Placed& at) {
    if (layout_.exchanges_twists()) return finish_exchanged(at);
    if (layout_.has_twists()) return finish_twists(at);
    const std::uint64_t line = key_.labels.empty() ? at.line : relabelled_line();
    rows_.push_back({static_cast<std::uint32_t>(line), program(at)});
  }

  // One line for each value of the upper twist digits.
  void finish_twists(const Placed& at) {
    const std::uint64_t in_line = layout_.keys_per_line(), upper = layout_.upper_twists();
    for (std::uint64_t u = 0; u < upper; ++u) {
      const std::uint64_t from = layout_.turned(u, at.turn / in_line, 0, layout_.line_twist());
      rows_.push_back({static_cast<std::uint32_t>(at.line * upper + from),
                       static_cast<std::uint32_t>(at.turn % in_line)});
    }
  }

  // The same where moves exchange twist digits.
  void finish_exchanged(const Placed& at) {
    std::uint32_t program = 0;
    {
      const std::lock_guard lock(interning_);
      program = programs_.intern(digits_);
    }
    const std::uint64_t upper = layout_.upper_twists();
    for (std::uint64_t u = 0; u < upper; ++u) {
      const std::uint64_t from = layout_.turned(u, digits_, 0, layout_.line_twist());
      rows_.push_back({static_cast<std::uint32_t>(at.line * upper + from), program});
    }
  }

  std::uint32_t program(const Placed& at) {
    KnownProgram& known = known_[(at.free * 0x9e3779b97f4a7c15ull) >> 56];
    if (known.free != at.free || known.odd != at.odd) {
      Pattern rest;
      for (SlotMask left = at.free; left != 0; left &= left - 1)
        rest.push_back(static_cast<std::uint8_t>(below(at.source_free, source(lowest(left)))));
      const std::lock_guard lock(interning_);
      known.free = at.free;
      known.odd = at.odd;
      known.program = programs_.intern(rest, labels_of_lines(), at.odd);
    }
    return known.program;
  }

  std::span<const std::uint8_t> labels_of_lines() const {
    const std::span<const std::uint8_t> all(key_.labels);
    return all.empty() ? all
                       : all.last(static_cast<std::size_t>(layout_.classes() - layout_.upper_classes()));
  }

  const Layout& layout_;
  const RowKey& key_;
  ProgramTable& programs_;
  std::mutex& interning_;
  std::vector<SlotMask> homes_;
  Turn digits_;  // where moves exchange twist digits: with the classes placed so far
  std::vector<std::uint64_t> turn_weight_;  // by class: of its digit in the twist rank, 0 for none
  std::size_t shard_classes_;
  bool parity_matters_;
  std::vector<SlotMask> sources_;  // by class of the source, where classes are relabelled: its positions
  SlotMask fixed_ = 0;             // positions that the pattern leaves alone
  std::vector<KnownProgram> known_;
  RowTable rows_;
};

}  // namespace

std::string RowKey::name() const {
  std::string out(pattern.begin(), pattern.end());
  out.append(turns.begin(), turns.end());
  out.append({reinterpret_cast<const char*>(&turn), sizeof turn});
  out.append(digits.from.begin(), digits.from.end());
  out.append(digits.add.begin(), digits.add.end());
  out.append(labels.begin(), labels.end());
  out.push_back(odd ? '\1' : '\0');
  return out;
}

RowTable build_rows(const Layout& layout, int shard_classes, const RowKey& key, ProgramTable& programs,
                    std::mutex& interning) {
  return RowBuilder(layout, shard_classes, key, programs, interning).take();
}

}  // namespace farthest
