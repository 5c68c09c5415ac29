// A pdh.dll whose counters always have the same values. HOSTWIRE_FAKE_PDH=none: it has none, and ends the
// process when it is asked for one, as Wine's does; =one-reading: rates need a second reading.
#include <windows.h>

#include <pdh.h>
#include <pdhmsg.h>

#include <cstdlib>
#include <cstring>
#include <cwchar>
#include <string>
#include <vector>

namespace {

struct Instance {
  const wchar_t* name;
  double value;
  DWORD status = PDH_CSTATUS_VALID_DATA;
};
constexpr double kMib = 1024.0 * 1024.0;
const std::vector<Instance> kProcessors{{L"0,1", 50}, {L"0,0", 125}, {L"0,_Total", 87.5}, {L"_Total", 87.5}};
const std::vector<Instance> kEngines{
    {L"pid_4_luid_0x00000000_0x0000C4D1_phys_0_eng_0_engtype_3D", 40},
    {L"pid_88_luid_0x00000000_0x0000C4D1_phys_0_eng_0_engtype_3D", 22.5},
    {L"pid_88_luid_0x00000000_0x0000C4D1_phys_0_eng_4_engtype_VideoDecode", 61},
    {L"pid_91_luid_0x00000000_0x0000C4D1_phys_0_eng_4_engtype_VideoDecode", 90, PDH_CSTATUS_INVALID_DATA},
    {L"pid_4_luid_0x00000000_0x00001111_phys_0_eng_1_engtype_Copy", 70},
    {L"pid_5_luid_0x00000000_0x00001111_phys_0_eng_1_engtype_Copy", 70}};
const std::vector<Instance> kDedicated{{L"luid_0x00000000_0x0000C4D1_phys_0", 3000 * kMib},
                                       {L"luid_0x00000000_0x00001111_phys_0", 100 * kMib}};
const std::vector<Instance> kShared{{L"luid_0x00000000_0x0000C4D1_phys_0", 77 * kMib},
                                    {L"luid_0x00000000_0x00001111_phys_0", 900 * kMib}};

const std::vector<Instance>* find(const wchar_t* path) {
  const char* mode = std::getenv("HOSTWIRE_FAKE_PDH");
  if (mode != nullptr && std::string(mode) == "none") return nullptr;
  if (std::wcscmp(path, L"\\Processor Information(*)\\% Processor Performance") == 0) return &kProcessors;
  if (std::wcscmp(path, L"\\GPU Engine(*)\\Utilization Percentage") == 0) return &kEngines;
  if (std::wcscmp(path, L"\\GPU Adapter Memory(*)\\Dedicated Usage") == 0) return &kDedicated;
  if (std::wcscmp(path, L"\\GPU Adapter Memory(*)\\Shared Usage") == 0) return &kShared;
  return nullptr;
}

struct Query {
  int readings = 0;
};
struct Counter {
  Query* query;
  const std::vector<Instance>* instances;
};

}  // namespace

#define EXPORT extern "C" __declspec(dllexport)

EXPORT LONG WINAPI PdhOpenQueryW(const wchar_t*, DWORD_PTR, PDH_HQUERY* query) {
  *query = new Query;
  return ERROR_SUCCESS;
}

EXPORT LONG WINAPI PdhCloseQuery(PDH_HQUERY query) {
  delete static_cast<Query*>(query);
  return ERROR_SUCCESS;
}

EXPORT LONG WINAPI PdhAddEnglishCounterW(PDH_HQUERY query, const wchar_t* path, DWORD_PTR,
                                         PDH_HCOUNTER* counter) {
  const auto* instances = find(path);
  if (instances == nullptr) return static_cast<LONG>(PDH_CSTATUS_NO_COUNTER);
  *counter = new Counter{static_cast<Query*>(query), instances};
  return ERROR_SUCCESS;
}

EXPORT LONG WINAPI PdhCollectQueryData(PDH_HQUERY query) {
  ++static_cast<Query*>(query)->readings;
  return ERROR_SUCCESS;
}

// The items, followed by their names, in the layout of the real one.
EXPORT LONG WINAPI PdhGetFormattedCounterArrayW(PDH_HCOUNTER handle, DWORD, DWORD* bytes, DWORD* count,
                                                PDH_FMT_COUNTERVALUE_ITEM_W* items) {
  if (handle == nullptr) std::abort();
  const auto& counter = *static_cast<Counter*>(handle);
  if (counter.query->readings < 2) return static_cast<LONG>(PDH_INVALID_DATA);
  const auto& instances = *counter.instances;
  std::size_t needed = instances.size() * sizeof *items;
  for (const Instance& instance : instances) needed += (std::wcslen(instance.name) + 1) * sizeof(wchar_t);
  const bool isEnough = items != nullptr && *bytes >= needed;
  *bytes = static_cast<DWORD>(needed);
  *count = static_cast<DWORD>(instances.size());
  if (!isEnough) return static_cast<LONG>(PDH_MORE_DATA);
  auto* name = reinterpret_cast<wchar_t*>(items + instances.size());
  for (const Instance& instance : instances) {
    items->szName = name;
    items->FmtValue.CStatus = instance.status;
    items->FmtValue.doubleValue = instance.value;
    std::wcscpy(name, instance.name);
    name += std::wcslen(instance.name) + 1;
    ++items;
  }
  return ERROR_SUCCESS;
}
