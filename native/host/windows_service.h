// This process as the service control manager of Windows sees it. Other platforms refuse all of it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hostwire {

// `failure` is null when the manager has started this process as the service; otherwise it says why not,
// without a full stop.
using ServiceBegun = std::function<void(const std::optional<std::string>& failure)>;

// Once per process: has the manager accept it as the service. `begun` is called once, `onStop` when the
// manager wants the service to end, at most once; both on any thread. Neither is ever destroyed.
void beginService(const ServiceBegun& begun, const std::function<void()>& onStop);
// From now on it may be stopped. Like the next function, it does nothing before the service has begun.
void reportServiceRunning();
// The last report before the process ends; 0: a normal end.
void reportServiceEnded(int exitCode);

// Registers the service hostwire: `command` is the program, as an absolute path, and its arguments. Returns
// what could not be set, as sentences; throws std::runtime_error with one when the service could not be
// registered.
std::vector<std::string> installService(const std::vector<std::string>& command);
// Stops it, if it runs, and unregisters it. Throws like installService.
void removeService();

}  // namespace hostwire
