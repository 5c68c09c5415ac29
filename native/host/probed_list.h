// Devices that are added and removed, each asked by its own prober: one that hangs costs only its own values.
#pragma once

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/error.h"
#include "host/prober.h"

namespace hostwire {

// `Device` identifies the device: when two searches find equal values, the prober is kept.
template <class Device, class Value>
class ProbedList {
 public:
  struct Ages {
    std::chrono::milliseconds list;   // minimum time between two searches for devices
    std::chrono::milliseconds value;  // minimum time between two questions to one device
  };
  struct Item {
    std::shared_ptr<const Device> device;
    Answer<Value> answer;
  };
  using Find = std::function<std::vector<Device>()>;
  using Question = std::function<Value()>;
  using MakeQuestion = std::function<Question(const Device&)>;

  // Both functions run on prober threads and may outlive the list.
  ProbedList(ProberPool& pool, Ages ages, Find find, MakeQuestion makeQuestion)
      : found_(std::make_shared<Found>()),
        search_(
            pool,
            [found = found_, shared = pool.state(), age = ages.value, find = std::move(find),
             make = std::move(makeQuestion)] {
              update(*found, find(), make, shared, age);
              return true;
            },
            ages.list) {}

  // Never waits. Empty until the first search has ended. Throws the reason of a failed search while no device
  // is known.
  std::vector<Item> read() {
    const Answer<bool> search = search_.latest();
    std::vector<Item> items;
    for (const Entry& entry : found_->get()) items.push_back({entry.device, entry.prober->latest()});
    if (items.empty() && !search.error.empty()) throw ProbeError(search.error);
    return items;
  }

 private:
  struct Entry {
    std::shared_ptr<const Device> device;
    std::shared_ptr<const Prober<Value>> prober;
  };
  class Found {
   public:
    std::vector<Entry> get() const {
      const std::lock_guard lock(mutex_);
      return entries_;
    }
    void set(std::vector<Entry> entries) {
      const std::lock_guard lock(mutex_);
      entries_.swap(entries);
    }

   private:
    mutable std::mutex mutex_;
    std::vector<Entry> entries_;
  };

  static void update(Found& found, std::vector<Device> devices, const MakeQuestion& make,
                     const ProberPoolState& pool, std::chrono::milliseconds age) {
    const auto known = found.get();
    std::vector<Entry> entries;
    bool hasNew = false;
    for (Device& device : devices) {
      const auto same = std::find_if(known.begin(), known.end(),
                                     [&](const Entry& entry) { return *entry.device == device; });
      if (same != known.end()) {
        entries.push_back(*same);
        continue;
      }
      hasNew = true;
      auto prober = std::make_shared<const Prober<Value>>(pool, make(device), age);
      static_cast<void>(prober->latest());  // marks it as wanted
      entries.push_back({std::make_shared<const Device>(std::move(device)), std::move(prober)});
    }
    found.set(std::move(entries));
    // Ask now, rather than a whole interval after they were found.
    if (hasNew) askAll(pool, std::chrono::milliseconds{0});
  }

  const std::shared_ptr<Found> found_;
  const Prober<bool> search_;
};

}  // namespace hostwire
