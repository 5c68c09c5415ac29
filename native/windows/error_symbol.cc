// Symbols of Windows' own errors, as far as its readers meet them.
#include <array>

#include "host/error.h"
#include "host/error_symbol.h"
#include "windows/win32/win32.h"

namespace hostwire {
namespace {

constexpr std::array kRows{HOSTWIRE_ERROR(ERROR_SUCCESS),
                           HOSTWIRE_ERROR(ERROR_INVALID_FUNCTION),
                           HOSTWIRE_ERROR(ERROR_FILE_NOT_FOUND),
                           HOSTWIRE_ERROR(ERROR_PATH_NOT_FOUND),
                           HOSTWIRE_ERROR(ERROR_TOO_MANY_OPEN_FILES),
                           HOSTWIRE_ERROR(ERROR_ACCESS_DENIED),
                           HOSTWIRE_ERROR(ERROR_INVALID_HANDLE),
                           HOSTWIRE_ERROR(ERROR_NOT_ENOUGH_MEMORY),
                           HOSTWIRE_ERROR(ERROR_OUTOFMEMORY),
                           HOSTWIRE_ERROR(ERROR_INVALID_DATA),
                           HOSTWIRE_ERROR(ERROR_NOT_READY),
                           HOSTWIRE_ERROR(ERROR_CRC),
                           HOSTWIRE_ERROR(ERROR_SHARING_VIOLATION),
                           HOSTWIRE_ERROR(ERROR_LOCK_VIOLATION),
                           HOSTWIRE_ERROR(ERROR_NOT_SUPPORTED),
                           HOSTWIRE_ERROR(ERROR_FILE_EXISTS),
                           HOSTWIRE_ERROR(ERROR_INVALID_PARAMETER),
                           HOSTWIRE_ERROR(ERROR_BROKEN_PIPE),
                           HOSTWIRE_ERROR(ERROR_CALL_NOT_IMPLEMENTED),
                           HOSTWIRE_ERROR(ERROR_SEM_TIMEOUT),
                           HOSTWIRE_ERROR(ERROR_INSUFFICIENT_BUFFER),
                           HOSTWIRE_ERROR(ERROR_INVALID_NAME),
                           HOSTWIRE_ERROR(ERROR_MOD_NOT_FOUND),
                           HOSTWIRE_ERROR(ERROR_PROC_NOT_FOUND),
                           HOSTWIRE_ERROR(ERROR_BAD_PATHNAME),
                           HOSTWIRE_ERROR(ERROR_BUSY),
                           HOSTWIRE_ERROR(ERROR_ALREADY_EXISTS),
                           HOSTWIRE_ERROR(ERROR_BAD_EXE_FORMAT),
                           HOSTWIRE_ERROR(ERROR_FILENAME_EXCED_RANGE),
                           HOSTWIRE_ERROR(ERROR_MORE_DATA),
                           HOSTWIRE_ERROR(ERROR_DIRECTORY),
                           HOSTWIRE_ERROR(ERROR_OPERATION_ABORTED),
                           HOSTWIRE_ERROR(ERROR_IO_PENDING),
                           HOSTWIRE_ERROR(ERROR_NOACCESS),
                           HOSTWIRE_ERROR(ERROR_IO_DEVICE),
                           HOSTWIRE_ERROR(ERROR_DEVICE_NOT_CONNECTED),
                           HOSTWIRE_ERROR(ERROR_NOT_FOUND),
                           HOSTWIRE_ERROR(ERROR_CANCELLED),
                           HOSTWIRE_ERROR(ERROR_PRIVILEGE_NOT_HELD),
                           HOSTWIRE_ERROR(ERROR_NO_SYSTEM_RESOURCES),
                           HOSTWIRE_ERROR(ERROR_TIMEOUT),
                           HOSTWIRE_ERROR(ERROR_SERVICE_ALREADY_RUNNING),
                           HOSTWIRE_ERROR(ERROR_SERVICE_DISABLED),
                           HOSTWIRE_ERROR(ERROR_SERVICE_DOES_NOT_EXIST),
                           HOSTWIRE_ERROR(ERROR_SERVICE_NOT_ACTIVE),
                           HOSTWIRE_ERROR(ERROR_SERVICE_EXISTS),
                           HOSTWIRE_ERROR(ERROR_SERVICE_MARKED_FOR_DELETE),
                           HOSTWIRE_ERROR(ERROR_GEN_FAILURE),
                           HOSTWIRE_ERROR(ERROR_NOT_ENOUGH_QUOTA)};

}  // namespace

std::string systemErrorSymbol(int code) {
  const std::string_view symbol = findErrorSymbol(kRows, code);
  return symbol.empty() ? "WIN32_" + std::to_string(static_cast<DWORD>(code)) : std::string(symbol);
}

}  // namespace hostwire
