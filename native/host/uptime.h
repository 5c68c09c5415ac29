// Uptime of the machine as its users see it: in a container that may be since its own start.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "host/roots.h"

namespace hostwire {

class UptimeReader {
 public:
  explicit UptimeReader(const Roots& roots);
  ~UptimeReader();
  // Returns nanoseconds, given ClockReading::sinceBootNs of the same moment. Absent if that is already the
  // uptime.
  std::optional<std::int64_t> readNs(std::int64_t sinceBootNs);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
