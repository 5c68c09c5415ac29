// Entry point of libFuzzer: explores the parser that HOSTWIRE_FUZZ_TARGET names.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "fuzz/targets.h"

namespace {

const hostwire::FuzzTarget& chosenTarget() {
  const char* name = std::getenv("HOSTWIRE_FUZZ_TARGET");
  for (const hostwire::FuzzTarget& target : hostwire::fuzzTargets())
    if (name != nullptr && target.name == name) return target;
  std::fprintf(stderr, "HOSTWIRE_FUZZ_TARGET names no parser\n");
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const hostwire::FuzzTarget& target = chosenTarget();
  // libFuzzer's buffer has exactly this size, so a read past its end is detected.
  target.run({reinterpret_cast<const char*>(data), size});
  return 0;
}
