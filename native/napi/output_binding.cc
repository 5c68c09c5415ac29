// Standard streams, signals and the holder of a port, for the program's own process.
#include "napi/output_binding.h"

#include <cstdlib>

#include "host/output.h"
#include "host/port_holder.h"
#include "napi/error_js.h"

namespace hostwire {
namespace {

// writeAtOnce(stream: 1 | 2, bytes: Buffer): number of bytes taken
Napi::Value writeAtOnceFromJs(const Napi::CallbackInfo& info) {
  const auto bytes = info[1].As<Napi::Buffer<char>>();
  try {
    const std::size_t taken =
        writeAtOnce(info[0].ToNumber().Int32Value() == 1 ? 1 : 2, {bytes.Data(), bytes.Length()});
    return Napi::Number::New(info.Env(), static_cast<double>(taken));
  } catch (const std::exception& error) {
    throw toJsError(info.Env(), error);
  }
}

void ignoreStraySignalsFromJs(const Napi::CallbackInfo&) { ignoreStraySignals(); }

void endWithParentFromJs(const Napi::CallbackInfo&) { endWithParent(); }

// exitNow(code: number): ends the process without waiting for any of its threads. Node's own exit joins its
// workers, including one whose system call the kernel never finishes.
void exitNowFromJs(const Napi::CallbackInfo& info) { std::_Exit(info[0].ToNumber().Int32Value()); }

void releaseClosedTerminalFromJs(const Napi::CallbackInfo&) { releaseClosedTerminal(); }

// findPortHolder(port: number): { pid: number, name: string } | undefined
Napi::Value findPortHolderFromJs(const Napi::CallbackInfo& info) {
  const auto holder = findPortHolder(static_cast<std::uint16_t>(info[0].ToNumber().Uint32Value()));
  if (!holder) return info.Env().Undefined();
  auto result = Napi::Object::New(info.Env());
  result.Set("pid", holder->pid);
  result.Set("name", holder->name);
  return result;
}

}  // namespace

void exportOutput(Napi::Env env, Napi::Object exports) {
  exports.Set("writeAtOnce", Napi::Function::New(env, writeAtOnceFromJs, "writeAtOnce"));
  exports.Set("ignoreStraySignals", Napi::Function::New(env, ignoreStraySignalsFromJs, "ignoreStraySignals"));
  exports.Set("endWithParent", Napi::Function::New(env, endWithParentFromJs, "endWithParent"));
  exports.Set("exitNow", Napi::Function::New(env, exitNowFromJs, "exitNow"));
  exports.Set("findPortHolder", Napi::Function::New(env, findPortHolderFromJs, "findPortHolder"));
  exports.Set("releaseClosedTerminal",
              Napi::Function::New(env, releaseClosedTerminalFromJs, "releaseClosedTerminal"));
}

}  // namespace hostwire
