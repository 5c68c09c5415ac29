// Facts that the kernel reports about one TCP connection, and the descriptors that may be one.
#include "linux/sockets/tcp.h"

#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>

#include "host/error.h"
#include "linux/kernel/file.h"
#include "linux/kernel/parse_proc.h"
#include "linux/sockets/options.h"

namespace hostwire {

std::optional<bool> hasPending(int fd) {
  // The kernel writes SK_MEMINFO_VARS numbers, more with each version: those that do not fit are dropped.
  using SocketMemory = std::array<std::uint32_t, SK_MEMINFO_VARS>;
  const auto memory = readSocketOption<SocketMemory>(fd, SOL_SOCKET, SO_MEMINFO);
  if (!memory) return std::nullopt;
  return (*memory)[SK_MEMINFO_WMEM_QUEUED] > 0;
}

int descriptorsEnd() {
  std::string text;
  KeptFile status("/proc/self/status");
  const auto size = parseDescriptorTableSize(status.read(text));
  if (!size) throw HostError(ENODATA, "read FDSize of /proc/self/status");
  return *size;
}

}  // namespace hostwire
