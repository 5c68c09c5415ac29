// Describes in words which values of each device were read.
#include "gpu/describe.h"

#include <algorithm>

namespace hostwire {
namespace {

struct NamedValues {
  std::vector<std::string> known;
  std::vector<std::string> missing;
};

NamedValues nameValues(const GpuValues& values) {
  NamedValues names;
  const auto add = [&](const char* name, bool isKnown) {
    (isKnown ? names.known : names.missing).emplace_back(name);
  };
  add("load", values.loadPercent.has_value());
  add("temperature", values.temperatureCelsius.has_value());
  add("memory", values.memoryUsedBytes.has_value());
  add("power", values.powerWatts.has_value());
  add("fan", values.fanPercent.has_value());
  add("clock", values.clockMhz.has_value());
  return names;
}

std::string listAll(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
  return list;
}

// One device's part of the row.
struct Part {
  std::string source;
  Obstacle obstacle;
};

Part describeValues(const GpuFinding& gpu, const std::string& device) {
  const auto [known, missing] = nameValues(gpu.values);
  Part part{device + ": " + listAll(known) + " from " + gpu.source, {}};
  if (!missing.empty()) part.source += ", without " + listAll(missing);
  if (!gpu.values.loadPercent) part.obstacle = {"the load of " + device + " is not known", gpu.loadRemedy};
  return part;
}

Part describeOne(const GpuFinding& gpu) {
  const std::string& name = gpu.name.empty() ? gpu.vendor : gpu.name;
  const std::string device =
      name + " (" + (gpu.driver.empty() ? "no driver" : gpu.driver) + ", " + gpu.address + ")";
  switch (gpu.state) {
    case GpuFinding::State::kAsleep: return {device + " is asleep and is not woken", {}};
    case GpuFinding::State::kWaiting: return {device, {device + " has not answered yet", ""}};
    case GpuFinding::State::kUnreadable:
      return {device, {device + ": " + gpu.obstacle.reason, gpu.obstacle.remedy}};
    case GpuFinding::State::kRead: break;
  }
  return describeValues(gpu, device);
}

}  // namespace

Finding describeGpus(const std::vector<GpuFinding>& gpus, const std::string& lookedIn) {
  if (gpus.empty())
    return Finding::missing(
        "gpu", lookedIn,
        {"no device of NVIDIA, AMD, Intel or a known system on a chip was found (virtual display "
         "adapters do not count)",
         ""});
  std::vector<std::string> sources;
  std::vector<std::string> reasons;
  std::vector<std::string> remedies;
  Finding finding{"gpu", Finding::Status::kMissing, "", {}};
  for (const GpuFinding& gpu : gpus) {
    const Part part = describeOne(gpu);
    sources.push_back(part.source);
    reasons.push_back(part.obstacle.reason);
    remedies.push_back(part.obstacle.remedy);
    const bool isWaiting = gpu.state == GpuFinding::State::kWaiting;
    finding.isPending = finding.isPending || isWaiting;
    if (!isWaiting && gpu.state != GpuFinding::State::kUnreadable) finding.status = Finding::Status::kPartly;
  }
  finding.source = joinTexts(sources);
  finding.obstacle = {joinTexts(reasons), joinTexts(remedies)};
  if (finding.obstacle.reason.empty()) finding.status = Finding::Status::kWorks;
  return finding;
}

}  // namespace hostwire
