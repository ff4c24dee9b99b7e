// Runs all tests, or those whose names contain the first argument. Two numbers after it: every so many tests,
// from this one on, so that several processes share them. Exit status 1 when a check failed.
#include <exception>

#include "check.hpp"

namespace farthest::test {
namespace {

int failures = 0;

}  // namespace

std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

void failed(const char* file, int line, const std::string& what) {
  constexpr int kShown = 20;
  if (++failures <= kShown) std::cerr << file << ":" << line << ": failed: " << what << "\n";
  if (failures == kShown) std::cerr << "(further failures are only counted)\n";
}

}  // namespace farthest::test

int main(int argc, char** argv) {
  using namespace farthest::test;
  const std::string wanted = argc > 1 ? argv[1] : "";
  const std::size_t first = argc > 3 ? std::stoul(argv[2]) : 0, step = argc > 3 ? std::stoul(argv[3]) : 1;
  int run = 0;
  for (std::size_t i = first; i < tests().size(); i += step) {
    const Test& test = tests()[i];
    if (test.name.find(wanted) == std::string::npos) continue;
    ++run;
    const int before = failures;
    try {
      test.run();
    } catch (const std::exception& error) {
      failed(test.name.c_str(), 0, std::string("unexpected exception: ") + error.what());
    }
    if (failures != before) std::cerr << "FAILED " << test.name << "\n";
  }
  std::cout << run << " tests, " << failures << " failed checks\n";
  return failures != 0 || run == 0 ? 1 : 0;
}
