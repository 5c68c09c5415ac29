// The names of processes that the kernel has cut at 15 bytes.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "host/process.h"

namespace hostwire {

// Reading a command line may hang: the kernel waits for whoever is changing the memory map of that process,
// and that one may be waiting for a dead file server. So they are read on a thread of their own, once a
// process, and a process that does not let itself be read keeps its cut name.
class FullNames {
 public:
  explicit FullNames(const std::string& proc);
  ~FullNames();
  FullNames(const FullNames&) = delete;
  FullNames& operator=(const FullNames&) = delete;

  // Completes the names of `processes`, a whole reading, which are still as the kernel has them; waits for
  // `patience` at most for those that are new. What is not known by then is completed in a later reading.
  // From any thread.
  void complete(std::vector<ProcessCounters>& processes, std::chrono::milliseconds patience);

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace hostwire
