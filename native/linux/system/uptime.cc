// /proc/uptime of a container that has its own: lxcfs mounts a file over the kernel's (LXC, Incus, Proxmox).
#include "host/uptime.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <string>
#include <utility>

#include "linux/kernel/file.h"
#include "linux/kernel/parse_proc.h"

namespace hostwire {
namespace {

// The kernel's file has the value of CLOCK_BOOTTIME, with fewer digits.
bool isOfKernel(const std::string& path) {
  struct statfs filesystem {};
  return statfs(path.c_str(), &filesystem) != 0 || filesystem.f_type == PROC_SUPER_MAGIC;
}

}  // namespace

struct UptimeReader::State {
  explicit State(std::string path) : file(std::move(path)) {}
  KeptFile file;
  std::string buffer;
  std::optional<std::int64_t> startedNs;  // on the clock of sinceBootNs
};

UptimeReader::UptimeReader(const Roots& roots) {
  const std::string path = roots.proc + "/uptime";
  if (!isOfKernel(path)) state_ = std::make_unique<State>(path);
}
UptimeReader::~UptimeReader() = default;

// While lxcfs does not answer, its last answer is extrapolated.
std::optional<std::int64_t> UptimeReader::readNs(std::int64_t sinceBootNs) {
  if (!state_) return std::nullopt;
  if (const auto uptimeNs = parseUptime(state_->file.readShortRecordsIfPresent(state_->buffer)))
    state_->startedNs = sinceBootNs - *uptimeNs;
  if (!state_->startedNs) return std::nullopt;
  return sinceBootNs - *state_->startedNs;
}

}  // namespace hostwire
