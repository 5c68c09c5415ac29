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
  const auto name = [kind] {
    switch (kind) {
      case SensorKind::kTemperature: return "temperature";
      case SensorKind::kFan: return "fan";
      case SensorKind::kVoltage: return "voltage";
      case SensorKind::kPower: break;
    }
    return "power";
  };
  return js(env, name());
}

static Napi::Value js(Napi::Env env, const SensorCounters& sensor) {
  static const Shape shape{Key{"driver", &SensorCounters::driver},
                           Key{"chip", &SensorCounters::chip},
                           Key{"label", &SensorCounters::label},
                           Key{"device", &SensorCounters::device},
                           Key{"file", &SensorCounters::file},
                           Key{"ownLabel", &SensorCounters::ownLabel},
                           Key{"kind", &SensorCounters::kind},
                           Key{"value", &SensorCounters::value},
                           Key{"failure", orNull(&SensorCounters::failure)}};
  return shape.make(env, sensor);
}

static Napi::Value js(Napi::Env env, const BatteryCounters& battery) {
  using Battery = BatteryCounters;
  static const Shape shape{Key{"name", &Battery::name},
                           Key{"state", &Battery::state},
                           Key{"percent", &Battery::percent},
                           Key{"energyWh", &Battery::energyWh},
                           Key{"energyFullWh", &Battery::energyFullWh},
                           Key{"energyDesignWh", &Battery::energyDesignWh},
                           Key{"chargeAh", &Battery::chargeAh},
                           Key{"chargeFullAh", &Battery::chargeFullAh},
                           Key{"chargeDesignAh", &Battery::chargeDesignAh},
                           Key{"voltageVolts", &Battery::voltageVolts},
                           Key{"powerWatts", &Battery::powerWatts},
                           Key{"currentAmps", &Battery::currentAmps},
                           Key{"secondsToEmpty", &Battery::secondsToEmpty},
                           Key{"secondsToFull", &Battery::secondsToFull},
                           Key{"failure", orNull(&Battery::failure)}};
  return shape.make(env, battery);
}

static Napi::Value js(Napi::Env env, DriveKind kind) {
  const auto name = [kind] {
    switch (kind) {
      case DriveKind::kNvme: return "nvme";
      case DriveKind::kAta: return "ata";
      case DriveKind::kScsi: return "scsi";
      case DriveKind::kOther: break;
    }
    return "other";
  };
  return js(env, name());
}

static Napi::Value js(Napi::Env env, const DriveHealth& health) {
  static const Shape shape{Key{"isPassing", &DriveHealth::isPassing},
                           Key{"percentageUsed", &DriveHealth::percentageUsed},
                           Key{"powerOnHours", &DriveHealth::powerOnHours},
                           Key{"temperatureCelsius", &DriveHealth::temperatureCelsius},
                           Key{"mediaErrors", &DriveHealth::mediaErrors}};
  return shape.make(env, health);
}

static Napi::Value js(Napi::Env env, const DriveCounters& drive) {
  static const Shape shape{Key{"name", &DriveCounters::name}, Key{"model", orNull(&DriveCounters::model)},
                           Key{"kind", &DriveCounters::kind}, Key{"health", &DriveCounters::health},
                           Key{"failure", orNull(&DriveCounters::failure)}};
  return shape.make(env, drive);
}

static Napi::Value js(Napi::Env env, const CpuThrottling& throttling) {
  static const Shape shape{Key{"group", &CpuThrottling::group}, Key{"periods", &CpuThrottling::periods},
                           Key{"throttledPeriods", &CpuThrottling::throttledPeriods}};
  return shape.make(env, throttling);
}

static Napi::Value js(Napi::Env env, const LimitCounters& limits) {
  static const Shape shape{Key{"memoryBytes", &LimitCounters::memoryBytes},
                           Key{"memoryUsedBytes", &LimitCounters::memoryUsedBytes},
                           Key{"cpus", &LimitCounters::cpus}, Key{"throttling", &LimitCounters::throttling},
                           Key{"failure", orNull(&LimitCounters::failure)}};
  return shape.make(env, limits);
}

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
