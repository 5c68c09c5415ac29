// Graphics processors of Windows: NVML reads NVIDIA's; the system's own counters read the others, and
// NVIDIA's if NVML is not available.
#include "host/gpu.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "gpu/describe.h"
#include "gpu/nvml.h"
#include "host/prober.h"
#include "host/recent.h"
#include "windows/gpu/adapters.h"
#include "windows/win32/win32.h"

namespace hostwire {
namespace {

constexpr const char* kLibrary = "nvml.dll";

struct NvidiaAnswer {
  std::vector<NvmlReading> devices;
  Obstacle failure;
};

using Adapters = std::vector<GpuAdapterReading>;

// The driver installs it there, and it is not searched anywhere else.
bool hasNvmlLibrary() {
  std::array<wchar_t, MAX_PATH + 16> path{};
  const UINT length = GetSystemDirectoryW(path.data(), MAX_PATH);
  if (length == 0 || length >= MAX_PATH) return false;
  const std::wstring file = std::wstring(path.data(), length).append(L"\\nvml.dll");
  return GetFileAttributesW(file.c_str()) != INVALID_FILE_ATTRIBUTES;
}

template <class T>
const T* recent(const std::optional<Answer<T>>& answer) {
  return answer && answer->value && answer->age <= kMaxAge ? &*answer->value : nullptr;
}

struct Placed {
  GpuCounters counters;
  bool isIntegrated = false;
};

std::string addressOf(const GpuAdapter& adapter) { return "luid-" + std::to_string(adapter.luid); }

}  // namespace

struct GpuReader::State {
  State(const GpuOptions& options, ProberPool& probers)
      : adapters(probers, [source = std::make_shared<GpuAdapters>(options.discoveryInterval)] {
          return source->read();
        }) {
    if (options.nvmlLibrary.empty() && !hasNvmlLibrary()) return;
    const auto session = std::make_shared<NvmlSession>(
        options.nvmlLibrary.empty() ? kLibrary : options.nvmlLibrary, options.retryDelay);
    nvidia.emplace(probers, [session, wanted = wantsDetail] {
      NvidiaAnswer answer;
      answer.devices = session->readAll(wanted->exchange(false));
      answer.failure = session->failure();
      return answer;
    });
  }

  void note(const std::string& subject, const std::string& reason) {
    if (reason.empty()) return;
    if (!failure.empty()) failure += "; ";
    failure += subject;
    failure += ": ";
    failure += reason;
  }

  void add(GpuFinding finding, bool isIntegrated) {
    const bool isWell = finding.obstacle.reason.empty();
    if (!isWell) finding.state = GpuFinding::State::kUnreadable;
    if (finding.values.isAnyKnown()) {
      if (isWell) finding.state = GpuFinding::State::kRead;
      placed.push_back({{finding.name, finding.vendor, finding.values, false}, isIntegrated});
    }
    note(finding.name, finding.obstacle.reason);
    findings.push_back(std::move(finding));
  }

  // Returns whether NVML reports NVIDIA's devices, so that Windows' own counters are not needed for them.
  bool addNvidia(const NvidiaAnswer& answer) {
    for (const NvmlReading& device : answer.devices)
      add({device.address, gpuVendorOf(kNvidiaVendor), device.name, "nvidia", GpuFinding::State::kWaiting,
           "NVML", device.failure, "", device.values},
          false);
    if (answer.devices.empty()) note("NVML", answer.failure.reason);
    return !answer.devices.empty();
  }

  const std::shared_ptr<std::atomic<bool>> wantsDetail = std::make_shared<std::atomic<bool>>(false);
  Prober<Adapters> adapters;
  std::optional<Prober<NvidiaAnswer>> nvidia;
  std::vector<Placed> placed;
  std::vector<GpuFinding> findings;
  std::string failure;
};

GpuReader::GpuReader(const Roots&, const GpuOptions& options, ProberPool& probers)
    : state_(std::make_unique<State>(options, probers)) {}
GpuReader::~GpuReader() = default;

const std::string& GpuReader::failure() const { return state_->failure; }

Findings GpuReader::describe() {
  read(true);
  return {describeGpus(state_->findings, "DXGI and NVML")};
}

std::vector<GpuCounters> GpuReader::read(bool withDetail) {
  State& state = *state_;
  state.placed.clear();
  state.findings.clear();
  state.failure.clear();
  if (withDetail) state.wantsDetail->store(true);
  const std::optional<Answer<Adapters>> adapters = state.adapters.latest();
  std::optional<Answer<NvidiaAnswer>> nvidia;
  if (state.nvidia) nvidia = state.nvidia->latest();

  const auto* answer = recent(nvidia);
  const bool isNvidiaTold = answer != nullptr && state.addNvidia(*answer);
  if (!adapters->error.empty()) state.note("DXGI", adapters->error);
  if (const auto* readings = recent(adapters))
    for (const auto& [adapter, values] : *readings) {
      if (isNvidiaTold && adapter.vendorId == kNvidiaVendor) continue;
      state.add({addressOf(adapter),
                 gpuVendorOf(adapter.vendorId),
                 adapter.name,
                 "wddm",
                 GpuFinding::State::kWaiting,
                 "DXGI and the performance counters",
                 {},
                 "",
                 values},
                adapter.isIntegrated());
    }
  std::stable_sort(state.placed.begin(), state.placed.end(),
                   [](const Placed& a, const Placed& b) { return a.isIntegrated < b.isIntegrated; });
  std::vector<GpuCounters> counters;
  for (Placed& placed : state.placed) counters.push_back(std::move(placed.counters));
  return counters;
}

}  // namespace hostwire
