// Finds NVML's functions, and describes its return codes.
#include "gpu/nvml_api.h"

#include <stdexcept>

namespace hostwire {
namespace {

template <class Function>
void find(const Library& library, const char* symbol, Function*& function) {
  function = reinterpret_cast<Function*>(library.find(symbol));
}

template <class Function>
void require(const Library& library, const char* symbol, Function*& function) {
  find(library, symbol, function);
  if (function == nullptr) throw std::runtime_error(std::string("NVML has no ") + symbol);
}

const char* phraseOf(int code) {
  switch (code) {
    case 1: return "not initialized";
    case 2: return "invalid argument";
    case 3: return "not supported";
    case 4: return "no permission";
    case 5: return "already initialized";
    case 6: return "not found";
    case 7: return "buffer too small";
    case 8: return "a power cable is missing";
    case 9: return "the driver is not loaded";
    case 10: return "the driver did not answer in time";
    case 11: return "the kernel has a problem with the interrupts";
    case 12: return "a library of the driver is missing";
    case 13: return "the driver lacks a function";
    case 14: return "the device's information memory is corrupted";
    case 15: return "the GPU is lost: it has fallen off the bus";
    case 16: return "the GPU needs a reset";
    case 17: return "the GPU is blocked by the operating system";
    case 18: return "the library and the loaded driver are of different versions";
    case 19: return "in use";
    case 20: return "out of memory";
    case 21: return "no data";
    case 22: return "not possible with memory error correction";
    case 23: return "out of resources";
    case 24: return "the frequency is not supported";
    case 25: return "the version of an argument is not supported";
    case 26: return "no longer supported";
    case 27: return "not ready";
    case 28: return "no such GPU";
    case 29: return "not possible in this state";
    case 30: return "this reset is not supported";
    case 999: return "unknown error";
    default: return "error";
  }
}

const char* remedyOf(int code) {
  switch (code) {
    case NvmlCode::kNoPermission: return "give this user access to the device (on Linux: /dev/nvidia*)";
    case NvmlCode::kDriverNotLoaded: return "load NVIDIA's driver (on Linux: the kernel module nvidia)";
    case NvmlCode::kGpuIsLost:
    case NvmlCode::kResetRequired: return "see the system's log; restarting the machine helps";
    case NvmlCode::kVersionMismatch: return "restart the machine: NVIDIA's driver was updated";
    default: return "";
  }
}

}  // namespace

Obstacle nvmlObstacle(int code) {
  return {std::string(phraseOf(code)) + " (NVML " + std::to_string(code) + ")", remedyOf(code)};
}

NvmlApi::NvmlApi(const std::string& path) : library(path) {
  require(library, "nvmlInit_v2", init);
  require(library, "nvmlShutdown", shutdown);
  require(library, "nvmlDeviceGetCount_v2", getCount);
  require(library, "nvmlDeviceGetHandleByIndex_v2", getHandleByIndex);
  require(library, "nvmlDeviceGetHandleByPciBusId_v2", getHandleByBusId);
  find(library, "nvmlDeviceGetPciInfo_v3", getPciInfo);
  find(library, "nvmlDeviceGetName", getName);
  find(library, "nvmlDeviceGetUtilizationRates", getUtilization);
  find(library, "nvmlDeviceGetMemoryInfo", getMemory);
  find(library, "nvmlDeviceGetMemoryInfo_v2", getMemoryV2);
  find(library, "nvmlDeviceGetTemperature", getTemperature);
  find(library, "nvmlDeviceGetPowerUsage", getPower);
  find(library, "nvmlDeviceGetFanSpeed", getFan);
  find(library, "nvmlDeviceGetClockInfo", getClock);
}

}  // namespace hostwire
