// Memory: GlobalMemoryStatusEx; with detail the system's cache and the page files.
#include "host/memory.h"

#include <algorithm>
#include <string>

#include "windows/win32/win32.h"
// After windows.h.
#include <psapi.h>

namespace hostwire {
namespace {

struct PageFiles {
  std::uint64_t totalPages = 0;
  std::uint64_t usedPages = 0;
};

BOOL CALLBACK addPageFile(void* context, PENUM_PAGE_FILE_INFORMATION file, const wchar_t*) {
  auto& sum = *static_cast<PageFiles*>(context);
  sum.totalPages += file->TotalSize;
  sum.usedPages += file->TotalInUse;
  return TRUE;
}

// A failed call leaves the value unknown: without page files it is 0.
void addDetail(MemoryCounters& counters) {
  PERFORMANCE_INFORMATION performance{};
  performance.cb = sizeof performance;
  if (GetPerformanceInfo(&performance, sizeof performance) == 0 || performance.PageSize == 0) return;
  const std::uint64_t pageBytes = performance.PageSize;
  // Never 0 on a real machine, but 0 under Wine.
  if (performance.SystemCache != 0) counters.cachedBytes = performance.SystemCache * pageBytes;
  PageFiles files;
  if (EnumPageFilesW(addPageFile, &files) == 0) return;
  counters.swapTotalBytes = files.totalPages * pageBytes;
  counters.swapFreeBytes = (files.totalPages - std::min(files.usedPages, files.totalPages)) * pageBytes;
}

}  // namespace

struct MemoryReader::State {};
MemoryReader::MemoryReader(const Roots&) {}
MemoryReader::~MemoryReader() = default;

MemoryCounters MemoryReader::read(bool withDetail) {
  MEMORYSTATUSEX status{};
  status.dwLength = sizeof status;
  if (GlobalMemoryStatusEx(&status) == 0) throw lastError("GlobalMemoryStatusEx");
  MemoryCounters counters;
  counters.totalBytes = status.ullTotalPhys;
  counters.availableBytes = std::min(status.ullAvailPhys, status.ullTotalPhys);
  if (withDetail) addDetail(counters);
  return counters;
}

Findings MemoryReader::describe() {
  const std::string call = "GlobalMemoryStatusEx";
  return describeOrExplain("memory", call, [&]() -> Findings {
    const MemoryCounters counters = read(true);
    const std::string source = std::to_string(counters.totalBytes >> 20U) + " MiB from " + call;
    if (counters.swapTotalBytes) return {Finding::works("memory", source)};
    return {Finding::partly("memory", source, {"EnumPageFiles reports no page files", ""})};
  });
}

}  // namespace hostwire
