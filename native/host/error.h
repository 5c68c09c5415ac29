// The exceptions of the native side.
#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

namespace hostwire {

// Which operation failed, on which object, and the system's code for it.
class HostError : public std::system_error {
 public:
  // `operation` reads like "open /proc/stat"; `code` is an errno (GetLastError() on Windows).
  HostError(int code, const std::string& operation)
      : std::system_error(code, std::system_category(), operation), operation_(operation) {}
  const std::string& operation() const { return operation_; }

 private:
  std::string operation_;
};

// The last question of a prober failed; the text is the reason that it reported.
class ProbeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hostwire
