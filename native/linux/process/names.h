// Names of processes that the kernel has cut at 15 bytes.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "host/process.h"

namespace hostwire {

// Reading a command line may hang: the kernel waits for the thread that is changing that process's memory
// map, which may be waiting for a dead file server. So command lines are read on a separate thread, once per
// process, and a process that cannot be read keeps its cut name.
class FullNames {
 public:
  explicit FullNames(const std::string& proc);
  ~FullNames();
  FullNames(const FullNames&) = delete;
  FullNames& operator=(const FullNames&) = delete;

  // Completes the names of `processes`, a whole reading with the kernel's names; waits for new ones for at
  // most `patience`. Names that are unknown by then are completed in a later reading. May be called on any
  // thread.
  void complete(std::vector<ProcessCounters>& processes, std::chrono::milliseconds patience);

  struct State;

 private:
  std::shared_ptr<State> state_;
};

}  // namespace hostwire
