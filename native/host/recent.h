// Decides which of a prober's answers are still current.
#pragma once

#include <chrono>
#include <optional>
#include <utility>

#include "host/prober.h"

namespace hostwire {

// Maximum age of a current answer. Probers are asked shortly before each reading, so an older answer is from
// before a pause in the readings, or from a sensor that hangs.
constexpr std::chrono::seconds kMaxAge{10};

template <class T>
std::optional<T> recentValue(Answer<T> answer, std::chrono::milliseconds maxAge = kMaxAge) {
  if (answer.age > maxAge) return std::nullopt;
  return std::move(answer.value);
}

}  // namespace hostwire
