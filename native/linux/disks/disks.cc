// Mounted filesystems of Linux: the mount table lists them, probers ask how full they are.
#include "host/disks.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "host/prober.h"
#include "linux/disks/device_table.h"
#include "linux/disks/devices.h"
#include "linux/disks/filesystems.h"
#include "linux/disks/parse_disks.h"
#include "linux/kernel/file.h"
#include "linux/kernel/text.h"

namespace hostwire {
namespace {

constexpr std::chrono::seconds kDevicesInterval{60};

using UsageAnswer = Answer<DiskUsageReply>;

// One filesystem of the table in State, with its displayed values.
struct Entry {
  explicit Entry(const Filesystem& one) : filesystem(&one) {}

  const Filesystem* filesystem;
  std::optional<DiskUsageReply> usage;
  std::optional<DiskUsageReply> unconfirmed;  // see State::accept
  std::size_t index = 0;                      // of the mount that is shown
  bool isFile = false;                        // none of its mounts is a directory: not shown, not asked again
  DiskDevice device;
  bool isDeviceKnown = false;  // `device` was read

  const Mount& shown() const { return filesystem->mounts[index]; }
};

std::optional<CountedDevices> findIo(const DeviceTable& devices, const Entry& entry) {
  const Mount& mount = entry.shown();
  if (mount.device.major != 0) return devices.find({mount.device});
  // Its source names one device but it may be on more, and the counters of one would be taken for those of
  // all.
  if (!entry.isDeviceKnown) return std::nullopt;
  if (!entry.device.parts.empty()) return devices.find(entry.device.parts);
  if (entry.device.number) return devices.find({*entry.device.number});
  const auto paths = devicePathsOf(mount.source);
  if (paths.size() != 1) return std::nullopt;
  return devices.find(std::string_view(paths.front()).substr(paths.front().rfind('/') + 1));
}

void addDetail(DiskCounters& disk, const Entry& entry, const DeviceTable& devices) {
  disk.device = toValidUtf8(entry.device.path.empty() ? entry.shown().source : entry.device.path);
  disk.type = toValidUtf8(entry.shown().type);
  if (entry.device.label) disk.label = toValidUtf8(*entry.device.label);
  disk.isReadOnly = entry.shown().isReadOnly;
  disk.isRemovable = entry.device.isRemovable;
  if (auto counted = findIo(devices, entry)) {
    disk.io = counted->io;
    disk.ioDevices = toValidUtf8(counted->names);
  }
}

}  // namespace

struct DisksReader::State {
  State(const Roots& givenRoots, ProberPool& pool)
      : roots(givenRoots),
        probers(pool),
        filesystems(givenRoots, pool),
        diskstats(givenRoots.proc + "/diskstats") {}

  // Picks up the last reading of the mount table; false before the first one.
  bool takeTable() {
    const SharedFilesystems& next = filesystems.take();
    if (next == table) return table != nullptr;
    std::unordered_map<const void*, const Entry*> known;
    for (const Entry& entry : entries) known.emplace(entry.filesystem->usage.get(), &entry);
    std::vector<Entry> kept;
    kept.reserve(next->filesystems.size());
    for (const Filesystem& one : next->filesystems) {
      const auto same = known.find(one.usage.get());
      kept.push_back(same == known.end() ? Entry(one) : *same->second);
      kept.back().filesystem = &one;
      if (confirmedBy != 0 && next->version >= confirmedBy) confirm(kept.back());
    }
    if (next->version >= confirmedBy) confirmedBy = 0;
    entries = std::move(kept);
    table = next;
    areDevicesKnown = false;
    deviceProber.reset();
    return true;
  }

  // The facts in /sys and /dev change with the mounts: they are read after each change, and periodically for
  // the sake of a file that could not be read once.
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
    for (std::size_t i = 0; i < entries.size(); ++i) {
      entries[i].device = (**answer.value)[i];
      entries[i].isDeviceKnown = true;
    }
    areDevicesKnown = true;
    devicesKnownAt = now;
    deviceProber.reset();
  }

  // Once a filesystem is unmounted, its path leads to the one above: an answer counts only when the mount
  // existed after it arrived. Either the table has not changed since, or the answer waits until a table that
  // was read later has the mount too.
  void accept(const std::vector<UsageAnswer>& answers) {
    const bool isOutdated = filesystems.isOutdated();
    if (isOutdated && confirmedBy != 0) return;  // earlier answers are already waiting
    confirmedBy = isOutdated ? filesystems.version() : 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].isFile) continue;
      entries[i].unconfirmed = answers[i].value;
      if (!isOutdated) confirm(entries[i]);
    }
  }

  static void confirm(Entry& entry) {
    entry.usage = std::exchange(entry.unconfirmed, std::nullopt);
    if (!entry.usage) return;
    entry.index = entry.usage->index;
    entry.isFile = !entry.usage->hasDirectory;
  }

  // Returns the entry's counters, or nothing when it must not be shown.
  std::optional<DiskCounters> show(const Entry& entry, const UsageAnswer& answer) {
    const bool isOther = entry.isFile || entry.index != 0;
    if (entry.filesystem->isOutdated && isOther) filesystems.readAgain();
    // Portals, archives and similar filesystems have no blocks; df omits them, too.
    const bool isHollow = entry.usage && entry.usage->usage.totalBytes == 0 && entry.shown().point != "/";
    if (entry.isFile || isHollow) return std::nullopt;
    DiskCounters disk;
    disk.mountPoint = entry.filesystem->shownPoints[entry.index];
    if (entry.usage) disk.usage = entry.usage->usage;
    const bool neverAnswered = !entry.usage && answer.error.empty();
    disk.isStale = answer.isStale || neverAnswered || filesystems.isLate();
    return disk;
  }

  const Roots roots;
  ProberPool& probers;
  Filesystems filesystems;
  KeptFile diskstats;
  std::string buffer;
  SharedFilesystems table;
  std::vector<Entry> entries;     // of `table`, in its order
  std::uint64_t confirmedBy = 0;  // the version of the table that `unconfirmed` waits for; 0: none
  std::optional<Prober<DiskDevices>> deviceProber;
  bool areDevicesKnown = false;
  std::chrono::steady_clock::time_point devicesKnownAt;
};

DisksReader::DisksReader(const Roots& roots, ProberPool& probers)
    : state_(std::make_unique<State>(roots, probers)) {}
DisksReader::~DisksReader() = default;

std::vector<DiskCounters> DisksReader::read(bool withDetail) {
  State& state = *state_;
  if (!state.takeTable()) return {};
  std::optional<DeviceTable> devices;
  if (withDetail) {
    state.takeDevices();
    devices.emplace(parseDiskstats(state.diskstats.readShortRecordsIfPresent(state.buffer)));
  }
  std::vector<UsageAnswer> answers;
  answers.reserve(state.entries.size());
  for (const Entry& entry : state.entries)
    answers.push_back(entry.isFile ? UsageAnswer{} : entry.filesystem->usage->latest());
  state.accept(answers);
  std::vector<DiskCounters> disks;
  disks.reserve(state.entries.size());
  for (std::size_t i = 0; i < answers.size(); ++i) {
    auto disk = state.show(state.entries[i], answers[i]);
    if (!disk) continue;
    if (devices) addDetail(*disk, state.entries[i], *devices);
    disks.push_back(std::move(*disk));
  }
  return disks;
}

Findings DisksReader::describe() {
  const State& state = *state_;
  const std::string own = state.roots.proc + "/self/mountinfo";
  return describeOrExplain("disks", own, [&]() -> Findings {
    const auto disks = read(true);
    if (!state.table) {
      auto finding = Finding::missing("disks", own, {"not read yet", ""});
      finding.isPending = true;
      return {std::move(finding)};
    }
    std::vector<std::string> stale;
    for (const DiskCounters& disk : disks)
      if (disk.isStale) stale.push_back(disk.mountPoint);
    const std::string source = countOf(disks.size(), "mount") + " from " + state.table->path;
    if (stale.empty()) return {Finding::works("disks", source)};
    return {Finding::partly("disks", source, {"no answer from " + listOf(stale), ""})};
  });
}

}  // namespace hostwire
