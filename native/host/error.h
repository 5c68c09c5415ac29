// The only exception of the native side: which operation failed, on which object, and the system's code for
// it.
#pragma once

#include <string>
#include <system_error>

namespace hostwire {

class HostError : public std::system_error {
 public:
  // `operation` reads like "open /proc/stat"; `code` is an errno (GetLastError() on Windows).
  HostError(int code, const std::string& operation)
      : std::system_error(code, std::system_category(), operation), operation_(operation) {}
  const std::string& operation() const { return operation_; }

 private:
  std::string operation_;
};

}  // namespace hostwire
