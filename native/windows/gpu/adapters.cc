// DXGI lists the adapters; the counters of Task Manager, GPU Engine and GPU Adapter Memory, show their use.
#include "windows/gpu/adapters.h"

#include <array>
#include <charconv>
#include <exception>
#include <utility>

#include "host/library.h"
#include "windows/win32/parse_counters.h"
#include "windows/win32/win32.h"
// After windows.h.
#include <dxgi.h>

#include "windows/win32/com.h"

namespace hostwire {
namespace {

using CreateFactory = HRESULT(WINAPI*)(REFIID, void**);

// IID_IDXGIFactory1, which not every library has.
constexpr GUID kFactory1{0x770AAE78, 0xF26F, 0x4DBA, {0xA8, 0x29, 0x25, 0x3C, 0x83, 0xD1, 0xB3, 0x87}};
// Maximum memory of the machine that integrated adapters reserve; discrete ones have more of their own.
constexpr std::uint64_t kMaxCarvedOut = 512ULL << 20U;
constexpr std::uint32_t kMicrosoftVendor = 0x1414;  // renders without hardware
constexpr UINT kMaxAdapters = 16;

enum Counter : std::size_t { kEngines, kDedicated, kShared };

}  // namespace

struct GpuAdapters::Factory {
  Library library{"dxgi.dll"};
  ComPtr<IDXGIFactory1> factory;  // destroyed before its library
};

bool GpuAdapter::isIntegrated() const { return dedicatedBytes <= kMaxCarvedOut; }

std::string gpuVendorOf(std::uint32_t vendorId) {
  switch (vendorId) {
    case kNvidiaVendor: return "NVIDIA";
    case 0x1002:
    case 0x1022: return "AMD";
    case 0x8086: return "Intel";
    case 0x5143:
    case 0x4D4F4351: return "Qualcomm";
    default: break;
  }
  std::array<char, 8> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), vendorId, 16);
  return {digits.data(), end.ptr};
}

GpuAdapters::GpuAdapters(std::chrono::milliseconds interval) : interval_(interval) {}
GpuAdapters::~GpuAdapters() = default;

// A factory knows whether its list is still valid; creating a new one wakes devices, so that is done only
// when it is not. Without a display driver creating a factory fails.
void GpuAdapters::look() {
  const auto now = std::chrono::steady_clock::now();
  if (lookedAt_ && now - *lookedAt_ < interval_) return;
  lookedAt_ = now;
  if (factory_ && factory_->factory->IsCurrent() != 0) return;
  adapters_.clear();
  factory_.reset();
  auto made = std::make_unique<Factory>();
  const auto create = reinterpret_cast<CreateFactory>(made->library.find("CreateDXGIFactory1"));
  if (create == nullptr || FAILED(create(kFactory1, made->factory.putVoid()))) return;
  factory_ = std::move(made);
  for (UINT index = 0; index < kMaxAdapters; ++index) {
    ComPtr<IDXGIAdapter1> adapter;
    DXGI_ADAPTER_DESC1 about{};
    if (FAILED(factory_->factory->EnumAdapters1(index, adapter.put()))) break;
    if (FAILED(adapter->GetDesc1(&about)) || about.VendorId == kMicrosoftVendor) continue;
    if ((about.Flags & DXGI_ADAPTER_FLAG_SOFTWARE) != 0) continue;
    const auto high = static_cast<std::uint32_t>(about.AdapterLuid.HighPart);
    adapters_.push_back({(static_cast<std::uint64_t>(high) << 32U) | about.AdapterLuid.LowPart,
                         about.VendorId, toUtf8(about.Description), about.DedicatedVideoMemory,
                         about.SharedSystemMemory});
  }
}

std::vector<GpuAdapterReading> GpuAdapters::read() {
  look();
  if (adapters_.empty()) return {};
  if (!query_)
    query_.emplace(std::initializer_list<const wchar_t*>{L"\\GPU Engine(*)\\Utilization Percentage",
                                                         L"\\GPU Adapter Memory(*)\\Dedicated Usage",
                                                         L"\\GPU Adapter Memory(*)\\Shared Usage"});
  query_->collect();
  const auto loads = sumGpuLoads(query_->values(kEngines));
  const auto dedicated = sumGpuBytes(query_->values(kDedicated));
  const auto shared = sumGpuBytes(query_->values(kShared));
  const auto usedOf = [](const auto& used, std::uint64_t luid) {
    const auto found = used.find(luid);
    return found == used.end() ? 0 : found->second;
  };
  std::vector<GpuAdapterReading> readings;
  for (const GpuAdapter& adapter : adapters_) {
    GpuValues values;
    // An unused adapter has no instance: its load is 0 where the counter exists.
    if (query_->hasValues(kEngines))
      values.loadPercent = loads.contains(adapter.luid) ? loads.at(adapter.luid) : 0;
    const std::uint64_t borrowed = adapter.isIntegrated() ? adapter.sharedBytes : 0;
    values.memoryTotalBytes = adapter.dedicatedBytes + borrowed;
    if (dedicated.contains(adapter.luid))
      values.memoryUsedBytes =
          usedOf(dedicated, adapter.luid) + (adapter.isIntegrated() ? usedOf(shared, adapter.luid) : 0);
    readings.push_back({adapter, values});
  }
  return readings;
}

}  // namespace hostwire
