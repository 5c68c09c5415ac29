// The batteries of Windows: each is a device of the battery class, which a prober asks.
#include "host/batteries.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "host/prober.h"
#include "host/recent.h"
#include "windows/sensors/parse_battery_status.h"
#include "windows/win32/unicode.h"
#include "windows/win32/win32.h"
// After windows.h.
#include <setupapi.h>

namespace hostwire {
namespace {

// GUID_DEVICE_BATTERY
constexpr GUID kBatteryClass{0x72631E54, 0x78A4, 0x11D0, {0xBC, 0xF7, 0x00, 0xAA, 0x00, 0xB7, 0xB3, 0x2A}};
// IOCTL_BATTERY_QUERY_TAG, _INFORMATION, _STATUS
constexpr DWORD kQueryTag = 0x294040;
constexpr DWORD kQueryInformation = 0x294044;
constexpr DWORD kQueryStatus = 0x29404C;
// BATTERY_QUERY_INFORMATION_LEVEL
constexpr int kFacts = 0;
constexpr int kEstimatedTime = 3;
constexpr int kDeviceName = 4;
constexpr DWORD kMaxBatteries = 16;

struct Query {  // BATTERY_QUERY_INFORMATION
  ULONG tag = 0;
  int level = 0;
  LONG atRate = 0;
};
struct Wait {  // BATTERY_WAIT_STATUS: answer immediately, whatever the state
  ULONG tag = 0;
  ULONG timeout = 0;
  ULONG powerState = 0;
  ULONG lowCapacity = 0;
  ULONG highCapacity = 0;
};

struct DeviceListDeleter {
  void operator()(void* list) const { SetupDiDestroyDeviceInfoList(list); }
};

// Returns the paths of the devices: "\\?\acpi#pnp0c0a#1#{…}".
std::vector<std::wstring> listDevices() {
  const HDEVINFO raw =
      SetupDiGetClassDevsW(&kBatteryClass, nullptr, nullptr, DIGCF_PRESENT | DIGCF_DEVICEINTERFACE);
  if (raw == INVALID_HANDLE_VALUE) return {};
  const std::unique_ptr<void, DeviceListDeleter> list(raw);
  std::vector<std::wstring> paths;
  for (DWORD index = 0; index < kMaxBatteries; ++index) {
    SP_DEVICE_INTERFACE_DATA device{};
    device.cbSize = sizeof device;
    if (SetupDiEnumDeviceInterfaces(list.get(), nullptr, &kBatteryClass, index, &device) == 0) break;
    alignas(SP_DEVICE_INTERFACE_DETAIL_DATA_W) std::array<std::byte, 1024> buffer{};
    auto* const detail = reinterpret_cast<SP_DEVICE_INTERFACE_DETAIL_DATA_W*>(buffer.data());
    detail->cbSize = sizeof *detail;
    if (SetupDiGetDeviceInterfaceDetailW(list.get(), &device, detail, buffer.size(), nullptr, nullptr) != 0)
      paths.emplace_back(detail->DevicePath);
  }
  return paths;
}

class Battery {
 public:
  explicit Battery(const std::wstring& path)
      : device_(CreateFileW(path.c_str(), GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE,
                            nullptr, OPEN_EXISTING, 0, nullptr)) {}

  // Returns nothing if the bay is empty, or the battery powers something else.
  std::optional<BatteryCounters> read() {
    ULONG wait = 0;
    if (!isOpen(device_) || !ask(kQueryTag, wait, tag_) || tag_ == 0) return std::nullopt;
    windows::BatteryFacts facts;
    windows::BatteryState state;
    if (!ask(kQueryInformation, Query{tag_, kFacts, 0}, facts) || !windows::isSystemBattery(facts))
      return std::nullopt;
    if (!ask(kQueryStatus, Wait{tag_}, state)) {
      BatteryCounters battery;
      battery.failure = win32Error(GetLastError(), "ask the battery").what();
      return battery;
    }
    ULONG seconds = 0;
    const bool hasSeconds = ask(kQueryInformation, Query{tag_, kEstimatedTime, 0}, seconds);
    return windows::batteryOf(facts, state, hasSeconds ? std::optional(seconds) : std::nullopt);
  }

  // Returns an empty text if the driver has none.
  std::string name() const {
    std::array<wchar_t, 128> text{};
    if (!ask(kQueryInformation, Query{tag_, kDeviceName, 0}, text)) return {};
    return toUtf8(text.data());
  }

 private:
  template <class Input, class Output>
  bool ask(DWORD code, Input input, Output& output) const {
    DWORD bytes = 0;
    return DeviceIoControl(device_.get(), code, &input, sizeof input, &output, sizeof output, &bytes,
                           nullptr) != 0;
  }

  Handle device_;
  ULONG tag_ = 0;
};

std::vector<BatteryCounters> readBatteries() {
  std::vector<BatteryCounters> batteries;
  for (const std::wstring& path : listDevices()) {
    Battery device(path);
    auto battery = device.read();
    if (!battery) continue;
    battery->name = device.name();
    if (battery->name.empty()) battery->name = std::string("BAT").append(std::to_string(batteries.size()));
    batteries.push_back(std::move(*battery));
  }
  return batteries;
}

}  // namespace

struct BatteriesReader::State {
  Prober<std::vector<BatteryCounters>> prober;
};

BatteriesReader::BatteriesReader(const Roots&, ProberPool& probers)
    : state_(std::make_unique<State>(State{{probers, readBatteries}})) {}
BatteriesReader::~BatteriesReader() = default;

std::vector<BatteryCounters> BatteriesReader::read() {
  return recentValue(state_->prober.latest()).value_or(std::vector<BatteryCounters>{});
}

Findings BatteriesReader::describe() {
  std::vector<std::string> names;
  std::vector<std::string> failures;
  for (const BatteryCounters& battery : read()) {
    names.push_back(battery.name);
    if (!battery.failure.empty()) failures.push_back(battery.name + ": " + battery.failure);
  }
  const std::string source =
      (names.empty() ? "none" : listOf(names)) + " among the devices of the battery class";
  if (failures.empty()) return {Finding::works("batteries", source)};
  return {Finding::partly("batteries", source, {joinTexts(failures), ""})};
}

}  // namespace hostwire
