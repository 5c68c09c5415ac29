// Ten thousand processes as objects would keep JavaScript's thread busy for tens of milliseconds; as columns
// they are a copy.
#include "napi/to_js_process.h"

#include <cstdint>

namespace hostwire {
namespace {

using Processes = std::vector<ProcessCounters>;

Napi::Value number(Napi::Env env, double value) { return Napi::Number::New(env, value); }

Napi::Value text(Napi::Env env, const std::optional<std::string>& value) {
  if (!value) return env.Null();
  return Napi::String::New(env, *value);
}

template <class Element, class ValueOf>
void addColumn(Napi::Object& object, const char* key, const Processes& processes, ValueOf valueOf) {
  auto array = Napi::TypedArrayOf<Element>::New(object.Env(), processes.size());
  Element* values = array.Data();
  for (std::size_t i = 0; i < processes.size(); ++i) values[i] = static_cast<Element>(valueOf(processes[i]));
  object.Set(key, array);
}

// All names in one text, and where each ends in it, in bytes.
void addNames(Napi::Object& object, const Processes& processes) {
  std::string names;
  auto ends = Napi::Uint32Array::New(object.Env(), processes.size());
  std::uint32_t* values = ends.Data();
  for (std::size_t i = 0; i < processes.size(); ++i) {
    names += processes[i].name;
    values[i] = static_cast<std::uint32_t>(names.size());
  }
  object.Set("names", Napi::Buffer<char>::Copy(object.Env(), names.data(), names.size()));
  object.Set("nameEnds", ends);
}

void addReading(Napi::Object& object, const ProcessReading& reading) {
  const Napi::Env env = object.Env();
  object.Set("takenAtNs", number(env, static_cast<double>(reading.clock.monotonicNs)));
  object.Set("sinceBootNs", number(env, static_cast<double>(reading.clock.sinceBootNs)));
  object.Set("unixMs", number(env, static_cast<double>(reading.clock.unixMs)));
  object.Set("ticksPerSecond", number(env, reading.ticksPerSecond));
  object.Set("machineTicks", reading.machineTicks ? number(env, static_cast<double>(*reading.machineTicks))
                                                  : Napi::Value(env.Null()));
  const Processes& all = reading.processes;
  addColumn<std::int32_t>(object, "pids", all, [](const auto& one) { return one.id.pid; });
  addColumn<std::int32_t>(object, "parentPids", all, [](const auto& one) { return one.parentPid; });
  addColumn<std::uint32_t>(object, "userIds", all, [](const auto& one) { return one.userId; });
  addColumn<std::uint32_t>(object, "threads", all, [](const auto& one) { return one.threads; });
  addColumn<std::uint8_t>(object, "states", all, [](const auto& one) { return one.state; });
  addColumn<std::uint8_t>(object, "kernelThreads", all, [](const auto& one) { return one.isKernelThread; });
  addColumn<double>(object, "startTicks", all, [](const auto& one) { return one.id.startTicks; });
  addColumn<double>(object, "cpuTicks", all, [](const auto& one) { return one.cpuTicks; });
  addColumn<double>(object, "residentBytes", all, [](const auto& one) { return one.residentBytes; });
  addNames(object, all);
}

}  // namespace

Napi::Value toJs(Napi::Env env, const ProcessReading& reading) {
  auto object = Napi::Object::New(env);
  addReading(object, reading);
  auto owners = Napi::Object::New(env);
  for (const ProcessOwner& owner : reading.owners)
    owners.Set(owner.userId, Napi::String::New(env, owner.name));
  object.Set("owners", owners);
  return object;
}

Napi::Value toJs(Napi::Env env, const ProcessId& process) {
  auto object = Napi::Object::New(env);
  object.Set("pid", number(env, process.pid));
  object.Set("startTicks", number(env, static_cast<double>(process.startTicks)));
  return object;
}

Napi::Value toJs(Napi::Env env, const std::optional<ProcessDetails>& details) {
  if (!details) return env.Null();
  auto object = Napi::Object::New(env);
  object.Set("pid", number(env, details->counters.id.pid));
  object.Set("startTicks", number(env, static_cast<double>(details->counters.id.startTicks)));
  object.Set("path", text(env, details->path));
  object.Set("folder", text(env, details->folder));
  object.Set("openFiles", details->openFiles ? number(env, *details->openFiles) : Napi::Value(env.Null()));
  auto command = Napi::Array::New(env, details->command.size());
  for (std::uint32_t i = 0; i < details->command.size(); ++i)
    command.Set(i, Napi::String::New(env, details->command[i]));
  object.Set("command", command);
  return object;
}

Napi::Value toJs(Napi::Env env, const std::vector<std::optional<std::string>>& texts) {
  auto array = Napi::Array::New(env, texts.size());
  for (std::uint32_t i = 0; i < texts.size(); ++i) array.Set(i, text(env, texts[i]));
  return array;
}

Napi::Value toJs(Napi::Env env, SignalOutcome outcome) {
  switch (outcome) {
    case SignalOutcome::kSent: return Napi::String::New(env, "sent");
    case SignalOutcome::kGone: return Napi::String::New(env, "gone");
    case SignalOutcome::kDenied: break;
  }
  return Napi::String::New(env, "denied");
}

Napi::Value toJs(Napi::Env env, const std::vector<bool>& values) {
  auto array = Napi::Array::New(env, values.size());
  for (std::uint32_t i = 0; i < values.size(); ++i) array.Set(i, Napi::Boolean::New(env, values[i]));
  return array;
}

}  // namespace hostwire
