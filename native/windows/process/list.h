// The list of processes, from one call.
#pragma once

#include <cstddef>
#include <vector>

#include "host/process.h"
#include "windows/process/owners.h"
#include "windows/process/parse_processes.h"

namespace hostwire {

// Used by one thread at a time.
class ProcessLister {
 public:
  // `owners`: null for a reading without them. Throws HostError.
  ProcessReading read(ProcessOwners* owners);

 private:
  std::vector<ListedProcess> list();

  std::vector<std::byte> buffer_;
};

}  // namespace hostwire
