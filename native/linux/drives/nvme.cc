// NVMe drives: Get Log Page by NVME_IOCTL_ADMIN_CMD (include/uapi/linux/nvme_ioctl.h).
#include <linux/nvme_ioctl.h>
#include <sys/ioctl.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "firmware/parse_nvme_health.h"
#include "host/error.h"
#include "linux/drives/ask.h"
#include "linux/drives/open.h"

namespace hostwire {
namespace {

// drivers/nvme/host/ioctl.c, nvme_cmd_allowed(): of admin commands only Identify is allowed without it.
constexpr std::string_view kNvmeCapability = "CAP_SYS_ADMIN";
constexpr std::uint8_t kGetLogPage = 0x02;
constexpr std::uint32_t kAllNamespaces = 0xFFFFFFFF;
constexpr std::uint32_t kNvmeTimeoutMs = 5000;

DriveAnswer askNvme(const FoundDrive& drive) {
  if (isSuspended(drive)) return asleep();
  // The namespace's device rather than the controller's: the group disk may open it, and it works over any
  // path to the drive.
  const OpenedDrive opened = openDrive(drive, kNvmeCapability);
  if (!opened.fd.isOpen()) return failed(opened.failure);
  std::array<std::uint8_t, kNvmeHealthBytes> page{};
  nvme_admin_cmd command{};
  command.opcode = kGetLogPage;
  command.nsid = kAllNamespaces;
  command.addr = reinterpret_cast<std::uintptr_t>(page.data());
  command.data_len = page.size();
  command.cdw10 = kNvmeHealthLog | (static_cast<std::uint32_t>(page.size() / 4 - 1) << 16U);
  command.timeout_ms = kNvmeTimeoutMs;
  const int status = ioctl(opened.fd.get(), NVME_IOCTL_ADMIN_CMD, &command);
  if (status < 0) {
    const int code = errno;
    if (code == EACCES || code == EPERM) return failed("needs " + std::string(kNvmeCapability));
    if (code == ENOTTY || code == EINVAL) return failed("its driver passes no NVMe commands on");
    throw HostError(code, "read the health log of /dev/" + drive.name);
  }
  if (status > 0) return failed("the drive refused to send its health log");
  auto health = parseNvmeHealth(page);
  if (!health) return failed(std::string(kEmptyLog));
  return {health, {}};
}

}  // namespace

std::function<DriveAnswer()> makeNvmeQuestion(const FoundDrive& drive) {
  return [drive] { return askNvme(drive); };
}

}  // namespace hostwire
