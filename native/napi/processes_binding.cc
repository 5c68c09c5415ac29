// The JavaScript class `Processes`.
#include "napi/processes_binding.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "napi/finding_js.h"
#include "napi/js.h"
#include "napi/process_js.h"

namespace hostwire {
namespace {

using std::chrono::milliseconds;

void setRoot(const Napi::Object& options, const char* key, std::string& root) {
  const Napi::Value value = options.Get(key);
  if (value.IsString()) root = value.As<Napi::String>().Utf8Value();
}

milliseconds timeOf(const Napi::Value& value) {
  return milliseconds{std::max<std::int64_t>(0, value.ToNumber().Int64Value())};
}

ProcessId processOf(const Napi::Value& value) {
  const auto object = value.As<Napi::Object>();
  return {object.Get("pid").ToNumber().Int32Value(),
          static_cast<std::uint64_t>(object.Get("startTicks").ToNumber().Int64Value())};
}

std::vector<ProcessId> processesOf(const Napi::Value& value) {
  const auto array = value.As<Napi::Array>();
  std::vector<ProcessId> processes;
  for (std::uint32_t i = 0; i < array.Length(); ++i) processes.push_back(processOf(array.Get(i)));
  return processes;
}

std::vector<std::string> textsOf(const Napi::Value& value) {
  const auto array = value.As<Napi::Array>();
  std::vector<std::string> texts;
  for (std::uint32_t i = 0; i < array.Length(); ++i) texts.push_back(array.Get(i).ToString().Utf8Value());
  return texts;
}

EndSignal signalOf(const Napi::Value& value) {
  const std::string name = value.ToString().Utf8Value();
  if (name == "kill") return EndSignal::kKill;
  if (name == "stop") return EndSignal::kStop;
  if (name == "continue") return EndSignal::kContinue;
  return EndSignal::kTerminate;
}

template <class Result>
Napi::Value convert(Napi::Env env, const Result& result) {
  return js(env, result);
}

}  // namespace

Napi::Function ProcessesBinding::define(Napi::Env env) {
  using Self = ProcessesBinding;
  return DefineClass(
      env, "Processes",
      {InstanceMethod<&Self::latest>("latest"), InstanceMethod<&Self::ask>("ask"),
       InstanceMethod<&Self::includeDisks>("includeDisks"), InstanceMethod<&Self::read>("read"),
       InstanceMethod<&Self::describe>("describe"), InstanceMethod<&Self::readDetails>("readDetails"),
       InstanceMethod<&Self::readPaths>("readPaths"), InstanceMethod<&Self::whyNoControl>("whyNoControl"),
       InstanceMethod<&Self::signal>("signal"), InstanceMethod<&Self::waitForEnd>("waitForEnd"),
       InstanceMethod<&Self::launch>("launch")});
}

ProcessesBinding::ProcessesBinding(const Napi::CallbackInfo& info)
    : Napi::ObjectWrap<ProcessesBinding>(info), completions_(Completions::open(info.Env())) {
  if (info[0].IsObject()) {
    const auto options = info[0].As<Napi::Object>();
    setRoot(options, "proc", roots_.proc);
    setRoot(options, "sys", roots_.sys);
    setRoot(options, "files", roots_.files);
  }
  reader_ = std::make_unique<ProcessReader>(roots_);
}

Napi::Value ProcessesBinding::latest(const Napi::CallbackInfo& info) {
  auto reading = reader_->latest();
  if (reading == nullptr) return info.Env().Null();
  if (reading != converted_) {
    columns_ = Napi::Persistent(js(info.Env(), *reading).As<Napi::Object>());
    converted_ = std::move(reading);
  }
  return columns_.Value();
}

void ProcessesBinding::ask(const Napi::CallbackInfo& info) { reader_->ask(timeOf(info[0])); }

void ProcessesBinding::includeDisks(const Napi::CallbackInfo&) { reader_->includeDisks(); }

Napi::Value ProcessesBinding::read(const Napi::CallbackInfo& info) {
  return startDetached<ProcessReading>(
      info.Env(), completions_, [state = reader_->state()] { return ProcessReader::read(*state); },
      convert<ProcessReading>);
}

Napi::Value ProcessesBinding::describe(const Napi::CallbackInfo& info) {
  return startDetached<Findings>(
      info.Env(), completions_, [state = reader_->state()] { return ProcessReader::describe(*state); },
      convert<Findings>);
}

Napi::Value ProcessesBinding::readDetails(const Napi::CallbackInfo& info) {
  using Result = std::optional<ProcessDetails>;
  const std::int32_t pid = info[0].ToNumber().Int32Value();
  return startDetached<Result>(
      info.Env(), completions_,
      [state = reader_->state(), pid] { return ProcessReader::readDetails(*state, pid); }, convert<Result>);
}

Napi::Value ProcessesBinding::readPaths(const Napi::CallbackInfo& info) {
  using Result = std::vector<std::optional<std::string>>;
  return startDetached<Result>(
      info.Env(), completions_,
      [state = reader_->state(), processes = processesOf(info[0])] {
        return ProcessReader::readPaths(*state, processes);
      },
      convert<Result>);
}

Napi::Value ProcessesBinding::whyNoControl(const Napi::CallbackInfo& info) {
  const auto obstacle = whyNoProcessControl(roots_);
  return obstacle ? js(info.Env(), obstacle->reason) : info.Env().Null();
}

Napi::Value ProcessesBinding::signal(const Napi::CallbackInfo& info) {
  try {
    return js(info.Env(), signalProcess(processOf(info[0]), signalOf(info[1])));
  } catch (const HostError& error) {
    throw toJsError(info.Env(), error);
  }
}

Napi::Value ProcessesBinding::waitForEnd(const Napi::CallbackInfo& info) {
  using Result = std::vector<bool>;
  return startDetached<Result>(
      info.Env(), completions_,
      [processes = processesOf(info[0]), timeout = timeOf(info[1])] {
        return hostwire::waitForEnd(processes, timeout);
      },
      convert<Result>);
}

Napi::Value ProcessesBinding::launch(const Napi::CallbackInfo& info) {
  const auto given = info[0].As<Napi::Object>();
  LaunchOptions options;
  options.program = given.Get("program").ToString().Utf8Value();
  options.arguments = textsOf(given.Get("arguments"));
  options.environment = textsOf(given.Get("environment"));
  const Napi::Value folder = given.Get("folder");
  if (folder.IsString()) options.folder = folder.As<Napi::String>().Utf8Value();
  return startDetached<std::int32_t>(
      info.Env(), completions_, [owned = std::move(options)] { return launchProcess(owned); },
      convert<std::int32_t>);
}

}  // namespace hostwire
