// An nvml.dll with one device, always the same. HOSTWIRE_FAKE_NVML=broken: the driver does not answer.
#include <cstdlib>
#include <cstring>

#define EXPORT extern "C" __declspec(dllexport)

namespace {

struct Pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char busId[32];
};
struct Utilization {
  unsigned gpu, memory;
};
struct Memory {
  unsigned long long total, free, used;
};
constexpr unsigned long long kMib = 1024 * 1024;
int device;

}  // namespace

EXPORT int nvmlInit_v2() { return std::getenv("HOSTWIRE_FAKE_NVML") != nullptr ? 9 : 0; }
EXPORT int nvmlShutdown() { return 0; }
EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return 0;
}
EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned, void** handle) {
  *handle = &device;
  return 0;
}
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char*, void** handle) {
  *handle = &device;
  return 0;
}
EXPORT int nvmlDeviceGetPciInfo_v3(void*, Pci* pci) {
  std::memset(pci, 0, sizeof *pci);
  std::strcpy(pci->busId, "00000000:01:00.0");
  return 0;
}
EXPORT int nvmlDeviceGetName(void*, char* name, unsigned) {
  std::strcpy(name, "NVIDIA GeForce RTX 4070");
  return 0;
}
EXPORT int nvmlDeviceGetUtilizationRates(void*, Utilization* utilization) {
  *utilization = {37, 5};
  return 0;
}
EXPORT int nvmlDeviceGetMemoryInfo(void*, Memory* memory) {
  *memory = {12282 * kMib, 10282 * kMib, 2000 * kMib};
  return 0;
}
EXPORT int nvmlDeviceGetTemperature(void*, unsigned, unsigned* celsius) {
  *celsius = 61;
  return 0;
}
EXPORT int nvmlDeviceGetPowerUsage(void*, unsigned* milliwatts) {
  *milliwatts = 151'400;
  return 0;
}
EXPORT int nvmlDeviceGetFanSpeed(void*, unsigned* percent) {
  *percent = 45;
  return 0;
}
EXPORT int nvmlDeviceGetClockInfo(void*, unsigned, unsigned* mhz) {
  *mhz = 2520;
  return 0;
}
