// Windows' performance counters (pdh.dll), loaded on first use.
#pragma once

#include <chrono>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "windows/win32/parse_counters.h"

namespace hostwire {

struct PdhApi;

// Counters of all instances of their objects. Used by one thread at a time; any call may take long.
class PdhQuery {
 public:
  // `paths` in English, with (*): "\\GPU Engine(*)\\Utilization Percentage". Throws std::runtime_error
  // without the library.
  explicit PdhQuery(std::initializer_list<const wchar_t*> paths);
  ~PdhQuery();
  PdhQuery(PdhQuery&&) noexcept;
  PdhQuery& operator=(PdhQuery&&) = delete;

  // Returns whether the machine has the counter at `index`. A missing one is never read: Wine would end the
  // process.
  bool has(std::size_t index) const { return counters_[index] != nullptr; }
  bool hasAny() const;
  // Takes a reading. Rates are between it and the previous one: after a pause it takes two, 50 ms apart.
  void collect();
  // Returns whether the last reading has values for the counter at `index`.
  bool hasValues(std::size_t index) const { return isCollected_ && has(index); }
  // Returns the values of the counter at `index` by instance; instances without a value are left out.
  std::vector<CounterInstance> values(std::size_t index) const;

 private:
  bool collectOnce() const;

  std::unique_ptr<PdhApi> api_;
  void* query_ = nullptr;
  std::vector<void*> counters_;
  bool isCollected_ = false;
  std::optional<std::chrono::steady_clock::time_point> collectedAt_;
};

}  // namespace hostwire
