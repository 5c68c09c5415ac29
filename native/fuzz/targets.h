// Fuzz targets: every parser of kernel text as a function that takes any bytes.
#pragma once

#include <string_view>
#include <vector>

namespace hostwire {

struct FuzzTarget {
  std::string_view name;
  // The ending of the files under a fixture's proc/ and sys/ that this parser reads; "" for none.
  std::string_view fixtureEnding;
  void (*run)(std::string_view input);
};

// Returns all of them.
const std::vector<FuzzTarget>& fuzzTargets();
// Returns those of the network, and of graphics processors, sensors and batteries, under Linux.
const std::vector<FuzzTarget>& networkTargets();
const std::vector<FuzzTarget>& deviceTargets();
// Returns the parsers for Windows and for the firmware's tables: pure, run on every platform.
const std::vector<FuzzTarget>& windowsTargets();
// Returns the parsers for drives, also run on every platform.
const std::vector<FuzzTarget>& driveTargets();
// Returns those of metrics.
const std::vector<FuzzTarget>& metricsTargets();

// For a parser that only must not crash.
template <auto Parse>
void call(std::string_view input) {
  static_cast<void>(Parse(input));
}

// Ends the process with the message `what` when `holds` is false.
void require(bool holds, const char* what);

}  // namespace hostwire
