// Fuzz targets, second part: the parsers for Windows and the firmware.
#include <algorithm>
#include <span>
#include <string>

#include "firmware/parse_smbios.h"
#include "fuzz/targets.h"
#include "windows/process/parse_processes.h"
#include "windows/sensors/parse_battery_status.h"
#include "windows/system/parse_windows.h"
#include "windows/win32/parse_counters.h"

namespace hostwire {
namespace {

void runSmbios(std::string_view input) {
  const std::string_view table = findSmbiosTable(input);
  require(table.size() + 8 <= std::max<std::size_t>(8, input.size()), "the header is not of the table");
  parseDmiMemoryModules(table);
}

// The lines are the names.
void runCounterNames(std::string_view input) {
  std::vector<CounterInstance> instances;
  std::string_view rest = input.substr(0, 4096);
  for (std::size_t end = 0; end != std::string_view::npos;
       rest.remove_prefix(std::min(rest.size(), end + 1))) {
    end = rest.find('\n');
    instances.push_back({std::string(rest.substr(0, end)), 60});
  }
  require(corePercentages(instances).size() <= instances.size(), "no more processors than instances");
  for (const auto& [luid, load] : sumGpuLoads(instances))
    require(load >= 0 && load <= 100, "a load is a percentage");
  require(sumGpuBytes(instances).size() <= instances.size(), "no more devices than instances");
}

// The bytes are the structures.
void runWindowsBattery(std::string_view input) {
  windows::BatteryFacts facts;
  windows::BatteryState state;
  input.copy(reinterpret_cast<char*>(&facts), sizeof facts);
  const std::string_view rest = input.substr(std::min(input.size(), sizeof facts));
  rest.copy(reinterpret_cast<char*>(&state), sizeof state);
  windows::isSystemBattery(facts);
  for (const std::optional<std::uint32_t> seconds : {std::optional<std::uint32_t>{}, std::optional(60U)}) {
    const BatteryCounters battery = windows::batteryOf(facts, state, seconds);
    if (battery.percent) require(*battery.percent >= 0 && *battery.percent <= 100, "a share of the charge");
    if (battery.powerWatts) require(*battery.powerWatts >= 0, "in or out, never negative");
  }
}

void runWindowsName(std::string_view input) {
  WindowsVersion version;
  version.build = static_cast<std::uint32_t>(19000 + input.size() % 4000);
  version.isServer = input.ends_with('S');
  version.productName = input;
  if (input.size() % 2 == 0) version.displayVersion = input.substr(0, 4);
  version.revision = static_cast<std::uint32_t>(input.size() % 3);
  const OsInfo os = nameWindows(version);
  require(!os.name.empty() && !os.build.empty(), "it has a name and a build");
}

// Names are given as addresses: those in an input may point anywhere.
void runWindowsProcesses(std::string_view input) {
  constexpr std::uint64_t kAddress = 0x10000;
  auto processes = parseProcesses(std::as_bytes(std::span(input)), kAddress);
  require(processes.size() <= input.size() / 256, "each process takes its room");
  forgetLaterParents(processes);
  for (const auto& process : processes)
    require(process.name.size() <= std::min<std::size_t>(input.size() * 2, 4096), "no name out of nothing");
}

}  // namespace

const std::vector<FuzzTarget>& windowsTargets() {
  static const std::vector<FuzzTarget> targets = {
      {"smbios", "", runSmbios},
      {"counter-names", "", runCounterNames},
      {"windows-battery", "", runWindowsBattery},
      {"windows-name", "", runWindowsName},
      {"windows-processes", "", runWindowsProcesses},
  };
  return targets;
}

}  // namespace hostwire
