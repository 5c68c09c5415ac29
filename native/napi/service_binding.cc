// Functions for Windows' service control manager.
#include <optional>
#include <string>

#include "host/windows_service.h"
#include "napi/controls_binding.h"
#include "napi/exports.h"
#include "napi/from_js.h"

namespace hostwire {
namespace {

// beginService(controls, onStop: () => void): Promise<void>; rejects with the reason why it is not a service
Napi::Value beginServiceForJs(const Napi::CallbackInfo& info) {
  const std::shared_ptr<Controls> controls = controlsOf(info[0]);
  const Listener onStop(info[1], "onStop", controls);
  const auto open = OpenPromise::start(info.Env(), controls);
  const Napi::Promise promise = open->promise();
  beginService([open](const std::optional<std::string>& failure) { open->settleWith(failure); }, onStop);
  return promise;
}

}  // namespace

void exportService(const Exports& exports) {
  exports.add("beginService", beginServiceForJs);
  exports.add("reportServiceRunning", [](const Napi::CallbackInfo&) { reportServiceRunning(); });
  // reportServiceEnded(exitCode: number): void
  exports.add("reportServiceEnded",
              [](const Napi::CallbackInfo& info) { reportServiceEnded(info[0].ToNumber().Int32Value()); });
  // installService(command: string[]): string[], the settings that failed; throws an Error with a sentence,
  // as removeService does
  exports.add("installService", [](const Napi::CallbackInfo& info) {
    return js(info.Env(), installService(listOf(info[0], textOf)));
  });
  exports.add("removeService", [](const Napi::CallbackInfo&) { removeService(); });
}

}  // namespace hostwire
