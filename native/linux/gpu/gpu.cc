// Graphics processors of Linux: the bus lists them, probers ask each of them.
#include "host/gpu.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <tuple>
#include <utility>

#include "gpu/describe.h"
#include "host/prober.h"
#include "host/recent.h"
#include "linux/gpu/answer.h"
#include "linux/gpu/devices.h"
#include "linux/gpu/nvidia.h"
#include "linux/gpu/platform.h"
#include "linux/gpu/sysfs.h"

namespace hostwire {
namespace {

using Clock = std::chrono::steady_clock;
using Answers = std::shared_ptr<const std::vector<GpuAnswer>>;

// A prober of one device or, for NVML, of several, and the parameters of its question.
struct Source {
  std::vector<GpuDevice> devices;
  bool isNvidia = false;
  std::shared_ptr<std::atomic<bool>> wantsDetail;
  Prober<Answers> prober;
  std::optional<Clock::time_point> silentSince;
};

// The devices that NVML's question asks about; they change while the question, which holds the session,
// remains.
struct NvidiaInterest {
  std::mutex mutex;
  NvidiaRequest request;
};

bool isOfNvml(const GpuDevice& device) {
  return device.vendor == GpuVendor::kNvidia && device.driver == "nvidia";
}

// Returns whether it is passed through to a virtual machine: the host cannot read it.
bool isGivenAway(const GpuDevice& device) {
  return device.driver == "vfio-pci" || device.driver == "pci-stub" || device.driver == "xen-pciback";
}

// A device of the last reading with the values that determine its place in the list.
struct Placed {
  GpuCounters counters;
  std::string address;
  bool isIntegrated = false;
  bool isBootDisplay = false;
};

bool isBefore(const Placed& a, const Placed& b) {
  const auto keyOf = [](const Placed& placed) {
    return std::tuple(placed.counters.isAsleep, placed.isIntegrated, !placed.isBootDisplay, placed.address);
  };
  return keyOf(a) < keyOf(b);
}

}  // namespace

struct GpuReader::State {
  State(Roots givenRoots, GpuOptions givenOptions, ProberPool& pool)
      : roots(std::move(givenRoots)), options(std::move(givenOptions)), probers(pool) {}

  void discover();
  void takeInventory(SharedInventory next);
  Source makeSource(const GpuDevice& device);
  Source makeNvidiaSource();
  void noteFailure(const std::string& subject, const std::string& reason);
  void readSource(Source& source, bool withDetail);
  void addAnswer(const GpuDevice& device, const GpuAnswer* answer, const Obstacle& silence);

  const Roots roots;
  const GpuOptions options;
  ProberPool& probers;
  std::optional<Prober<SharedInventory>> discovery;
  SharedInventory inventory;
  std::vector<Source> sources;
  std::shared_ptr<NvidiaInterest> interest = std::make_shared<NvidiaInterest>();
  std::vector<Placed> placed;
  std::vector<GpuFinding> findings;
  std::string failure;
};

// The first search runs synchronously, for the first sample; it reads only what the kernel keeps in memory.
void GpuReader::State::discover() {
  if (!discovery) {
    const auto source = std::make_shared<GpuDiscovery>(roots);
    takeInventory(source->read());
    discovery.emplace(
        probers, [source] { return source->read(); }, options.discoveryInterval);
  }
  auto answer = discovery->latest();
  if (answer.value && *answer.value != inventory) takeInventory(std::move(*answer.value));
}

template <class Gpu>
Source askOne(ProberPool& probers, const GpuDevice& device, std::shared_ptr<Gpu> gpu) {
  const auto wantsDetail = std::make_shared<std::atomic<bool>>(false);
  const auto ask = [gpu = std::move(gpu), wantsDetail]() -> Answers {
    return std::make_shared<const std::vector<GpuAnswer>>(1, gpu->read(wantsDetail->exchange(false)));
  };
  return {{device}, false, wantsDetail, Prober<Answers>(probers, ask), {}};
}

Source GpuReader::State::makeSource(const GpuDevice& device) {
  if (device.isOnPci) return askOne(probers, device, std::make_shared<SysfsGpu>(roots, options, device));
  return askOne(probers, device, std::make_shared<PlatformGpu>(roots, device));
}

Source GpuReader::State::makeNvidiaSource() {
  const auto gpus = std::make_shared<NvidiaGpus>(roots, options);
  const auto wantsDetail = std::make_shared<std::atomic<bool>>(false);
  const auto ask = [gpus, wantsDetail, wanted = interest]() -> Answers {
    NvidiaRequest request;
    {
      const std::lock_guard lock(wanted->mutex);
      request = wanted->request;
    }
    request.withDetail = wantsDetail->exchange(false);
    return std::make_shared<const std::vector<GpuAnswer>>(gpus->read(request));
  };
  return {{}, true, wantsDetail, Prober<Answers>(probers, ask), {}};
}

// Probers of remaining devices are kept, with their state and with a thread that may be stuck in one.
void GpuReader::State::takeInventory(SharedInventory next) {
  inventory = std::move(next);
  std::vector<Source> kept;
  NvidiaRequest request;
  request.wantsUnlisted = inventory->hasUnlistedNvidia;
  for (const GpuDevice& device : inventory->devices) {
    if (isOfNvml(device)) request.devices.push_back(device);
    if (isOfNvml(device) || device.driver.empty() || isGivenAway(device)) continue;
    const auto known = std::find_if(sources.begin(), sources.end(), [&](const Source& source) {
      return !source.isNvidia && source.devices.front() == device;
    });
    kept.push_back(known == sources.end() ? makeSource(device) : std::move(*known));
    if (known != sources.end()) sources.erase(known);
  }
  const auto nvidia =
      std::find_if(sources.begin(), sources.end(), [](const Source& s) { return s.isNvidia; });
  if (nvidia != sources.end()) {
    kept.push_back(std::move(*nvidia));
  } else if (request.wantsUnlisted || !request.devices.empty()) {
    kept.push_back(makeNvidiaSource());
  }
  if (!kept.empty() && kept.back().isNvidia) kept.back().devices = request.devices;
  sources = std::move(kept);
  const std::lock_guard lock(interest->mutex);
  interest->request = std::move(request);
}

void GpuReader::State::noteFailure(const std::string& subject, const std::string& reason) {
  if (!failure.empty()) failure += "; ";
  failure += subject + ": " + reason;
}

// `answer` is null if the device has none; `silence` is then the reason, if known.
void GpuReader::State::addAnswer(const GpuDevice& device, const GpuAnswer* answer, const Obstacle& silence) {
  GpuFinding finding;
  finding.address = device.address;
  finding.vendor = nameOf(device.vendor);
  finding.driver = device.driver;
  finding.source = isOfNvml(device)
                       ? "NVML"
                       : "/sys and " + device.driver + "'s " + (device.isOnPci ? "sensors" : "clients");
  finding.loadRemedy = loadRemedyOf(device);
  finding.obstacle = answer != nullptr && silence.reason.empty() ? answer->failure : silence;
  if (finding.obstacle.remedy.empty() && device.driver == "nouveau")
    finding.obstacle.remedy = finding.loadRemedy;
  if (answer != nullptr) {
    finding.name = answer->name;
    finding.values = answer->values;
    const bool isShown = answer->isAsleep || answer->values.isAnyKnown();
    if (isShown)
      placed.push_back({{answer->name, finding.vendor, answer->values, answer->isAsleep},
                        device.address,
                        device.isIntegrated,
                        device.isBootDisplay});
    if (answer->isAsleep) {
      finding.state = GpuFinding::State::kAsleep;
    } else if (isShown) {
      finding.state = GpuFinding::State::kRead;
    }
  }
  if (!finding.obstacle.reason.empty()) {
    finding.state = GpuFinding::State::kUnreadable;
    noteFailure(device.address + " (" + finding.vendor + ")", finding.obstacle.reason);
  }
  findings.push_back(std::move(finding));
}

void GpuReader::State::readSource(Source& source, bool withDetail) {
  if (withDetail) source.wantsDetail->store(true);
  if (source.isNvidia && source.devices.empty() && !inventory->hasUnlistedNvidia) return;
  auto latest = source.prober.latest();
  Obstacle silence;
  if (!latest.isStale) {
    source.silentSince.reset();
  } else {
    const auto now = Clock::now();
    if (!source.silentSince) source.silentSince = now;
    // A driver may take a second to start; one that is silent for much longer hangs.
    if (now - *source.silentSince > options.maxAge / 2)
      silence = {"its driver does not answer", "see the kernel log: the driver hangs"};
  }
  const auto answers = recentValue(std::move(latest), options.maxAge).value_or(nullptr);
  if (source.devices.empty() && answers != nullptr) {
    GpuDevice device;
    device.driver = "nvidia";
    for (const GpuAnswer& answer : *answers) {
      device.address = answer.address;
      addAnswer(device, &answer, silence);
    }
  }
  for (const GpuDevice& device : source.devices) {
    const GpuAnswer* found = nullptr;
    if (answers != nullptr)
      for (const GpuAnswer& answer : *answers)
        if (answer.address == device.address) found = &answer;
    addAnswer(device, found, silence);
  }
}

GpuReader::GpuReader(const Roots& roots, const GpuOptions& options, ProberPool& probers)
    : state_(std::make_unique<State>(roots, options, probers)) {}
GpuReader::~GpuReader() = default;

const std::string& GpuReader::failure() const { return state_->failure; }

Findings GpuReader::describe() {
  read(true);
  return {describeGpus(state_->findings, state_->roots.sys + "/bus/pci/devices and /class/drm")};
}

std::vector<GpuCounters> GpuReader::read(bool withDetail) {
  State& state = *state_;
  state.discover();
  state.placed.clear();
  state.findings.clear();
  state.failure.clear();
  if (state.inventory->devices.empty() && state.sources.empty()) return {};
  for (Source& source : state.sources) state.readSource(source, withDetail);
  for (const GpuDevice& device : state.inventory->devices)
    if (device.driver.empty())
      state.addAnswer(
          device, nullptr,
          {"no driver is loaded for it", std::string("load its kernel module: ") + modulesOf(device.vendor)});
  std::stable_sort(state.placed.begin(), state.placed.end(), isBefore);
  std::vector<GpuCounters> counters;
  for (Placed& placed : state.placed) counters.push_back(std::move(placed.counters));
  return counters;
}

}  // namespace hostwire
