// This process as the system's own manager of services has it (the service control manager of Windows).
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hostwire {

// Nothing: the manager has started this process as the service. Else why it has not, as a sentence without a
// full stop.
using ServiceBegun = std::function<void(const std::optional<std::string>& failure)>;

// Once a process: has the manager take it for the service. `begun` is called once, `onStop` when the manager
// wants the service to end, at most once; both on any thread. What is kept of them is never destroyed.
void beginService(const ServiceBegun& begun, const std::function<void()>& onStop);
// From now on it may be stopped. Does nothing before it has begun, as the next.
void reportServiceRunning();
// The last word before the process ends; 0: as it should.
void reportServiceEnded(int exitCode);

// Registers the service hostwire: `command` is the program, as an absolute path, and its arguments. What it
// could not set, as sentences; throws std::runtime_error with one when there is no such service then.
std::vector<std::string> installService(const std::vector<std::string>& command);
// Stops it, if it runs, and has it forgotten. Throws as the former.
void removeService();

}  // namespace hostwire
