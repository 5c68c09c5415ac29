// The symbols of Windows' own errors, those that its readers meet.
#include <array>
#include <string_view>

#include "host/error.h"
#include "windows/win32/win32.h"

namespace hostwire {
namespace {

struct Row {
  DWORD code;
  std::string_view symbol;
};

#define HOSTWIRE_WIN32(name) \
  Row { name, #name }

constexpr std::array kRows{HOSTWIRE_WIN32(ERROR_SUCCESS),
                           HOSTWIRE_WIN32(ERROR_INVALID_FUNCTION),
                           HOSTWIRE_WIN32(ERROR_FILE_NOT_FOUND),
                           HOSTWIRE_WIN32(ERROR_PATH_NOT_FOUND),
                           HOSTWIRE_WIN32(ERROR_TOO_MANY_OPEN_FILES),
                           HOSTWIRE_WIN32(ERROR_ACCESS_DENIED),
                           HOSTWIRE_WIN32(ERROR_INVALID_HANDLE),
                           HOSTWIRE_WIN32(ERROR_NOT_ENOUGH_MEMORY),
                           HOSTWIRE_WIN32(ERROR_OUTOFMEMORY),
                           HOSTWIRE_WIN32(ERROR_INVALID_DATA),
                           HOSTWIRE_WIN32(ERROR_NOT_READY),
                           HOSTWIRE_WIN32(ERROR_CRC),
                           HOSTWIRE_WIN32(ERROR_SHARING_VIOLATION),
                           HOSTWIRE_WIN32(ERROR_LOCK_VIOLATION),
                           HOSTWIRE_WIN32(ERROR_NOT_SUPPORTED),
                           HOSTWIRE_WIN32(ERROR_FILE_EXISTS),
                           HOSTWIRE_WIN32(ERROR_INVALID_PARAMETER),
                           HOSTWIRE_WIN32(ERROR_BROKEN_PIPE),
                           HOSTWIRE_WIN32(ERROR_CALL_NOT_IMPLEMENTED),
                           HOSTWIRE_WIN32(ERROR_SEM_TIMEOUT),
                           HOSTWIRE_WIN32(ERROR_INSUFFICIENT_BUFFER),
                           HOSTWIRE_WIN32(ERROR_INVALID_NAME),
                           HOSTWIRE_WIN32(ERROR_MOD_NOT_FOUND),
                           HOSTWIRE_WIN32(ERROR_PROC_NOT_FOUND),
                           HOSTWIRE_WIN32(ERROR_BAD_PATHNAME),
                           HOSTWIRE_WIN32(ERROR_BUSY),
                           HOSTWIRE_WIN32(ERROR_ALREADY_EXISTS),
                           HOSTWIRE_WIN32(ERROR_BAD_EXE_FORMAT),
                           HOSTWIRE_WIN32(ERROR_FILENAME_EXCED_RANGE),
                           HOSTWIRE_WIN32(ERROR_MORE_DATA),
                           HOSTWIRE_WIN32(ERROR_DIRECTORY),
                           HOSTWIRE_WIN32(ERROR_OPERATION_ABORTED),
                           HOSTWIRE_WIN32(ERROR_IO_PENDING),
                           HOSTWIRE_WIN32(ERROR_NOACCESS),
                           HOSTWIRE_WIN32(ERROR_IO_DEVICE),
                           HOSTWIRE_WIN32(ERROR_DEVICE_NOT_CONNECTED),
                           HOSTWIRE_WIN32(ERROR_NOT_FOUND),
                           HOSTWIRE_WIN32(ERROR_CANCELLED),

                           HOSTWIRE_WIN32(ERROR_PRIVILEGE_NOT_HELD),
                           HOSTWIRE_WIN32(ERROR_NO_SYSTEM_RESOURCES),
                           HOSTWIRE_WIN32(ERROR_TIMEOUT),
                           HOSTWIRE_WIN32(ERROR_SERVICE_ALREADY_RUNNING),
                           HOSTWIRE_WIN32(ERROR_SERVICE_DISABLED),
                           HOSTWIRE_WIN32(ERROR_SERVICE_DOES_NOT_EXIST),
                           HOSTWIRE_WIN32(ERROR_SERVICE_NOT_ACTIVE),
                           HOSTWIRE_WIN32(ERROR_SERVICE_EXISTS),
                           HOSTWIRE_WIN32(ERROR_SERVICE_MARKED_FOR_DELETE),
                           HOSTWIRE_WIN32(ERROR_GEN_FAILURE),
                           HOSTWIRE_WIN32(ERROR_NOT_ENOUGH_QUOTA)};

#undef HOSTWIRE_WIN32

}  // namespace

std::string systemErrorSymbol(int code) {
  const auto number = static_cast<DWORD>(code);
  for (const Row& row : kRows)
    if (row.code == number) return std::string(row.symbol);
  return "WIN32_" + std::to_string(number);
}

}  // namespace hostwire
