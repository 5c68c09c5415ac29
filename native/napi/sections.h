// The sections of a reading: one row per section; the table is in sections.cc.
#pragma once

#include <napi.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "host/finding.h"
#include "host/gpu.h"
#include "host/prober.h"
#include "host/roots.h"

namespace hostwire {

struct Section {
  const char* key;  // in Counters (src/host/host.ts)
  // Throws the reader's exception, which costs this section alone.
  std::function<Napi::Value(Napi::Env, bool withDetail)> read;
  // Returns why a part of the last reading is missing: empty when none is. Without this function a section is
  // complete or fails as a whole.
  std::function<const std::string&()> failure;
  // Returns the rows of `hostwire doctor`.
  std::function<Findings()> describe;
  // Returns when the last reading was taken, for the key with "TakenAtNs" appended; without this function it
  // is the time of all others.
  std::function<std::int64_t()> takenAtNs{};
};

// Returns all sections, in the order of SECTIONS in src/host/host.ts: section n has the bit 1 << n. `probers`
// must outlive them.
std::vector<Section> openSections(const Roots& roots, const GpuOptions& gpuOptions, ProberPool& probers);

}  // namespace hostwire
