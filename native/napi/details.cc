// The table of details and how each becomes JavaScript; the keys mirror src/host/details.ts.
#include "napi/details.h"

#include <memory>

#include "host/batteries.h"
#include "host/drives.h"
#include "host/resource_limits.h"
#include "host/sensors.h"
#include "napi/js.h"

namespace hostwire {

static Napi::Value js(Napi::Env env, SensorKind kind) {
  return named(env, kind, {"temperature", "fan", "voltage", "power"});
}

HOSTWIRE_JS(SensorCounters, KEY(driver), KEY(chip), KEY(label), KEY(device), KEY(file), KEY(ownLabel),
            KEY(kind), KEY(value), key<Self, &Self::failure, orNull>("failure"))

HOSTWIRE_JS(BatteryCounters, KEY(name), KEY(state), KEY(percent), KEY(energyWh), KEY(energyFullWh),
            KEY(energyDesignWh), KEY(chargeAh), KEY(chargeFullAh), KEY(chargeDesignAh), KEY(voltageVolts),
            KEY(powerWatts), KEY(currentAmps), KEY(secondsToEmpty), KEY(secondsToFull),
            key<Self, &Self::failure, orNull>("failure"))

static Napi::Value js(Napi::Env env, DriveKind kind) {
  return named(env, kind, {"nvme", "ata", "scsi", "other"});
}

HOSTWIRE_JS(DriveHealth, KEY(isPassing), KEY(percentageUsed), KEY(powerOnHours), KEY(temperatureCelsius),
            KEY(mediaErrors))

HOSTWIRE_JS(DriveCounters, KEY(name), key<Self, &Self::model, orNull>("model"), KEY(kind), KEY(health),
            key<Self, &Self::failure, orNull>("failure"))

HOSTWIRE_JS(CpuThrottling, KEY(group), KEY(periods), KEY(throttledPeriods))

HOSTWIRE_JS(LimitCounters, KEY(memoryBytes), KEY(memoryUsedBytes), KEY(cpus), KEY(throttling),
            key<Self, &Self::failure, orNull>("failure"))

// Makes a row: the reader, opened, and its key. The result of its `read` must have an overload of js.
template <class Reader>
static Detail detail(const char* key, const Roots& roots, ProberPool& probers) {
  const auto reader = std::make_shared<Reader>(roots, probers);
  return {key, [reader](Napi::Env env) { return js(env, reader->read()); },
          [reader] { return reader->describe(); }};
}

std::vector<Detail> openDetails(const Roots& roots, ProberPool& probers) {
  return {
      detail<SensorsReader>("sensors", roots, probers),
      detail<BatteriesReader>("batteries", roots, probers),
      detail<DrivesReader>("drives", roots, probers),
      detail<LimitsReader>("limits", roots, probers),
  };
}

}  // namespace hostwire
