// The JavaScript class `Processes`: the processes of one machine, seen through one set of roots; the keys
// mirror src/host/processes.ts. A whole reading becomes columns, which are a copy: ten thousand processes as
// objects would keep the JavaScript thread busy for tens of milliseconds.
#include <napi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/process.h"
#include "host/roots.h"
#include "napi/detached_work.h"
#include "napi/error_js.h"
#include "napi/exports.h"
#include "napi/finding_js.h"
#include "napi/from_js.h"

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

static Napi::Value js(Napi::Env env, const ProcessReading& reading) {
  auto object = Napi::Object::New(env);
  addReading(object, reading);
  auto owners = Napi::Object::New(env);
  for (const ProcessOwner& owner : reading.owners) owners.Set(owner.userId, js(env, owner.name));
  object.Set("owners", owners);
  return object;
}

HOSTWIRE_JS(ProcessDetails, key<Self, &Self::counters, &ProcessCounters::id, &ProcessId::pid>("pid"),
            key<Self, &Self::counters, &ProcessCounters::id, &ProcessId::startTicks>("startTicks"), KEY(path),
            KEY(folder), KEY(openFiles), KEY(command))

static Napi::Value js(Napi::Env env, SignalOutcome outcome) {
  return named(env, outcome, {"sent", "gone", "denied"});
}

namespace {

using std::chrono::milliseconds;

milliseconds timeOf(const Napi::Value& value) {
  return milliseconds{std::max<std::int64_t>(0, value.ToNumber().Int64Value())};
}

ProcessId processOf(const Napi::Value& value) {
  const auto object = value.As<Napi::Object>();
  return {object.Get("pid").ToNumber().Int32Value(),
          static_cast<std::uint64_t>(object.Get("startTicks").ToNumber().Int64Value())};
}

EndSignal signalOf(const Napi::Value& value) {
  const std::string name = textOf(value);
  if (name == "kill") return EndSignal::kKill;
  if (name == "stop") return EndSignal::kStop;
  if (name == "continue") return EndSignal::kContinue;
  return EndSignal::kTerminate;
}

class ProcessesBinding : public Napi::ObjectWrap<ProcessesBinding> {
 public:
  static Napi::Function define(Napi::Env env, const char* name, void*) {
    using Self = ProcessesBinding;
    return DefineClass(
        env, name,
        {InstanceMethod<&Self::latest>("latest"), InstanceMethod<&Self::ask>("ask"),
         InstanceMethod<&Self::includeDisks>("includeDisks"), InstanceMethod<&Self::read>("read"),
         InstanceMethod<&Self::describe>("describe"), InstanceMethod<&Self::readDetails>("readDetails"),
         InstanceMethod<&Self::readPaths>("readPaths"), InstanceMethod<&Self::whyNoControl>("whyNoControl"),
         InstanceMethod<&Self::signal>("signal"), InstanceMethod<&Self::waitForEnd>("waitForEnd"),
         InstanceMethod<&Self::launch>("launch")});
  }
  // new Processes({proc?, sys?, files?})
  explicit ProcessesBinding(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<ProcessesBinding>(info),
        roots_(rootsOf(info[0])),
        reader_(roots_),
        completions_(Completions::open(info.Env())) {}

 private:
  // latest(): ProcessColumns | null
  Napi::Value latest(const Napi::CallbackInfo& info) {
    auto reading = reader_.latest();
    if (reading == nullptr) return info.Env().Null();
    if (reading != converted_) {
      columns_ = Napi::Persistent(js(info.Env(), *reading).As<Napi::Object>());
      converted_ = std::move(reading);
    }
    return columns_.Value();
  }
  // ask(inMs: number): void
  void ask(const Napi::CallbackInfo& info) { reader_.ask(timeOf(info[0])); }
  // includeDisks(): void
  void includeDisks(const Napi::CallbackInfo&) { reader_.includeDisks(); }
  // read(withDisks?: boolean): Promise<ProcessColumns>
  Napi::Value read(const Napi::CallbackInfo& info) {
    const bool withDisks = info[0].ToBoolean();
    return startDetached(info.Env(), completions_, [state = reader_.state(), withDisks] {
      return ProcessReader::read(*state, withDisks);
    });
  }
  // describe(): Promise<Finding[]>
  Napi::Value describe(const Napi::CallbackInfo& info) {
    return startDetached(info.Env(), completions_,
                         [state = reader_.state()] { return ProcessReader::describe(*state); });
  }
  // readDetails(pid: number): Promise<ProcessFacts | null>
  Napi::Value readDetails(const Napi::CallbackInfo& info) {
    const std::int32_t pid = info[0].ToNumber().Int32Value();
    return startDetached(info.Env(), completions_,
                         [state = reader_.state(), pid] { return ProcessReader::readDetails(*state, pid); });
  }
  // readPaths(processes: ProcessId[]): Promise<(string | null)[]>
  Napi::Value readPaths(const Napi::CallbackInfo& info) {
    return startDetached(info.Env(), completions_,
                         [state = reader_.state(), processes = listOf(info[0], processOf)] {
                           return ProcessReader::readPaths(*state, processes);
                         });
  }
  // whyNoControl(): string | null
  Napi::Value whyNoControl(const Napi::CallbackInfo& info) {
    const auto obstacle = whyNoProcessControl(roots_);
    return obstacle ? js(info.Env(), obstacle->reason) : info.Env().Null();
  }
  // signal(process: ProcessId, signal: 'term' | 'kill' | 'stop' | 'continue'): 'sent' | 'gone' | 'denied'
  Napi::Value signal(const Napi::CallbackInfo& info) {
    return orThrow(info.Env(),
                   [&] { return js(info.Env(), signalProcess(processOf(info[0]), signalOf(info[1]))); });
  }
  // waitForEnd(processes: ProcessId[], timeoutMs: number): Promise<boolean[]>
  Napi::Value waitForEnd(const Napi::CallbackInfo& info) {
    return startDetached(info.Env(), completions_,
                         [processes = listOf(info[0], processOf), timeout = timeOf(info[1])] {
                           return hostwire::waitForEnd(processes, timeout);
                         });
  }
  // launch({program, arguments, environment, folder}): Promise<number>, the pid
  Napi::Value launch(const Napi::CallbackInfo& info) {
    const auto given = info[0].As<Napi::Object>();
    LaunchOptions options;
    options.program = textOf(given.Get("program"));
    options.arguments = listOf(given.Get("arguments"), textOf);
    options.environment = listOf(given.Get("environment"), textOf);
    const Napi::Value folder = given.Get("folder");
    if (folder.IsString()) options.folder = textOf(folder);
    return startDetached(info.Env(), completions_,
                         [owned = std::move(options)] { return launchProcess(owned); });
  }

  const Roots roots_;
  ProcessReader reader_;
  // The last result of `latest`, so that each reading is converted once.
  std::shared_ptr<const ProcessReading> converted_;
  Napi::ObjectReference columns_;
  std::shared_ptr<Completions> completions_;
};

}  // namespace

void exportProcesses(const Exports& exports) { exports.addClass<ProcessesBinding>("Processes"); }

}  // namespace hostwire
