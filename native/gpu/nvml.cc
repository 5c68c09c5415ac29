// The session with NVML, and the judgement of its answers.
#include "gpu/nvml.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace hostwire {
namespace {

// 1 s, 2 s, … 32 s: a device that has returned is found within half a minute.
constexpr int kMaxDoublings = 5;
constexpr unsigned kMaxDevices = 64;  // no machine has more: a larger count is invalid
// Beyond any device's range, a value is a failure of the driver and not a reading.
constexpr unsigned kMaxCelsius = 150;
constexpr unsigned kMaxMilliwatts = 10'000'000;
constexpr unsigned kMaxMhz = 20'000;

// Returns whether the session yields nothing more after this code.
bool isSessionLost(int code) {
  return code == NvmlCode::kUninitialized || code == NvmlCode::kDriverNotLoaded ||
         code == NvmlCode::kGpuIsLost || code == NvmlCode::kResetRequired ||
         code == NvmlCode::kVersionMismatch;
}

// Returns whether the device works but refuses the question.
bool isRefusal(int code) {
  return code == NvmlCode::kSuccess || code == NvmlCode::kNotSupported || code == NvmlCode::kNoPermission;
}

// The outcome of the calls for one device.
struct Verdict {
  int lost = NvmlCode::kSuccess;     // the first code that ends the session for this device
  int trouble = NvmlCode::kSuccess;  // the first code that is worse than a refusal

  bool note(int code) {
    if (lost == NvmlCode::kSuccess && isSessionLost(code)) lost = code;
    if (trouble == NvmlCode::kSuccess && !isRefusal(code)) trouble = code;
    return code == NvmlCode::kSuccess;
  }
};

// Calls `function` if the library has it and the device is not lost yet.
template <class Function, class... Arguments>
bool ask(Verdict& verdict, Function* function, Arguments... arguments) {
  if (function == nullptr || verdict.lost != NvmlCode::kSuccess) return false;
  return verdict.note(function(arguments...));
}

std::optional<double> upTo(unsigned value, unsigned max, double scale = 1) {
  if (value > max) return std::nullopt;
  return value / scale;
}

// Normalizes an address: "00000000:01:00.0" and "0000:01:00.0" are one device; sysfs has the second form, in
// lower case.
std::string addressOf(const NvmlPciInfo& info) {
  std::string text(info.busId.data(), strnlen(info.busId.data(), info.busId.size()));
  if (text.empty())
    text.assign(info.busIdLegacy.data(), strnlen(info.busIdLegacy.data(), info.busIdLegacy.size()));
  const std::size_t domainDigits = text.find(':');
  if (domainDigits == 8 && text.starts_with("0000")) text.erase(0, 4);
  for (char& c : text)
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

void takeMemory(GpuValues& values, unsigned long long used, unsigned long long total) {
  if (total == 0) return;
  values.memoryTotalBytes = total;
  if (used <= total) values.memoryUsedBytes = used;
}

void readMemory(const NvmlApi& api, NvmlDeviceHandle handle, Verdict& verdict, GpuValues& values) {
  NvmlMemoryV2 current;
  current.version = kNvmlMemoryV2Version;
  // A library that has the function may lack this version of it, which is not an error.
  if (api.getMemoryV2 != nullptr && verdict.lost == NvmlCode::kSuccess) {
    const int code = api.getMemoryV2(handle, &current);
    if (isSessionLost(code)) verdict.note(code);
    if (code == NvmlCode::kSuccess) return takeMemory(values, current.used, current.total);
  }
  NvmlMemory old;
  if (ask(verdict, api.getMemory, handle, &old)) takeMemory(values, old.used, old.total);
}

// Returns whether the device has a fan; nothing if its answer leaves that open.
std::optional<bool> readFan(const NvmlApi& api, NvmlDeviceHandle handle, Verdict& verdict,
                            GpuValues& values) {
  if (api.getFan == nullptr || verdict.lost != NvmlCode::kSuccess) return {};
  unsigned percent = 0;
  const int code = api.getFan(handle, &percent);
  if (code == NvmlCode::kNotSupported) return false;
  if (!verdict.note(code)) return {};
  // The documentation defines it as a percentage of the maximum tolerable noise, so it may exceed 100.
  values.fanPercent = std::min(percent, 100U);
  return true;
}

// The last thread to release a session may be the main one, at the end of the process. Neither nvmlShutdown
// nor the library's own destructors may run there, because they can hang. The kernel closes what is open when
// the process ends.
void abandon(std::unique_ptr<NvmlApi> api) {
  static std::mutex mutex;
  static auto* abandoned = new std::vector<std::unique_ptr<NvmlApi>>;
  const std::lock_guard lock(mutex);
  abandoned->push_back(std::move(api));
}

}  // namespace

NvmlSession::NvmlSession(std::string library, std::chrono::milliseconds retryDelay)
    : libraryPath_(std::move(library)), firstDelay_(retryDelay), delay_(retryDelay) {}

NvmlSession::~NvmlSession() {
  if (api_) abandon(std::move(api_));
}

void NvmlSession::close() {
  if (isInitialized_) api_->shutdown();
  isInitialized_ = false;
  isEnumerated_ = false;
  devices_.clear();
}

void NvmlSession::planRetry() {
  if (retryAt_) return;
  retryAt_ = Clock::now() + delay_;
  delay_ = std::min(delay_ * 2, firstDelay_ * (1 << kMaxDoublings));
}

void NvmlSession::fail(Obstacle failure) {
  failure_ = std::move(failure);
  planRetry();
}

void NvmlSession::openOnce() {
  try {
    if (!api_) api_ = std::make_unique<NvmlApi>(libraryPath_);
  } catch (const std::exception& error) {
    return fail({error.what(), "install the management library of NVIDIA's driver (Debian: libnvidia-ml1)"});
  }
  const int code = api_->init();
  if (code == NvmlCode::kSuccess) {
    isInitialized_ = true;
    failure_ = {};
    return;
  }
  // After a driver update the matching library has the same name: only opening it again finds it.
  if (code == NvmlCode::kVersionMismatch) api_.reset();
  fail(nvmlObstacle(code));
}

// Returns whether a session is open. One that broke or could not be opened is retried when it is due.
bool NvmlSession::open() {
  if (retryAt_) {
    if (Clock::now() < *retryAt_) return isInitialized_;
    retryAt_.reset();
    close();
  }
  if (!isInitialized_) openOnce();
  return isInitialized_;
}

void NvmlSession::nameDevice(Device& device) const {
  std::array<char, kNvmlNameBytes + 1> name{};
  device.isNameKnown = api_->getName == nullptr;
  if (device.isNameKnown) return;
  const int code = api_->getName(device.handle, name.data(), kNvmlNameBytes);
  device.isNameKnown = isRefusal(code);
  if (code == NvmlCode::kSuccess) device.name = name.data();
}

void NvmlSession::breakDevice(Device& device, int code) {
  device.handle = nullptr;
  device.failure = nvmlObstacle(code);
  planRetry();
}

NvmlSession::Device& NvmlSession::deviceAt(const std::string& address) {
  for (const auto& known : devices_)
    if (known->address == address) return *known;
  Device& device = *devices_.emplace_back(std::make_unique<Device>());
  device.address = address;
  const int code = api_->getHandleByBusId(address.c_str(), &device.handle);
  if (code == NvmlCode::kSuccess) {
    nameDevice(device);
  } else {
    breakDevice(device, code);
  }
  return device;
}

void NvmlSession::enumerate() {
  if (isEnumerated_) return;
  unsigned count = 0;
  const int code = api_->getCount(&count);
  if (code != NvmlCode::kSuccess) return fail(nvmlObstacle(code));
  isEnumerated_ = true;
  failure_ = {};
  for (unsigned i = 0; i < std::min(count, kMaxDevices); ++i) {
    Device& device = *devices_.emplace_back(std::make_unique<Device>());
    device.address = "nvidia" + std::to_string(i);
    const int reached = api_->getHandleByIndex(i, &device.handle);
    if (reached != NvmlCode::kSuccess) {
      breakDevice(device, reached);
      continue;
    }
    nameDevice(device);
    NvmlPciInfo info;
    if (api_->getPciInfo != nullptr && api_->getPciInfo(device.handle, &info) == NvmlCode::kSuccess)
      device.address = addressOf(info);
  }
}

GpuValues NvmlSession::readValues(Device& device, bool withDetail) {
  GpuValues values;
  Verdict verdict;
  NvmlUtilization utilization;
  unsigned number = 0;
  const NvmlDeviceHandle handle = device.handle;
  if (ask(verdict, api_->getUtilization, handle, &utilization))
    values.loadPercent = upTo(utilization.gpu, 100);
  if (ask(verdict, api_->getTemperature, handle, kNvmlTemperatureGpu, &number))
    values.temperatureCelsius = upTo(number, kMaxCelsius);
  readMemory(*api_, handle, verdict, values);
  if (withDetail || !values.isAnyKnown()) {
    if (ask(verdict, api_->getPower, handle, &number)) values.powerWatts = upTo(number, kMaxMilliwatts, 1000);
    if (device.hasFan.value_or(true)) {
      const std::optional<bool> hasFan = readFan(*api_, handle, verdict, values);
      if (!device.hasFan) device.hasFan = hasFan;
    }
    if (ask(verdict, api_->getClock, handle, kNvmlClockGraphics, &number))
      values.clockMhz = upTo(number, kMaxMhz);
  }
  if (verdict.lost != NvmlCode::kSuccess) {
    breakDevice(device, verdict.lost);
    return {};
  }
  // Not a single value, and not for lack of support: the handle may belong to a driver that was reloaded
  // since.
  if (!values.isAnyKnown() && verdict.trouble != NvmlCode::kSuccess) breakDevice(device, verdict.trouble);
  return values;
}

std::vector<NvmlReading> NvmlSession::readDevices(const std::vector<Device*>& devices, bool withDetail) {
  std::vector<NvmlReading> readings;
  bool areAllWell = true;
  for (Device* device : devices) {
    NvmlReading reading;
    if (device->handle != nullptr && !device->isNameKnown) nameDevice(*device);
    if (device->handle != nullptr) reading.values = readValues(*device, withDetail);
    areAllWell = areAllWell && device->handle != nullptr;
    reading.address = device->address;
    reading.name = device->name;
    reading.failure = device->failure;
    if (reading.failure.reason.empty() && !reading.values.isAnyKnown())
      reading.failure = nvmlObstacle(NvmlCode::kNotSupported);
    readings.push_back(std::move(reading));
  }
  if (areAllWell) delay_ = firstDelay_;
  return readings;
}

std::vector<NvmlReading> NvmlSession::read(const std::vector<std::string>& addresses, bool withDetail) {
  if (!open()) return {};
  std::vector<Device*> devices;
  devices.reserve(addresses.size());
  for (const std::string& address : addresses) devices.push_back(&deviceAt(address));
  return readDevices(devices, withDetail);
}

std::vector<NvmlReading> NvmlSession::readAll(bool withDetail) {
  if (!open()) return {};
  enumerate();
  if (!isEnumerated_) return {};
  std::vector<Device*> devices;
  for (const auto& device : devices_) devices.push_back(device.get());
  return readDevices(devices, withDetail);
}

}  // namespace hostwire
