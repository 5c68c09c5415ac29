// The exceptions of the native side.
#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

namespace hostwire {

// Which operation failed, on which object, and why.
class HostError : public std::system_error {
 public:
  // `operation` reads like "open /proc/stat"; `code` is the system's own: an errno, a Win32 error on Windows.
  HostError(int code, const std::string& operation)
      : std::system_error(code, std::system_category(), operation), operation_(operation) {}
  // Of ours: it means the same on every platform.
  HostError(std::errc code, const std::string& operation)
      : std::system_error(std::make_error_code(code), operation), operation_(operation) {}
  const std::string& operation() const { return operation_; }
  // "EAGAIN", "ENOTSUP"; "ERROR_ACCESS_DENIED" for what Windows has reported.
  std::string symbol() const;

 private:
  std::string operation_;
};

// The symbol of an errno, as Node names it on every platform and C library; "ERRNO_99" for an unknown one.
std::string errnoSymbol(int code);

// The platform's: the symbol of a code of the system's own.
std::string systemErrorSymbol(int code);

// The last question of a prober failed; the text is the reason that it reported.
class ProbeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hostwire
