// A test is a function that registers itself; CHECK and CHECK_THROWS report and go on.
#pragma once

#include <iostream>
#include <string>
#include <vector>

namespace farthest::test {

struct Test {
  std::string name;
  void (*run)();
};

std::vector<Test>& tests();
void failed(const char* file, int line, const std::string& what);

struct Register {
  Register(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

}  // namespace farthest::test

#define TEST(name)                                                     \
  static void name();                                                  \
  static const farthest::test::Register register_##name{#name, &name}; \
  static void name()

#define CHECK(condition) \
  ((condition) ? static_cast<void>(0) : farthest::test::failed(__FILE__, __LINE__, #condition))

#define CHECK_THROWS(expression)                                                           \
  do {                                                                                     \
    bool thrown = false;                                                                   \
    try {                                                                                  \
      static_cast<void>(expression);                                                       \
    } catch (const farthest::InvalidArgument&) {                                           \
      thrown = true;                                                                       \
    }                                                                                      \
    if (!thrown) farthest::test::failed(__FILE__, __LINE__, #expression " did not throw"); \
  } while (false)
