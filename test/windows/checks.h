// Checks of a test program: it prints each failed one, and exits 1 if there was one.
#pragma once

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

namespace checks {

inline int failures = 0;
inline int passes = 0;

inline void check(bool isTrue, const std::string& what) {
  ++(isTrue ? passes : failures);
  if (isTrue) return;
  std::printf("failed: %s\n", what.c_str());
  std::fflush(stdout);
}

inline void equal(const std::string& found, const std::string& wanted, const std::string& what) {
  check(found == wanted, what + ": \"" + found + "\", not \"" + wanted + "\"");
}

// Whether `is` becomes true within five seconds.
inline bool comes(const std::function<bool()>& is) {
  for (int i = 0; i < 500; ++i) {
    if (is()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds{10});
  }
  return is();
}

inline int report() {
  if (failures == 0) std::printf("all well: %d checks\n", passes);
  return failures == 0 ? 0 : 1;
}

}  // namespace checks
