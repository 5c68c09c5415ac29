// The batteries that power this machine (not those of mice and headsets), asked by a prober.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/finding.h"
#include "host/roots.h"

namespace hostwire {

class ProberPool;

// Counters of one battery, which reports energy or charge, hardly ever both.
struct BatteryCounters {
  std::string name;                    // valid UTF-8: "BAT0"
  std::optional<std::string> state;    // charging, discharging, full, not_charging or unknown
  std::optional<double> percent;       // as the battery's own electronics report it
  std::optional<double> energyWh;      // left now
  std::optional<double> energyFullWh;  // when last full
  std::optional<double> energyDesignWh;
  std::optional<double> chargeAh;
  std::optional<double> chargeFullAh;
  std::optional<double> chargeDesignAh;
  std::optional<double> voltageVolts;
  std::optional<double> powerWatts;   // in or out, never negative
  std::optional<double> currentAmps;  // in or out, never negative
  std::optional<double> secondsToEmpty;
  std::optional<double> secondsToFull;
  std::string failure;  // why nothing but the name is known
};

class BatteriesReader {
 public:
  BatteriesReader(const Roots& roots, ProberPool& probers);
  ~BatteriesReader();
  // Reads them; only for detail. Empty until the first answer.
  std::vector<BatteryCounters> read();
  Findings describe();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace hostwire
