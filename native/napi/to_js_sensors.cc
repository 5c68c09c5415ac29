// Sensors, batteries and energy to JavaScript objects.
#include <optional>
#include <string>

#include "napi/shape.h"
#include "napi/to_js.h"

namespace hostwire {
namespace {

constexpr Shape kSensorShape{20, "driver, chip, label, kind, value, failure"};
constexpr Shape kBatteryShape{
    21,
    "name, state, percent, energyWh, energyFullWh, energyDesignWh, chargeAh, chargeFullAh, chargeDesignAh, "
    "voltageVolts, powerWatts, currentAmps, secondsToEmpty, secondsToFull, failure"};
constexpr Shape kEnergyShape{22, "takenAtNs, zones, failure"};
constexpr Shape kZoneShape{23, "name, microjoules, rangeMicrojoules"};

Napi::Value text(Napi::Env env, const std::string& value) { return Napi::String::New(env, value); }

Napi::Value textOrNull(Napi::Env env, const std::string& value) {
  return value.empty() ? env.Null() : text(env, value);
}

Napi::Value number(Napi::Env env, std::optional<double> value) {
  return value ? Napi::Value(Napi::Number::New(env, *value)) : env.Null();
}

const char* nameOf(SensorKind kind) {
  switch (kind) {
    case SensorKind::kTemperature: return "temperature";
    case SensorKind::kFan: return "fan";
    case SensorKind::kVoltage: return "voltage";
    case SensorKind::kPower: break;
  }
  return "power";
}

Napi::Value convert(Napi::Env env, const SensorCounters& sensor) {
  return makeObject(env, kSensorShape,
                    {text(env, sensor.driver), text(env, sensor.chip), text(env, sensor.label),
                     Napi::String::New(env, nameOf(sensor.kind)), number(env, sensor.value),
                     textOrNull(env, sensor.failure)});
}

Napi::Value convert(Napi::Env env, const BatteryCounters& battery) {
  return makeObject(
      env, kBatteryShape,
      {text(env, battery.name), battery.state ? text(env, *battery.state) : env.Null(),
       number(env, battery.percent), number(env, battery.energyWh), number(env, battery.energyFullWh),
       number(env, battery.energyDesignWh), number(env, battery.chargeAh), number(env, battery.chargeFullAh),
       number(env, battery.chargeDesignAh), number(env, battery.voltageVolts),
       number(env, battery.powerWatts), number(env, battery.currentAmps), number(env, battery.secondsToEmpty),
       number(env, battery.secondsToFull), textOrNull(env, battery.failure)});
}

// Counters pass 2^53 only after 300 years at 1 MW.
Napi::Value convert(Napi::Env env, const EnergyZone& zone) {
  return makeObject(env, kZoneShape,
                    {text(env, zone.name), number(env, static_cast<double>(zone.microjoules)),
                     number(env, static_cast<double>(zone.rangeMicrojoules))});
}

template <class T>
Napi::Value convertAll(Napi::Env env, const std::vector<T>& values) {
  return makeArray(env, values, [&](const T& value) { return convert(env, value); });
}

}  // namespace

Napi::Value toJs(Napi::Env env, const std::optional<EnergyReading>& energy) {
  if (!energy) return env.Null();
  return makeObject(env, kEnergyShape,
                    {number(env, static_cast<double>(energy->takenAtNs)), convertAll(env, energy->zones),
                     textOrNull(env, energy->failure)});
}

Napi::Value toJs(Napi::Env env, const std::vector<SensorCounters>& sensors) {
  return convertAll(env, sensors);
}

Napi::Value toJs(Napi::Env env, const std::vector<BatteryCounters>& batteries) {
  return convertAll(env, batteries);
}

}  // namespace hostwire
