// The fuzzing surface: every parser of kernel text as a function that takes any bytes.
#pragma once

#include <string_view>
#include <vector>

namespace hostwire {

struct FuzzTarget {
  std::string_view name;
  // The files under a fixture's proc/ and sys/ that this parser reads end like this; "" takes none.
  std::string_view fixtureEnding;
  void (*run)(std::string_view input);
};

const std::vector<FuzzTarget>& fuzzTargets();
// Those of the parsers that Windows and the firmware's tables have: pure, and run on every platform.
const std::vector<FuzzTarget>& windowsTargets();
// Those of drives, on every platform as well.
const std::vector<FuzzTarget>& driveTargets();

// Ends the process with `what` where it does not hold.
void require(bool holds, const char* what);

}  // namespace hostwire
