// Details beside the sections: sensors, batteries. One row per detail; its table is in details.cc.
#pragma once

#include <napi.h>

#include <functional>
#include <vector>

#include "host/finding.h"
#include "host/prober.h"
#include "host/roots.h"

namespace hostwire {

struct Detail {
  const char* key;  // in Counters (src/host/details.ts)
  // Throws the reader's exception, which costs this detail alone.
  std::function<Napi::Value(Napi::Env)> read;
  // Returns the rows of `hostwire doctor`.
  std::function<Findings()> describe;
};

// Returns all details, in the order of their keys in Counters. `probers` must outlive them.
std::vector<Detail> openDetails(const Roots& roots, ProberPool& probers);

}  // namespace hostwire
