// Asks NVML about the devices that are awake, and closes it when none is.
#include "linux/gpu/nvidia.h"

#include <algorithm>
#include <optional>

#include "linux/gpu/names.h"
#include "linux/kernel/text.h"

namespace hostwire {
namespace {

constexpr const char* kLibrary = "libnvidia-ml.so.1";

}  // namespace

NvidiaGpus::NvidiaGpus(const Roots& roots, const GpuOptions& options)
    : roots_(roots),
      options_(options),
      session_(options.nvmlLibrary.empty() ? kLibrary : options.nvmlLibrary, options.retryDelay) {}

std::vector<GpuAnswer> NvidiaGpus::readUnlisted(bool withDetail) {
  std::vector<GpuAnswer> answers;
  for (const NvmlReading& reading : session_.readAll(withDetail)) {
    GpuAnswer answer;
    answer.address = reading.address;
    answer.name = reading.name.empty() ? hostwire::nameOf(GpuVendor::kNvidia) : toValidUtf8(reading.name);
    answer.values = reading.values;
    answer.failure = reading.failure;
    answers.push_back(std::move(answer));
  }
  return answers;
}

// `readings` are of the devices that were asked: the others are asleep or resting.
GpuAnswer NvidiaGpus::answerOf(const GpuDevice& device, const std::vector<NvmlReading>& readings) {
  Known& known = known_.at(device.address);
  GpuAnswer answer;
  answer.address = device.address;
  const auto reading = std::find_if(readings.begin(), readings.end(),
                                    [&](const NvmlReading& each) { return each.address == device.address; });
  if (reading == readings.end()) {
    answer.failure = session_.failure();
    answer.values = known.last.ofFailing();
  } else {
    if (!reading->name.empty()) known.name = toValidUtf8(reading->name);
    answer.failure = reading->failure;
    answer.values = reading->failure.reason.empty() ? reading->values : known.last.ofFailing();
    if (reading->failure.reason.empty()) {
      known.last.store(reading->values);
      known.sleep.noteLoad(reading->values.loadPercent);
    }
  }
  answer.name = nameOf(known, device);
  return answer;
}

std::string NvidiaGpus::nameOf(Known& known, const GpuDevice& device) const {
  if (!known.name.empty()) return known.name;
  GpuName found = lookUpGpuName(roots_, device);
  if (found.isFinal) known.name = found.text;
  return std::move(found.text);
}

std::vector<GpuAnswer> NvidiaGpus::read(const NvidiaRequest& request) {
  if (request.wantsUnlisted) return readUnlisted(request.withDetail);
  std::vector<std::string> awake;
  std::vector<GpuSleep::State> states;
  for (const GpuDevice& device : request.devices) {
    Known& known = known_.try_emplace(device.address, device, options_).first->second;
    states.push_back(known.sleep.judge());
    if (states.back() == GpuSleep::State::kAwake) awake.push_back(device.address);
  }
  // An open session may be the reason why the devices stay awake.
  if (awake.empty()) session_.close();
  const auto readings = awake.empty() ? std::vector<NvmlReading>{} : session_.read(awake, request.withDetail);
  std::vector<GpuAnswer> answers;
  for (std::size_t i = 0; i < request.devices.size(); ++i) {
    const GpuDevice& device = request.devices[i];
    if (states[i] == GpuSleep::State::kAwake) {
      answers.push_back(answerOf(device, readings));
      continue;
    }
    const Known& known = known_.at(device.address);
    answers.push_back(
        {device.address, known.name, known.last.ofSleeping(), states[i] == GpuSleep::State::kAsleep, {}});
  }
  return answers;
}

}  // namespace hostwire
