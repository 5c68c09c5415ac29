// The kernel's own counters as metrics, with the names, labels, units and help texts of Prometheus'
// node_exporter.
#pragma once

#include <memory>
#include <string>

#include "host/roots.h"

namespace hostwire {

class MetricsReader {
 public:
  explicit MetricsReader(const Roots& roots);
  ~MetricsReader();
  // Returns all families that can be read now, in the exposition format of Prometheus. Reads dozens of files
  // and may wait for the kernel's network configuration lock, so it must not run on the JavaScript thread.
  // May be called from any thread, one reading at a time. Throws HostError where the platform does not
  // support it.
  std::string read();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
