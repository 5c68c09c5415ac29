// Standard streams, signals and the holder of a port, for the program's own process.
#include <cstdlib>

#include "host/output.h"
#include "host/port_holder.h"
#include "napi/error_js.h"
#include "napi/exports.h"

namespace hostwire {
namespace {

// writeAtOnce(stream: 1 | 2, bytes: Buffer): number of bytes taken
Napi::Value writeAtOnceForJs(const Napi::CallbackInfo& info) {
  const auto bytes = info[1].As<Napi::Buffer<char>>();
  const int stream = info[0].ToNumber().Int32Value() == 1 ? 1 : 2;
  return orThrow(info.Env(), [&] {
    return js(info.Env(), writeAtOnce(stream, {bytes.Data(), bytes.Length()}));
  });
}

// findPortHolder(port: number): { pid: number, name: string } | undefined
Napi::Value findPortHolderForJs(const Napi::CallbackInfo& info) {
  const auto holder = findPortHolder(static_cast<std::uint16_t>(info[0].ToNumber().Uint32Value()));
  if (!holder) return info.Env().Undefined();
  auto result = Napi::Object::New(info.Env());
  result.Set("pid", holder->pid);
  result.Set("name", holder->name);
  return result;
}

}  // namespace

void exportOutput(const Exports& exports) {
  exports.add("writeAtOnce", writeAtOnceForJs);
  exports.add("ignoreStraySignals", [](const Napi::CallbackInfo&) { ignoreStraySignals(); });
  exports.add("endWithParent", [](const Napi::CallbackInfo&) { endWithParent(); });
  // exitNow(code: number): ends the process without waiting for any of its threads. Node's own exit joins its
  // workers, including one whose system call the kernel never finishes.
  exports.add("exitNow", [](const Napi::CallbackInfo& info) { std::_Exit(info[0].ToNumber().Int32Value()); });
  exports.add("findPortHolder", findPortHolderForJs);
  exports.add("releaseClosedTerminal", [](const Napi::CallbackInfo&) { releaseClosedTerminal(); });
}

}  // namespace hostwire
