// The clocks of Windows: interrupt time with and without suspend, and the precise wall clock.
#include "host/clock.h"

#include "windows/win32/win32.h"

namespace hostwire {
namespace {

using QueryTime = void(WINAPI*)(PULONGLONG);

// FILETIME counts from 1601.
constexpr std::int64_t kUnixEpoch100ns = 116'444'736'000'000'000;

std::int64_t toNs(ULONGLONG hundredNs) { return static_cast<std::int64_t>(hundredNs) * 100; }

// Returns time without suspend. The precise form is new in Windows 10; the plain one steps with the timer, up
// to 15.6 ms.
std::int64_t readUnbiasedNs() {
  static const auto queryPrecise =
      findFunction<QueryTime>(L"kernelbase.dll", "QueryUnbiasedInterruptTimePrecise");
  ULONGLONG now = 0;
  if (queryPrecise != nullptr) {
    queryPrecise(&now);
  } else {
    QueryUnbiasedInterruptTime(&now);
  }
  return toNs(now);
}

// Returns time with suspend: since boot.
std::int64_t readBootNs() {
  static const auto query = findFunction<QueryTime>(L"kernelbase.dll", "QueryInterruptTime");
  if (query == nullptr) return static_cast<std::int64_t>(GetTickCount64()) * 1'000'000;
  ULONGLONG now = 0;
  query(&now);
  return toNs(now);
}

std::int64_t readUnixMs() {
  FILETIME now{};
  GetSystemTimePreciseAsFileTime(&now);
  return (static_cast<std::int64_t>(ticksOf(now)) - kUnixEpoch100ns) / 10'000;
}

}  // namespace

ClockReading readClock() { return {readUnbiasedNs(), readBootNs(), readUnixMs()}; }

}  // namespace hostwire
