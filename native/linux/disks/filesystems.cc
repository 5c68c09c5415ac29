// Reads the mount table on a prober's thread and makes the probers that ask how full each filesystem is.
#include "linux/disks/filesystems.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <unordered_map>
#include <utility>

#include "host/error.h"
#include "linux/kernel/text.h"

namespace hostwire {
namespace {

using std::chrono::milliseconds;
using Requests = std::shared_ptr<std::atomic<std::uint64_t>>;

// Minimum age: disk usage changes slowly. A filesystem that waits for a server, or for a program, is asked
// for each reading nevertheless: only a question shows that it no longer answers.
constexpr std::chrono::seconds kLocalAge{5};

// Longer than reading a long table takes on a busy machine.
constexpr std::chrono::seconds kLateAfter{2};

bool isSameMount(const Mount& a, const Mount& b) {
  return a.id == b.id && a.device == b.device && a.point == b.point;
}

bool isSameGroup(const MountGroup& a, const MountGroup& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), isSameMount);
}

// Belongs to one prober's question.
class Search {
 public:
  Search(const Roots& roots, ProberPoolState pool, Requests requested)
      : table_(roots), pool_(std::move(pool)), requested_(std::move(requested)) {}

  SharedFilesystems read() {
    const std::uint64_t version = *requested_;
    before_.reset();
    if (known_ && known_->version == version && !table_.hasFixtureChanged()) return known_;
    auto next = std::make_shared<FilesystemTable>();
    bool hasNew = false;
    const auto known = byFirstMount();
    for (MountGroup& mounts : selectMounts(table_.read())) {
      const auto same = known.find(mounts.front().id);
      auto kept = same == known.end() ? std::nullopt : keep(*same->second, mounts);
      hasNew = hasNew || !kept;
      next->filesystems.push_back(kept ? std::move(*kept) : make(std::move(mounts)));
    }
    next->version = version;
    next->watch = table_.watch();
    next->path = table_.path();
    before_ = std::exchange(known_, std::move(next));
    // Ask now, rather than a whole interval after they were found.
    if (hasNew) askAll(pool_, milliseconds{0});
    return known_;
  }

 private:
  std::unordered_map<std::uint64_t, const Filesystem*> byFirstMount() const {
    std::unordered_map<std::uint64_t, const Filesystem*> found;
    if (known_)
      for (const Filesystem& one : known_->filesystems) found.emplace(one.mounts.front().id, &one);
    return found;
  }

  // Returns the known filesystem if its shown mount still exists; otherwise nothing.
  static std::optional<Filesystem> keep(const Filesystem& known, const MountGroup& mounts) {
    if (isSameGroup(known.mounts, mounts))  // the options may have changed
      return Filesystem{mounts, known.shownPoints, known.usage, false};
    const auto reply = known.usage->latest().value;
    const bool isFirstShown = !reply || (reply->hasDirectory && reply->index == 0);
    if (!isFirstShown || !isSameMount(known.mounts.front(), mounts.front())) return std::nullopt;
    Filesystem kept = known;
    kept.mounts.front() = mounts.front();
    kept.isOutdated = true;
    return kept;
  }

  Filesystem make(MountGroup mounts) const {
    Filesystem made;
    std::vector<std::string> paths;
    for (const Mount& mount : mounts) {
      paths.push_back(table_.pathPrefix() + mount.point);
      made.shownPoints.push_back(toValidUtf8(mount.point));
    }
    const milliseconds age = mayWaitForServer(mounts.front()) ? milliseconds{0} : kLocalAge;
    made.usage = std::make_shared<const Prober<DiskUsageReply>>(
        pool_, [question = std::make_shared<DiskUsageQuestion>(std::move(paths))] { return question->ask(); },
        age);
    static_cast<void>(made.usage->latest());  // marks it as wanted
    made.mounts = std::move(mounts);
    return made;
  }

  MountTable table_;
  const ProberPoolState pool_;
  const Requests requested_;
  SharedFilesystems known_;
  // Kept until the next question, requested by the reading that takes `known_`: freeing it takes 0.7 ms with
  // 2,000 mounts of one filesystem, too long for the JavaScript thread.
  SharedFilesystems before_;
};

}  // namespace

Filesystems::Filesystems(const Roots& roots, ProberPool& probers)
    : requested_(std::make_shared<std::atomic<std::uint64_t>>(1)),
      prober_(probers, [search = std::make_shared<Search>(roots, probers.state(), requested_)] {
        return search->read();
      }) {}

const SharedFilesystems& Filesystems::take() {
  if (table_ && table_->watch && table_->version == *requested_) return table_;
  auto answer = prober_.latest();
  isUnanswered_ = answer.isStale;
  if (!answer.error.empty()) throw ProbeError(answer.error);
  if (answer.value) table_ = std::move(*answer.value);
  return table_;
}

bool Filesystems::isOutdated() {
  if (!table_->watch) return false;
  if (table_->watch->takeChange()) readAgain();
  return table_->version != *requested_;
}

bool Filesystems::isLate() const {
  return isUnanswered_ && std::chrono::steady_clock::now() - outdatedSince_ > kLateAfter;
}

void Filesystems::readAgain() {
  if (table_->version == *requested_) outdatedSince_ = std::chrono::steady_clock::now();
  ++*requested_;
  static_cast<void>(prober_.latest());  // marks it as wanted
}

}  // namespace hostwire
