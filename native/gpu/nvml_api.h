// NVIDIA's management library as documented in the NVML API reference: the types and functions that are used
// here, found at run time.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <type_traits>

#include "host/finding.h"
#include "host/library.h"

namespace hostwire {

// nvmlReturn_t. An int, because a newer library may have codes that are not listed here.
struct NvmlCode {
  static constexpr int kSuccess = 0;
  static constexpr int kUninitialized = 1;
  static constexpr int kNotSupported = 3;
  static constexpr int kNoPermission = 4;
  static constexpr int kNotFound = 6;
  static constexpr int kDriverNotLoaded = 9;
  static constexpr int kGpuIsLost = 15;
  static constexpr int kResetRequired = 16;
  static constexpr int kVersionMismatch = 18;
};

// Describes a return code in words, with its remedy.
Obstacle nvmlObstacle(int code);

struct NvmlOpaqueDevice;
using NvmlDeviceHandle = NvmlOpaqueDevice*;

// nvmlUtilization_t
struct NvmlUtilization {
  unsigned gpu = 0;
  unsigned memory = 0;
};

// nvmlMemory_t
struct NvmlMemory {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

// nvmlMemory_v2_t: `used` excludes what the driver reserves for itself, as in nvidia-smi.
struct NvmlMemoryV2 {
  unsigned version = 0;
  unsigned long long total = 0;
  unsigned long long reserved = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};
// NVML_STRUCT_VERSION: the size, and the number 2 in the highest byte.
constexpr unsigned kNvmlMemoryV2Version = static_cast<unsigned>(sizeof(NvmlMemoryV2)) | (2U << 24U);

// nvmlPciInfo_t of nvmlDeviceGetPciInfo_v3
struct NvmlPciInfo {
  std::array<char, 16> busIdLegacy{};
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned pciDeviceId = 0;
  unsigned pciSubSystemId = 0;
  std::array<char, 32> busId{};
};

constexpr unsigned kNvmlNameBytes = 96;      // NVML_DEVICE_NAME_V2_BUFFER_SIZE
constexpr unsigned kNvmlTemperatureGpu = 0;  // NVML_TEMPERATURE_GPU
constexpr unsigned kNvmlClockGraphics = 0;   // NVML_CLOCK_GRAPHICS

// The functions. Optional ones that an older library lacks are null.
struct NvmlApi {
  // Opens the library. Throws std::runtime_error when it is missing or lacks a required function.
  explicit NvmlApi(const std::string& path);

  Library library;
  std::add_pointer_t<int()> init = nullptr;
  std::add_pointer_t<int()> shutdown = nullptr;
  std::add_pointer_t<int(unsigned*)> getCount = nullptr;
  std::add_pointer_t<int(unsigned, NvmlDeviceHandle*)> getHandleByIndex = nullptr;
  std::add_pointer_t<int(const char*, NvmlDeviceHandle*)> getHandleByBusId = nullptr;
  std::add_pointer_t<int(NvmlDeviceHandle, NvmlPciInfo*)> getPciInfo = nullptr;
  std::add_pointer_t<int(NvmlDeviceHandle, char*, unsigned)> getName = nullptr;
  std::add_pointer_t<int(NvmlDeviceHandle, NvmlUtilization*)> getUtilization = nullptr;
  std::add_pointer_t<int(NvmlDeviceHandle, NvmlMemory*)> getMemory = nullptr;
  std::add_pointer_t<int(NvmlDeviceHandle, NvmlMemoryV2*)> getMemoryV2 = nullptr;
  std::add_pointer_t<int(NvmlDeviceHandle, unsigned, unsigned*)> getTemperature = nullptr;
  std::add_pointer_t<int(NvmlDeviceHandle, unsigned*)> getPower = nullptr;
  std::add_pointer_t<int(NvmlDeviceHandle, unsigned*)> getFan = nullptr;
  std::add_pointer_t<int(NvmlDeviceHandle, unsigned, unsigned*)> getClock = nullptr;
};

}  // namespace hostwire
