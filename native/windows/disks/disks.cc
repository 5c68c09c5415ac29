// Mounted volumes of Windows: one prober lists them, and each volume has its own for its usage, so that a
// network drive whose server is gone costs only its own values.
#include "host/disks.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "host/prober.h"
#include "windows/disks/volumes.h"
#include "windows/win32/unicode.h"

namespace hostwire {
namespace {

using Volumes = std::shared_ptr<const std::vector<Volume>>;
using Flag = std::shared_ptr<std::atomic<bool>>;

constexpr std::chrono::seconds kListInterval{5};

// Belongs to one prober's question. Returns the same object as long as nothing changes.
class VolumeList {
 public:
  Volumes read() {
    const auto now = std::chrono::steady_clock::now();
    if (volumes_ != nullptr && now - listedAt_ < kListInterval) return volumes_;
    auto next = listVolumes();
    if (volumes_ == nullptr || next != *volumes_)
      volumes_ = std::make_shared<const std::vector<Volume>>(std::move(next));
    listedAt_ = now;
    return volumes_;
  }

 private:
  Volumes volumes_;
  std::chrono::steady_clock::time_point listedAt_;
};

struct Entry {
  Volume volume;
  std::string mountPoint;
  Flag wantsDetail;
  Prober<VolumeAnswer> prober;
};

// Returns "C:" of "C:\".
std::string shownPointOf(std::wstring root) {
  if (root.ends_with(L'\\')) root.pop_back();
  return toUtf8(root);
}

Entry makeEntry(const Volume& volume, ProberPool& probers) {
  const auto wantsDetail = std::make_shared<std::atomic<bool>>(false);
  const auto question = std::make_shared<VolumeQuestion>(volume);
  Prober<VolumeAnswer> prober(
      probers, [question, wantsDetail] { return question->ask(wantsDetail->exchange(false)); });
  return {volume, shownPointOf(volume.root), wantsDetail, std::move(prober)};
}

void addDetail(DiskCounters& disk, const Volume& volume, const std::optional<VolumeAnswer>& answer) {
  disk.isRemovable = volume.isRemovable;
  disk.device = toUtf8(volume.device);
  if (!answer) return;
  disk.device = answer->names.device;
  disk.type = answer->names.type;
  disk.label = answer->names.label;
  disk.isReadOnly = answer->names.isReadOnly;
  disk.io = answer->io;
}

}  // namespace

struct DisksReader::State {
  explicit State(ProberPool& pool) : probers(pool) {}

  void refresh(Volumes next) {
    known = std::move(next);
    std::vector<Entry> kept;
    for (const Volume& volume : *known) {
      const auto same = std::find_if(entries.begin(), entries.end(),
                                     [&](const Entry& entry) { return entry.volume == volume; });
      kept.push_back(same == entries.end() ? makeEntry(volume, probers) : std::move(*same));
      if (same != entries.end()) entries.erase(same);
    }
    entries = std::move(kept);
  }

  // The first search runs synchronously, for the first sample.
  void look() {
    if (!list) {
      const auto source = std::make_shared<VolumeList>();
      refresh(source->read());
      list.emplace(probers, [source] { return source->read(); });
    }
    auto answer = list->latest();
    if (answer.value && *answer.value != known) refresh(std::move(*answer.value));
  }

  ProberPool& probers;
  std::optional<Prober<Volumes>> list;
  Volumes known;
  std::vector<Entry> entries;
};

DisksReader::DisksReader(const Roots&, ProberPool& probers) : state_(std::make_unique<State>(probers)) {}
DisksReader::~DisksReader() = default;

std::vector<DiskCounters> DisksReader::read(bool withDetail) {
  State& state = *state_;
  state.look();
  std::vector<DiskCounters> disks;
  for (Entry& entry : state.entries) {
    if (withDetail) entry.wantsDetail->store(true);
    const auto answer = entry.prober.latest();
    if (answer.value && !answer.value->isMounted) continue;
    DiskCounters disk;
    disk.mountPoint = entry.mountPoint;
    const bool neverAnswered = !answer.value && answer.error.empty();
    disk.isStale = answer.isStale || neverAnswered;
    if (answer.value) disk.usage = answer.value->usage;
    if (withDetail) addDetail(disk, entry.volume, answer.value);
    disks.push_back(std::move(disk));
  }
  return disks;
}

Findings DisksReader::describe() {
  const std::string manager = "the mount manager";
  return describeOrExplain("disks", manager, [&]() -> Findings {
    std::vector<std::string> names;
    std::vector<std::string> stale;
    std::vector<std::string> uncounted;
    for (const DiskCounters& disk : read(true)) {
      names.push_back(disk.mountPoint);
      if (disk.isStale)
        stale.push_back(disk.mountPoint);
      else if (!disk.io)
        uncounted.push_back(disk.mountPoint);
    }
    const std::string source = listOf(names) + " from " + manager;
    if (stale.empty() && uncounted.empty()) return {Finding::works("disks", source)};
    const std::string silence = stale.empty() ? "" : "no answer from " + listOf(stale);
    const std::string gap = uncounted.empty() ? "" : "no driver counts I/O on " + listOf(uncounted);
    return {Finding::partly("disks", source, {joinTexts({silence, gap}), ""})};
  });
}

}  // namespace hostwire
