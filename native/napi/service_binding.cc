// Functions for the system's service manager that JavaScript may call.
#include "napi/service_binding.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/windows_service.h"
#include "napi/controls_binding.h"

namespace hostwire {
namespace {

// beginService(controls, onStop: () => void): Promise<void>; rejects with the reason why it is not a service
Napi::Value beginServiceFromJs(const Napi::CallbackInfo& info) {
  const std::shared_ptr<Controls> controls = ControlsBinding::of(info[0]);
  if (!info[1].IsFunction()) throw Napi::TypeError::New(info.Env(), "onStop must be a function");
  const auto listener =
      std::make_shared<Napi::FunctionReference>(Napi::Persistent(info[1].As<Napi::Function>()));
  const auto open = OpenPromise::start(info.Env(), controls);
  const Napi::Promise promise = open->promise();
  beginService(
      [open](const std::optional<std::string>& failure) {
        if (failure) return OpenPromise::reject(open, *failure);
        OpenPromise::resolve(open, [](Napi::Env env) { return env.Undefined(); });
      },
      [controls, listener] { controls->js.post([listener](Napi::Env) { listener->Value().Call({}); }); });
  return promise;
}

// reportServiceRunning(): void
Napi::Value reportServiceRunningFromJs(const Napi::CallbackInfo& info) {
  reportServiceRunning();
  return info.Env().Undefined();
}

// reportServiceEnded(exitCode: number): void
Napi::Value reportServiceEndedFromJs(const Napi::CallbackInfo& info) {
  reportServiceEnded(info[0].ToNumber().Int32Value());
  return info.Env().Undefined();
}

// installService(command: string[]): string[], the settings that failed; throws an Error with a sentence
Napi::Value installServiceFromJs(const Napi::CallbackInfo& info) {
  const auto given = info[0].As<Napi::Array>();
  std::vector<std::string> command;
  for (std::uint32_t i = 0; i < given.Length(); ++i)
    command.push_back(given.Get(i).As<Napi::String>().Utf8Value());
  const std::vector<std::string> notes = installService(command);
  auto array = Napi::Array::New(info.Env(), notes.size());
  for (std::uint32_t i = 0; i < notes.size(); ++i) array.Set(i, Napi::String::New(info.Env(), notes[i]));
  return array;
}

// removeService(): void; throws as installService
Napi::Value removeServiceFromJs(const Napi::CallbackInfo& info) {
  removeService();
  return info.Env().Undefined();
}

}  // namespace

void exportService(Napi::Env env, Napi::Object exports) {
  exports.Set("beginService", Napi::Function::New(env, beginServiceFromJs, "beginService"));
  exports.Set("reportServiceRunning",
              Napi::Function::New(env, reportServiceRunningFromJs, "reportServiceRunning"));
  exports.Set("reportServiceEnded", Napi::Function::New(env, reportServiceEndedFromJs, "reportServiceEnded"));
  exports.Set("installService", Napi::Function::New(env, installServiceFromJs, "installService"));
  exports.Set("removeService", Napi::Function::New(env, removeServiceFromJs, "removeService"));
}

}  // namespace hostwire
