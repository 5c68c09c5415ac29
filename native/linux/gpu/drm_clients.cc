// Finds the open files of DRM clients in /proc/PID/fd and reads /proc/PID/fdinfo:
// Documentation/gpu/drm-usage-stats.rst.
#include "linux/gpu/drm_clients.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <thread>
#include <utility>

#include "linux/kernel/directory.h"

namespace hostwire {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Time between scans. A link costs about 1.5 µs: ten thousand open files are checked in 15 ms.
constexpr seconds kScanInterval{15};
constexpr milliseconds kScanTime{20};
// Pause before a scan that ran out of time is continued.
constexpr seconds kScanPause{3};
// Maximum number of clients. Each keeps a descriptor open and costs about 5 µs per reading.
constexpr std::size_t kMaxClients = 128;
// Minimum window: between closer readings chance dominates the load.
constexpr milliseconds kShortestLoadWindow{20};
// Maximum window: a longer one shows the past rather than the present.
constexpr seconds kLongestLoadWindow{60};
// The window of a first reading: together with a scan it stays below the 50 ms after which a question counts
// as stuck.
constexpr milliseconds kFirstWindow{22};

bool isNumber(std::string_view name) {
  return !name.empty() && name.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

DrmClients::DrmClients(std::string proc, const GpuDevice& device)
    : proc_(std::move(proc)), address_(device.isOnPci ? device.address : ""), nodes_(device.nodes) {}

void DrmClients::keep(const std::string& path) {
  KeptFile file(path);
  const auto client = parseDrmClient(file.readIfPresent(buffer_));
  if (!client || client->device != address_ || kept_.size() == kMaxClients) return;
  const auto isSame = [&](const Kept& kept) { return kept.id == client->id; };
  if (std::none_of(kept_.begin(), kept_.end(), isSame)) kept_.push_back({client->id, std::move(file)});
}

void DrmClients::scanProcess(const std::string& pid) {
  constexpr std::string_view kNodeFolder = "/dev/dri/";
  const std::string folder = proc_ + "/" + pid;
  const std::string links = folder + "/fd/";
  const std::string infos = folder + "/fdinfo/";
  std::string path;
  for (const std::string& name : listFolder(links)) {
    std::array<char, 64> target{};
    path.assign(links).append(name);
    const ssize_t length = readlink(path.c_str(), target.data(), target.size());
    if (length <= 0) continue;
    std::string_view node(target.data(), static_cast<std::size_t>(length));
    if (!node.starts_with(kNodeFolder)) continue;
    node.remove_prefix(kNodeFolder.size());
    if (std::find(nodes_.begin(), nodes_.end(), node) == nodes_.end()) continue;
    keep(path.assign(infos).append(name));
  }
}

void DrmClients::scan() {
  const auto begun = Clock::now();
  if (scannedAt_ && begun - *scannedAt_ < (nextPid_.empty() ? kScanInterval : kScanPause)) return;
  scannedAt_ = begun;
  const auto names = listFolder(proc_);
  auto next = std::lower_bound(names.begin(), names.end(), nextPid_);
  nextPid_.clear();
  for (; next != names.end(); ++next) {
    if (!isNumber(*next)) continue;
    if (Clock::now() - begun > kScanTime) {
      nextPid_ = *next;
      return;
    }
    scanProcess(*next);
  }
}

std::vector<DrmClient> DrmClients::readKept() {
  std::vector<DrmClient> clients;
  std::erase_if(kept_, [&](Kept& kept) {
    auto client = parseDrmClient(kept.file.readIfPresent(buffer_));
    // The descriptor's number may have been reused for another file.
    if (!client || client->id != kept.id || client->device != address_) return true;
    clients.push_back(std::move(*client));
    return false;
  });
  return clients;
}

void DrmClients::readBefore() {
  scan();
  before_ = readKept();
  beforeAt_ = Clock::now();
}

std::optional<double> DrmClients::readLoad() {
  if (!before_.empty() && Clock::now() - beforeAt_ < kShortestLoadWindow) return load_;
  if (before_.empty() || Clock::now() - beforeAt_ > kLongestLoadWindow) {
    readBefore();
    if (!before_.empty()) std::this_thread::sleep_for(kFirstWindow);
  }
  const auto earlier = std::move(before_);
  const auto earlierAt = beforeAt_;
  readBefore();
  load_.reset();
  if (!earlier.empty() && !before_.empty()) {
    const auto elapsed = std::chrono::duration<double, std::nano>(beforeAt_ - earlierAt);
    load_ = drmLoadBetween(earlier, before_, elapsed.count());
  }
  return load_;
}

}  // namespace hostwire
