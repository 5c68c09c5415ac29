// The symbols of errors.
#include "host/error.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

namespace hostwire {
namespace {

struct Row {
  int code;
  std::string_view symbol;
};

#define HOSTWIRE_ERRNO(name) \
  Row { name, #name }

// All that C++ itself requires <cerrno> to have. Where two have one number the first counts: on Linux ENOTSUP
// is EOPNOTSUPP, and EAGAIN is EWOULDBLOCK.
constexpr std::array kRows{
    HOSTWIRE_ERRNO(E2BIG),         HOSTWIRE_ERRNO(EACCES),          HOSTWIRE_ERRNO(EADDRINUSE),
    HOSTWIRE_ERRNO(EADDRNOTAVAIL), HOSTWIRE_ERRNO(EAFNOSUPPORT),    HOSTWIRE_ERRNO(EAGAIN),
    HOSTWIRE_ERRNO(EALREADY),      HOSTWIRE_ERRNO(EBADF),           HOSTWIRE_ERRNO(EBADMSG),
    HOSTWIRE_ERRNO(EBUSY),         HOSTWIRE_ERRNO(ECANCELED),       HOSTWIRE_ERRNO(ECHILD),
    HOSTWIRE_ERRNO(ECONNABORTED),  HOSTWIRE_ERRNO(ECONNREFUSED),    HOSTWIRE_ERRNO(ECONNRESET),
    HOSTWIRE_ERRNO(EDEADLK),       HOSTWIRE_ERRNO(EDESTADDRREQ),    HOSTWIRE_ERRNO(EDOM),
    HOSTWIRE_ERRNO(EEXIST),        HOSTWIRE_ERRNO(EFAULT),          HOSTWIRE_ERRNO(EFBIG),
    HOSTWIRE_ERRNO(EHOSTUNREACH),  HOSTWIRE_ERRNO(EIDRM),           HOSTWIRE_ERRNO(EILSEQ),
    HOSTWIRE_ERRNO(EINPROGRESS),   HOSTWIRE_ERRNO(EINTR),           HOSTWIRE_ERRNO(EINVAL),
    HOSTWIRE_ERRNO(EIO),           HOSTWIRE_ERRNO(EISCONN),         HOSTWIRE_ERRNO(EISDIR),
    HOSTWIRE_ERRNO(ELOOP),         HOSTWIRE_ERRNO(EMFILE),          HOSTWIRE_ERRNO(EMLINK),
    HOSTWIRE_ERRNO(EMSGSIZE),      HOSTWIRE_ERRNO(ENAMETOOLONG),    HOSTWIRE_ERRNO(ENETDOWN),
    HOSTWIRE_ERRNO(ENETRESET),     HOSTWIRE_ERRNO(ENETUNREACH),     HOSTWIRE_ERRNO(ENFILE),
    HOSTWIRE_ERRNO(ENOBUFS),       HOSTWIRE_ERRNO(ENODATA),         HOSTWIRE_ERRNO(ENODEV),
    HOSTWIRE_ERRNO(ENOENT),        HOSTWIRE_ERRNO(ENOEXEC),         HOSTWIRE_ERRNO(ENOLCK),
    HOSTWIRE_ERRNO(ENOLINK),       HOSTWIRE_ERRNO(ENOMEM),          HOSTWIRE_ERRNO(ENOMSG),
    HOSTWIRE_ERRNO(ENOPROTOOPT),   HOSTWIRE_ERRNO(ENOSPC),          HOSTWIRE_ERRNO(ENOSR),
    HOSTWIRE_ERRNO(ENOSTR),        HOSTWIRE_ERRNO(ENOSYS),          HOSTWIRE_ERRNO(ENOTCONN),
    HOSTWIRE_ERRNO(ENOTDIR),       HOSTWIRE_ERRNO(ENOTEMPTY),       HOSTWIRE_ERRNO(ENOTRECOVERABLE),
    HOSTWIRE_ERRNO(ENOTSOCK),      HOSTWIRE_ERRNO(ENOTSUP),         HOSTWIRE_ERRNO(ENOTTY),
    HOSTWIRE_ERRNO(ENXIO),         HOSTWIRE_ERRNO(EOPNOTSUPP),      HOSTWIRE_ERRNO(EOVERFLOW),
    HOSTWIRE_ERRNO(EOWNERDEAD),    HOSTWIRE_ERRNO(EPERM),           HOSTWIRE_ERRNO(EPIPE),
    HOSTWIRE_ERRNO(EPROTO),        HOSTWIRE_ERRNO(EPROTONOSUPPORT), HOSTWIRE_ERRNO(EPROTOTYPE),
    HOSTWIRE_ERRNO(ERANGE),        HOSTWIRE_ERRNO(EROFS),           HOSTWIRE_ERRNO(ESPIPE),
    HOSTWIRE_ERRNO(ESRCH),         HOSTWIRE_ERRNO(ETIME),           HOSTWIRE_ERRNO(ETIMEDOUT),
    HOSTWIRE_ERRNO(ETXTBSY),       HOSTWIRE_ERRNO(EWOULDBLOCK),     HOSTWIRE_ERRNO(EXDEV)};

#undef HOSTWIRE_ERRNO

}  // namespace

std::string errnoSymbol(int code) {
  const auto* const found =
      std::find_if(kRows.begin(), kRows.end(), [code](const Row& row) { return row.code == code; });
  return found == kRows.end() ? "ERRNO_" + std::to_string(code) : std::string(found->symbol);
}

std::string HostError::symbol() const {
  return code().category() == std::system_category() ? systemErrorSymbol(code().value())
                                                     : errnoSymbol(code().value());
}

}  // namespace hostwire
