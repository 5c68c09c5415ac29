// Limits of this process's cgroup. Asked by a prober: the mount table that shows where its files are takes 40
// ms with 1,500 mounts, and the kernel's statistics of cgroups are behind locks.
#include "host/resource_limits.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include "host/error.h"
#include "host/prober.h"
#include "host/recent.h"
#include "linux/kernel/text.h"
#include "linux/system/cgroup.h"
#include "linux/system/parse_cgroup.h"

namespace hostwire {
namespace {

using Clock = std::chrono::steady_clock;

// Time between searches: a service manager seldom moves a service, or sets a limit where there was none. A
// cgroup that is gone is noticed immediately.
constexpr std::chrono::seconds kLimitsInterval{30};

// Belongs to one prober's question: used by one thread at a time.
class CgroupLimits {
 public:
  explicit CgroupLimits(const Roots& roots)
      : own_(roots.proc + "/self/cgroup"),
        mounts_(roots.proc + "/self/mountinfo"),
        prefix_(roots.files),
        online_(roots.sys + "/devices/system/cpu/online") {}

  LimitCounters read() {
    const auto now = Clock::now();
    if (!lookedAt_ || now - *lookedAt_ >= kLimitsInterval) {
      lookedAt_ = now;
      look();
    }
    isGone_ = false;
    LimitCounters counters = readAll();
    if (!isGone_) return counters;
    text_.reset();
    look();
    return readAll();
  }

 private:
  // Finds the cgroup, or files that have appeared in it since.
  void look() {
    try {
      std::string text = readOwn();
      if (text_ == text) {
        memory_->look();
        cpu_->look();
        cpuset_->look();
        return;
      }
      text_.reset();
      find(text);
      text_ = std::move(text);
      failure_.clear();
    } catch (const std::runtime_error& error) {
      failure_ = error.what();
    }
  }

  // Empty if the kernel has no cgroups.
  std::string readOwn() {
    try {
      return std::string(own_.read(buffer_));
    } catch (const HostError& error) {
      if (error.code().value() == ENOENT) return {};
      throw;
    }
  }

  // Reads the mount table: only after the service was moved.
  void find(std::string_view text) {
    const auto memory = findCgroup(text, "memory");
    const auto cpu = findCgroup(text, "cpu");
    const auto cpuset = findCgroup(text, "cpuset");
    std::string table;  // not kept: with many mounts it is large
    std::vector<Mount> mounts;
    if (memory || cpu || cpuset) mounts = parseMountinfo(mounts_.read(table));
    memory_.emplace(foldersOf(memory, "memory", mounts), memory && memory->isUnified);
    cpu_.emplace(foldersOf(cpu, "cpu", mounts), cpu && cpu->isUnified);
    auto folders = cpuset ? cgroupFolders(*cpuset, "cpuset", mounts) : std::vector<std::string>{};
    for (std::string& folder : folders) folder.insert(0, prefix_);
    cpuset_.emplace(folders, cpuset && cpuset->isUnified, online_);
  }

  std::vector<std::string> foldersOf(const std::optional<CgroupPlace>& place, std::string_view controller,
                                     const std::vector<Mount>& mounts) const {
    if (!place) return {};
    auto folders = cgroupFolders(*place, controller, mounts);
    if (folders.empty()) throw ProbeError("no mount shows the cgroup " + toValidUtf8(place->path));
    for (std::string& folder : folders) folder.insert(0, prefix_);
    return folders;
  }

  LimitCounters readAll() {
    LimitCounters counters;
    counters.failure = failure_;
    if (!text_) return counters;
    readPart(*memory_, counters);
    readPart(*cpu_, counters);
    readPart(*cpuset_, counters);
    return counters;
  }

  // Either of the two may fail alone.
  template <class Part>
  void readPart(Part& part, LimitCounters& counters) {
    try {
      part.read(counters, buffer_);
    } catch (const HostError& error) {
      const int code = error.code().value();
      isGone_ = isGone_ || code == ENODEV || code == ENOENT;
      counters.failure = joinTexts({counters.failure, error.what()});
    }
  }

  KeptFile own_;
  KeptFile mounts_;
  const std::string prefix_;
  const std::string online_;
  std::string buffer_;
  std::optional<Clock::time_point> lookedAt_;
  std::optional<std::string> text_;  // own_ as text, for which the next two were made; absent if that failed
  std::optional<CgroupMemory> memory_;
  std::optional<CgroupCpu> cpu_;
  std::optional<CgroupCpuset> cpuset_;
  std::string failure_;
  bool isGone_ = false;
};

std::string textOf(const LimitCounters& limits) {
  std::vector<std::string> parts;
  if (limits.memoryBytes) parts.push_back("memory " + std::to_string(*limits.memoryBytes >> 20U) + " MiB");
  if (limits.cpus) {
    std::array<char, 40> text{};
    static_cast<void>(std::snprintf(text.data(), text.size(), "processors %.4g", *limits.cpus));
    parts.emplace_back(text.data());
  }
  return parts.empty() ? "none" : listOf(parts);
}

}  // namespace

struct LimitsReader::State {
  State(const Roots& roots, ProberPool& probers)
      : source(roots.proc + "/self/cgroup"),
        prober(probers, [limits = std::make_shared<CgroupLimits>(roots)] { return limits->read(); }) {}
  const std::string source;
  const Prober<LimitCounters> prober;
};

LimitsReader::LimitsReader(const Roots& roots, ProberPool& probers)
    : state_(std::make_unique<State>(roots, probers)) {}
LimitsReader::~LimitsReader() = default;

std::optional<LimitCounters> LimitsReader::read() {
  auto answer = state_->prober.latest();
  if (!answer.value && !answer.error.empty()) throw ProbeError(answer.error);
  return recentValue(std::move(answer));
}

Findings LimitsReader::describe() {
  const std::string subject = "resource-limits";
  const std::string& source = state_->source;
  return describeOrExplain(subject, source, [&]() -> Findings {
    const auto limits = read();
    if (!limits) {
      Finding finding = Finding::missing(subject, source, {"no answer yet", ""});
      finding.isPending = true;
      return {finding};
    }
    const std::string text = textOf(*limits) + " by " + source;
    if (limits->failure.empty()) return {Finding::works(subject, text)};
    const bool isSomeKnown = limits->memoryBytes || limits->cpus;
    return {isSomeKnown ? Finding::partly(subject, text, {limits->failure, ""})
                        : Finding::missing(subject, source, {limits->failure, ""})};
  });
}

}  // namespace hostwire
