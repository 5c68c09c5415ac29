// Symbols of error codes.
#include "host/error.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include "host/error_symbol.h"

namespace hostwire {
namespace {

// All symbols that C++ itself requires <cerrno> to have. If two have the same number, the first counts: on
// Linux ENOTSUP is EOPNOTSUPP, and EAGAIN is EWOULDBLOCK.
constexpr std::array kRows{
    HOSTWIRE_ERROR(E2BIG),         HOSTWIRE_ERROR(EACCES),          HOSTWIRE_ERROR(EADDRINUSE),
    HOSTWIRE_ERROR(EADDRNOTAVAIL), HOSTWIRE_ERROR(EAFNOSUPPORT),    HOSTWIRE_ERROR(EAGAIN),
    HOSTWIRE_ERROR(EALREADY),      HOSTWIRE_ERROR(EBADF),           HOSTWIRE_ERROR(EBADMSG),
    HOSTWIRE_ERROR(EBUSY),         HOSTWIRE_ERROR(ECANCELED),       HOSTWIRE_ERROR(ECHILD),
    HOSTWIRE_ERROR(ECONNABORTED),  HOSTWIRE_ERROR(ECONNREFUSED),    HOSTWIRE_ERROR(ECONNRESET),
    HOSTWIRE_ERROR(EDEADLK),       HOSTWIRE_ERROR(EDESTADDRREQ),    HOSTWIRE_ERROR(EDOM),
    HOSTWIRE_ERROR(EEXIST),        HOSTWIRE_ERROR(EFAULT),          HOSTWIRE_ERROR(EFBIG),
    HOSTWIRE_ERROR(EHOSTUNREACH),  HOSTWIRE_ERROR(EIDRM),           HOSTWIRE_ERROR(EILSEQ),
    HOSTWIRE_ERROR(EINPROGRESS),   HOSTWIRE_ERROR(EINTR),           HOSTWIRE_ERROR(EINVAL),
    HOSTWIRE_ERROR(EIO),           HOSTWIRE_ERROR(EISCONN),         HOSTWIRE_ERROR(EISDIR),
    HOSTWIRE_ERROR(ELOOP),         HOSTWIRE_ERROR(EMFILE),          HOSTWIRE_ERROR(EMLINK),
    HOSTWIRE_ERROR(EMSGSIZE),      HOSTWIRE_ERROR(ENAMETOOLONG),    HOSTWIRE_ERROR(ENETDOWN),
    HOSTWIRE_ERROR(ENETRESET),     HOSTWIRE_ERROR(ENETUNREACH),     HOSTWIRE_ERROR(ENFILE),
    HOSTWIRE_ERROR(ENOBUFS),       HOSTWIRE_ERROR(ENODATA),         HOSTWIRE_ERROR(ENODEV),
    HOSTWIRE_ERROR(ENOENT),        HOSTWIRE_ERROR(ENOEXEC),         HOSTWIRE_ERROR(ENOLCK),
    HOSTWIRE_ERROR(ENOLINK),       HOSTWIRE_ERROR(ENOMEM),          HOSTWIRE_ERROR(ENOMSG),
    HOSTWIRE_ERROR(ENOPROTOOPT),   HOSTWIRE_ERROR(ENOSPC),          HOSTWIRE_ERROR(ENOSR),
    HOSTWIRE_ERROR(ENOSTR),        HOSTWIRE_ERROR(ENOSYS),          HOSTWIRE_ERROR(ENOTCONN),
    HOSTWIRE_ERROR(ENOTDIR),       HOSTWIRE_ERROR(ENOTEMPTY),       HOSTWIRE_ERROR(ENOTRECOVERABLE),
    HOSTWIRE_ERROR(ENOTSOCK),      HOSTWIRE_ERROR(ENOTSUP),         HOSTWIRE_ERROR(ENOTTY),
    HOSTWIRE_ERROR(ENXIO),         HOSTWIRE_ERROR(EOPNOTSUPP),      HOSTWIRE_ERROR(EOVERFLOW),
    HOSTWIRE_ERROR(EOWNERDEAD),    HOSTWIRE_ERROR(EPERM),           HOSTWIRE_ERROR(EPIPE),
    HOSTWIRE_ERROR(EPROTO),        HOSTWIRE_ERROR(EPROTONOSUPPORT), HOSTWIRE_ERROR(EPROTOTYPE),
    HOSTWIRE_ERROR(ERANGE),        HOSTWIRE_ERROR(EROFS),           HOSTWIRE_ERROR(ESPIPE),
    HOSTWIRE_ERROR(ESRCH),         HOSTWIRE_ERROR(ETIME),           HOSTWIRE_ERROR(ETIMEDOUT),
    HOSTWIRE_ERROR(ETXTBSY),       HOSTWIRE_ERROR(EWOULDBLOCK),     HOSTWIRE_ERROR(EXDEV)};

}  // namespace

std::string_view findErrorSymbol(std::span<const ErrorSymbol> rows, int code) {
  const auto found =
      std::find_if(rows.begin(), rows.end(), [code](const ErrorSymbol& row) { return row.code == code; });
  return found == rows.end() ? std::string_view{} : found->symbol;
}

std::string errnoSymbol(int code) {
  const std::string_view symbol = findErrorSymbol(kRows, code);
  return symbol.empty() ? "ERRNO_" + std::to_string(code) : std::string(symbol);
}

std::string HostError::symbol() const {
  return code().category() == std::system_category() ? systemErrorSymbol(code().value())
                                                     : errnoSymbol(code().value());
}

}  // namespace hostwire
