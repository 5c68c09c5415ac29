// The exceptions of the native side.
#pragma once

#include <stdexcept>
#include <string>
#include <system_error>

namespace hostwire {

// Says which operation failed, on which object, and why.
class HostError : public std::system_error {
 public:
  // `operation` reads like "open /proc/stat"; `code` is the system's own: an errno on Linux, a Win32 error on
  // Windows.
  HostError(int code, const std::string& operation)
      : std::system_error(code, std::system_category(), operation), operation_(operation) {}
  // For an error of hostwire itself: it means the same on every platform.
  HostError(std::errc code, const std::string& operation)
      : std::system_error(std::make_error_code(code), operation), operation_(operation) {}
  const std::string& operation() const { return operation_; }
  // Returns "EAGAIN", "ENOTSUP"; "ERROR_ACCESS_DENIED" for an error that Windows reported.
  std::string symbol() const;

 private:
  std::string operation_;
};

// Returns the symbol of an errno, as Node names it on every platform and C library; "ERRNO_99" for an unknown
// one.
std::string errnoSymbol(int code);

// Returns the symbol of one of the system's own codes. Implemented by the platform.
std::string systemErrorSymbol(int code);

// The last question of a prober failed; the text is the reason.
class ProbeError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace hostwire
