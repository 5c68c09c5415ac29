// Graphics processors as JavaScript objects.
#include "napi/shape.h"
#include "napi/to_js.h"

namespace hostwire {
namespace {

constexpr Shape kGpuShape{24,
                          "name, vendor, isAsleep, loadPercent, temperatureCelsius, memoryUsedBytes, "
                          "memoryTotalBytes, powerWatts, fanPercent, clockMhz"};

template <class Number>
Napi::Value orNull(Napi::Env env, const std::optional<Number>& value) {
  return value ? Napi::Number::New(env, static_cast<double>(*value)) : env.Null();
}

Napi::Object toObject(Napi::Env env, const std::string& name, const std::string& vendor, bool isAsleep,
                      const GpuValues& values) {
  return makeObject(
      env, kGpuShape,
      {Napi::String::New(env, name), Napi::String::New(env, vendor), Napi::Boolean::New(env, isAsleep),
       orNull(env, values.loadPercent), orNull(env, values.temperatureCelsius),
       orNull(env, values.memoryUsedBytes), orNull(env, values.memoryTotalBytes),
       orNull(env, values.powerWatts), orNull(env, values.fanPercent), orNull(env, values.clockMhz)});
}

const char* nameOf(GpuFinding::State state) {
  switch (state) {
    case GpuFinding::State::kRead: return "read";
    case GpuFinding::State::kAsleep: return "asleep";
    case GpuFinding::State::kWaiting: return "waiting";
    case GpuFinding::State::kUnreadable: break;
  }
  return "unreadable";
}

}  // namespace

Napi::Value toJs(Napi::Env env, const std::vector<GpuCounters>& counters, bool /*withDetail*/) {
  return makeArray(env, counters, [&](const GpuCounters& gpu) {
    return toObject(env, gpu.name, gpu.vendor, gpu.isAsleep, gpu.values);
  });
}

Napi::Value toJs(Napi::Env env, const std::vector<GpuFinding>& findings) {
  auto array = Napi::Array::New(env, findings.size());
  for (std::uint32_t i = 0; i < findings.size(); ++i) {
    const GpuFinding& finding = findings[i];
    const bool isAsleep = finding.state == GpuFinding::State::kAsleep;
    auto object = Napi::Object::New(env);
    object.Set("address", finding.address);
    object.Set("driver", finding.driver);
    object.Set("state", nameOf(finding.state));
    object.Set("reason", finding.reason);
    object.Set("counters", toObject(env, finding.name, finding.vendor, isAsleep, finding.values));
    array.Set(i, object);
  }
  return array;
}

}  // namespace hostwire
