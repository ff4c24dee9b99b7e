#include "open_boards.hpp"

#include <algorithm>
#include <vector>

namespace farthest {
namespace {

class BreadthFirst final : public OpenBoards {
 public:
  void begin(const std::uint8_t*) override { count_ = 1; }
  bool met(const std::uint8_t*, std::uint32_t, bool fresh, std::uint32_t) override {
    count_ += fresh ? 1 : 0;
    return false;
  }
  std::uint32_t next() override { return next_ < count_ ? next_++ : kNone; }
  std::uint64_t bytes() const override { return 0; }

 private:
  std::uint32_t next_ = 0, count_ = 0;  // boards are taken in the order in which they were met
};

class DepthFirst final : public OpenBoards {
 public:
  void begin(const std::uint8_t*) override { open_.push_back(0); }
  bool met(const std::uint8_t*, std::uint32_t number, bool fresh, std::uint32_t) override {
    if (fresh) open_.push_back(number);
    return false;
  }
  std::uint32_t next() override {
    if (open_.empty()) return kNone;
    const std::uint32_t number = open_.back();
    open_.pop_back();
    return number;
  }
  std::uint64_t bytes() const override { return open_.capacity() * sizeof(std::uint32_t); }

 private:
  std::vector<std::uint32_t> open_;
};

class BestFirst final : public OpenBoards {
 public:
  explicit BestFirst(const BoardBounds& bounds)
      : bounds_(bounds), values_(static_cast<std::size_t>(bounds.components()) + 1) {}

  void begin(const std::uint8_t* board) override {
    labels_.push_back({0, value(board)});
    open(0);
  }

  bool met(const std::uint8_t* board, std::uint32_t number, bool fresh, std::uint32_t from) override {
    const std::int32_t moves = labels_[from].moves + 1;
    if (fresh)
      labels_.push_back({moves, value(board)});
    else if (moves < labels_[number].moves)
      labels_[number].moves = moves;
    else
      return false;
    open(number);
    return !fresh;
  }

  std::uint32_t next() override {
    for (; least_ < buckets_.size(); ++least_) {
      Bucket& bucket = buckets_[least_];
      for (; bucket.nearest < bucket.lines.size(); ++bucket.nearest) {
        Line& line = bucket.lines[bucket.nearest];
        while (line.taken < line.numbers.size()) {
          const std::uint32_t number = line.numbers[line.taken++];
          if (static_cast<std::size_t>(labels_[number].moves) + bucket.nearest == least_) return number;
        }
        line.numbers.clear();
        line.taken = 0;
      }
    }
    return kNone;
  }

  std::uint64_t bytes() const override {
    return labels_.capacity() * sizeof(Label) + held_ * sizeof(std::uint32_t) + lines_ * sizeof(Line) +
           buckets_.capacity() * sizeof(Bucket);
  }

 private:
  struct Label {
    std::int32_t moves;
    std::int32_t value;
  };
  // Boards opened with one sum and one value, so after the same number of moves; the first opened is taken
  // first. A board that was opened again after fewer moves is passed over.
  struct Line {
    std::vector<std::uint32_t> numbers;
    std::size_t taken = 0;
  };
  struct Bucket {
    std::vector<Line> lines;  // by value
    std::size_t nearest = 0;  // no line before this one has boards
  };

  int value(const std::uint8_t* board) {
    bounds_.start(board, values_.data());
    return bounds_.greatest(values_.data());
  }

  void open(std::uint32_t number) {
    const Label& label = labels_[number];
    if (label.value >= kUnreachable) return;
    const auto near = static_cast<std::size_t>(label.value);
    const std::size_t sum = static_cast<std::size_t>(label.moves) + near;
    if (buckets_.size() <= sum) buckets_.resize(sum + 1);
    Bucket& bucket = buckets_[sum];
    if (bucket.lines.size() <= near) {
      lines_ += near + 1 - bucket.lines.size();
      bucket.lines.resize(near + 1);
    }
    std::vector<std::uint32_t>& numbers = bucket.lines[near].numbers;
    held_ -= numbers.capacity();
    numbers.push_back(number);
    held_ += numbers.capacity();
    bucket.nearest = std::min(bucket.nearest, near);
    least_ = std::min(least_, sum);
  }

  const BoardBounds& bounds_;
  std::vector<int> values_;
  std::vector<Label> labels_;    // by number
  std::vector<Bucket> buckets_;  // by sum of moves and value
  std::size_t least_ = 0;        // no bucket before this one has boards
  std::uint64_t held_ = 0;       // room for numbers in all lines
  std::uint64_t lines_ = 0;
};

}  // namespace

std::unique_ptr<OpenBoards> open_boards(const WalkProblem& problem, SearchOrder order) {
  switch (order) {
    case SearchOrder::breadth:
      return std::make_unique<BreadthFirst>();
    case SearchOrder::depth:
      return std::make_unique<DepthFirst>();
    default:
      return std::make_unique<BestFirst>(problem.bounds);
  }
}

}  // namespace farthest
