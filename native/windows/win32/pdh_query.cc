// PdhAddEnglishCounterW, PdhCollectQueryData, PdhGetFormattedCounterArrayW.
#include "windows/win32/pdh_query.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "host/library.h"
#include "windows/win32/unicode.h"
#include "windows/win32/win32.h"
// After windows.h.
#include <pdh.h>
#include <pdhmsg.h>

namespace hostwire {
namespace {

constexpr std::chrono::milliseconds kApart{50};
// Maximum age of the previous reading: a rate over a longer time is not current.
constexpr std::chrono::seconds kMaxApart{10};
constexpr std::size_t kSpareItems = 64;
// Processors run above their nominal speed: values are not capped at 100.
constexpr DWORD kFormat = PDH_FMT_DOUBLE | PDH_FMT_NOCAP100;

template <class Function>
Function find(const Library& library, const char* name) {
  return reinterpret_cast<Function>(library.find(name));
}

bool isGood(LONG status) { return status == ERROR_SUCCESS; }

}  // namespace

struct PdhApi {
  Library library{"pdh.dll"};
  decltype(&PdhOpenQueryW) openQuery = find<decltype(openQuery)>(library, "PdhOpenQueryW");
  decltype(&PdhCloseQuery) closeQuery = find<decltype(closeQuery)>(library, "PdhCloseQuery");
  decltype(&PdhAddEnglishCounterW) addCounter = find<decltype(addCounter)>(library, "PdhAddEnglishCounterW");
  decltype(&PdhCollectQueryData) collect = find<decltype(collect)>(library, "PdhCollectQueryData");
  decltype(&PdhGetFormattedCounterArrayW) readArray =
      find<decltype(readArray)>(library, "PdhGetFormattedCounterArrayW");

  bool isWhole() const { return openQuery && closeQuery && addCounter && collect && readArray; }
};

PdhQuery::PdhQuery(std::initializer_list<const wchar_t*> paths)
    : api_(std::make_unique<PdhApi>()), counters_(paths.size(), nullptr) {
  PDH_HQUERY query = nullptr;
  if (!api_->isWhole() || !isGood(api_->openQuery(nullptr, 0, &query))) return;
  query_ = query;
  auto place = counters_.begin();
  for (const wchar_t* path : paths) {
    PDH_HCOUNTER counter = nullptr;
    if (isGood(api_->addCounter(query, path, 0, &counter))) *place = counter;
    ++place;
  }
}

PdhQuery::~PdhQuery() {
  if (query_ != nullptr) api_->closeQuery(query_);
}

PdhQuery::PdhQuery(PdhQuery&& other) noexcept
    : api_(std::move(other.api_)),
      query_(std::exchange(other.query_, nullptr)),
      counters_(std::move(other.counters_)),
      isCollected_(other.isCollected_),
      collectedAt_(other.collectedAt_) {}

bool PdhQuery::hasAny() const {
  return std::any_of(counters_.begin(), counters_.end(),
                     [](const void* counter) { return counter != nullptr; });
}

bool PdhQuery::collectOnce() const { return isGood(api_->collect(query_)); }

void PdhQuery::collect() {
  if (!hasAny()) return;
  const auto now = std::chrono::steady_clock::now();
  isCollected_ = collectOnce();
  if (isCollected_ && (!collectedAt_ || now - *collectedAt_ > kMaxApart)) {
    std::this_thread::sleep_for(kApart);
    isCollected_ = collectOnce();
  }
  collectedAt_ = now;
}

std::vector<CounterInstance> PdhQuery::values(std::size_t index) const {
  if (!hasValues(index)) return {};
  DWORD bytes = 0;
  DWORD count = 0;
  const LONG asked = api_->readArray(counters_[index], kFormat, &bytes, &count, nullptr);
  if (asked != static_cast<LONG>(PDH_MORE_DATA) || bytes == 0) return {};
  // The names follow the items in the same buffer. Instances may appear between the two calls, so the buffer
  // has room for a few more.
  std::vector<PDH_FMT_COUNTERVALUE_ITEM_W> items(bytes / sizeof(PDH_FMT_COUNTERVALUE_ITEM_W) + kSpareItems);
  bytes = static_cast<DWORD>(items.size() * sizeof(PDH_FMT_COUNTERVALUE_ITEM_W));
  if (!isGood(api_->readArray(counters_[index], kFormat, &bytes, &count, items.data()))) return {};
  std::vector<CounterInstance> values;
  for (DWORD at = 0; at < count && at < items.size(); ++at) {
    const PDH_FMT_COUNTERVALUE_ITEM_W& item = items[at];
    const DWORD status = item.FmtValue.CStatus;
    if (status != PDH_CSTATUS_VALID_DATA && status != PDH_CSTATUS_NEW_DATA) continue;
    values.push_back({toUtf8(item.szName), item.FmtValue.doubleValue});
  }
  return values;
}

}  // namespace hostwire
