// Mounted filesystems of Linux: the mount table lists them, probers ask how full they are.
#include "host/disks.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>

#include "host/prober.h"
#include "linux/disks/devices.h"
#include "linux/disks/mounts.h"
#include "linux/disks/parse_disks.h"
#include "linux/disks/select_mounts.h"
#include "linux/disks/usage.h"
#include "linux/kernel/file.h"
#include "linux/kernel/text.h"

namespace hostwire {
namespace {

constexpr std::chrono::seconds kDevicesInterval{60};

// One filesystem, with the probers' last answers.
struct Entry {
  MountGroup mounts;
  std::vector<std::string> shownPoints;  // in the order of `mounts`
  Prober<DiskUsageReply> usage;
  std::size_t index = 0;    // of the mount that is shown
  bool isFile = false;      // no mount of it is a directory: not shown, not asked again
  bool isOutdated = false;  // the mounts after the first may have changed
  DiskDevice device;

  const Mount& shown() const { return mounts[index]; }
};

Entry makeEntry(MountGroup mounts, const std::string& prefix, ProberPool& probers) {
  std::vector<std::string> paths;
  std::vector<std::string> shownPoints;
  for (const Mount& mount : mounts) {
    paths.push_back(prefix + mount.point);
    shownPoints.push_back(toValidUtf8(mount.point));
  }
  const auto question = std::make_shared<DiskUsageQuestion>(std::move(paths));
  Prober<DiskUsageReply> prober(probers, [question] { return question->ask(); });
  return {std::move(mounts), std::move(shownPoints), std::move(prober), 0, false, false, {}};
}

bool isSameMount(const Mount& a, const Mount& b) {
  return a.id == b.id && a.device == b.device && a.point == b.point;
}

bool isSameGroup(const MountGroup& a, const MountGroup& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), isSameMount);
}

// Takes the new reading of the mount table. An entry keeps its state, and a thread that may be stuck in its
// question, as long as the mount it shows still exists; false when it does not.
bool updateEntry(Entry& entry, const MountGroup& mounts) {
  if (isSameGroup(entry.mounts, mounts)) {
    entry.mounts = mounts;  // the options may have changed
    return true;
  }
  if (entry.isFile || entry.index != 0 || !isSameMount(entry.mounts.front(), mounts.front())) return false;
  entry.mounts.front() = mounts.front();
  entry.isOutdated = true;
  return true;
}

// The sum over all devices of one filesystem; busy is their mean.
std::optional<DiskIo> sumIo(const std::vector<DeviceIo>& devices, const std::vector<DeviceNumber>& parts) {
  DiskIo sum;
  std::uint64_t found = 0;
  for (const DeviceIo& device : devices) {
    if (std::find(parts.begin(), parts.end(), device.device) == parts.end()) continue;
    ++found;
    sum.readBytes += device.io.readBytes;
    sum.writeBytes += device.io.writeBytes;
    sum.busyMs += device.io.busyMs;
  }
  if (found == 0) return std::nullopt;
  sum.busyMs /= found;
  return sum;
}

std::optional<DiskIo> findIo(const std::vector<DeviceIo>& devices, const Entry& entry) {
  if (!entry.device.parts.empty()) return sumIo(devices, entry.device.parts);
  const Mount& mount = entry.shown();
  auto number = entry.device.number;
  if (!number && mount.device.major != 0) number = mount.device;
  const std::string_view source = mount.source;
  const auto found = std::find_if(devices.begin(), devices.end(), [&](const DeviceIo& device) {
    if (number) return device.device == *number;
    return source.starts_with("/dev/") && source.substr(source.rfind('/') + 1) == device.name;
  });
  if (found == devices.end()) return std::nullopt;
  return found->io;
}

void addDetail(DiskCounters& disk, const Entry& entry, const std::vector<DeviceIo>& devices) {
  disk.device = toValidUtf8(entry.device.path.empty() ? entry.shown().source : entry.device.path);
  disk.type = toValidUtf8(entry.shown().type);
  if (entry.device.label) disk.label = toValidUtf8(*entry.device.label);
  disk.isReadOnly = entry.shown().isReadOnly;
  disk.isRemovable = entry.device.isRemovable;
  disk.io = findIo(devices, entry);
}

}  // namespace

struct DisksReader::State {
  State(const Roots& givenRoots, ProberPool& pool)
      : roots(givenRoots), probers(pool), table(givenRoots), diskstats(givenRoots.proc + "/diskstats") {}

  void refresh(std::vector<Mount> all) {
    std::vector<Entry> next;
    for (MountGroup& mounts : selectMounts(std::move(all))) {
      const auto known = std::find_if(entries.begin(), entries.end(),
                                      [&](Entry& entry) { return updateEntry(entry, mounts); });
      if (known == entries.end()) {
        next.push_back(makeEntry(std::move(mounts), table.pathPrefix(), probers));
      } else {
        next.push_back(std::move(*known));
        entries.erase(known);
      }
    }
    entries = std::move(next);
    areDevicesKnown = false;
    deviceProber.reset();
  }

  // What /sys and /dev report changes with the mounts: it is read after each change, and from time to time
  // for a file that could not be read once.
  void takeDevices() {
    const auto now = std::chrono::steady_clock::now();
    if (areDevicesKnown && now - devicesKnownAt < kDevicesInterval) return;
    if (!deviceProber) {
      std::vector<DeviceQuestion> questions;
      for (const Entry& entry : entries) questions.push_back({entry.shown().device, entry.shown().source});
      deviceProber.emplace(
          probers, [where = roots, which = std::move(questions)] { return readDiskDevices(where, which); });
    }
    const auto answer = deviceProber->latest();
    if (!answer.value) return;
    for (std::size_t i = 0; i < entries.size(); ++i) entries[i].device = (**answer.value)[i];
    areDevicesKnown = true;
    devicesKnownAt = now;
    deviceProber.reset();
  }

  // The entry's counters, or nothing when it must not be shown.
  std::optional<DiskCounters> readEntry(Entry& entry) {
    if (entry.isFile) return std::nullopt;
    const auto answer = entry.usage.latest();
    if (answer.value) {
      entry.isFile = !answer.value->hasDirectory;
      entry.index = answer.value->index;
      if (entry.isOutdated && (entry.isFile || entry.index != 0)) table.readAgain();
      // Portals, archives and the like have no blocks; df omits them, too.
      const bool isHollow = answer.value->usage.totalBytes == 0 && entry.shown().point != "/";
      if (entry.isFile || isHollow) return std::nullopt;
    }
    DiskCounters disk;
    disk.mountPoint = entry.shownPoints[entry.index];
    if (answer.value) disk.usage = answer.value->usage;
    const bool neverAnswered = !answer.value && answer.error.empty();
    disk.isStale = answer.isStale || neverAnswered;
    return disk;
  }

  const Roots roots;
  ProberPool& probers;
  MountTable table;
  KeptFile diskstats;
  std::string buffer;
  std::vector<Entry> entries;
  std::optional<Prober<DiskDevices>> deviceProber;
  bool areDevicesKnown = false;
  std::chrono::steady_clock::time_point devicesKnownAt;
};

DisksReader::DisksReader(const Roots& roots, ProberPool& probers)
    : state_(std::make_unique<State>(roots, probers)) {}
DisksReader::~DisksReader() = default;

std::vector<DiskCounters> DisksReader::read(bool withDetail) {
  State& state = *state_;
  if (auto mounts = state.table.readIfChanged()) {
    try {
      state.refresh(std::move(*mounts));
    } catch (...) {
      state.table.readAgain();  // it took in only a part for lack of memory
      throw;
    }
  }
  std::vector<DeviceIo> devices;
  if (withDetail) {
    state.takeDevices();
    devices = parseDiskstats(state.diskstats.readShortRecordsIfPresent(state.buffer));
  }
  std::vector<DiskCounters> disks;
  disks.reserve(state.entries.size());
  for (Entry& entry : state.entries) {
    auto disk = state.readEntry(entry);
    if (!disk) continue;
    if (withDetail) addDetail(*disk, entry, devices);
    disks.push_back(std::move(*disk));
  }
  return disks;
}

Findings DisksReader::describe() {
  const std::string table = state_->table.path();
  return describeOrExplain("disks", table, [&]() -> Findings {
    const auto disks = read(true);
    std::vector<std::string> stale;
    for (const DiskCounters& disk : disks)
      if (disk.isStale) stale.push_back(disk.mountPoint);
    const std::string source = countOf(disks.size(), "mount") + " from " + table;
    if (stale.empty()) return {Finding::works("disks", source)};
    return {Finding::partly("disks", source, {"no answer from " + listOf(stale), ""})};
  });
}

}  // namespace hostwire
