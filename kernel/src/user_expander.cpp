#include "farthest/user_expander.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

namespace farthest {
namespace {

template <class Code>
class UserExpander final : public ExpanderOf<Code> {
 public:
  explicit UserExpander(const UserMoves& user) : user_(user) {
    const std::vector<std::uint8_t> bytes(user.width, 255);
    none_ = load_code<Code>(bytes.data(), user.width);
    if (user.ask == nullptr || user.moves == 0) throw InvalidArgument("there must be a function and moves");
    if (user.words && user.width > 2 * sizeof(std::uint64_t))
      throw InvalidArgument("numbers have 8 or 16 bytes");
  }

  std::size_t width() const override { return user_.width; }

  void successors(std::span<const Code> codes, std::vector<Code>& out) const override {
    if (codes.empty()) return;
    ask(codes, out);
    if (user_.undirected) look_back(codes[out.size() % codes.size()]);
  }

 private:
  void ask(std::span<const Code> codes, std::vector<Code>& out) const {
    const std::size_t begin = out.size(), answers = codes.size() * user_.moves;
    out.resize(begin + answers, none_);
    if (user_.words) {  // which is how codes are held
      call(codes.data(), codes.size(), out.data() + begin);
    } else {
      std::vector<std::uint8_t> keys(codes.size() * user_.width), after(answers * user_.width, 255);
      store_codes(codes, keys, user_.width);
      call(keys.data(), codes.size(), after.data());
      for (std::size_t i = 0; i < answers; ++i)
        out[begin + i] = load_code<Code>(after.data() + i * user_.width, user_.width);
    }
    std::size_t kept = begin;
    [[maybe_unused]] std::uint64_t most = 0;
    for (std::size_t i = begin; i < begin + answers; ++i) {  // without a branch that is hard to foretell
      const bool there = !equal(out[i], none_);
      if constexpr (std::is_same_v<Code, Key>) most = std::max(most, there ? out[i] : 0);
      out[kept] = out[i];
      kept += there ? 1 : 0;
    }
    out.resize(kept);
    if (user_.limit != 0 && most >= user_.limit)
      throw WrongAnswer("answered the key " + std::to_string(most) + ", expected one from 0 to " +
                        std::to_string(user_.limit - 1) + ", or NO_STATE for no move");
  }

  void call(const void* keys, std::size_t count, void* out) const {
    const std::size_t done = user_.ask(keys, count, out, user_.data);
    if (done != count)
      throw WrongAnswer("returned " + std::to_string(done) + " for " + std::to_string(count) +
                        " keys, expected their number; other numbers say that it failed");
  }

  // Whether the moves from a state can be taken back.
  void look_back(const Code& code) const {
    std::vector<Code> there, back;
    ask({&code, 1}, there);
    for (const Code& after : there) {
      back.clear();
      ask({&after, 1}, back);
      if (std::ranges::none_of(back, [&](const Code& one) { return equal(one, code); }))
        throw WrongAnswer("leads from " + name(code) + " to " + name(after) +
                          ", and no move back is answered, but undirected is True; correct it");
    }
  }

  std::string name(const Code& code) const {
    if constexpr (std::is_same_v<Code, Key>) return std::to_string(code);
    std::vector<std::uint8_t> bytes(user_.width);
    store_code(code, bytes.data(), user_.width);
    std::string text = "0x";
    for (const std::uint8_t byte : bytes)
      (text += "0123456789abcdef"[byte >> 4]) += "0123456789abcdef"[byte & 15];
    return text;
  }

  UserMoves user_;
  Code none_;
};

}  // namespace

std::unique_ptr<Expander> user_expander(const UserMoves& moves) {
  return with_code(moves.width, [&]<class Code>(Code) -> std::unique_ptr<Expander> {
    return std::make_unique<UserExpander<Code>>(moves);
  });
}

}  // namespace farthest
