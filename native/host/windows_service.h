// This process as a Windows service. Other platforms refuse all functions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace hostwire {

// `failure` is null when the manager has started this process as the service; otherwise it is the reason,
// without a full stop.
using ServiceBegun = std::function<void(const std::optional<std::string>& failure)>;

// Once per process: makes the manager accept it as the service. `begun` is called once, `onStop` at most
// once, when the manager wants the service to end; both on any thread. Neither is ever destroyed.
void beginService(const ServiceBegun& begun, const std::function<void()>& onStop);
// Reports that the service is running and may be stopped. Like the next function, it does nothing before the
// service has begun.
void reportServiceRunning();
// Sends the last report before the process ends; 0: a normal end.
void reportServiceEnded(int exitCode);

// Registers the service hostwire: `command` is the program, as an absolute path, and its arguments. Returns
// the settings that failed, as sentences; throws std::runtime_error with a sentence when the service could
// not be registered.
std::vector<std::string> installService(const std::vector<std::string>& command);
// Stops it, if it is running, and unregisters it. Throws like installService.
void removeService();

}  // namespace hostwire
