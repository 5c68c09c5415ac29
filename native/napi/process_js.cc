// Converts processes to columns: ten thousand of them as objects would keep the JavaScript thread busy for
// tens of milliseconds; columns are a copy.
#include "napi/process_js.h"

#include <cstdint>
#include <limits>

#include "napi/js.h"

namespace hostwire {
namespace {

using Processes = std::vector<ProcessCounters>;

template <class Element, class ValueOf>
void addColumn(Napi::Object& object, const char* key, const Processes& processes, ValueOf valueOf) {
  auto array = Napi::TypedArrayOf<Element>::New(object.Env(), processes.size());
  Element* values = array.Data();
  for (std::size_t i = 0; i < processes.size(); ++i) values[i] = static_cast<Element>(valueOf(processes[i]));
  object.Set(key, array);
}

// Adds all names as one text, and the end of each in it, in bytes.
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

// Adds NaN for a process that hides its counters.
void addDisks(Napi::Object& object, const ProcessReading& reading) {
  const auto add = [&](const char* key, std::uint64_t ProcessDisk::*bytes) {
    if (!reading.hasDisks) return object.Set(key, object.Env().Null());
    addColumn<double>(object, key, reading.processes, [bytes](const auto& one) {
      return one.disk ? static_cast<double>((*one.disk).*bytes) : std::numeric_limits<double>::quiet_NaN();
    });
    return true;
  };
  add("readBytes", &ProcessDisk::readBytes);
  add("writeBytes", &ProcessDisk::writeBytes);
}

void addReading(Napi::Object& object, const ProcessReading& reading) {
  const Napi::Env env = object.Env();
  object.Set("takenAtNs", js(env, reading.clock.monotonicNs));
  object.Set("sinceBootNs", js(env, reading.clock.sinceBootNs));
  object.Set("unixMs", js(env, reading.clock.unixMs));
  object.Set("spentNs", js(env, reading.spentNs));
  object.Set("ticksPerSecond", js(env, reading.ticksPerSecond));
  object.Set("machineTicks", js(env, reading.machineTicks));
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
  addDisks(object, reading);
  addNames(object, all);
}

}  // namespace

Napi::Value js(Napi::Env env, const ProcessReading& reading) {
  auto object = Napi::Object::New(env);
  addReading(object, reading);
  auto owners = Napi::Object::New(env);
  for (const ProcessOwner& owner : reading.owners) owners.Set(owner.userId, js(env, owner.name));
  object.Set("owners", owners);
  return object;
}

Napi::Value js(Napi::Env env, const ProcessDetails& details) {
  static const Shape shape{
      Key{"pid", [](const ProcessDetails& of) { return of.counters.id.pid; }},
      Key{"startTicks", [](const ProcessDetails& of) { return of.counters.id.startTicks; }},
      Key{"path", &ProcessDetails::path},
      Key{"folder", &ProcessDetails::folder},
      Key{"openFiles", &ProcessDetails::openFiles},
      Key{"command", &ProcessDetails::command}};
  return shape.make(env, details);
}

Napi::Value js(Napi::Env env, SignalOutcome outcome) {
  const auto name = [outcome] {
    switch (outcome) {
      case SignalOutcome::kSent: return "sent";
      case SignalOutcome::kGone: return "gone";
      case SignalOutcome::kDenied: break;
    }
    return "denied";
  };
  return js(env, name());
}

}  // namespace hostwire
